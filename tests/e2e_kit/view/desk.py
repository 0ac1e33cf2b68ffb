"""Artifacts to look at, written as the kit writes them or as someone who means no good would."""

import json
from pathlib import Path

from mngr_e2e.session.artifacts import Meta, Status, slug, write_meta
from mngr_e2e.session.transcript import CommandRecord, Piece, Transcript
from mngr_e2e.view.attempts import AttemptFolder, TestRunFolder
from mngr_e2e.view.runs import load_run
from mngr_view.records import Run, Test

T0 = 1_790_000_000.0


class RunDesk:
    """The folder of one run."""

    def __init__(self, artifacts: Path, name: str = "run-1") -> None:
        self.path = artifacts / name
        self.path.mkdir(parents=True)
        self.name = name

    @property
    def folder(self) -> TestRunFolder:
        return TestRunFolder(self.name, str(self.path.resolve()))

    def attempt(self, node_id: str, status: Status = "passed", number: int = 1, start: float = T0) -> Path:
        """An attempt with its `meta.json` and nothing else."""
        path = self.path / slug(node_id) / f"attempt-{number}"
        path.mkdir(parents=True)
        write_meta(str(path), Meta(node_id, self.name, number, status, start, 10.0))
        return path

    def load(self) -> Run:
        return load_run(self.folder).run

    def rows(self) -> dict[str, Test]:
        return {row.id: row for row in self.load().tests}

    def only(self) -> AttemptFolder:
        (found,) = load_run(self.folder).attempts.values()
        return found


def record(
    command: str, start: float = T0, *pieces: tuple[float, str], duration: float = 1.0
) -> CommandRecord:
    chunks = tuple(Piece("stdout", at, text=text) for at, text in pieces)
    return CommandRecord(start, duration, "/repo", command, "", 0, False, chunks)


def write_records(attempt: Path, *records: CommandRecord) -> None:
    """Both forms of the transcript."""
    transcript = Transcript(str(attempt))
    for one in records:
        text = "".join(str(piece.text) for piece in one.chunks)
        transcript.begin(one.command, one.comment)
        transcript.end(one)
        with (attempt / "transcript.txt").open("a") as file:
            file.write("".join(f"  {line}\n" for line in text.splitlines()) + f"? {one.exit_code}\n")
    transcript.close()


def write_cast(attempt: Path, name: str, timestamp: float, *events: tuple[float, str]) -> Path:
    """A recording of version 2."""
    (attempt / "casts").mkdir(exist_ok=True)
    header = {"version": 2, "width": 90, "height": 20, "timestamp": int(timestamp), "title": "shell"}
    lines = [json.dumps(header), *(json.dumps([at, "o", text]) for at, text in events)]
    path = attempt / "casts" / name
    path.write_text("\n".join(lines) + "\n")
    return path
