"""The process behind a recording: runs asciinema or the built-in recorder to the end and says what went wrong."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import msgspec

from mngr_e2e.recorder import asciinema, builtin
from mngr_e2e.recorder.cast import CastError, mend, read_cast, text
from mngr_e2e.recorder.ledger import Recording, forget, note_process

# What tmux writes first on a terminal that it takes over.
SCREEN_TAKEN = b"[?1049h"
_GRACE_S = 4.0
_TICK_S = 0.1
_HALF = "the last line could not be written; is the disk full?"
_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[a-zA-Z]|\([A-Z0-9]|[=>])|\r")


def main() -> None:
    """Makes the recording given as JSON; TERM ends it with a whole file."""
    recording = msgspec.json.decode(sys.argv[1], type=Recording)
    stops: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: stops.append(number))
    try:
        problem = keep(recording, lambda: bool(stops))
    except OSError as error:
        problem = str(error)
    conclude(recording, problem)
    forget(recording.folder, os.getpid())


def keep(recording: Recording, is_stopped: Callable[[], bool]) -> str:
    """Records until the agent's terminal ends or we are stopped; returns what went wrong, or ""."""
    env = asciinema.own_env(os.environ, recording.folder)
    version = asciinema.find_version(env)
    if version is None:
        builtin.record(recording.attach, recording.cast, recording.size, os.environ, is_stopped)
        return ""
    line = asciinema.attach_line(recording.attach, os.environ.get("HOME"))
    argv = asciinema.record_argv(version, recording.size, line, recording.cast)
    code = _run(argv, env, recording, is_stopped)
    return f"asciinema ended with code {code}" if code and not is_stopped() else ""


def conclude(recording: Recording, problem: str) -> None:
    """Leaves a whole cast; beside it an error file where the agent's screen was never seen or writing failed."""
    try:
        problem = problem or (_HALF if mend(recording.cast) else "")
    except OSError as error:
        problem = problem or str(error)
    if not problem and shows_screen(recording.cast):
        if os.path.exists(recording.error):
            os.unlink(recording.error)
        return
    said = "\n".join(filter(None, (problem, _last_words(recording))))
    try:
        with open(recording.error, "w") as file:
            file.write((said or "the recorder ended before the agent's screen appeared") + "\n")
    except OSError as error:
        sys.stderr.write(f"{error}\n")


def shows_screen(path: str) -> bool:
    """Whether tmux has drawn in this recording: otherwise attaching has failed, or not happened yet."""
    try:
        with open(path, "rb") as file:
            return SCREEN_TAKEN in file.read(1 << 20).rpartition(b"\n")[0]
    except OSError:
        return False


def _run(
    argv: tuple[str, ...], env: dict[str, str], recording: Recording, is_stopped: Callable[[], bool]
) -> int:
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, env=env, start_new_session=True)
    note_process(recording.folder, os.getpid(), child.pid)
    leave_at = 0.0
    while child.poll() is None and not (leave_at and time.monotonic() > leave_at):
        if not leave_at and is_stopped():
            child.terminate()
            leave_at = time.monotonic() + _GRACE_S
        try:
            child.wait(_TICK_S)
        except subprocess.TimeoutExpired:
            pass
    # asciinema 2 has a second process that writes the file; it outlives the first when that is killed.
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return child.wait()


def _last_words(recording: Recording) -> str:
    try:
        shown = _ESCAPES.sub("", text(read_cast(recording.cast)))
    except (OSError, CastError):
        shown = ""
    try:
        with open(recording.log, "rb") as file:
            logged = file.read()[-2000:].decode(errors="replace")
    except OSError:
        logged = ""
    return "\n".join(filter(None, (shown.strip()[-2000:], logged.strip())))


if __name__ == "__main__":
    main()
