"""What a test did on a terminal, told in its transcript, so that each step leads to its second of the recording.

# terminal 1-notes, 100x30
$ notes watch                       the program on it; no exit code, since it goes on

$ [1-notes] keys Down Enter
? 0                                 (or `? 1`: it did not come to show that, and here is what it showed)
"""

import time

import msgspec

from mngr_e2e.session.runner import Chunk, JobEnd
from mngr_e2e.session.transcript import CommandRecord, Transcript, piece

_WORDS_MAX = 200


class TerminalSteps:
    """Writes the steps of one terminal into both forms of the transcript."""

    def __init__(self, transcript: Transcript, cwd: str, terminal: str) -> None:
        self._transcript, self._cwd, self._terminal = transcript, cwd, terminal

    def begin(self, command: str, size: tuple[int, int]) -> None:
        """Notes that a program is being started on the terminal."""
        comment = f"terminal {self._terminal}, {size[0]}x{size[1]}"
        self._transcript.begin(command, comment)
        self._end(CommandRecord(time.time(), 0.0, self._cwd, command, comment, None, False, ()))

    def note(self, words: str, start: float, *, shown: str = "", is_ok: bool = True) -> None:
        """Notes a step that was begun at `start` and is over, with what the terminal showed if that matters."""
        short = words if len(words) <= _WORDS_MAX else f"{words[:_WORDS_MAX]}…"
        command, code = f"[{self._terminal}] {short}", 0 if is_ok else 1
        duration_s = time.time() - start
        heard = (Chunk("stdout", duration_s, f"{shown}\n".encode()),) if shown else ()
        writer = self._transcript.begin(command, "")
        for chunk in heard:
            writer.hear(chunk)
        writer.end(JobEnd(code, duration_s), 0)
        self._end(
            CommandRecord(start, duration_s, self._cwd, command, "", code, False, tuple(map(piece, heard)))
        )

    def _end(self, record: CommandRecord) -> None:
        self._transcript.end(msgspec.structs.replace(record, terminal=self._terminal))
