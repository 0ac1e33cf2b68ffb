"""The steps of a task, each with mngr's public functions and nothing else. Doing one again is safe."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial

import msgspec

import mngr
from mngr_tmr.copies.hosts import host_words
from mngr_tmr.engine.state import RunState, shared_with
from mngr_tmr.failures.alike import alike_failures
from mngr_tmr.git import Repository
from mngr_tmr.model.dependencies import packed
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import (
    AgentLaunched,
    AgentsMetered,
    AgentStopped,
    AnyFact,
    BaseFailures,
    BaseMeasured,
    FinishRequest,
    LimitEnded,
    NudgeSent,
    PullRequest,
    StopRequest,
    VerdictsFound,
    VerifyRequest,
    WorkPulled,
)
from mngr_tmr.model.money import Used
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task, agent_of, branch_of
from mngr_tmr.model.usage import read_usage
from mngr_tmr.model.verdict import Verified
from mngr_tmr.prompts.render import finish_text, go_on_text, nudge_text, render_prompt
from mngr_tmr.publish.helper import helper_config, helper_setup
from mngr_tmr.run.artifacts import only_folder, pull_artifacts
from mngr_tmr.run.end_hosts import end_host
from mngr_tmr.run.metering import read_spending, unpriced_usd, used_of
from mngr_tmr.run.polling import ATTEMPT, RUN, TASK, find_known, is_complete, launched_as
from mngr_tmr.run_folder.attempt import PulledAttempt, needs_verdict, read_attempt_claim
from mngr_tmr.run_folder.folder import RunFolder, read_json
from mngr_tmr.run_folder.redact import Redactor, no_values_in_errors
from mngr_tmr.verify.verify import CommitCheck, measure_base, verify_equal

_DELIVERED = ("delivered", "queued")
_TAKEN = ("prompt_submitted", "prompt_queued")
_OWN_WORD_S = 5.0
_SILENT_HOST_S = 1.0


class TaskSteps:
    """One run's steps. `env` holds the values of the variables that the options only name."""

    def __init__(
        self,
        state: RunState,
        folder: RunFolder,
        manager: mngr.Manager,
        env: Mapping[str, str],
        tell: Callable[[BaseFailures], None] = lambda _fact: None,
    ) -> None:
        """`tell` is called with what is known of the base before it has been run as often as it must."""
        folder = folder.hiding(env)
        self._state, self._folder, self._manager, self._env = state, folder, manager, dict(env)
        self._tasks = {task.slug: task for task in state.spec.tasks}
        self._writer, self._redactor = folder.writer, folder.redactor
        self._inherited, self._tell = frozenset(state.in_flight), tell

    @property
    def _spec(self) -> RunSpec:
        """What was asked, with the options as they are now."""
        return msgspec.structs.replace(self._state.spec, options=self._state.options)

    def table(self) -> dict[str, Callable[[Entry], AnyFact]]:
        """Each step of a task by its name in the journal."""
        steps: dict[str, Callable[[Entry], AnyFact]] = {
            "base": self.base,
            "meter": self.meter,
            "launch": self.launch,
            "nudge": self.nudge,
            "pull": self.pull,
            "stop": self.stop,
            "verify": self.verify,
        }
        return {name: partial(self._without_secrets, step) for name, step in steps.items()}

    def launch(self, intention: Entry) -> AgentLaunched:
        """Creates the agent with its prompt, or adopts the one that an earlier process of this run started."""
        slug, attempt = intention.task, intention.attempt
        task = self._tasks[slug]
        prompt = render_prompt(self._spec, task)
        self._writer.write(self._folder.file(slug, attempt, "prompt.md"), prompt.encode())
        found = self._find_surely(slug, attempt) if ("launch", slug) in self._inherited else None
        if found is not None and found.started_at:
            self._deliver_once(found, prompt)
            return launched_as(found, adopted=True)
        if found is not None:
            mngr.destroy(found, manager=self._manager)
        change = self._create(task, attempt, prompt)
        return launched_as(change.agent, notes=tuple(change.notes))

    def nudge(self, intention: Entry) -> NudgeSent | LimitEnded:
        """Reminds an agent without a result, ends one whose budget is used up, or asks one to go on after a limit."""
        has_met_limit = isinstance(intention.fact, LimitEnded)
        text = go_on_text() if has_met_limit else nudge_text()
        if isinstance(intention.fact, FinishRequest):
            text = finish_text(intention.fact.reason, self._state.options.grace_s)
        messaged = mngr.message(self._target(intention), text, manager=self._manager)
        if has_met_limit:
            return LimitEnded()
        return NudgeSent(messaged.receipt.status)

    def pull(self, intention: Entry) -> WorkPulled:
        """Pulls the outbox, the conversation, the recording, then the branch; uncommitted work as well."""
        slug, attempt = intention.task, intention.attempt
        request = intention.fact if isinstance(intention.fact, PullRequest) else PullRequest()
        if request.stop_first:
            mngr.stop(self._target(intention), manager=self._manager)
        agent = mngr.find(self._target(intention), manager=self._manager)
        notes = pull_artifacts(agent, self._folder.attempt(slug, attempt), self._writer, self._manager)
        brought = mngr.pull(agent, include_dirty=request.salvage, manager=self._manager)
        tree = Repository(self._spec.repo, 0).tree(brought.after) if brought.after else ""
        pulled = PulledAttempt(brought.branch, brought.after, (*notes, *brought.notes), tree)
        refuse_leaks(self._spec, pulled, self._redactor)
        self._writer.write_json(self._folder.file(slug, attempt, "pulled.json"), pulled)
        claim = read_attempt_claim(self._folder, self._tasks[slug], attempt)
        wants_verdict = needs_verdict(claim, pulled.commit, self._spec.base)
        return WorkPulled(pulled.commit, pulled.tree, wants_verdict, self._used(slug, attempt))

    def meter(self, _intention: Entry) -> AgentsMetered:
        """Reads what the agents that are at work used so far."""
        return read_spending(self._state, self._manager)

    def stop(self, intention: Entry) -> AgentStopped:
        """Stops the agent; with a host of its own, ends that host, or stops it where its work is nowhere else."""
        target = self._target(intention)
        host = intention.fact.host if isinstance(intention.fact, StopRequest) else ""
        if not host:
            (change,) = mngr.stop(target, manager=self._manager)
            return AgentStopped(change.changed)
        try:
            end_host(target, self._manager, keeps_files=host == "stop")
        except mngr.NotFoundError:
            return AgentStopped(False, "gone")
        except mngr.UsageError:  # a host that cannot be stopped and started again: with work on it, it stays
            (change,) = mngr.stop(target, manager=self._manager)
            return AgentStopped(change.changed, "live")
        return AgentStopped(True, "stopped" if host == "stop" else "ended")

    def verify(self, intention: Entry) -> VerdictsFound:
        """Runs the test, and those of tasks whose commits have the same tree, in one copy; what is known is not run.

        With a fix, the commit is that of the fix, for every one of them.
        """
        attempts = {intention.task: intention.attempt, **shared_with(intention)}
        fix = intention.fact if isinstance(intention.fact, VerifyRequest) and intention.fact.fix else None
        known = {} if fix else {slug: self._known_verdict(slug, attempts[slug]) for slug in attempts}
        verdicts = {slug: verdict for slug, verdict in known.items() if verdict}
        left = {slug: attempt for slug, attempt in attempts.items() if slug not in verdicts}
        with ExitStack() as stack:
            checks = [
                CommitCheck(
                    self._tasks[slug],
                    self._commit(fix.fix, fix.fix_attempt) if fix else self._commit(slug, attempt),
                    stack.enter_context(self._writer.staging()),
                )
                for slug, attempt in left.items()
            ]
            artifacts = {check.task.slug: check.artifacts for check in checks}
            found = verify_equal(self._spec, checks, env=self._env, manager=self._manager) if checks else []
            for task, verified in found:
                slug, attempt = task.slug, attempts[task.slug]
                if fix:
                    verified = msgspec.structs.replace(verified, added=())
                self._take_in(artifacts[slug], self._folder.file(slug, attempt, "tried" if fix else "verify"))
                name = "tried.json" if fix else "verified.json"
                self._writer.write_json(self._folder.file(slug, attempt, name), verified)
                verdicts[slug] = verified.verdict
        return VerdictsFound(verdicts[intention.task], verdicts)

    def _commit(self, slug: str, attempt: int) -> str:
        return read_json(self._folder.file(slug, attempt, "pulled.json"), PulledAttempt).commit

    def _known_verdict(self, slug: str, attempt: int) -> str:
        """The verdict of an earlier attempt whose commit has the same tree, which becomes that of this one."""
        own = read_json(self._folder.file(slug, attempt, "pulled.json"), PulledAttempt)
        for earlier in range(attempt - 1, 0, -1):
            try:
                pulled = read_json(self._folder.file(slug, earlier, "pulled.json"), PulledAttempt)
                verified = read_json(self._folder.file(slug, earlier, "verified.json"), Verified)
            except FileNotFoundError:
                continue
            if own.tree and own.tree == pulled.tree:
                verified = msgspec.structs.replace(verified, commit=own.commit)
                self._writer.write_json(self._folder.file(slug, attempt, "verified.json"), verified)
                return verified.verdict
        return ""

    def base(self, _intention: Entry) -> BaseMeasured:
        """Runs all collected tests once at the base commit; the answer is shared by every row."""
        with self._writer.staging() as artifacts:
            measured = measure_base(
                self._spec,
                artifacts=artifacts,
                env=self._env,
                manager=self._manager,
                tell=lambda so_far: self._tell(BaseFailures(alike_failures(self._spec, so_far))),
            )
            self._take_in(artifacts, self._folder.base_artifacts)
        depend = {test: one.dependencies for test, one in measured.items() if one.dependencies}
        self._writer.write_json(self._folder.base_dependencies, packed(depend))
        bare = {test: msgspec.structs.replace(one, dependencies=None) for test, one in measured.items()}
        self._writer.write_json(self._folder.base, bare)
        skipped = {slug: self._tasks[slug].node_id for slug in self._spec.skipped}
        not_passed = (slug for slug, test in skipped.items() if measured[test].verdict != "passed")
        return BaseMeasured(len(measured), alike_failures(self._spec, measured), tuple(not_passed))

    def _without_secrets(self, step: Callable[[Entry], AnyFact], intention: Entry) -> AnyFact:
        """Does a step; its error names no secret: a setup that fails may have shown its environment."""
        with no_values_in_errors(self._redactor):
            return step(intention)

    def _take_in(self, staging: str, target: str) -> None:
        """Artifacts of a copy of ours, in a folder whose name is ours."""
        self._writer.take_in(only_folder(staging), os.path.join(target, "copy"))

    def _used(self, slug: str, attempt: int) -> Used | None:
        """What an agent used by the records that came with its work; None where they could not be read."""
        path = self._folder.file(slug, attempt, "usage.json")
        return used_of(read_usage(path), unpriced_usd(self._state)) if os.path.exists(path) else None

    def _target(self, intention: Entry) -> str:
        """The agent's address, once its launch has told it; until then the name that it was given."""
        name = agent_of(self._spec.id, intention.task, intention.attempt)
        return self._state.addresses.get(name, name)

    def _find(self, slug: str, attempt: int) -> tuple[mngr.Agent | None, bool]:
        """The agent of an attempt, by its labels or its name, and whether every host it may be on has answered."""
        labels = {RUN: self._spec.id, TASK: slug, ATTEMPT: str(attempt)}
        name = agent_of(self._spec.id, slug, attempt)
        listing = mngr.list_agents(manager=self._manager)
        others = find_known([listing], set(self._state.addresses.values())).values()
        for agent in listing.agents:
            if agent not in others and (agent.name == name or labels.items() <= agent.labels.items()):
                return agent, agent.host.state != "UNREACHABLE"
        providers = {
            options.provider or "local" for options in (self._state.spec.options, self._state.options)
        }
        return None, is_complete(listing, providers)

    def _find_surely(self, slug: str, attempt: int) -> mngr.Agent | None:
        """The agent that an earlier life of ours may have launched. A silent host is waited for: it may be there."""
        deadline = time.monotonic() + self._spec.options.launch_deadline_s
        while True:
            found, is_sure = self._find(slug, attempt)
            if is_sure:
                return found
            if time.monotonic() >= deadline:
                # Not for want of a host: launched on another one, it might be at work twice.
                raise mngr.BlockedError(
                    "whether it was launched before cannot be told: a host is silent",
                    hint="see: mngr list --hosts; then: mngr tmr resume --retry",
                )
            time.sleep(_SILENT_HOST_S)

    def _create(self, task: Task, attempt: int, prompt: str) -> mngr.Change:
        options = self._spec.options
        labels = {**options.labels, RUN: self._spec.id, TASK: task.slug, ATTEMPT: str(attempt)}
        try:
            return mngr.create(
                agent_of(self._spec.id, task.slug, attempt),
                type=options.type,
                args=tuple(filled(arg, task) for arg in options.args),
                source=self._spec.repo,
                transfer=options.transfer,
                branch=f"{self._spec.base}:{branch_of(self._spec.id, task.slug, attempt)}",
                env=self._env,
                labels=labels,
                setup=helper_setup(options.setup, helper_config(self._spec, task)),
                record=options.record,
                message=prompt,
                manager=self._manager,
                **host_words(options, self._manager),
            )
        except mngr.AgentDiedError as died:
            # Its row is kept and its last words are on its screen: watching tells how it ended.
            return died.change
        except mngr.BlockedError:
            found, _ = self._find(task.slug, attempt)
            if found is None or found.state != mngr.AgentState.DONE:
                raise
            return mngr.Change(
                found, changed=True
            )  # it ended before it took its prompt: the same, a moment later

    def _deliver_once(self, agent: mngr.Agent, prompt: str) -> None:
        """Sends the prompt unless it was sent: a death of ours may have come between creating and sending.

        It may also have come between sending and writing the event; then the agent's own word is waited for.
        """
        if agent.state not in ("RUNNING", "WAITING"):
            return
        deadline = time.monotonic() + _OWN_WORD_S
        while not any(map(_is_prompt_taken, mngr.events(agent, manager=self._manager))):
            if time.monotonic() >= deadline:
                mngr.message(agent, prompt, manager=self._manager)
                return
            time.sleep(_OWN_WORD_S / 10)


def _is_prompt_taken(event: mngr.Event) -> bool:
    """Whether an event of an agent shows that it has its prompt: our word that it was delivered, or its own."""
    is_delivered = event.kind == "message" and event.data.get("status") in _DELIVERED
    return is_delivered or event.kind in _TAKEN


def refuse_leaks(spec: RunSpec, pulled: PulledAttempt, redactor: Redactor) -> None:
    """Stops commits that hold a secret, or come on a branch named so; their branch stays as it came."""
    names = {
        *redactor.names_in(pulled.branch),
        *redactor.names_in_commits(spec.repo, spec.base, pulled.commit),
    }
    if names:
        raise mngr.RefusedError(
            f"its commits hold the value of {', '.join(sorted(names))} and are not used",
            hint=f"look at it with care, then: git branch -D {redactor.text(pulled.branch)}",
        )


def filled(arg: str, task: Task) -> str:
    """An argument of the agent type with the task put in: `{slug}`, `{test}` (its last name), `{file}`."""
    test = task.node_id.rpartition("::")[2].partition("[")[0]
    return arg.replace("{slug}", task.slug).replace("{test}", test).replace("{file}", task.file)
