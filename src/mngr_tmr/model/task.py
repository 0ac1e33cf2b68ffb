"""One collected test, and what it is called as an agent, a branch and a folder."""

from msgspec import Struct

from mngr_tmr.model.slug import agent_name, slug


class Task(Struct, frozen=True):
    """One test for one agent; `blocks` are the texts of the tutorial blocks that it cites."""

    node_id: str
    slug: str
    file: str = ""
    line: int = 0
    blocks: tuple[str, ...] = ()
    expected_s: float = 0.0


def make_task(node_id: str, *, file: str = "", line: int = 0, blocks: tuple[str, ...] = ()) -> Task:
    return Task(node_id, slug(node_id), file or node_id.partition("::")[0], line, blocks)


def agent_of(run: str, task: str, attempt: int = 1) -> str:
    """The agent's name for an attempt at a task: the same every time, so that a lost agent is found again."""
    return agent_name("tmr", run, task, *(() if attempt == 1 else (str(attempt),)))


def branch_of(run: str, task: str, attempt: int = 1) -> str:
    return f"tmr/{run}/{task}" + ("" if attempt == 1 else f"-{attempt}")


def integrated_branch(run: str) -> str:
    return f"tmr/{run}/integrated"
