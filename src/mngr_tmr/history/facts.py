"""What the index keeps of a run: a part of its `summary.json`, read with nothing but these fields."""

import hashlib
from collections.abc import Callable

import msgspec
from msgspec import Struct

import mngr
from mngr_lib.files import read_regular
from mngr_lib.safe_text import one_line
from mngr_tmr.failures.fingerprint import normal
from mngr_tmr.model.estimate import Estimate
from mngr_tmr.model.level import Level
from mngr_tmr.model.usage import NO_USAGE, AgentUsage
from mngr_tmr.run_folder.folder import RunFolder

_LONGEST_TITLE = 300
_MOST_BYTES = 256 << 20


class OutcomeAt(Struct, frozen=True):
    outcome: str = ""


class MeasuredAt(Struct, frozen=True):
    """A test at the tip of the branch."""

    tip: OutcomeAt = OutcomeAt()


class RowFacts(Struct, frozen=True):
    """One test of a run."""

    test: str
    section: str
    before: str = ""
    after: str = ""
    attempt: int = 0
    usage: AgentUsage = NO_USAGE
    measured: MeasuredAt | None = None
    worked_s: float = 0.0
    estimate: Estimate | None = None

    @property
    def is_flaky(self) -> bool:
        tip = self.measured.tip.outcome if self.measured else ""
        return "flaky" in (self.section, self.before, self.after, tip)

    @property
    def last(self) -> str:
        """The last verdict: at the tip of the branch, else with its agent's work, else at the base."""
        tip = self.measured.tip.outcome if self.measured else ""
        return tip or self.after or self.before


class CauseFacts(Struct, frozen=True):
    """One cause of failures."""

    stage: str
    title: str
    exception: str = ""
    frame: str = ""
    tests: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The same in every run in which it occurs, whatever numbers, paths and ids its message has."""
        words = "\0".join((self.stage, self.exception, self.frame, normal(self.title)))
        return hashlib.sha256(words.encode(errors="replace")).hexdigest()[:16]

    @property
    def short_title(self) -> str:
        return self.title[:_LONGEST_TITLE]


class RunFacts(Struct, frozen=True):
    """One run. Summaries of versions before 0.2 do not have its `agent_type`."""

    run: str
    base: str
    created_at: float
    state: str
    collected: int
    rows: tuple[RowFacts, ...]
    causes: tuple[CauseFacts, ...] = ()
    exit_code: int | None = None
    failures: int = 0
    usage: AgentUsage = NO_USAGE
    took_s: float = 0.0
    agent_type: str = ""
    model: str = ""
    slots: int = 0
    levels: tuple[Level, ...] = ()
    estimate: Estimate | None = None

    @property
    def is_over(self) -> bool:
        return self.state not in ("running", "integrating")


ReadFacts = Callable[[RunFolder], RunFacts]


def read_facts(folder: RunFolder) -> RunFacts:
    """The facts in a run's summary; MngrError or OSError where it cannot be read."""
    try:
        return msgspec.json.decode(read_regular(folder.summary, _MOST_BYTES), type=RunFacts)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise mngr.MngrError(
            f"{folder.summary} cannot be read: {one_line(str(error), 200)}",
            hint="mngr tmr report writes it again",
        ) from None
