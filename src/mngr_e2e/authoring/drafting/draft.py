"""`draft`: an agent adds examples under gaps; they are checked, marked as unreviewed, and put into the tutorial.

Nothing is copied from the agent's file but the lines it added under a gap, so every other byte stays the user's.
"""

import time
from collections.abc import Sequence

from msgspec import Struct

import mngr
from mngr_e2e.authoring import signals
from mngr_e2e.authoring.agent.conversation import Conversation, Verdict, converse
from mngr_e2e.authoring.agent.prompts import draft_prompt
from mngr_e2e.authoring.agent.workplace import Author, Say, Workplace
from mngr_e2e.authoring.drafting.blocks import decode, fill_gaps
from mngr_e2e.authoring.drafting.checks import Added, judge_drafts, judge_files
from mngr_e2e.authoring.interface.material import Material
from mngr_e2e.authoring.repository import find_repository, write_file
from mngr_e2e.authoring.rules import FILLED, RuleFinding
from mngr_e2e.tutorial.blocks import Block, read_blocks
from mngr_e2e.tutorial.syntax import syntax_problem
from mngr_lib.suggest import did_you_mean

ANYONE = Author()
ANYTHING = Material()


class Left(Struct, frozen=True):
    """A gap that got no draft, and why."""

    gap: Block
    findings: tuple[RuleFinding, ...] = ()


class DraftReport(Struct, frozen=True):
    """What came of it. `findings` are all that was wrong on the way; `prompt` is what a dry run would send first."""

    tutorial: str
    drafted: tuple[Block, ...] = ()
    left: tuple[Left, ...] = ()
    findings: tuple[RuleFinding, ...] = ()
    notes: tuple[str, ...] = ()
    prompt: str = ""


def draft(
    tutorial: str,
    gap_ids: Sequence[str] = (),
    *,
    author: Author = ANYONE,
    material: Material = ANYTHING,
    manager: "mngr.Manager | None" = None,
    say: Say = lambda _: None,
) -> DraftReport:
    """Fills gaps of a tutorial with drafts, all or those named. Without a gap no agent is started.

    An agent that fails is an AgentFailedError; then, and on an interrupt, the tutorial is as it was.
    """
    desk = Desk(tutorial, author, material)
    gaps = choose_gaps(desk.blocks, gap_ids)
    conversations = []
    for start in range(0, len(gaps), author.batch):
        conversations.append(desk.ask(gaps[start : start + author.batch], manager or mngr.Manager(), say))
    return desk.finish(gaps, conversations)


def plan_draft(
    tutorial: str, gap_ids: Sequence[str] = (), *, author: Author = ANYONE, material: Material = ANYTHING
) -> DraftReport:
    """What `draft` would do: the gaps, and the prompt of the first agent. Starts nothing."""
    desk = Desk(tutorial, author, material)
    gaps = choose_gaps(desk.blocks, gap_ids)
    prompt = desk.prompt(gaps[: author.batch]) if gaps else ""
    return DraftReport(tutorial, left=tuple(Left(gap) for gap in gaps), prompt=prompt)


def choose_gaps(blocks: Sequence[Block], ids: Sequence[str]) -> list[Block]:
    """The gaps that wait for a draft, or those of them that are named; of equal gaps the first."""
    known = {gap.id: gap for gap in reversed(blocks) if gap.kind == "gap" and not gap.is_draft}
    for name in ids:
        if name not in known:
            hint = did_you_mean(name, known, else_hint="see: mngr tutorial gaps --json", form="{}")
            raise mngr.UsageError(f'no gap "{name}"', hint=hint)
    return sorted((known[name] for name in ids or known), key=lambda gap: gap.first_line)


class Desk:
    """A tutorial as it is when the drafting begins."""

    def __init__(self, tutorial: str, author: Author, material: Material) -> None:
        self._tutorial, self._author, self._material = tutorial, author, material
        self._repository = find_repository(tutorial)
        self._path = self._repository.relative(tutorial)
        text = decode(_read(tutorial))
        if problem := syntax_problem(text):
            raise mngr.UsageError(f"{tutorial} is not valid shell: {problem}", hint="fix it first")
        self.blocks = read_blocks(text)
        self._proofreader = material.proofreader(self.blocks, self._repository.top)
        self._notes: dict[str, None] = {}

    def ask(self, gaps: Sequence[Block], manager: "mngr.Manager", say: Say) -> Conversation[Added]:
        """One agent for one batch of gaps."""
        base = self._repository.snapshot()
        with Workplace(manager, self._repository, self._author, base, "draft") as place:
            say(f"agent {place.name} ({self._author.type}): {len(gaps)} gap{'s'[: len(gaps) > 1]}")

            def judge(commit: str) -> Verdict[Added]:
                return self._judge(base, commit, gaps)

            conversation = converse(place, self.prompt(gaps), judge, self._author.rounds, say)
        found = [finding for wrong in conversation.rounds for finding in wrong]
        path = signals.signals_path(self._repository.top)
        signals.append(path, signals.signals_of(found, self._path, time.time()))
        return conversation

    def prompt(self, gaps: Sequence[Block]) -> str:
        top, material = self._repository.top, self._material
        help_text = material.help_text(self.blocks, top)
        return draft_prompt(
            self._path, gaps, material.reference, help_text, material.path(material.prompts, top)
        )

    def finish(self, gaps: Sequence[Block], conversations: Sequence[Conversation[Added]]) -> DraftReport:
        """Puts what is good under the gaps of the tutorial as it is now."""
        now = _read(self._tutorial)
        there = {block.id for block in read_blocks(decode(now)) if block.kind == "gap"}
        good = {
            gap: lines for one in conversations for gap, lines in one.verdict.good.items() if gap in there
        }
        filled = fill_gaps(now, good)
        if good:
            write_file(self._tutorial, filled)
        wrong = [finding for one in conversations for finding in one.verdict.findings]
        left = []
        for gap in gaps:
            if gap.id not in good:
                own = tuple(finding for finding in wrong if finding.subject in ("", gap.id))
                edited = RuleFinding(FILLED, "", "the gap was edited while the agent worked", gap.id)
                left.append(Left(gap, own or (edited,)))
        return DraftReport(
            self._tutorial,
            drafted=tuple(
                block for block in read_blocks(decode(filled)) if block.is_draft and block.id not in there
            ),
            left=tuple(left),
            findings=tuple(
                dict.fromkeys(one for each in conversations for found in each.rounds for one in found)
            ),
            notes=tuple(self._notes),
        )

    def _judge(self, base: str, commit: str, gaps: Sequence[Block]) -> Verdict[Added]:
        changes = self._repository.changes(base, commit)
        outside = judge_files(changes, lambda path: path == self._path, self._path)
        before, after = (
            self._repository.files(one, [self._path]).get(self._path, b"") for one in (base, commit)
        )
        verdict = judge_drafts(self._path, before, after, gaps, self._proofread)
        return Verdict({} if outside else verdict.good, (*outside, *verdict.findings))

    def _proofread(self, block: Block, where: str, subject: str) -> Sequence[RuleFinding]:
        proof = self._proofreader.read(block, where, subject)
        self._notes |= dict.fromkeys(proof.notes)
        return proof.findings


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
