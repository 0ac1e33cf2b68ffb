"""What the page shows. An index that is read at once, and details that are read when someone looks.

The front end's `web/src/lib/records.ts` says the same in TypeScript; a test compares the two.
Times are seconds since 1970; a `chunk` is the key under which a detail or a recording is found.
"""

from typing import Literal

from msgspec import Struct

Status = Literal["failed", "error", "timeout", "running", "skipped", "passed", "not run"]
Stream = Literal["stdout", "stderr"]
RunKind = Literal["tests", "pipeline"]
AttemptKind = Literal["test", "agent", "try", "check"]
Tone = Literal["", "good", "bad"]
Unit = Literal["usd", "tokens", "seconds"]


class Index(Struct, frozen=True):
    """All that the lists need, for one run or many."""

    title: str
    generated_at: float
    runs: tuple["Run", ...]
    is_live: bool = False
    schema: int = 1


class Run(Struct, frozen=True):
    """Some tests that ran together. In a pipeline each has an agent: then what follows `kind` is filled in.

    `sections` hold every row once, in order; `causes` come first on the page; `commits` are those of the branch.
    `measured` is every test at three commits, and `headline` what that adds up to on the branch. `balance` is what it
    cost and what that was good for, `marks` what changed the whole run while it went on.
    """

    id: str
    title: str
    start: float
    tests: tuple["Test", ...]
    duration_s: float = 0.0
    is_running: bool = False
    tutorial: "Tutorial | None" = None
    warnings: tuple[str, ...] = ()
    kind: RunKind = "tests"
    facts: tuple["LabeledFact", ...] = ()
    causes: tuple["Cause", ...] = ()
    sections: tuple["Section", ...] = ()
    matters: tuple["Matter", ...] = ()
    lanes: tuple["Lane", ...] = ()
    commits: tuple["BranchCommit", ...] = ()
    recipes: tuple["Recipe", ...] = ()
    headline: str = ""
    measured: tuple["TestMeasurement", ...] = ()
    balance: "Balance | None" = None
    marks: tuple["TimelineMark", ...] = ()


class Test(Struct, frozen=True):
    """One row; `status` is that of its last attempt, or on the branch where a pipeline measured it.

    `blocks` are ids in the run's tutorial.

    `section` is the id of one of the run's sections, `work` what an agent did about this test.
    """

    id: str
    name: str
    file: str
    status: Status
    duration_s: float
    attempts: tuple["Attempt", ...]
    blocks: tuple[str, ...] = ()
    reason: str = ""
    section: str = ""
    work: "Work | None" = None


class Attempt(Struct, frozen=True):
    """A tab of a test: where its detail is.

    Of a pipeline's row it is an agent's attempt, a try of the agent before it, or a check of ours.
    """

    number: int
    status: Status
    start: float
    duration_s: float
    chunk: str
    label: str = ""
    kind: "AttemptKind" = "test"


class Tutorial(Struct, frozen=True):
    """The script as a document; `statuses` are the last ones of cited tests that have no row in this run."""

    file: str
    blocks: tuple["TutorialBlock", ...]
    statuses: dict[str, Status] = {}


class TutorialBlock(Struct, frozen=True):
    """`tests` are the ids of the rows that cite it, also of tests that did not run."""

    id: str
    kind: str
    section: str
    first_line: int
    text: str
    tests: tuple[str, ...] = ()


class Detail(Struct, frozen=True):
    """One attempt, whole but for its recordings."""

    commands: tuple["ShownCommand", ...]
    citations: tuple[str, ...] = ()
    failure: str = ""
    casts: tuple["Cast", ...] = ()
    screens: tuple["ScreenText", ...] = ()
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    conversation: tuple["ConversationTurn", ...] = ()
    texts: tuple["Text", ...] = ()


class ShownCommand(Struct, frozen=True):
    """One command of the transcript with its output as it came; no exit code means that it never ended.

    `terminal` names the recording of what happened on a terminal; a program that was started there has no exit code.
    """

    command: str
    comment: str
    cwd: str
    start: float
    duration_s: float
    exit_code: int | None
    is_timed_out: bool
    output: tuple["Output", ...] = ()
    seeks: tuple["Seek", ...] = ()
    terminal: str = ""


class Output(Struct, frozen=True):
    stream: Stream
    at: float
    text: str


class Seek(Struct, frozen=True):
    """Where a command is in a recording: `cast` counts from 0 in the detail's casts."""

    cast: int
    second: float


class Cast(Struct, frozen=True):
    """A recording; its text, an asciicast, is under `chunk`."""

    title: str
    start: float
    duration_s: float
    cols: int
    rows: int
    chunk: str
    problem: str = ""


class ScreenText(Struct, frozen=True):
    """A snapshot of a terminal, as text with its colours."""

    title: str
    text: str


class ConversationTurn(Struct, frozen=True):
    """One entry of an agent's conversation; `role` is user, agent or tool."""

    role: str
    text: str
    at: float = 0.0


class Text(Struct, frozen=True):
    """A text of an attempt that is shown as it is: a prompt, a result, what a check said."""

    title: str
    text: str
    note: str = ""


class LabeledFact(Struct, frozen=True):
    """Something about a run or a row in a word or two."""

    label: str
    value: str
    tone: Tone = ""


class Recipe(Struct, frozen=True):
    """A command to copy."""

    label: str
    command: str


class Cause(Struct, frozen=True):
    """Failures with one cause; `tests` are ids of rows, `fixed` those that failed at the base and pass on the branch.

    `fix` is the commit that fixed them; `others` are further titles, where they do not all say the same. `likely` says
    where they may come from, where that is not the code.
    """

    id: str
    title: str
    stage: str
    tests: tuple[str, ...]
    fixed: tuple[str, ...] = ()
    exception: str = ""
    frame: str = ""
    example: str = ""
    fix: str = ""
    others: tuple[str, ...] = ()
    likely: str = ""


class Section(Struct, frozen=True):
    """A heading with the ids of its rows in order; `is_finding` when someone should look at them."""

    id: str
    title: str
    about: str
    tests: tuple[str, ...]
    is_finding: bool = False


class Matter(Struct, frozen=True):
    """Something that agents want a person to look at, whatever became of their tests."""

    kind: str
    title: str
    tests: tuple[str, ...]
    details: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()


class Lane(Struct, frozen=True):
    """A row of the timeline: of a test's agents, or with a `label` instead of a test, of the run itself."""

    test: str
    spans: tuple["LaneSpan", ...]
    label: str = ""


class LaneSpan(Struct, frozen=True):
    """A stretch of time; `kind` is queue, launch, work, pull, stop or verify, or the step in a lane with a label."""

    kind: str
    start: float
    end: float


class TimelineMark(Struct, frozen=True):
    """A moment at which the whole run changed, and why."""

    at: float
    text: str


class Balance(Struct, frozen=True):
    """What a run cost, what that was good for, and what is left to look at; what is not known is left out.

    `left_out` are rows without an agent, by the reason.
    """

    meters: tuple["Meter", ...] = ()
    worth: tuple["Figure", ...] = ()
    attention: tuple["Figure", ...] = ()
    left_out: tuple["LeftOut", ...] = ()


class Meter(Struct, frozen=True):
    """What was used so far in one unit. `reserved` is set aside for agents at work, `limit` is the budget.

    `low` and `high` are the estimate from before the run, `note` says where it comes from.
    """

    unit: Unit
    used: float
    reserved: float = 0.0
    limit: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


class Figure(Struct, frozen=True):
    """A number in words, and the place that has more of it: a `section`'s id, or the branch, causes or matters."""

    value: str
    label: str
    tone: Tone = ""
    place: Literal["", "section", "branch", "causes", "matter"] = ""
    section: str = ""


class LeftOut(Struct, frozen=True):
    """Tests that no agent was at work on, for one reason; `tests` are ids of rows."""

    reason: str
    tests: tuple[str, ...]


class BranchCommit(Struct, frozen=True):
    """A commit of the integrated branch, oldest first; its difference, a Patch, is under `chunk`.

    `rank` is 0 for the one that holds all tests and docs. `flags` are what a reviewer must not miss. `tests` are those
    that it is credited to, `needed_by` those that pass on the branch and were seen to fail without it.
    """

    id: str
    title: str
    chunk: str
    rank: int = 0
    reason: str = ""
    tests: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    witness: "WitnessResults | None" = None
    weakenings: tuple["WeakenedCheck", ...] = ()
    needed_by: tuple[str, ...] = ()
    recipes: tuple[Recipe, ...] = ()


class TestMeasurement(Struct, frozen=True):
    """A test at the base, at its agent's commit and at the tip of the branch."""

    test: str
    base: "MeasuredOutcome"
    agent: "MeasuredOutcome"
    tip: "MeasuredOutcome"


class MeasuredOutcome(Struct, frozen=True):
    """How a test went at one commit, and why it did not pass; no outcome means that it was not run there."""

    outcome: str = ""
    reason: str = ""


class WitnessResults(Struct, frozen=True):
    """Whether the old and the new test pass with the old and the new code; null where not tried."""

    old_test_old_code: bool | None = None
    old_test_new_code: bool | None = None
    new_test_old_code: bool | None = None
    new_test_new_code: bool | None = None


class WeakenedCheck(Struct, frozen=True):
    """A check that was removed or made easier to pass."""

    kind: str
    file: str
    test: str
    before: str = ""
    after: str = ""


class Patch(Struct, frozen=True):
    """The difference that a commit makes, as text."""

    text: str
    note: str = ""


class Work(Struct, frozen=True):
    """An agent's work on a test: what it claims beside what was seen when its commit was checked.

    `claimed` and `before_claimed` are its words for the test after and before; `verdict` and `before` are ours, and
    `on_branch` is what the test does at the tip of the branch.
    """

    outcome: str = ""
    claimed: str = ""
    verdict: str = ""
    before_claimed: str = ""
    before: str = ""
    summary: str = ""
    changes: tuple["WorkChange", ...] = ()
    commits: tuple["WorkCommit", ...] = ()
    merged: tuple["MergedAs", ...] = ()
    branch: str = ""
    commit: str = ""
    added_by: str = ""
    needs: str = ""
    matters: tuple[int, ...] = ()
    facts: tuple[LabeledFact, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    notes: tuple[str, ...] = ()
    on_branch: str = ""


class WorkChange(Struct, frozen=True):
    """Commits of one kind as the agent describes them."""

    kind: str
    commits: tuple[str, ...]
    summary: str
    importance: int
    reason: str = ""


class WorkCommit(Struct, frozen=True):
    """A commit of an agent's own branch: the kind that it claims and the kind that its paths show.

    `into` is that one of the run's commits which holds it.
    """

    id: str
    subject: str
    kind: str
    claimed: str = ""
    paths: tuple[str, ...] = ()
    into: str = ""


class MergedAs(Struct, frozen=True):
    """Where work went: `commit` is one of the run's commits, `how` squashed, separate or merged_into."""

    commit: str
    how: str
    rank: int = 0
    title: str = ""
