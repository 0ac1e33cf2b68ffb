"""Hosts of a run that may be live, folded from its journal: those of agents, of verifications and of the base."""

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.model.entry import Entry, Step
from mngr_tmr.model.facts import AgentStopped, RunResumed, StepOverdue

# How often ending a host is tried before the run no longer waits for it, and after how long again.
MOST_TRIES = 7
MAKES_HOST: frozenset[Step] = frozenset(("launch", "verify", "base"))
_AGAIN_S, _AGAIN_MOST_S = 5.0, 300.0


class Held(Struct, frozen=True):
    """A host that may be live, made by a step for an attempt at a task.

    `tries` to end it failed, the last at `tried_at`. `given_up_at` is when the step was given up on, which had not
    answered in its time: what it makes may come yet.
    """

    maker: Step
    task: str
    attempt: int
    tries: int = 0
    tried_at: float = 0.0
    given_up_at: float = 0.0

    @property
    def again_at(self) -> float:
        """When ending it is to be tried again."""
        return self.tried_at + min(_AGAIN_S * 2.0 ** (self.tries - 1), _AGAIN_MOST_S)


class HostsState:
    """Every host that may be live, and the attempts whose work has been pulled. Changed only by `apply`.

    Those of steps that were given up on are `late`: the same step may be tried again beside them.
    """

    def __init__(self) -> None:
        self.held: dict[tuple[Step, str, int], Held] = {}
        self.late: list[Held] = []
        self.pulled: set[tuple[str, int]] = set()

    def apply(self, entry: Entry) -> None:
        """Takes in one entry of the journal."""
        if entry.step in MAKES_HOST:
            self._made(entry)
        elif entry.step == "stop":
            self._stopped(entry)
        elif entry.step == "pull" and entry.kind == "done":
            self.pulled.add((entry.task, entry.attempt))
        elif isinstance(entry.fact, RunResumed):
            self.late = []  # the process that was making them has died, and what it left has been removed

    def _made(self, entry: Entry) -> None:
        key = (entry.step, entry.task, entry.attempt)
        if entry.kind == "intended":
            self.held[key] = Held(*key)
        elif entry.kind == "noted":
            return
        elif isinstance(entry.fact, StepOverdue):
            if host := self.held.pop(key, None):
                self.late.append(replace(host, given_up_at=entry.at))
        elif entry.step == "launch" and entry.kind == "done":
            self._forget_late(key)
            self.held.setdefault(key, Held(*key))
        elif not self.held.pop(key, None):
            self._forget_late(key)

    def _forget_late(self, key: tuple[Step, str, int]) -> None:
        """The oldest step of this kind that was given up on has answered after all."""
        found = [one for one in self.late if (one.maker, one.task, one.attempt) == key]
        if found:
            self.late.remove(found[0])

    def _stopped(self, entry: Entry) -> None:
        key: tuple[Step, str, int] = ("launch", entry.task, entry.attempt)
        is_live = isinstance(entry.fact, AgentStopped) and entry.fact.host == "live"
        if entry.kind == "done" and not is_live:
            self.held.pop(key, None)
        elif entry.kind in ("done", "failed") and key in self.held:
            one = self.held[key]
            tries = one.tries + 1 if entry.kind == "failed" else MOST_TRIES
            self.held[key] = replace(one, tries=tries, tried_at=entry.at)
