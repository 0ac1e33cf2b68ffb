"""`sync`: agents bring tests in step with the tutorial; what they write is checked, never run.

Stale citations come first, then blocks without a test, a batch an agent. Each agent starts from what was accepted
of the ones before it. The user's files are written once, at the end.
"""

from collections.abc import Sequence

from msgspec import Struct

import mngr
from mngr_e2e.authoring.agent.conversation import Verdict, converse
from mngr_e2e.authoring.agent.prompts import sync_prompt
from mngr_e2e.authoring.agent.workplace import AgentFailedError, Author, Say, Workplace
from mngr_e2e.authoring.batch import Batch, next_batch
from mngr_e2e.authoring.drafting.blocks import decode, readable
from mngr_e2e.authoring.drafting.checks import judge_files
from mngr_e2e.authoring.drafting.draft import ANYONE, ANYTHING
from mngr_e2e.authoring.interface.material import Material
from mngr_e2e.authoring.repository import FileChange, find_repository
from mngr_e2e.authoring.rules import RuleFinding
from mngr_e2e.authoring.syncing.checks import Tests, judge_tests, read_moment
from mngr_e2e.tutorial.blocks import read_blocks
from mngr_e2e.tutorial.check import Report
from mngr_e2e.tutorial.citations import is_test_file
from mngr_e2e.tutorial.syntax import syntax_problem


class SyncReport(Struct, frozen=True):
    """What came of it: the check before and after, the files that were written, what was wrong on the way."""

    before: Report
    after: Report
    files: tuple[str, ...] = ()
    findings: tuple[RuleFinding, ...] = ()
    batches: tuple[str, ...] = ()
    prompt: str = ""

    @property
    def is_green(self) -> bool:
        return self.after.is_green


def sync(
    tutorial: str,
    tests: Sequence[str],
    *,
    author: Author = ANYONE,
    material: Material = ANYTHING,
    manager: "mngr.Manager | None" = None,
    say: Say = lambda _: None,
) -> SyncReport:
    """Brings test files in step with a tutorial. When they are already, no agent is started.

    An agent that fails is an AgentFailedError; then, and on an interrupt, the user's files are as they were.
    """
    step = Step(tutorial, tests, author, material)
    tried: frozenset[str] = frozenset()
    findings: list[RuleFinding] = []
    titles: list[str] = []
    try:
        while (batch := next_batch(step.now.report, tried, author.batch)).keys:
            titles.append(batch.title)
            tried |= batch.keys
            findings += step.ask(batch, manager or mngr.Manager(), say)
    except BaseException as error:
        step.tell_what_is_kept(error, say)
        raise
    files = step.write()
    unique = tuple(dict.fromkeys(findings))
    return SyncReport(step.first.report, step.now.report, files, unique, tuple(titles))


def plan_sync(
    tutorial: str, tests: Sequence[str], *, author: Author = ANYONE, material: Material = ANYTHING
) -> SyncReport:
    """What `sync` would ask the first agent, and how many agents there would be. Starts nothing."""
    step = Step(tutorial, tests, author, material)
    report = step.now.report
    first = next_batch(report, frozenset(), author.batch)
    titles, tried = [], frozenset[str]()
    while (batch := next_batch(report, tried, author.batch)).keys:
        titles.append(batch.title)
        tried |= batch.keys
    return SyncReport(report, report, batches=tuple(titles), prompt=step.prompt(first) if first.keys else "")


class Step:
    """The tests as they were at first, and as they are with what was accepted since."""

    def __init__(self, tutorial: str, tests: Sequence[str], author: Author, material: Material) -> None:
        self._author, self._material = author, material
        self._repository = find_repository(tutorial)
        self._tutorial = self._repository.relative(tutorial)
        self._tests = [self._repository.relative(path) for path in tests]
        self._base = self._commit = self._repository.snapshot()
        text = decode(self._repository.files(self._commit, [self._tutorial]).get(self._tutorial, b""))
        self._blocks = read_blocks(text)
        problem = next((block.problem for block in self._blocks if block.problem), "") or syntax_problem(text)
        if problem:
            raise mngr.UsageError(f"{tutorial} is not valid shell: {problem}", hint="fix it first")
        self.first = self.now = self._moment(self._commit)

    def ask(self, batch: Batch, manager: "mngr.Manager", say: Say) -> list[RuleFinding]:
        """One agent for one batch; what is good of it becomes what the next one starts from."""
        author, commit = self._author, self._commit
        with Workplace(manager, self._repository, author, commit, "sync") as place:
            say(f"agent {place.name} ({author.type}): {batch.title}")

            def judge(after: str) -> Verdict[tuple[FileChange, ...]]:
                return self._judge(commit, after, batch)

            conversation = converse(place, self.prompt(batch), judge, author.rounds, say)
        if conversation.verdict.good:
            self._commit = self._repository.with_files(commit, conversation.verdict.good)
            self.now = self._moment(self._commit)
        return [finding for wrong in conversation.rounds for finding in wrong]

    def prompt(self, batch: Batch) -> str:
        folder = self._material.path(self._material.prompts, self._repository.top)
        return sync_prompt(self._tutorial, self._tests, batch, folder)

    def write(self) -> tuple[str, ...]:
        """Puts what was accepted into the user's files, unless one of them was edited meanwhile."""
        changes = self._repository.changes(self._base, self._commit)
        paths = [change.path for change in changes]
        edited = self._repository.edited_since(self._base, paths)
        if edited:
            raise mngr.RefusedError(
                f"edited while the agents worked, so nothing was written: {', '.join(map(readable, edited))}",
                hint=f"take the tests yourself: {self._restore()}",
            )
        contents = self._repository.blobs([change.blob for change in changes])
        self._repository.write(dict(zip(paths, contents, strict=True)))
        return tuple(map(readable, paths))

    def tell_what_is_kept(self, error: BaseException, say: Say) -> None:
        """Work that was accepted before a later agent failed is not lost, though no file was touched."""
        if self._commit == self._base:
            return
        kept = f"what was accepted before is kept for some weeks: {self._restore()}"
        if isinstance(error, AgentFailedError):
            error.hint = f"{error.hint}; {kept}"
        else:
            say(kept)

    def _restore(self) -> str:
        return f"git restore --source {self._commit[:12]} -- {' '.join(self._tests)}"

    def _judge(self, before: str, after: str, batch: Batch) -> Verdict[tuple[FileChange, ...]]:
        changes = self._repository.changes(before, after)
        outside = judge_files(changes, self._may_touch, f"test files below {', '.join(self._tests)}")
        findings = (*outside, *judge_tests(self.now, self._moment(after), batch))
        if any(not finding.subject for finding in findings):
            return Verdict((), findings)
        spoilt = {finding.subject for finding in findings}
        return Verdict(tuple(change for change in changes if readable(change.path) not in spoilt), findings)

    def _may_touch(self, path: str) -> bool:
        below = any(path == place or path.startswith(f"{place}/") or place == "." for place in self._tests)
        return below and is_test_file(path)

    def _moment(self, commit: str) -> Tests:
        files = self._repository.files(commit, self._tests)
        return read_moment(
            self._tutorial, self._blocks, {readable(path): data for path, data in files.items()}
        )
