"""What the commits of the integrated branch say: titles, who made it, and trailers that only we write."""

from collections.abc import Iterable, Sequence

from mngr_tmr.agent_text import one_line, quoted, subject, trailer
from mngr_tmr.integrate.split.change import ChangeSource, TaskChange

RANK, REASON, TASK, DEPENDS = "Tmr-Rank", "Tmr-Reason", "Tmr-Task", "Depends-on"
_MOST_LINES = 300


def fix_message(change: TaskChange, rank: int, reason: str, depends_on: Sequence[str]) -> str:
    """The message of an implementation commit."""
    summary = quoted("\n\n".join(text for text in (change.summary, change.reason) if text.strip()))
    trailers = [trailer(RANK, str(rank)), trailer(REASON, reason), *_tasks(change.sources)]
    trailers += [trailer(DEPENDS, commit) for commit in depends_on]
    notes = (
        "Labelled as a change of another kind; its paths are implementation."
        if any(source.is_mislabelled for source in change.sources)
        else ""
    )
    return _message(subject(change.title, f"a fix for {change.tasks[0]}"), [notes, summary], trailers)


def squashed_message(changes: Sequence[TaskChange]) -> str:
    """The message of the one commit with everything that is not implementation."""
    tasks = dict.fromkeys(source.task for change in changes for source in change.sources)
    lines = [
        f"- {one_line(change.title, 100)} ({one_line(change.sources[0].node_id, 200)})" for change in changes
    ]
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"- and {len(lines) - _MOST_LINES} more"]
    noun = "task" if len(tasks) == 1 else "tasks"
    listed = quoted("\n".join(lines), limit=100_000)
    return _message(
        f"tests, docs: what {len(tasks)} {noun} changed",
        [listed],
        _tasks([source for change in changes for source in change.sources]),
    )


def _tasks(sources: Iterable[ChangeSource]) -> list[str]:
    credited = dict.fromkeys((source.task, source.node_id) for source in sources)
    return [trailer(TASK, f"{task} {node_id}") for task, node_id in credited]


def _message(title: str, paragraphs: Iterable[str], trailers: Iterable[str]) -> str:
    parts = [title, *(text for text in paragraphs if text), "\n".join(trailers)]
    return "\n\n".join(part for part in parts if part) + "\n"
