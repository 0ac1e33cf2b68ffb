"""A test kit for command-line programs: sessions with transcripts, recordings, and tests that cite their tutorial.

`from mngr_e2e import E2eSession, expect`; the fixture `e2e` comes with the pytest plugin. `check`, `draft`, `Review`
and `sync` are the commands of `mngr tutorial` as functions; only what drafts and syncs knows of agents.
Names are loaded on first use, so that the plugin costs nothing to suites that do not use it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mngr_e2e.authoring.agent.workplace import Author as Author
    from mngr_e2e.authoring.drafting.draft import draft as draft
    from mngr_e2e.authoring.drafting.review import Review as Review
    from mngr_e2e.authoring.interface.material import Material as Material
    from mngr_e2e.authoring.syncing.sync import sync as sync
    from mngr_e2e.matchers.expect import eventually as eventually
    from mngr_e2e.matchers.expect import expect as expect
    from mngr_e2e.matchers.failure import ExpectationError as ExpectationError
    from mngr_e2e.session.result import Result as Result
    from mngr_e2e.session.session import E2eSession as E2eSession
    from mngr_e2e.session.terminal import Screen as Screen
    from mngr_e2e.session.terminal import Terminal as Terminal
    from mngr_e2e.tutorial.blocks import load_blocks as load_blocks
    from mngr_e2e.tutorial.check import check as check

_HOME = {
    "Author": "authoring.agent.workplace",
    "E2eSession": "session.session",
    "ExpectationError": "matchers.failure",
    "Material": "authoring.interface.material",
    "Result": "session.result",
    "Review": "authoring.drafting.review",
    "Screen": "session.terminal",
    "Terminal": "session.terminal",
    "check": "tutorial.check",
    "draft": "authoring.drafting.draft",
    "eventually": "matchers.expect",
    "expect": "matchers.expect",
    "load_blocks": "tutorial.blocks",
    "sync": "authoring.syncing.sync",
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
