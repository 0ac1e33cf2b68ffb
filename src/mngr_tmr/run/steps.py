"""The steps of a task, each with mngr's public functions and nothing else. Doing one again is safe."""

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

import mngr
from mngr_tmr.copies.hosts import host_words
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.result import RAW_LIMIT, Claim, read_claim
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task, agent_of, branch_of
from mngr_tmr.prompts.render import nudge_text, render_prompt
from mngr_tmr.publish.helper import HelperConfig, helper_setup
from mngr_tmr.run.bring import OUTBOX, bring_files
from mngr_tmr.run.folder import RunFolder, read_json, write_file, write_json
from mngr_tmr.run.look import ATTEMPT, RUN, TASK
from mngr_tmr.run.redact import Redactor, make_redactor
from mngr_tmr.verify.verify import measure_base, verify

_RESULT = "result.json"
_DELIVERED = ("delivered", "queued")


class Pulled(Struct, frozen=True):
    """`pulled.json`: what came home of one attempt."""

    branch: str = ""
    commit: str = ""
    notes: tuple[str, ...] = ()


class Steps:
    """One run's steps. `env` holds the values of the variables that the knobs only name."""

    def __init__(
        self, state: RunState, folder: RunFolder, manager: mngr.Manager, env: Mapping[str, str]
    ) -> None:
        self._state, self._folder, self._manager, self._env = state, folder, manager, dict(env)
        self._tasks = {task.slug: task for task in state.spec.tasks}
        self._redactor = make_redactor(env, state.spec.repo, state.spec.base)
        self._inherited = frozenset(state.in_flight)

    @property
    def _spec(self) -> RunSpec:
        """What was asked, with the knobs as they are now."""
        return msgspec.structs.replace(self._state.spec, knobs=self._state.knobs)

    def table(self) -> dict[str, Any]:
        steps = (self.base, self.launch, self.nudge, self.pull, self.stop, self.verify)
        return {step.__name__: partial(self._without_secrets, step) for step in steps}

    def launch(self, intention: Entry) -> dict[str, Any]:
        """Creates the agent with its prompt, or takes up the one that an earlier life of ours started."""
        slug, attempt = intention.task, intention.attempt
        task = self._tasks[slug]
        prompt = render_prompt(self._spec, task)
        write_file(self._folder.file(slug, attempt, "prompt.md"), prompt.encode())
        found = self._find(slug, attempt) if ("launch", slug) in self._inherited else None
        if found is not None and found.started_at:
            self._deliver_once(found, prompt)
            return {"id": found.id, "adopted": True}
        if found is not None:
            mngr.destroy(found, manager=self._manager)
        change = self._create(task, attempt, prompt)
        return {"id": change.agent.id, "notes": list(change.notes)}

    def nudge(self, intention: Entry) -> dict[str, Any]:
        messaged = mngr.message(self._name(intention), nudge_text(), manager=self._manager)
        return {"receipt": messaged.receipt.status}

    def pull(self, intention: Entry) -> dict[str, Any]:
        """Brings home the outbox, the conversation, the recording, then the branch; uncommitted work as well."""
        slug, attempt = intention.task, intention.attempt
        agent = mngr.find(self._name(intention), manager=self._manager)
        notes = bring_files(agent, self._folder.attempt(slug, attempt), self._redactor, self._manager)
        brought = mngr.pull(agent, include_dirty=bool(intention.data.get("salvage")), manager=self._manager)
        pulled = Pulled(brought.branch, brought.after, (*notes, *brought.notes))
        refuse_leaks(self._spec, pulled, self._redactor)
        write_json(self._folder.file(slug, attempt, "pulled.json"), pulled)
        claim = read_attempt_claim(self._folder, self._tasks[slug], attempt)
        return {"commit": pulled.commit, "verify": needs_verdict(claim, pulled.commit, self._spec.base)}

    def stop(self, intention: Entry) -> dict[str, Any]:
        (change,) = mngr.stop(self._name(intention), manager=self._manager)
        return {"changed": change.changed}

    def verify(self, intention: Entry) -> dict[str, Any]:
        slug, attempt = intention.task, intention.attempt
        commit = read_json(self._folder.file(slug, attempt, "pulled.json"), Pulled).commit
        artifacts = self._folder.file(slug, attempt, "verify")
        verified = verify(
            self._spec,
            self._tasks[slug],
            commit,
            artifacts=artifacts,
            env=self._env,
            manager=self._manager,
        )
        verified = self._redactor.record(verified)
        write_json(self._folder.file(slug, attempt, "verified.json"), verified)
        self._redactor.files(artifacts)
        return {"verdict": verified.verdict}

    def base(self, _intention: Entry) -> dict[str, Any]:
        """Runs all collected tests once at the base commit; the answer is shared by every row."""
        measured = measure_base(
            self._spec, artifacts=self._folder.base_artifacts, env=self._env, manager=self._manager
        )
        write_json(self._folder.base, measured)
        self._redactor.files(self._folder.base)
        self._redactor.files(self._folder.base_artifacts)
        return {"tests": len(measured)}

    def _without_secrets(self, step: Any, intention: Entry) -> dict[str, Any]:
        """A step whose error names no secret: a setup that fails may have shown its environment."""
        try:
            data: dict[str, Any] = step(intention)
        except mngr.MngrError as error:
            words, hint = self._redactor.text(str(error)), self._redactor.text(error.hint)
            raise mngr.MngrError(words, hint=hint) from None
        return data

    def _name(self, intention: Entry) -> str:
        return agent_of(self._spec.id, intention.task, intention.attempt)

    def _find(self, slug: str, attempt: int) -> mngr.Agent | None:
        labels = (f"{RUN}={self._spec.id}", f"{TASK}={slug}", f"{ATTEMPT}={attempt}")
        agents = mngr.list_agents(mngr.Filter(labels=labels), manager=self._manager).agents
        return agents[0] if agents else None

    def _create(self, task: Task, attempt: int, prompt: str) -> mngr.Change:
        knobs = self._spec.knobs
        labels = {**knobs.labels, RUN: self._spec.id, TASK: task.slug, ATTEMPT: str(attempt)}
        helper = HelperConfig(
            self._spec.pytest,
            self._spec.pytest_args,
            task.node_id,
            task.file,
            self._spec.folder,
            knobs.programs,
        )
        try:
            return mngr.create(
                agent_of(self._spec.id, task.slug, attempt),
                type=knobs.type,
                args=tuple(filled(arg, task) for arg in knobs.args),
                source=self._spec.repo,
                transfer=knobs.transfer,
                branch=f"{self._spec.base}:{branch_of(self._spec.id, task.slug, attempt)}",
                env=self._env,
                labels=labels,
                setup=helper_setup(knobs.setup, helper),
                record=knobs.record,
                message=prompt,
                manager=self._manager,
                **host_words(knobs, self._manager),
            )
        except mngr.AgentDiedError as died:
            # Its row is kept and its last words are on its screen: watching tells how it ended.
            return died.change
        except mngr.BlockedError:
            found = self._find(task.slug, attempt)
            if found is None or found.state != mngr.AgentState.DONE:
                raise
            return mngr.Change(
                found, changed=True
            )  # it ended before it took its prompt: the same, a moment later

    def _deliver_once(self, agent: mngr.Agent, prompt: str) -> None:
        """Sends the prompt unless it was sent: a death of ours may have come between creating and sending."""
        sent = [event for event in mngr.events(agent, manager=self._manager) if event.kind == "message"]
        if not any(event.data.get("status") in _DELIVERED for event in sent) and agent.state in (
            "RUNNING",
            "WAITING",
        ):
            mngr.message(agent, prompt, manager=self._manager)


def refuse_leaks(spec: RunSpec, pulled: Pulled, redactor: Redactor) -> None:
    """Stops commits that hold a secret before anything is made of them; their branch stays as it came."""
    names = redactor.names_in_commits(spec.repo, spec.base, pulled.commit)
    if names:
        raise mngr.RefusedError(
            f"its commits hold the value of {', '.join(names)} and are not used",
            hint=f"look at it with care, then: git branch -D {pulled.branch}",
        )


def read_attempt_claim(folder: RunFolder, task: Task, attempt: int) -> Claim | None:
    """The result file of an attempt as it was received; None when there is none."""
    path = os.path.join(folder.attempt(task.slug, attempt), OUTBOX, _RESULT)
    if os.path.islink(path):
        return Claim(problem="the result is a link, not a file")
    try:
        with open(path, "rb") as file:
            return read_claim(file.read(RAW_LIMIT + 1), task.node_id)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Claim(problem=f"the result cannot be read: {error.strerror}")


def needs_verdict(claim: Claim | None, commit: str, base: str) -> bool:
    """Only a readable result with commits has something to verify; at the base commit the verdict is known."""
    if claim is None or claim.result is None or claim.problem:
        return False
    return bool(commit) and commit != base and claim.result.outcome != "blocked"


def filled(arg: str, task: Task) -> str:
    """An argument of the agent type with the task put in: `{slug}`, `{test}` (its last name), `{file}`."""
    test = task.node_id.rpartition("::")[2].partition("[")[0]
    return arg.replace("{slug}", task.slug).replace("{test}", test).replace("{file}", task.file)
