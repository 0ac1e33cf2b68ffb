"""What integrating a run gave: the branch, its commits, and an account of every task's work."""

from typing import Any, Literal

from msgspec import Struct

from mngr_tmr.model.measured import MeasuredOutcomes

AccountKind = Literal["squashed", "separate", "merged_into", "excluded", "failed", "nothing"]


class FixWitness(Struct, frozen=True):
    """Old and new test against old and new code; None where it could not be run."""

    old_test_old_code: bool | None = None
    old_test_new_code: bool | None = None
    new_test_old_code: bool | None = None
    new_test_new_code: bool | None = None


class WeakenedAssertion(Struct, frozen=True):
    """An assertion that was removed or made easier to pass."""

    kind: Literal["removed", "weakened", "skipped", "xfailed", "timeout_raised", "test_deleted"]
    file: str
    test: str
    before: str = ""
    after: str = ""
    tasks: tuple[str, ...] = ()


class Fix(Struct, frozen=True):
    """One implementation commit of the integrated branch; `tasks` are credited, the first made it.

    `needed_by` are the tests that pass at the tip and were seen to fail without it; `doubts` is what speaks against it.
    """

    commit: str
    rank: int
    title: str
    reason: str
    importance: int
    tasks: tuple[str, ...]
    paths: tuple[str, ...]
    depends_on: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()
    witness: FixWitness | None = None
    surface: tuple[str, ...] = ()
    is_mislabelled: bool = False
    doubts: tuple[str, ...] = ()


class Account(Struct, frozen=True):
    """Where one task's work went; a task may have several."""

    task: str
    kind: AccountKind
    why: str = ""
    commits: tuple[str, ...] = ()
    into: str = ""


class Gate(Struct, frozen=True):
    """A check of the integrated tree, with what was measured. Of tests it passed when none of them fails."""

    name: str
    passed: bool
    detail: str = ""


class Integration(Struct, frozen=True):
    """The whole; `tip` equals `base` when nothing was integrated. `agent_tip` is the branch of an integrator agent.

    `measured` is every test of the run and of the branch at three commits; what is said of the branch comes from it.
    """

    base: str
    branch: str
    tip: str
    squashed: str = ""
    squashed_tasks: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    accounts: tuple[Account, ...] = ()
    gates: tuple[Gate, ...] = ()
    weakenings: tuple[WeakenedAssertion, ...] = ()
    shared_problems: tuple[dict[str, Any], ...] = ()
    added_tests: tuple[dict[str, Any], ...] = ()
    conflicts: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    pr_url: str = ""
    agent_tip: str = ""
    measured: tuple[MeasuredOutcomes, ...] = ()
