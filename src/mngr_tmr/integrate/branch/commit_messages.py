"""What the commits of the integrated branch say: titles, who made it, and trailers that only we write."""

from collections.abc import Iterable, Sequence

from mngr_tmr.agent_text import one_line, quoted, subject, trailer
from mngr_tmr.integrate.split.change import Source, Unit

RANK, REASON, TASK, DEPENDS = "Tmr-Rank", "Tmr-Reason", "Tmr-Task", "Depends-on"
_MOST_LINES = 300


def fix_message(unit: Unit, rank: int, reason: str, depends_on: Sequence[str]) -> str:
    """The message of an implementation commit."""
    said = quoted("\n\n".join(text for text in (unit.summary, unit.reason) if text.strip()))
    trailers = [trailer(RANK, str(rank)), trailer(REASON, reason), *_tasks(unit.sources)]
    trailers += [trailer(DEPENDS, commit) for commit in depends_on]
    notes = (
        "Labelled as a change of another kind; its paths are implementation." if _is_mislabelled(unit) else ""
    )
    return _message(subject(unit.title, f"a fix for {unit.tasks[0]}"), [notes, said], trailers)


def squashed_message(units: Sequence[Unit]) -> str:
    """The message of the one commit with everything that is not implementation."""
    tasks = dict.fromkeys(source.task for unit in units for source in unit.sources)
    lines = [f"- {one_line(unit.title, 100)} ({one_line(unit.sources[0].node_id, 200)})" for unit in units]
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"- and {len(lines) - _MOST_LINES} more"]
    noun = "task" if len(tasks) == 1 else "tasks"
    listed = quoted("\n".join(lines), limit=100_000)
    return _message(f"tests, docs: what {len(tasks)} {noun} changed", [listed], _tasks(_sources(units)))


def _sources(units: Iterable[Unit]) -> list[Source]:
    return [source for unit in units for source in unit.sources]


def _tasks(sources: Iterable[Source]) -> list[str]:
    credited = dict.fromkeys((source.task, source.node_id) for source in sources)
    return [trailer(TASK, f"{task} {node_id}") for task, node_id in credited]


def _is_mislabelled(unit: Unit) -> bool:
    return any(source.is_mislabelled for source in unit.sources)


def _message(title: str, paragraphs: Iterable[str], trailers: Iterable[str]) -> str:
    parts = [title, *(text for text in paragraphs if text), "\n".join(trailers)]
    return "\n\n".join(part for part in parts if part) + "\n"
