"""What a person reads about a change: one line an agent, its notes below."""

from mngr.model.agent import Change
from mngr_lib.safe_text import one_line


def change_text(done: str, change: Change, *, unchanged: str = "") -> str:
    """`Stopped foo`, and each note indented."""
    word = done if change.changed else unchanged or f"{done} already"
    return with_notes(f"{word} {one_line(change.agent.name)}", change.notes)


def with_notes(line: str, notes: tuple[str, ...]) -> str:
    return "\n".join([line, *(f"  {one_line(note)}" for note in notes)])
