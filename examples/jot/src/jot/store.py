"""The notes of one file, replaced in one step so that a reader never sees half of it."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path


class JotError(Exception):
    """Something that the user can put right; the hint says how."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass
class Note:
    """One thing to do."""

    id: int
    text: str
    tag: str = ""
    done: bool = False


def place() -> Path:
    """`JOT_FILE`, or `.jot.json` in the home."""
    return Path(os.environ.get("JOT_FILE") or Path.home() / ".jot.json")


def load() -> list[Note]:
    """Every note; none where there is no file yet."""
    path = place()
    try:
        return [Note(**one) for one in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError):
        raise JotError(
            f"{path} holds no notes", "move it away, or name another file: JOT_FILE=PATH"
        ) from None


@contextmanager
def changing() -> Iterator[list[Note]]:
    """The notes to change; saved at the end, while others wait. Nothing is saved after an error."""
    path = place()
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        notes = load()
        yield notes
        fresh = Path(f"{path}.new")
        fresh.write_text(json.dumps([asdict(note) for note in notes], indent=2) + "\n", encoding="utf-8")
        fresh.replace(path)


def add(text: str, tag: str = "") -> Note:
    with changing() as notes:
        note = Note(max((one.id for one in notes), default=0) + 1, text, tag)
        notes.append(note)
    return note


def mark(number: int, *, done: bool) -> Note:
    with changing() as notes:
        note = find(notes, number)
        note.done = done
    return note


def remove(number: int) -> Note:
    with changing() as notes:
        note = find(notes, number)
        notes.remove(note)
    return note


def find(notes: list[Note], number: int) -> Note:
    for note in notes:
        if note.id == number:
            return note
    known = ", ".join(str(note.id) for note in notes) or "none yet"
    raise JotError(f"no note {number}", f"numbers: {known}")


def as_markdown(notes: list[Note]) -> str:
    return "".join(f"- [{'x' if note.done else ' '}] {note.text}\n" for note in notes)
