"""Agents as a table for people."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from mngr.cli.render import state_text
from mngr.cli.terminal_text import fit, paint, width
from mngr.model.agent import Agent, AgentState
from mngr_lib.safe_text import one_line

_COLOURS = {
    AgentState.CREATING: "blue",
    AgentState.RUNNING: "green",
    AgentState.WAITING: "yellow",
    AgentState.DONE: "dim",
    AgentState.STOPPED: "dim",
    AgentState.UNKNOWN: "red",
}
_GAP = "  "


def agents_table(agents: Sequence[Agent], *, colour: bool, cells: int, marked: bool = False) -> str:
    """NAME, STATE, TYPE, BRANCH, AGE, and HOST and LABELS where there is anything to say."""
    now = time.time()

    def host_text(agent: Agent) -> str:
        host = agent.host
        if host.provider == "local":
            return "local"
        return host.address if host.state == "RUNNING" else f"{host.address} ({host.state.lower()})"

    columns: list[tuple[str, Callable[[Agent], str]]] = [
        ("NAME", lambda agent: agent.name),
        ("STATE", state_text),
        ("TYPE", lambda agent: agent.type),
    ]
    if any(agent.host.provider != "local" for agent in agents):
        columns.append(("HOST", host_text))
    columns += [
        ("BRANCH", lambda agent: agent.branch),
        ("AGE", lambda agent: age_text(now - _created(agent, now))),
    ]
    if any(agent.labels for agent in agents):
        columns.append(("LABELS", lambda agent: labels_text(agent.labels)))
    rows = [[show(agent) for _, show in columns] for agent in agents]
    if marked:
        columns = [("", _mark), *columns]
        rows = [[_mark(agent), *row] for agent, row in zip(agents, rows, strict=True)]
    state = [title for title, _ in columns].index("STATE")

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint(text, "bold", colour)
        shade = _COLOURS[agents[row].state] if column == state else "yellow" if marked and column == 0 else ""
        return paint(text, shade, colour)

    return align([[title for title, _ in columns], *rows], cells, painted)


def align(
    rows: Sequence[Sequence[str]], cells: int, paint_cell: Callable[[int, int, str], str] | None = None
) -> str:
    """Columns under each other, each cell made safe; on a narrow terminal the widest give way. Row -1 is the header."""
    rows = [[one_line(text) for text in row] for row in rows]
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = cells - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for number, row in enumerate(rows):
        texts = []
        for column, text in enumerate(row):
            text = fit(text, widths[column])
            padding = " " * (widths[column] - width(text)) if column < len(row) - 1 else ""
            texts.append((paint_cell(number - 1, column, text) if paint_cell else text) + padding)
        lines.append(_GAP.join(texts).rstrip())
    return "\n".join(lines)


def labels_text(labels: dict[str, str]) -> str:
    return ",".join(f"{key}={value}" if value else key for key, value in sorted(labels.items()))


def age_text(seconds: float) -> str:
    """`42s`, `7m`, `3h`, `5d`."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def needs_me(agent: Agent) -> bool:
    """Whether a person is waited for, or something ended badly."""
    return agent.state in (AgentState.WAITING, AgentState.UNKNOWN) or bool(agent.exit_code or agent.signal)


def _created(agent: Agent, now: float) -> float:
    try:
        return datetime.fromisoformat(agent.created_at or "").timestamp()
    except ValueError:
        return now


def _mark(agent: Agent) -> str:
    return ">" if needs_me(agent) else " "
