"""`E2eSession`: what the fixture `e2e` gives a test."""

import os
import re
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mngr_e2e.recorder.stop import stop_recorders
from mngr_e2e.session.artifacts import ClaimedAttempt, Status, running_meta, write_meta
from mngr_e2e.session.kept import Kept
from mngr_e2e.session.result import Result
from mngr_e2e.session.runner import Job, run_job
from mngr_e2e.session.steps import TerminalSteps
from mngr_e2e.session.terminal import Shape, Terminal
from mngr_e2e.session.transcript import CommandRecord, Transcript, piece
from mngr_e2e.session.world.isolation import World, end_world, keep_world, make_world
from mngr_e2e.tutorial.blocks import block_id
from mngr_e2e.tutorial.citations import docstring_blocks


class E2eSession:
    """Runs commands in a world of the test's own and writes down what they did."""

    def __init__(
        self,
        attempt: ClaimedAttempt,
        *,
        shell: str = "sh",
        timeout_s: float = 60,
        output_mb: float = 10,
        record: bool = True,
    ) -> None:
        self._attempt, self._shell, self._timeout_s = attempt, shell, timeout_s
        self._output_bytes = int(output_mb * 1_000_000)
        self._started = time.time()
        self._blocks: list[str] = []
        self._terminals: list[Terminal] = []
        self.timed_out = False
        self._meta = running_meta(attempt, self._started)
        write_meta(attempt.folder, self._meta)
        self._transcript = Transcript(attempt.folder)
        try:
            self._world: World = make_world(attempt.folder, os.environ, record=record)
        except BaseException as error:
            self._transcript.close()
            self.mark_error(f"the test's world could not be made: {error}")
            raise

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

    def run(  # noqa: PLR0913 - the arguments of subprocess.run, and an alias
        self,
        command: str,
        *,
        comment: str = "",
        timeout: float | None = None,
        timeout_s: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: "str | os.PathLike[str] | None" = None,
        stdin: str | bytes | None = None,
    ) -> Result:
        """Runs a line of shell to its end; a timeout is a Result with exit code 124, not an exception.

        Of each stream the first and last 5 MB are kept (mark e2e(output_mb=10)) and the rest is counted.
        `cwd` counts from the test's repository, `env` is added to the session's, stdin is empty unless given.
        `timeout` is in seconds, by default that of the mark e2e; `timeout_s` is another name of it.
        """
        if timeout is not None and timeout_s is not None:
            raise TypeError("timeout and timeout_s are the same: give one of them")
        seconds = timeout_s if timeout is None else timeout
        job = Job(
            (self._shell, "-c", command),
            {**self.env, **(env or {})},
            self._world.repo if cwd is None else os.path.join(self._world.repo, cwd),
            self._timeout_s if seconds is None else seconds,
            stdin.encode() if isinstance(stdin, str) else stdin,
        )
        return self._run(command, comment, job)

    def write_tutorial_block(self, text: str) -> None:
        """Cites a block of the tutorial: dedented, stripped, saved with the artifacts. May be called again."""
        first, newline, rest = text.partition("\n")
        # Where a citation starts right after its quotes, the indent of the first line tells nothing of the others.
        if first.strip():
            text = first.lstrip() + newline + textwrap.dedent(rest)
        self._blocks.append(textwrap.dedent(text).strip())
        with open(self.artifacts / "tutorial_block.txt", "w", encoding="utf-8") as file:
            file.write("\n\n".join(self._blocks) + "\n")

    def cite_docstring(self, docstring: str) -> None:
        """Cites the blocks of the tutorial that a test's docstring holds after "Tutorial block:"."""
        for _, block in docstring_blocks(docstring)[0]:
            self.write_tutorial_block(block)

    def terminal(self, command: str, cols: int = 100, rows: int = 30, *, name: str = "") -> Terminal:
        """Starts a full-screen program on a screen of its own, recorded, closed at the test's end."""
        words = re.sub(r"[^A-Za-z0-9_]+", "-", name or command)[:30].strip("-")
        numbered = f"{len(self._terminals) + 1}-{words}".rstrip("-")
        shape = Shape(command, self._world.repo, numbered, cols, rows)
        steps = TerminalSteps(self._transcript, self._world.repo, numbered)
        terminal = Terminal(self._world, shape, self._attempt.folder, steps)
        self._terminals.append(terminal)
        return terminal

    def finish(self, status: Status, *, keep: bool = False, reason: str = "") -> str:
        """Ends the test's world, or keeps it and returns how to enter it; writes `meta.json` in any case."""
        self._write_meta(
            status=status,
            duration_s=time.time() - self._started,
            blocks=tuple(self._blocks),
            block_ids=tuple(map(block_id, self._blocks)),
            reason=reason,
        )
        self._transcript.close()
        for terminal in self._terminals:
            terminal.await_recorder()
        stop_recorders(self._attempt.folder)
        if keep:
            return keep_world(self._world, self._attempt.folder)
        if left := end_world(self._world):
            raise RuntimeError(f"still running after the test: {', '.join(map(str, left))}")
        return ""

    def mark_error(self, reason: str = "") -> None:
        """Turns a pass into an error: something broke before the test's own beginning or after its end."""
        if self._meta.status in ("passed", "running"):
            self._write_meta(status="error", reason=self._meta.reason or reason)

    def _write_meta(self, **changes: object) -> None:
        self._meta = msgspec.structs.replace(self._meta, **changes)
        write_meta(self._attempt.folder, self._meta)

    def _run(self, command: str, comment: str, job: Job) -> Result:
        start = time.time()
        writer = self._transcript.begin(command, comment)
        kept = Kept(self._output_bytes, writer.hear)
        record = CommandRecord(start, 0.0, job.cwd, command, comment, None, False, ())
        try:
            ended = run_job(job, kept.hear)
            record = msgspec.structs.replace(record, exit_code=ended.exit_code, timed_out=ended.timed_out)
        finally:
            writer.hear_rest(kept)
            self._transcript.end(
                msgspec.structs.replace(
                    record,
                    duration=time.time() - record.start,
                    chunks=tuple(map(piece, kept.chunks)),
                    stdout_left_out=kept.left_out("stdout"),
                    stderr_left_out=kept.left_out("stderr"),
                )
            )
        writer.end(ended, job.timeout_s)
        self.timed_out = self.timed_out or ended.timed_out
        return Result(
            command,
            ended.exit_code,
            kept.streams["stdout"].text,
            kept.streams["stderr"].text,
            ended.duration_s,
            ended.timed_out,
            comment,
            job.cwd,
            kept.left_out("stdout"),
            kept.left_out("stderr"),
        )
