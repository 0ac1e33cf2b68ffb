"""The evidence for an agent's state, for `list --explain`."""

from mngr.actions.rows import Row
from mngr.model.agent import AgentState
from mngr.tmux.pane import AgentPane, capture


def explain(row: Row) -> tuple[str, ...]:
    """The evidence behind a row's state, each with its age."""
    evidence, folded = row.evidence, row.evidence.folded
    lines = [f"state {row.agent.state}: {row.agent.why or 'nothing says otherwise'}"]
    if evidence.pane:
        pane = evidence.pane
        how = f"dead, code {pane.exit_code}, signal {pane.signal}" if pane.dead else "alive"
        lines.append(f"pane: process {pane.pid} on {pane.tty}, {how}")
    else:
        lines.append("pane: none")
    if evidence.mark:
        lines.append(f"process {evidence.mark.pid}: {'alive' if evidence.alive else 'gone'}")
    if evidence.exit:
        record = evidence.exit
        lines.append(f"exit record: code {record.exit_code}, signal {record.signal}, {_age(row, record.at)}")
    if folded.activity:
        lines.append(f"its own word: {folded.activity}, {_age(row, folded.activity_at)}")
    lines.append(f"last event: {_age(row, folded.last_at)}")
    if row.agent.state == AgentState.UNKNOWN and evidence.pane and not evidence.pane.dead:
        shown = capture(AgentPane(row.host, row.agent.id, row.agent.session))
        lines += [f"screen: {line}" for line in shown.splitlines() if line.strip()]
    return tuple(lines)


def _age(row: Row, at: float | None) -> str:
    return f"{max(0, row.now - at):.0f} s ago" if at else "never"
