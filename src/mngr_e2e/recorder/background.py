"""The process behind a recording: runs asciinema or the built-in recorder to the end and says what went wrong."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import msgspec

from mngr_e2e.recorder import asciinema, builtin
from mngr_e2e.recorder.cast import repair
from mngr_e2e.recorder.evidence import began_at, last_words, note_error, shows_screen
from mngr_e2e.recorder.ledger import Recording, note_process
from mngr_e2e.recorder.writer import note_start, title_of

_GRACE_S = 4.0
_TICK_S = 0.1
_HALF = "the last line could not be written; is the disk full?"


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


def keep(recording: Recording, is_stopped: Callable[[], bool]) -> str:
    """Records until the agent's terminal ends or we are stopped; returns what went wrong, or ""."""
    env = asciinema.own_env(os.environ, recording.folder)
    version = asciinema.find_version(env)
    if version is None:
        builtin.record(recording.attach, recording.cast, recording.size, os.environ, is_stopped)
        return ""
    line = asciinema.attach_line(recording.attach, os.environ.get("HOME"))
    argv = asciinema.record_argv(version, recording.size, line, recording.cast)
    _note_start(recording, time.time())
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, env=env, start_new_session=True)
    try:
        note_process(recording.folder, os.getpid(), child.pid)
        leave_at, start = 0.0, 0.0
        while child.poll() is None and not (leave_at and time.monotonic() > leave_at):
            if not start and (start := began_at(recording.cast)):
                _note_start(recording, start)
            if not leave_at and is_stopped():
                child.terminate()
                leave_at = time.monotonic() + _GRACE_S
            try:
                child.wait(_TICK_S)
            except subprocess.TimeoutExpired:
                pass
    finally:
        # asciinema 2 has a second process, which outlives the first when that is killed.
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = child.wait()
    return f"asciinema ended with code {code}" if code and not is_stopped() else ""


def conclude(recording: Recording, problem: str) -> None:
    """Leaves a whole cast; beside it an error file where the agent's screen was never seen or writing failed."""
    try:
        is_half = repair(recording.cast)
    except OSError as error:
        is_half, problem = False, problem or str(error)
    problem = problem or (_HALF if is_half else "")
    if not problem and shows_screen(recording.cast):
        if os.path.exists(recording.error):
            os.unlink(recording.error)
        return
    words = last_words(recording) or "the recorder ended before the agent's screen appeared"
    note_error(recording, f"{problem}\n{words}" if problem else words)


def _note_start(recording: Recording, start: float) -> None:
    note_start(recording.cast, start, recording.size, title_of(recording.cast), shlex.join(recording.attach))


if __name__ == "__main__":
    main()
