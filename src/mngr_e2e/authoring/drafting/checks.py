"""What of an agent's drafts can be taken, and what is wrong with the rest."""

from collections.abc import Callable, Sequence

from mngr_e2e.authoring.agent.conversation import Verdict
from mngr_e2e.authoring.drafting.blocks import readable
from mngr_e2e.authoring.drafting.compare import compare_tutorials
from mngr_e2e.authoring.repository import PLAIN_MODES, FileChange
from mngr_e2e.authoring.rules import FILES, FILLED, UNDER_GAP, RuleFinding
from mngr_e2e.tutorial.blocks import Block, read_blocks

Added = dict[str, tuple[str, ...]]
"""Lines under gaps, by gap id."""

Proofread = Callable[[Block, str, str], Sequence[RuleFinding]]


def judge_files(
    changes: Sequence[FileChange], allowed: Callable[[str], bool], what: str
) -> list[RuleFinding]:
    """A finding for every file that was touched and may not be, and for what is no plain file any more."""
    found = []
    for change in changes:
        path = readable(change.path)
        if not allowed(change.path):
            did = "was changed or added" if change.blob else "was deleted"
            found.append(RuleFinding(FILES, path, f"this file {did}, and only {what} may be; put it back"))
        elif change.mode not in PLAIN_MODES:
            problem = "it must be a plain file" if change.blob else "this file was deleted; put it back"
            found.append(RuleFinding(FILES, path, problem))
    return found


def judge_drafts(
    path: str, before: bytes, after: bytes, gaps: Sequence[Block], proofread: Proofread
) -> Verdict[Added]:
    """The lines under each gap that is well filled. When a human-written line changed, nothing is good."""
    compared = compare_tutorials(path, before, after, gaps)
    if compared.findings:
        return Verdict({}, compared.findings)
    wrong: list[RuleFinding] = []
    for gap in gaps:
        where, lines = f"{path}:{gap.first_line}", compared.added[gap.id]
        if not lines:
            wrong.append(RuleFinding(FILLED, where, f"this gap has no example yet: {gap.title}", gap.id))
            continue
        is_under = bool(lines[0].strip())
        if not is_under:
            problem = f"the first example must stand directly under the comment: {gap.title}"
            wrong.append(RuleFinding(UNDER_GAP, where, problem, gap.id))
        for block in read_blocks("\n".join([*gap.lines, *map(readable, lines)])):
            if block.commands:
                wrong += proofread(block, where, gap.id)
            elif is_under:
                problem = f"every block under this gap needs a command: {block.title}"
                wrong.append(RuleFinding(UNDER_GAP, where, problem, gap.id))
    bad = {finding.subject for finding in wrong}
    good = {gap: lines for gap, lines in compared.added.items() if gap not in bad}
    return Verdict(good, tuple(wrong))
