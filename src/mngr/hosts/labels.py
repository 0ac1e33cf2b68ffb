"""Labels of a host: the agent it was made for, so that a stopped one has its row everywhere, and who made it."""

from collections.abc import Mapping

import msgspec

from mngr.model.agent import AgentSpec, Creator
from mngr.store.rules import UnfitError
from mngr.store.untrusted import read_creator, read_noted_spec

AGENT, CREATOR = "mngr.agent", "mngr.creator"
# Far below what a command line or an engine takes in one word.
_MOST = 30_000


def tags_of(spec: AgentSpec) -> dict[str, str]:
    """The labels; a spec that is too long for one goes without its command and windows."""
    creator, spec = spec.creator, msgspec.structs.replace(spec, creator=None)
    try:
        text = msgspec.json.encode(spec).decode()
    except UnicodeEncodeError:
        text = ""
    if not text or len(text) > _MOST:
        text = msgspec.json.encode(msgspec.structs.replace(spec, argv=(), windows={})).decode()
    return {AGENT: text, CREATOR: msgspec.json.encode(creator).decode()}


def spec_of(tags: Mapping[str, str]) -> AgentSpec | None:
    """The spec that a host was made for; None where there is none that can be read."""
    try:
        return read_noted_spec(tags.get(AGENT, "").encode(errors="replace"))
    except UnfitError:
        return None


def creator_in(tags: Mapping[str, str]) -> Creator | None:
    """The process that made the host; None where it was not written down."""
    return read_creator(tags.get(CREATOR, ""))
