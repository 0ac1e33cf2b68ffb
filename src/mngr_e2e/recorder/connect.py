"""`mngr-e2e-connect`: the connect command that records an agent's terminal instead of showing it."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

import msgspec

from mngr_e2e.recorder.evidence import last_words, note_error, shows_screen
from mngr_e2e.recorder.ledger import Recording, note_process, reserve

ARTIFACTS = "MNGR_E2E_ARTIFACTS"
SIZE = (120, 32)
_BEGIN_S = 5.0
_TICK_S = 0.02
# tmux refuses to attach from within tmux; what carries the agent's id is killed with the agent.
_NOT_OURS = ("TMUX", "TMUX_PANE", "MNGR_AGENT_ID")
_SETTING = 'in the config: [commands.create] connect_command = "mngr-e2e-connect"'


def main(argv: Sequence[str] | None = None) -> int:
    """Starts a recording and returns as soon as it shows the agent's screen; it goes on in the background.

    Returns 2 for a wrong call. A recording that fails is a warning, never a failure of what created the agent.
    """
    parser = argparse.ArgumentParser(
        prog="mngr-e2e-connect",
        description="Record the terminal of an agent with asciinema, in the background. mngr runs this, "
        + _SETTING,
    )
    parser.add_argument(
        "--out", default="", metavar="DIR", help=f"instead of ${ARTIFACTS}; gets casts/N-AGENT.cast"
    )
    parser.add_argument(
        "--size", type=_size, default=SIZE, metavar="COLSxROWS", help="of the terminal: 120x32"
    )
    options = parser.parse_args(argv)
    artifacts = options.out or os.environ.get(ARTIFACTS, "")
    try:
        attach = msgspec.json.decode(os.environ.get("MNGR_ATTACH_ARGV", ""), type=tuple[str, ...])
    except msgspec.MsgspecError:
        attach = ()
    if not artifacts:
        sys.stderr.write(
            f"error: no place for the recording: {ARTIFACTS} is not set\n"
            "hint: the e2e fixture sets it; without it: mngr-e2e-connect --out DIR\n"
        )
        return 2
    if not attach:
        sys.stderr.write(
            "error: no agent to attach to: MNGR_ATTACH_ARGV holds no command\n"
            f"hint: mngr runs this, {_SETTING}\n"
        )
        return 2
    artifacts = os.path.abspath(artifacts)
    try:
        recording = reserve(artifacts, os.environ.get("MNGR_AGENT_NAME", "agent"), options.size, attach)
        problem = begin(recording, os.environ)
    except OSError as error:
        problem = str(error)
    if problem:
        sys.stderr.write(f"warning: the agent's terminal is not recorded: {problem}\n")
    return 0


def begin(recording: Recording, env: Mapping[str, str]) -> str:
    """Starts the recorder and waits until it shows the agent's screen; returns what is wrong otherwise, or ""."""
    with open(recording.log, "ab") as log:
        kept = {name: value for name, value in env.items() if name not in _NOT_OURS}
        recorder = subprocess.Popen(
            [sys.executable, "-P", "-m", "mngr_e2e.recorder.background", msgspec.json.encode(recording)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env=kept | {"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"},
        )
    try:
        note_process(recording.folder, recorder.pid, recorder.pid)
    except OSError:
        recorder.terminate()
        recorder.wait()
        raise
    deadline = time.monotonic() + _BEGIN_S
    while time.monotonic() < deadline:
        is_over = recorder.poll() is not None
        if is_over and os.path.exists(recording.error):
            with open(recording.error) as file:
                return file.read().strip()
        if shows_screen(recording.cast):
            return ""
        if is_over:
            ended = f"the recorder ended with code {recorder.returncode}"
            return note_error(recording, f"{ended}\n{last_words(recording)}".strip())
        time.sleep(_TICK_S)
    return note_error(
        recording, f"its screen was not seen within {_BEGIN_S:.0f} s\n{last_words(recording)}".strip()
    )


def _size(word: str) -> tuple[int, int]:
    cols, _, rows = word.partition("x")
    if not (cols.isdecimal() and rows.isdecimal() and 0 < int(cols) < 1000 and 0 < int(rows) < 1000):
        raise argparse.ArgumentTypeError(f'"{word}" is no size; write COLSxROWS, for example 120x32')
    return int(cols), int(rows)


if __name__ == "__main__":
    sys.exit(main())
