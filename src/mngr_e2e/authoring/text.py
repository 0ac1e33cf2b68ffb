"""What came of drafting, reviewing and syncing, in words for a person; nothing in it can move a terminal."""

import time
from collections.abc import Sequence

from mngr_e2e.authoring.drafting.blocks import Draft
from mngr_e2e.authoring.drafting.draft import DraftReport
from mngr_e2e.authoring.interface.proofread import Proof
from mngr_e2e.authoring.signals import SignalGroup
from mngr_e2e.authoring.syncing.sync import SyncReport
from mngr_e2e.tutorial import text as tutorial_text
from mngr_e2e.tutorial.blocks import Block
from mngr_lib.safe_text import one_line

_DAY_S = 86400
_NO_GAPS = "{} has no gaps to fill"


def drafted(report: DraftReport) -> str:
    if not report.drafted and not report.left:
        return _NO_GAPS.format(one_line(report.tutorial))
    lines = [f"drafted  {_place(report, block)}" for block in report.drafted]
    for left in report.left:
        lines.append(f"left     {_place(report, left.gap)}")
        lines += [f"    {one_line(finding.text)}" for finding in left.findings]
    lines += [f"note: {one_line(note)}" for note in report.notes]
    if report.drafted:
        lines.append(f"{_count(len(report.drafted), 'draft')} to review: mngr tutorial review")
    return "\n".join(lines)


def planned_drafts(report: DraftReport) -> str:
    if not report.left:
        return _NO_GAPS.format(one_line(report.tutorial))
    gaps = [f"  {_place(report, left.gap)}" for left in report.left]
    return "\n".join(["would draft:", *gaps, "", "the first prompt:", "", _lines(report.prompt)])


def _place(report: DraftReport, block: Block) -> str:
    return f"{one_line(report.tutorial)}:{block.first_line} ({block.id}): {one_line(block.title)}"


def synced(report: SyncReport) -> str:
    lines = [f"wrote {one_line(path)}" for path in report.files]
    if report.before.is_green:
        lines.append("nothing to do: every block is cited and every citation fits")
    return "\n".join([*lines, tutorial_text.report(report.after, report.is_green)])


def planned_sync(report: SyncReport) -> str:
    if not report.batches:
        return synced(report)
    agents = [f"  agent {number}: {title}" for number, title in enumerate(report.batches, 1)]
    return "\n".join(
        ["would start, one after the other:", *agents, "", "the first prompt:", "", _lines(report.prompt)]
    )


def draft_to_review(tutorial: str, draft: Draft, proof: Proof, place: str = "") -> str:
    """A draft as a person decides on it."""
    section = f"  [{one_line(draft.section)}]" if draft.section else ""
    head = f"{place}{one_line(tutorial)}:{draft.first_line} ({draft.id}){section}"
    body = [f"    {one_line(line)}" for line in draft.text.split("\n")]
    wrong = [f"  ! {one_line(finding.problem)}" for finding in proof.findings]
    notes = [f"  ({one_line(note)})" for note in proof.notes]
    return "\n".join([head, *body, *wrong, *notes])


def ranked(groups: Sequence[SignalGroup], now: float) -> str:
    lines = []
    for group in groups:
        what = one_line(f"{group.command}: {group.what}")
        age_s = now - group.last_at
        if age_s < _DAY_S:
            when = "today"
        elif age_s < 100 * _DAY_S:
            when = f"{_count(int(age_s // _DAY_S), 'day')} ago"
        else:
            when = time.strftime("%Y-%m-%d", time.localtime(group.last_at))
        line = f"{group.id}  {group.count:>3}  {when:>11}  {group.kind:<15}  {what}"
        if group.resolved is not None:
            line += f"  (resolved{': ' if group.resolved else ''}{one_line(group.resolved)})"
        lines.append(line)
    return "\n".join(lines) or "no signals"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _lines(text: str) -> str:
    return "\n".join(map(one_line, text.rstrip("\n").split("\n")))
