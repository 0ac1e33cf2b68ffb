"""A test kit for command-line programs: sessions with transcripts, recordings, and tests that cite their tutorial.

`from mngr_e2e import E2eSession, expect`; the fixture `e2e` comes with the pytest plugin. Knows nothing of agents.
Names are loaded on first use, so that the plugin costs nothing to suites that do not use it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mngr_e2e.matchers.expect import eventually as eventually
    from mngr_e2e.matchers.expect import expect as expect
    from mngr_e2e.matchers.failure import ExpectationError as ExpectationError
    from mngr_e2e.session.result import Result as Result
    from mngr_e2e.session.session import E2eSession as E2eSession
    from mngr_e2e.session.terminal import Screen as Screen
    from mngr_e2e.session.terminal import Terminal as Terminal

_HOME = {
    "E2eSession": "session.session",
    "ExpectationError": "matchers.failure",
    "Result": "session.result",
    "Screen": "session.terminal",
    "Terminal": "session.terminal",
    "eventually": "matchers.expect",
    "expect": "matchers.expect",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'mngr_e2e' has no attribute {name!r}")
    value = getattr(import_module(f"mngr_e2e.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
