"""An agent with a copy of the repository: asked, waited for, looked at through an explicit pull, and removed.

The copy is a mirror: a repository of the agent's own. In a worktree it could move the user's branches and would
leave its commits in the user's repository unasked; a mirror also works on every other host in the same way.
"""

import os
import time
from collections.abc import Callable
from types import TracebackType

from msgspec import Struct

import mngr
from mngr_e2e.authoring.repository import TutorialRepository

TURN_S = 1800.0
ROUNDS = 3
_LAST_LINES = 5
_SLICE_S = 15.0
_PROMPT_BYTES = 60_000

_ASKS = ("WAITING (permission)", "WAITING (input)")

Say = Callable[[str], None]


class Author(Struct, frozen=True):
    """Who writes: the type of agent, where it runs, how long a turn and how often it may try."""

    type: str = "claude"
    provider: str = ""
    timeout_s: float = TURN_S
    rounds: int = ROUNDS
    batch: int = 20
    keep: bool = False
    """Agents are left where they are afterwards, to be looked at."""


class AgentFailedError(mngr.MngrError):
    """The agent ended, asked or hung instead of doing its work. Nothing of it was taken."""


class Workplace:
    """A context: whatever happens inside, afterwards there is no agent and no branch of it, unless it is kept."""

    def __init__(
        self, manager: "mngr.Manager", repository: TutorialRepository, author: Author, base: str, task: str
    ) -> None:
        self._manager, self._repository, self._author, self._base = manager, repository, author, base
        self.name = f"tutorial-{task}-{os.urandom(3).hex()}"
        self.branch = f"mngr/{self.name}"
        self.is_over = False
        self._started = False

    def __enter__(self) -> "Workplace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._started or self._author.keep:
            return
        try:
            mngr.destroy(self.name, manager=self._manager)
        except mngr.NotFoundError:
            pass
        finally:
            # Destroying saves commits that are nowhere else as a branch; these were judged already.
            self._repository.drop_branch(self.branch)

    def ask(self, text: str) -> None:
        """Sends a prompt and waits until the agent's turn is over."""
        if (size := len(text.encode(errors="surrogateescape"))) > _PROMPT_BYTES:
            raise mngr.UsageError(
                f"the prompt has {size} bytes, {_PROMPT_BYTES} is the most",
                hint="give an agent less: --batch N",
            )
        if self._started:
            receipt = mngr.message(self.name, text, manager=self._manager).receipt
            if receipt.status not in ("delivered", "queued"):
                raise self._failed(f"a message to it is {receipt.status}: {receipt.why}")
        else:
            self._start(text)
        self._wait()

    def commit(self) -> str:
        """What its files are now, as a commit of the user's repository that no branch names."""
        try:
            pulled = mngr.pull(self.name, include_dirty=True, manager=self._manager)
        except mngr.MngrError as error:
            raise self._failed(f"its work cannot be pulled: {error.message}") from error
        finally:
            self._repository.drop_branch(self.branch)
        return pulled.after or self._base

    def _start(self, text: str) -> None:
        self._started = True
        try:
            mngr.create(
                self.name,
                type=self._author.type,
                provider=self._author.provider,
                message=text,
                source=self._repository.top,
                transfer="mirror",
                branch=f"{self._base}:{self.branch}",
                labels={"tutorial": os.path.basename(self._repository.top)},
                manager=self._manager,
            )
        except (mngr.AgentDiedError, mngr.BlockedError) as error:
            raise self._failed(error.message) from error

    def _wait(self) -> None:
        """Looks up now and then: an agent that asks a person would otherwise be waited for to the end."""
        deadline = time.monotonic() + self._author.timeout_s
        while True:
            left = deadline - time.monotonic()
            try:
                waited = next(
                    iter(mngr.wait(self.name, timeout_s=min(left, _SLICE_S), manager=self._manager))
                )
                break
            except mngr.TimedOutError as error:
                state = self._state()
                if left > _SLICE_S and state not in _ASKS:
                    continue
                after = f"after {self._author.timeout_s:g} s" if state not in _ASKS else "and gets no answer"
                raise self._failed(f"it is {state} {after}") from error
        agent = waited.agent
        self.is_over = agent.state in ("DONE", "STOPPED")
        if not waited.reached or agent.state == "STOPPED" or agent.exit_code or agent.signal:
            code = f"exit code {agent.exit_code}" if agent.exit_code is not None else waited.why
            raise self._failed(f"it is {agent.state} ({agent.signal or code})")

    def _state(self) -> str:
        found = mngr.list_agents(manager=self._manager).agents
        agent = next((one for one in found if one.name == self.name), None)
        if agent is None:
            return "gone"
        return f"{agent.state} ({agent.waiting_reason})" if agent.waiting_reason else str(agent.state)

    def _failed(self, what: str) -> AgentFailedError:
        try:
            screen = mngr.capture(self.name, manager=self._manager)
        except mngr.MngrError:
            screen = ""
        last = [line for line in screen.split("\n") if line.strip()][-_LAST_LINES:]
        tail = "".join(f"\n    {line.rstrip()}" for line in last)
        kept = f"it is kept: mngr connect {self.name}; mngr destroy {self.name}"
        gone = "it was removed and nothing was changed; --keep leaves it for you to look at"
        return AgentFailedError(
            f'agent "{self.name}": {what}{tail and "; its screen:"}{tail}',
            hint=kept if self._author.keep else gone,
        )
