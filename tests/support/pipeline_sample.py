"""A pipeline's run for the page: fixes, a lie, a loss, an unreadable result, a branch, lanes, and matters raised."""

from typing import Any

from msgspec.structs import replace
from tests.support.page_sample import T0, Sample, command, counting, one_command, tutorial

from mngr_view.chunks import encode
from mngr_view.records import (
    Attempt,
    AttemptKind,
    Balance,
    BranchCommit,
    Cause,
    ConversationTurn,
    Detail,
    Figure,
    Index,
    LabeledFact,
    Lane,
    LaneSpan,
    LeftOut,
    Matter,
    MeasuredOutcome,
    MergedAs,
    Meter,
    Patch,
    Recipe,
    Run,
    Section,
    Seek,
    Status,
    Test,
    TestMeasurement,
    Text,
    TimelineMark,
    Tutorial,
    WeakenedCheck,
    WitnessResults,
    Work,
    WorkChange,
    WorkCommit,
)

FILE = "tests/e2e/test_first_steps.py"
FIX, TESTS, SECOND = "a1" * 20, "b2" * 20, "c3" * 20
OWN = "d4" * 20
SECTIONS = (
    ("implementation", "Implementation fixes", "The agent changed the code under test.", True),
    ("other", "Tests and docs", "No implementation was changed.", True),
    ("blocked", "Blocked", "The agent could not go on.", True),
    ("disputed", "Agent was wrong", "The agent says one thing, the check another.", True),
    ("infrastructure", "No result", "A step of the run failed.", True),
    ("malformed", "Unreadable results", "Shown as it came.", True),
    ("running", "Running", "An agent is at work on it.", False),
    ("queued", "Waiting", "No agent yet.", False),
    ("clean", "Already passing", "The test passes, nothing to change.", False),
    ("added", "Added tests", "Tests that agents added.", True),
)
FIXED = MergedAs(FIX, "separate", 1, "Take from the shelf")
SAME = MergedAs(FIX, "merged_into", 1, "Take from the shelf")
SQUASHED = MergedAs(TESTS, "squashed")
DIFF = """diff --git a/shop/shelf.py b/shop/shelf.py
index 1111111..2222222 100644
--- a/shop/shelf.py
+++ b/shop/shelf.py
@@ -10,3 +10,3 @@ def take(name):
 shelf = load()
-left = wanted - shelf
-- not a header
+left = shelf - wanted
diff --git a/docs/new.md b/docs/new.md
new file mode 100644
--- /dev/null
+++ b/docs/new.md
@@ -0,0 +1 @@
+# New\u202e
"""


def node(name: str) -> str:
    return f"{FILE}::test_{name}"


class PipelineSample(Sample):
    """Collects rows in sections; the rest of the run can be changed before `run` is asked for it."""

    def __init__(self) -> None:
        super().__init__("night · mngr tmr", _tutorial())
        self.rest: dict[str, Any] = {}

    def row(
        self, name: str, section: str, status: Status, work: Work, *tabs: tuple[AttemptKind, str, Detail]
    ) -> None:
        """A row with its tabs: what kind, how it is called, what it shows."""
        attempts = []
        for number, (kind, label, detail) in enumerate(tabs, 1):
            key = f"p{len(self.tests)}/{number}"
            self.chunks[key] = encode(detail)
            attempts.append(Attempt(number, status, T0 + 10, 30.0, key, label, kind))
        reason = work.notes[0] if work.notes else f"why {name} is here"
        blocks = ("b2",) if name == "take" else ()
        self.tests.append(
            Test(
                node(name),
                f"test_{name}",
                FILE,
                status,
                30.0,
                tuple(attempts),
                blocks,
                reason,
                section,
                work,
            )
        )

    def sections(self) -> tuple[Section, ...]:
        found = []
        for name, title, about, is_finding in SECTIONS:
            ids = tuple(test.id for test in self.tests if test.section == name)
            found += [Section(name, title, about, ids, is_finding)] if ids else []
        return tuple(found)

    def run(self, run_id: str = "night", start: float = T0) -> Run:
        lanes = tuple(lane(test.id, at) for at, test in enumerate(self.tests) if test.attempts)
        made: dict[str, Any] = {
            "id": run_id,
            "title": run_id,
            "start": start,
            "tests": tuple(self.tests),
            "duration_s": 300.0,
            "tutorial": self.tutorial,
            "kind": "pipeline",
            "facts": FACTS,
            "sections": self.sections(),
            "lanes": lanes,
        }
        return Run(**(made | self.rest))

    def index(self) -> Index:
        return Index(self.title, T0 + 400, (self.run(),))


def _tutorial() -> Tutorial:
    """With the one block that a row here stands for."""
    whole = tutorial()
    blocks = tuple(
        replace(block, tests=(node("take"),) if block.id == "b2" else ()) for block in whole.blocks
    )
    return replace(whole, blocks=blocks)


FACTS = (
    LabeledFact("state", "finished", "good"),
    LabeledFact("base", "0123456789ab"),
    LabeledFact("slots", "4"),
    LabeledFact("cost", "$1.25"),
    LabeledFact("gate suite", "6 pass, 3 fail (all failed before)", "bad"),
)


def lane(test: str, at: int) -> Lane:
    """An agent's life that begins some seconds after the one before."""
    begin = T0 + 5.0 + at * 2
    moments = (T0, begin, begin + 2, begin + 20, begin + 21, begin + 22, begin + 30)
    kinds = ("queue", "launch", "work", "pull", "stop", "verify")
    spans = tuple(LaneSpan(kind, moments[n], moments[n + 1]) for n, kind in enumerate(kinds))
    return Lane(test, spans)


def pipeline() -> PipelineSample:
    """What most tests look at: one row of most sections, two of one fix, three causes, three commits."""
    sample = PipelineSample()
    _fixes(sample)
    _findings(sample)
    for name in ("rename", "total"):
        agreed = Work("unchanged", "passed", "passed", "passed", "passed", "Nothing to do.")
        sample.row(name, "clean", "passed", agreed, ("agent", "agent", _talk(sample)))
    sample.row("new", "added", "passed", Work(verdict="passed", added_by="help-task"))
    sample.rest = {
        "causes": CAUSES,
        "matters": MATTERS,
        "commits": _commits(sample),
        "recipes": (Recipe("merge the branch", "git merge tmr/night/integrated"),),
        "headline": "on the branch: 1 passes, 1 fails (it failed before)",
        "measured": MEASURED,
        "balance": BALANCE,
        "marks": MARKS,
    }
    return sample


def _fixes(sample: PipelineSample) -> None:
    check = one_command("1 passed\n")
    tried = Detail(
        (
            command("acme create fix-login", "created\n", seeks=(Seek(0, 4.0),)),
            command("acme list", "fix-login\n"),
        ),
        casts=(sample.recording("terminal", counting()),),
    )
    tabs: tuple[tuple[AttemptKind, str, Detail], ...] = (
        ("check", "check at the base", one_command("it fails\n")),
        ("agent", "agent, attempt 1", Detail((), notes=("this attempt was cut off",))),
        ("agent", "agent, attempt 2", _talk(sample)),
        ("try", "try-1: as I found it", tried),
        ("check", "check", check),
    )
    work = Work(
        "fixed",
        "passed",
        "passed",
        "failed",
        "failed",
        "The **sign** was wrong in `take`.\n\n- one\n- two\n\n```\nleft = 1\n```\n<b>bold</b>",
        changes=(
            WorkChange("implementation", (OWN[:12],), "Take from the shelf", 4, "anyone would lose stock"),
        ),
        commits=(WorkCommit(OWN, "take: from the shelf", "implementation", "test", ("shop/shelf.py",), FIX),),
        merged=(FIXED,),
        branch="tmr/night/take",
        commit=OWN,
        matters=(0,),
        facts=(LabeledFact("agent", "tmr-night-take"), LabeledFact("cost", "$0.25")),
        recipes=(Recipe("revert fix 1", f"git revert --no-edit {FIX[:12]}"),),
    )
    sample.row("take", "implementation", "passed", work, *tabs)
    same = Work("fixed", "passed", "passed", "failed", "failed", "The same.", merged=(SAME,))
    sample.row("give", "implementation", "passed", same, ("agent", "agent", _talk(sample)))
    docs = Work("improved", "passed", "passed", "passed", "passed", "A better check.", merged=(SQUASHED,))
    sample.row("help", "other", "passed", docs, ("agent", "agent", _talk(sample)))


def _findings(sample: PipelineSample) -> None:
    blocked = Work("blocked", "failed", "failed", "failed", "failed", "No server.", needs="ACME_SERVER")
    sample.row("sync", "blocked", "error", blocked, ("agent", "agent", _talk(sample)))
    lie = Work("fixed", "passed", "failed", "failed", "failed", "It passes now.", notes=("it lies",))
    sample.row("list", "disputed", "failed", lie, ("agent", "agent", _talk(sample, "E   AssertionError: no")))
    lost = Work(
        verdict="",
        facts=(LabeledFact("failed at", "watch", "bad"),),
        notes=("watch: no sign of life for 25 s",),
    )
    sample.row("export", "infrastructure", "timeout", lost, ("agent", "agent", _talk(sample)))
    torn = Detail((), texts=(Text("the result as it was received", '{"outcome": "fi', "it is cut"),))
    sample.row("torn", "malformed", "error", Work(notes=("it is cut",)), ("agent", "agent", torn))


def _talk(sample: PipelineSample, failure: str = "") -> Detail:
    """An agent's attempt: what it was told and said beside its recording."""
    return Detail(
        (),
        failure=failure,
        casts=(sample.recording("the agent", counting()),),
        conversation=(
            ConversationTurn("user", "Look after this test.", T0),
            ConversationTurn("tool", "$ acme list\n" + "a line of output\n" * 60, T0 + 7),
            ConversationTurn("agent", "The subtraction is the wrong way round.", T0 + 12),
        ),
        texts=(Text("its prompt", "# You look after one test\n"), Text("the check", "it said no", "failed")),
    )


def _commits(sample: PipelineSample) -> tuple[BranchCommit, ...]:
    for commit in (FIX, TESTS, SECOND):
        sample.chunks[f"commit/{commit}"] = encode(Patch(DIFF, "the first 100 of 200 characters"))
    removed = WeakenedCheck("test_deleted", FILE, "test_old", "assert total == 3", "assert total")
    return (
        BranchCommit(
            TESTS, "tests and docs", f"commit/{TESTS}", tests=(node("help"),), weakenings=(removed,)
        ),
        BranchCommit(
            FIX,
            "Take from the shelf",
            f"commit/{FIX}",
            1,
            "2 tests need it",
            (node("take"), node("give")),
            ("shop/shelf.py",),
            ("new public surface: --force",),
            WitnessResults(False, True, False, None),
            needed_by=(node("give"),),
            recipes=(Recipe("revert it", f"git revert --no-edit {FIX[:12]}"),),
        ),
        BranchCommit(SECOND, "Print JSON", f"commit/{SECOND}", 2, "1 test needs it", (node("gone"),)),
    )


CAUSES = (
    Cause(
        "c1",
        "acme.errors.StockError: only 3 left",
        "test",
        (node("take"), node("sync")),
        (node("take"),),
        "StockError",
        "shop/shelf.py:take",
        "E   acme.errors.StockError: only 3 left\n",
        FIX,
        ("KeyError: 'flour'",),
    ),
    Cause(
        "c2", "no sign of life for 25 s", "watch", (node("export"),), likely="infrastructure: no sign of life"
    ),
    Cause("c3", "expected '1'", "test", (node("give"),), (node("give"),)),
)
MEASURED = (
    TestMeasurement(
        node("take"),
        MeasuredOutcome("failed", "only 3 left"),
        MeasuredOutcome("passed"),
        MeasuredOutcome("passed"),
    ),
    TestMeasurement(
        node("list"),
        MeasuredOutcome("failed", "no"),
        MeasuredOutcome(reason="gone"),
        MeasuredOutcome("cannot_tell", "no"),
    ),
)
BALANCE = Balance(
    (
        Meter("usd", 1.25, 0.6, 4.0, 0.9, 2.1, "estimated from 12 past tasks"),
        Meter("tokens", 2_400_000, low=800_000, high=1_600_000, note="estimated from 12 past tasks"),
    ),
    (
        Figure("2", "tests fixed", "good", "causes"),
        Figure("2", "implementation fixes", place="branch"),
        Figure("1", "agent not needed ($0.10 to $0.25)", "good", "section", "clean"),
        Figure("$0.62", "for each fixed test"),
    ),
    (
        Figure("1", "blocked", "bad", "section", "blocked"),
        Figure("1", "agent was wrong", "bad", "section", "disputed"),
        Figure("2", "open causes", "bad", "causes"),
        Figure("3", "matters raised by agents", place="matter"),
    ),
    (LeftOut("fixed by take: same failure, no agent was needed", (node("total"),)),),
)
MARKS = (
    TimelineMark(T0 + 30, "slots 4 \u2192 2, set by ann"),
    TimelineMark(T0 + 90, "nothing more is launched: 5 agents failed alike"),
)
MATTERS = (
    Matter(
        "interface",
        "There is no remove",
        (node("take"), node("help")),
        ("nothing removes an item",),
        ("shop/cli.py",),
    ),
    Matter("interface", "Names differ", (node("list"),)),
    Matter("environment", "The server is slow", (node("sync"),)),
)
