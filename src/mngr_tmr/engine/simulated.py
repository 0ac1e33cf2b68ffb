"""A world without processes: agents, hosts and faults in virtual time, all from one seed.

What happened in it stays when the orchestrator dies, so that killing and resuming can be tried at every entry of
the journal. Used by the tests and by `bench/`; a failing seed replays.
"""

import heapq
import random
from collections.abc import Callable, Container, Sequence

from msgspec import Struct

from mngr_tmr.engine.clock import RunClock
from mngr_tmr.engine.observation import Activity, AgentStatus, Poll
from mngr_tmr.engine.retries import MOST_RETRIES
from mngr_tmr.engine.state import shared_with
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import (
    AgentsMetered,
    AgentStopped,
    AnyFact,
    BaseFailures,
    BaseMeasured,
    FailureGroup,
    FinishRequest,
    HostFailed,
    LimitEnded,
    ProviderRefusal,
    PullRequest,
    StopRequest,
    VerdictsFound,
    VerifyRequest,
    WorkPulled,
)
from mngr_tmr.model.money import Used
from mngr_tmr.model.rate_limit import RateLimit
from mngr_tmr.model.task import agent_of

Fault = str
FAULTS: tuple[Fault, ...] = (
    "launch_fails",
    "launch_hangs",
    "crashes",
    "vanishes",
    "hangs",
    "idles",
    "idles_until_nudged",
    "model_refuses",
    "pull_fails",
    "pull_hangs",
    "stop_fails",
    "verify_hangs",
    "launch_unreachable",
    "pull_unreachable",
    "verify_unreachable",
)
_MINUTE = 60.0
# Tokens of an agent are Pareto distributed: a few agents use a large part of all.
_LEAST_TOKENS, _TAIL = 100_000, 1.1
_FREEZE_SHARE = 0.02
_TREE_SHARE = 0.9


class SimAgent(Struct):
    """An agent of the simulated world: when it will end, and how. While it works it uses `rate` tokens a second."""

    name: str
    task: str
    started: float
    work_s: float
    rate: float = 0.0
    fault: Fault = ""
    is_stopped: bool = False
    nudged_at: float | None = None
    stopped_at: float | None = None
    limited_at: float | None = None
    limited_s: float = 0.0

    def used(self, now: float) -> Used:
        """What it used so far; one that hangs goes on until it is stopped. A million tokens cost a dollar."""
        until = {"hangs": now, "vanishes": self.started + self.work_s / 2}.get(
            self.fault, self.started + self.work_s
        )
        worked_s = min(now, until, now if self.stopped_at is None else self.stopped_at) - self.started
        return Used(round(self.rate * worked_s), self.rate * worked_s / 1e6)

    def stop(self, now: float) -> None:
        self.is_stopped = True
        self.stopped_at = now if self.stopped_at is None else self.stopped_at

    def status(self, now: float) -> AgentStatus | None:
        if self.fault == "vanishes" and now >= self.started + self.work_s / 2:
            return None
        if self.limited_at is not None and not self.is_stopped:
            return AgentStatus(self.name, "waiting", error="429", limit=RateLimit())
        activity, has_result = self._activity(now)
        progress_mark = "still" if self.fault == "hangs" else str(now)
        activity = "ended" if self.is_stopped else activity
        if self.fault == "model_refuses" and activity != "working":
            return AgentStatus(
                self.name,
                activity,
                False,
                "simulated",
                progress_mark,
                error="no credit",
                error_kind="billing",
            )
        return AgentStatus(self.name, activity, has_result, "simulated", progress_mark)

    def is_at_work(self, now: float) -> bool:
        return self.limited_at is None and self._activity(now)[0] == "working"

    def _activity(self, now: float) -> tuple[Activity, bool]:
        if now < self.started + self.work_s + self.limited_s or self.fault == "hangs":
            return "working", False
        if self.fault == "crashes":
            return "ended", False
        if self.fault == "idles" or (self.fault == "idles_until_nudged" and self.nudged_at is None):
            return "waiting", False
        return "waiting", True


class SimWorld:
    """What is true whether or not anyone looks: agents, and what was done to them.

    `hosts` are those that are live: an agent has one of its name, and so has every copy. `stopped_hosts` have work that
    was not pulled. The provider refuses for now what would make more than `host_limit` hosts, and everything between
    the two times of a storm. With `fastest`, agents use up to so many tokens a second, most of them few in all and some
    very many; asked to finish, half of them do.
    Commits of all agents have one of so many `trees`. `now` is true time. The machine's clock differs from it by
    `clock_error_s`, which a test may change at any time. Tests in one of the `alike` fail alike at the base; an agent
    fixes its own with the chance `fixes`, and then each of the others with the chance `helps`. In an
    `outage` everything has its fault, between two times.
    """

    def __init__(
        self,
        run: str,
        seed: int,
        *,
        fault_share: float = 0.0,
        work_s: tuple[float, float] = (20, 60),
        trees: int = 8,
        fastest: float = 0.0,
    ) -> None:
        self.run, self.seed, self.now = run, seed, 0.0
        self.clock_error_s = 0.0
        self.fault_share, self.faults, self._work_s = fault_share, FAULTS, work_s
        self._trees, self._fastest = trees, fastest
        self.agents: dict[str, SimAgent] = {}
        self.launches: dict[tuple[str, int], int] = {}
        self.pulled: dict[tuple[str, int], int] = {}
        self.verified: dict[tuple[str, int], int] = {}
        self.copies = 0
        self.nudges: dict[str, int] = {}
        self.busy_s = 0.0
        self.most_alive = 0
        self.hosts: set[str] = set()
        self.stopped_hosts: set[str] = set()
        self.most_hosts = self.steps = 0
        self.stop_tries: dict[str, int] = {}
        self.brought: set[tuple[str, int]] = set()
        self.host_limit = 0
        self.storms: tuple[tuple[float, float], ...] = ()
        self.refusals = 0
        self.limits: tuple[tuple[float, float], ...] = ()
        self.most_active = self.limited = 0
        self.tries: dict[tuple[str, str, int], int] = {}
        self.alike: tuple[tuple[str, ...], ...] = ()
        self.fixes = self.helps = 1.0
        self.trials: dict[tuple[str, str], int] = {}
        self.outage: tuple[Fault, float, float] = ("", 0.0, 0.0)

    def verdict(self, task: str, fix: str) -> str:
        """What a test shows at the commit of the agent of `fix`, which may be its own."""
        if not any(task in group for group in self.alike):
            return "passed"
        is_fixed = random.Random(f"{self.seed} fixes {fix}").random() < self.fixes
        helps = task == fix or random.Random(f"{self.seed} helps {fix} {task}").random() < self.helps
        return "passed" if is_fixed and helps else "failed"

    def fault(self, task: str, attempt: int) -> Fault:
        if self.outage[0] and self.outage[1] <= self.now < self.outage[2]:
            return self.outage[0]
        chance = random.Random(f"{self.seed} {task} {attempt}")
        return chance.choice(self.faults) if chance.random() < self.fault_share else ""

    def tree(self, task: str, attempt: int) -> str:
        """The tree of what an agent commits; now and then none is known, as in journals of older versions."""
        chance = random.Random(f"{self.seed} tree {task} {attempt}")
        return f"tree-{chance.randrange(self._trees)}" if chance.random() < _TREE_SHARE else ""

    def launch(self, task: str, attempt: int) -> None:
        """Makes the agent unless it is there: a launch that is repeated after a crash finds it."""
        name = agent_of(self.run, task, attempt)
        if name in self.agents:
            return
        self.launches[task, attempt] = self.launches.get((task, attempt), 0) + 1
        work_s = random.Random(f"{self.seed} work {task} {attempt}").uniform(*self._work_s)
        agent = self.agents[name] = SimAgent(name, task, self.now, work_s, fault=self.fault(task, attempt))
        if self._fastest:
            chance = random.Random(f"{self.seed} tokens {task} {attempt}")
            agent.rate = self._fastest * chance.choice((1.0, chance.uniform(0.05, 1.0)))
            agent.work_s = _LEAST_TOKENS * chance.paretovariate(_TAIL) / agent.rate
        self.most_alive = max(self.most_alive, len(self.alive()))

    def is_unreachable(self, step: str, task: str, attempt: int) -> bool:
        """Whether a host that does not answer still does not: it takes two tries, and a launch never succeeds."""
        self.tries[step, task, attempt] = self.tries.get((step, task, attempt), 0) + 1
        return step == "launch" or self.tries[step, task, attempt] <= MOST_RETRIES

    def ask_to_finish(self, agent: SimAgent) -> None:
        chance = random.Random(f"{self.seed} {agent.name} finishes")
        if chance.random() < 0.5 and not agent.fault:
            agent.work_s = min(agent.work_s, self.now - agent.started + chance.uniform(0.0, 8.0))

    def used(self) -> Used:
        """What all agents really used until now."""
        return sum((agent.used(self.now) for agent in self.agents.values()), Used())

    def open_host(self, name: str) -> None:
        """A host that a step makes; it is there from the beginning of the step."""
        self.hosts.add(name)
        self.most_hosts = max(self.most_hosts, len(self.hosts))

    @property
    def is_full(self) -> bool:
        return bool(self.host_limit) and len(self.hosts) >= self.host_limit

    def close_host(self, name: str) -> None:
        self.hosts.discard(name)

    def remove_leftovers(self, known: Container[str]) -> None:
        """What a new life does first: copies, unfinished hosts and those of agents that are not `known` are ended."""
        for name in sorted(self.hosts):
            if name in self.agents and name not in known:
                self.agents[name].stop(self.now)
                self.stopped_hosts.add(name)
            if name not in self.agents or name not in known:
                self.close_host(name)

    def alive(self) -> list[SimAgent]:
        return [agent for agent in self.agents.values() if not agent.is_stopped and agent.status(self.now)]

    def meet_limits(self) -> None:
        """In the times of `limits`, and beyond `most_active` agents at work, the provider of the model ends turns."""
        is_closed = any(start <= self.now < end for start, end in self.limits)
        active = [agent for agent in self.alive() if agent.is_at_work(self.now)]
        met = active if is_closed else active[self.most_active :] if self.most_active else []
        for agent in met:
            agent.limited_at = self.now
            self.limited += 1

    def poll(self, at: float, silent: Callable[[str], bool] = lambda _agent: False) -> Poll:
        """What a poll shows; an agent whose host is silent is not in it."""
        statuses = {agent.name: status for agent in self.alive() if (status := agent.status(self.now))}
        answered = {name: status for name, status in statuses.items() if not silent(name)}
        return Poll(at, answered, is_whole=len(answered) == len(statuses))


class SimExecutor:
    """One orchestrator's hold on the simulated world; a new one is made after each death.

    `floor` is the journal's last time. In the first `silent_polls` polls half of the hosts do not answer. With
    `freezes` given, the process stands still now and then for so many seconds, as on a laptop that sleeps.
    """

    def __init__(
        self,
        world: SimWorld,
        *,
        poll_s: float = 1.0,
        chance: random.Random | None = None,
        floor: float = 0.0,
        silent_polls: int = 0,
        freezes: tuple[float, ...] = (),
    ) -> None:
        self._world, self._poll_s = world, poll_s
        self._chance = chance or random.Random(f"{world.seed} hands")
        self._clock = RunClock(floor, wall=lambda: world.now + world.clock_error_s, elapsed=lambda: world.now)
        self._silent_polls, self._freezes = silent_polls, list(freezes)
        self._due: list[tuple[float, int, Callable[[], Entry | Poll | None]]] = []
        self._count = 0
        self._at(world.now, self._poll)

    def now(self) -> float:
        return self._clock.now()

    def begin(self, intention: Entry) -> None:
        step, fault = intention.step, self._world.fault(intention.task, intention.attempt)
        shared = shared_with(intention)
        host = self._host_of(intention)
        if host and self._world.is_full and host not in self._world.hosts:
            self._at(self._world.now + 0.1, lambda: self._refuse(intention))
            return
        if host:
            self._world.open_host(host)
        if fault == f"{step}_hangs" or any(self._hangs(step, task, shared[task]) for task in shared):
            if step == "launch":
                self._at(self._world.now + 20 * _MINUTE, lambda: self._carry_out(intention, "", host))
            elif host:
                self._at(
                    self._world.now + 40 * _MINUTE * (1 + len(shared)), lambda: self._world.close_host(host)
                )
            return
        delay_s = self._chance.uniform(0.05, 2.0)
        self._at(self._world.now + delay_s, lambda: self._carry_out(intention, fault, host))
        if step == "base":
            fact = BaseFailures(self._alike())
            self._at(self._world.now + delay_s / 2, lambda: Entry(self.now(), "base", "noted", fact=fact))

    def _host_of(self, intention: Entry) -> str:
        """The host that a step makes: the agent's, or one of its own for a copy."""
        if intention.step == "launch":
            return agent_of(self._world.run, intention.task, intention.attempt)
        self._world.steps += 1
        return f"copy-{self._world.steps}" if intention.step in ("verify", "base") else ""

    def _hangs(self, step: str, task: str, attempt: int) -> bool:
        return self._world.fault(task, attempt) == f"{step}_hangs"

    def results(self, timeout_s: float) -> Sequence[Entry | Poll]:
        """What is next, and all else of the same moment; virtual time jumps there."""
        world, limit = self._world, self._world.now + timeout_s
        if not self._due or self._due[0][0] > limit:
            world.now = limit
            self._freeze()
            return ()
        world.now = max(self._due[0][0], world.now)
        results = []
        while self._due and self._due[0][0] <= world.now:
            item = heapq.heappop(self._due)[2]()
            if item is not None:
                results.append(item)
        self._freeze()
        return results

    def _freeze(self) -> None:
        """Perhaps time passes without us; what was heard before it is handed over after it."""
        if self._freezes and self._chance.random() < _FREEZE_SHARE:
            self._world.now += self._freezes.pop()

    def _at(self, when: float, what: Callable[[], Entry | Poll | None]) -> None:
        self._count += 1
        heapq.heappush(self._due, (when, self._count, what))

    def _poll(self) -> Poll:
        self._at(self._world.now + self._poll_s, self._poll)
        self._world.meet_limits()
        self._silent_polls -= 1
        if self._silent_polls < 0:
            return self._world.poll(self.now())
        return self._world.poll(
            self.now(), lambda agent: random.Random(f"{self._world.seed} {agent}").random() < 0.5
        )

    def _carry_out(self, intention: Entry, fault: Fault, host: str) -> Entry:
        task, attempt = intention.task, intention.attempt
        if any(start <= self._world.now < end for start, end in self._world.storms):
            if host and host not in self._world.agents:
                self._world.close_host(host)
            return self._refuse(intention)
        if host and (intention.step != "launch" or fault == "launch_fails"):
            self._world.close_host(host)
        if fault == f"{intention.step}_fails" and not self._ends_at_last(intention):
            return Entry(self.now(), intention.step, "failed", task, attempt, "simulated fault")
        if fault == f"{intention.step}_unreachable" and self._world.is_unreachable(
            intention.step, task, attempt
        ):
            if host:
                self._world.close_host(host)
            return Entry(self.now(), intention.step, "failed", task, attempt, "no answer", HostFailed())
        if intention.step == "verify":
            fix = intention.fact.fix if isinstance(intention.fact, VerifyRequest) else ""
            fact: AnyFact | None = self._verify({task: attempt, **shared_with(intention)}, fix)
        elif isinstance(intention.fact, LimitEnded):
            fact = self._go_on(task, attempt)
        elif intention.step == "stop":
            fact = self._stop(
                task, attempt, intention.fact.host if isinstance(intention.fact, StopRequest) else ""
            )
        elif isinstance(intention.fact, FinishRequest):
            self._world.ask_to_finish(self._world.agents[agent_of(self._world.run, task, attempt)])
            fact = None
        else:
            if isinstance(intention.fact, PullRequest) and intention.fact.stop_first:
                self._world.agents[agent_of(self._world.run, task, attempt)].stop(self._world.now)
            fact = getattr(self, f"_{intention.step}")(task, attempt)
        return Entry(self.now(), intention.step, "done", task, attempt, fact=fact)

    def _refuse(self, intention: Entry) -> Entry:
        self._world.refusals += 1
        fact = ProviderRefusal(seed=self._chance.getrandbits(32))
        step, task, attempt = intention.step, intention.task, intention.attempt
        return Entry(self.now(), step, "later", task, attempt, "no more for now", fact)

    def _ends_at_last(self, intention: Entry) -> bool:
        """Whether a host that could not be ended twice can be ended now."""
        agent = agent_of(self._world.run, intention.task, intention.attempt)
        if intention.step != "stop" or not isinstance(intention.fact, StopRequest):
            return False
        self._world.stop_tries[agent] = self._world.stop_tries.get(agent, 0) + 1
        return self._world.stop_tries[agent] > 2

    def _alert(self, _task: str, _attempt: int) -> None:
        pass

    def _base(self, _task: str, _attempt: int) -> BaseMeasured:
        return BaseMeasured(groups=self._alike())

    def _alike(self) -> tuple[FailureGroup, ...]:
        return tuple(FailureGroup("alike", group) for group in self._world.alike)

    def _meter(self, _task: str, _attempt: int) -> AgentsMetered:
        now = self._world.now
        return AgentsMetered({agent.task: agent.used(now) for agent in self._world.alive()})

    def _launch(self, task: str, attempt: int) -> None:
        self._world.launch(task, attempt)

    def _nudge(self, task: str, attempt: int) -> None:
        agent = self._world.agents[agent_of(self._world.run, task, attempt)]
        agent.nudged_at = self._world.now
        self._world.nudges[agent.name] = self._world.nudges.get(agent.name, 0) + 1

    def _go_on(self, task: str, attempt: int) -> LimitEnded:
        agent = self._world.agents[agent_of(self._world.run, task, attempt)]
        if agent.limited_at is not None:
            agent.limited_s += self._world.now - agent.limited_at
            agent.limited_at = None
        return LimitEnded()

    def _pull(self, task: str, attempt: int) -> WorkPulled:
        agent = self._world.agents[agent_of(self._world.run, task, attempt)]
        status = agent.status(self._world.now)
        has_result = status is not None and status.has_result
        self._world.brought.add((task, attempt))
        if has_result:
            self._world.pulled[task, attempt] = self._world.pulled.get((task, attempt), 0) + 1
        used = agent.used(self._world.now)
        return WorkPulled(tree=self._world.tree(task, attempt), verify=has_result, used=used)

    def _stop(self, task: str, attempt: int, host: str) -> AgentStopped:
        agent = self._world.agents[agent_of(self._world.run, task, attempt)]
        if not agent.is_stopped:
            self._world.busy_s += self._world.now - agent.started
        agent.stop(self._world.now)
        if host == "end":
            assert (task, attempt) in self._world.brought, "a host ended before its work was pulled"
        elif host:
            self._world.stopped_hosts.add(agent.name)
        self._world.close_host(agent.name)
        return AgentStopped(host=host)

    def _verify(self, tasks: dict[str, int], fix: str = "") -> VerdictsFound:
        """All tasks of one copy; now and then one beside the first has no verdict there, and is tried alone later."""
        world = self._world
        world.copies += 1
        assert fix or len({world.tree(*task) for task in tasks.items()}) == 1, "one copy, one tree"
        first = next(iter(tasks))
        judged = {
            task: attempt for task, attempt in tasks.items() if task == first or self._chance.random() < 0.8
        }
        for key in judged.items():
            if fix:
                world.trials[key[0], fix] = world.trials.get((key[0], fix), 0) + 1
            else:
                world.verified[key] = world.verified.get(key, 0) + 1
        verdicts = {task: world.verdict(task, fix or task) for task in judged}
        return VerdictsFound(verdicts[first], verdicts)
