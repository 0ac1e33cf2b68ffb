"""`E2eSession`: what a test holds in its hand."""

import os
import re
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mngr_e2e.recorder.stop import stop_recorders
from mngr_e2e.session.artifacts import Attempt, Meta, Status, write_meta
from mngr_e2e.session.isolation import World, end_world, keep_world, make_world
from mngr_e2e.session.result import Result
from mngr_e2e.session.runner import Chunk, Ended, Job, run_job
from mngr_e2e.session.terminal import Shape, Terminal
from mngr_e2e.session.transcript import Record, Transcript, piece


class E2eSession:
    """Runs commands in a world of the test's own and writes down what they did."""

    def __init__(self, attempt: Attempt, *, shell: str = "sh", timeout_s: float = 60) -> None:
        self._attempt, self._shell, self._timeout_s = attempt, shell, timeout_s
        self._started = time.time()
        self._blocks: list[str] = []
        self._terminals: list[Terminal] = []
        self._meta = Meta(attempt.node_id, attempt.run, attempt.number, "running", self._started)
        write_meta(attempt.folder, self._meta)
        self._transcript = Transcript(attempt.folder)
        self._world: World = make_world(attempt.folder, os.environ)
        self.timed_out = False

    @property
    def env(self) -> dict[str, str]:
        """The environment of every command; changes made here last for the test."""
        return self._world.env

    @property
    def cwd(self) -> Path:
        """The test's own git repository, where commands run."""
        return Path(self._world.repo)

    @property
    def home(self) -> Path:
        return Path(self._world.home)

    @property
    def artifacts(self) -> Path:
        """Where this attempt's transcript, casts and screens are; put more there."""
        return Path(self._attempt.folder)

    def run(
        self,
        command: str,
        *,
        comment: str = "",
        timeout_s: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: "str | os.PathLike[str] | None" = None,
        stdin: str | bytes | None = None,
    ) -> Result:
        """Runs a line of shell to its end; a timeout is a Result with exit code 124, not an exception.

        `cwd` counts from the test's repository, `env` is added to the session's, stdin is empty unless given.
        """
        job = Job(
            (self._shell, "-c", command),
            {**self.env, **(env or {})},
            self._world.repo if cwd is None else os.path.join(self._world.repo, cwd),
            self._timeout_s if timeout_s is None else timeout_s,
            stdin.encode() if isinstance(stdin, str) else stdin,
        )
        return self._run(command, comment, job)

    def write_tutorial_block(self, text: str) -> None:
        """Cites a block of the tutorial: dedented, stripped, saved with the artifacts. May be called again."""
        self._blocks.append(textwrap.dedent(text).strip())
        with open(self.artifacts / "tutorial_block.txt", "w", encoding="utf-8") as file:
            file.write("\n\n".join(self._blocks) + "\n")

    def terminal(self, command: str, cols: int = 100, rows: int = 30, *, name: str = "") -> Terminal:
        """Starts a full-screen program on a screen of its own, recorded, closed at the test's end."""
        words = re.sub(r"[^A-Za-z0-9_]+", "-", name or command)[:30].strip("-")
        numbered = f"{len(self._terminals) + 1}-{words}".rstrip("-")
        shape = Shape(command, self._world.repo, numbered, cols, rows)
        terminal = Terminal(self._world, shape, self._attempt.folder)
        self._terminals.append(terminal)
        return terminal

    def finish(self, status: Status, *, keep: bool = False) -> str:
        """Ends the test's world, or keeps it and returns how to enter it; writes `meta.json` in any case."""
        duration_s = time.time() - self._started
        self._meta = msgspec.structs.replace(
            self._meta, status=status, duration_s=duration_s, blocks=tuple(self._blocks)
        )
        write_meta(self._attempt.folder, self._meta)
        self._transcript.close()
        stop_recorders(self._attempt.folder)
        if keep:
            return keep_world(self._world, self._attempt.folder)
        if left := end_world(self._world):
            raise RuntimeError(f"still running after the test: {', '.join(map(str, left))}")
        return ""

    def mark_error(self) -> None:
        """Turns a pass into an error: something broke after the test's own end."""
        if self._meta.status in ("passed", "running"):
            self._meta = msgspec.structs.replace(self._meta, status="error")
            write_meta(self._attempt.folder, self._meta)

    def _run(self, command: str, comment: str, job: Job) -> Result:
        start = time.time()
        writer = self._transcript.begin(command, comment)
        chunks: list[Chunk] = []

        def heard(chunk: Chunk) -> None:
            chunks.append(chunk)
            writer.hear(chunk)

        ended: Ended | None = None
        try:
            ended = run_job(job, heard)
            writer.end(ended, job.timeout_s)
        finally:
            writer.flush_partial()
            self._record(
                Record(start, time.time() - start, job.cwd, command, comment, None, False, ()), ended, chunks
            )
        self.timed_out = self.timed_out or ended.timed_out
        return Result(
            command,
            ended.exit_code,
            _text(chunks, "stdout"),
            _text(chunks, "stderr"),
            ended.duration_s,
            ended.timed_out,
            comment,
            job.cwd,
        )

    def _record(self, record: Record, ended: Ended | None, chunks: list[Chunk]) -> None:
        """Writes the line with all bytes and times, also of a command that an exception cut short."""
        code, timed_out = (ended.exit_code, ended.timed_out) if ended else (None, False)
        pieces = tuple(piece(chunk) for chunk in chunks)
        self._transcript.end(
            msgspec.structs.replace(record, exit_code=code, timed_out=timed_out, chunks=pieces)
        )


def _text(chunks: list[Chunk], stream: str) -> str:
    return b"".join(chunk.data for chunk in chunks if chunk.stream == stream).decode(errors="replace")
