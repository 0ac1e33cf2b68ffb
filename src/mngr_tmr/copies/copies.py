"""Copies that stay open for a while: one per commit, made when first asked for, all destroyed at the end."""

import threading
from collections.abc import Mapping
from contextlib import ExitStack

import mngr
from mngr_tmr.copies.capacity_wait import Tell, wait_for_capacity
from mngr_tmr.copies.copy import Copy, open_copy
from mngr_tmr.model.run import RunOptions, RunSpec

_MOST = 4


def most_copies(options: RunOptions) -> int:
    """How many copies are open at the same time: where hosts are bounded, one less than those, for an agent beside."""
    return max(1, min(_MOST, options.max_hosts - 1)) if options.max_hosts else _MOST


class Copies:
    """A context manager. Only the last few commits' copies stay open; asking for an older one makes it anew.

    With `tell`, a provider that refuses for now is reported and waited for; without, its refusal is raised.
    """

    def __init__(
        self,
        run: RunSpec,
        env: Mapping[str, str] | None = None,
        manager: mngr.Manager | None = None,
        tell: Tell | None = None,
    ) -> None:
        self._run, self._env, self._manager, self._tell = run, env, manager, tell
        self._open: dict[str, tuple[Copy, ExitStack]] = {}
        self._lock = threading.Lock()

    def at(self, commit: str) -> Copy:
        """The copy of this commit."""
        with self._lock:
            known = self._open.pop(commit, None)
            while known is None and len(self._open) >= most_copies(self._run.options):
                self._close(next(iter(self._open)))
            self._open[commit] = known or self._make(commit)
            return self._open[commit][0]

    def __enter__(self) -> "Copies":
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as all_of_them:
            for commit in tuple(self._open):
                all_of_them.callback(self._close, commit)

    def _make(self, commit: str) -> tuple[Copy, ExitStack]:
        closing = ExitStack()

        def make() -> Copy:
            return closing.enter_context(open_copy(self._run, commit, self._env, self._manager))

        return (wait_for_capacity(make, self._tell) if self._tell else make()), closing

    def _close(self, commit: str) -> None:
        _, closing = self._open.pop(commit)
        closing.close()
