"""Names and ids of agents."""

import os
import re

from mngr.errors import UsageError

# One fixed length: a process is found by `grep MNGR_AGENT_ID=<id>`, which has no end anchor.
_ID = re.compile(r"agent-[0-9a-f]{32}\Z")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\Z")
_BAD_BRANCH = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|^[-./]|\.lock(?:/|\Z)|\./|[/.]\Z|^@\Z|^HEAD\Z"
)

_ADJECTIVES = (
    "amber brave brisk calm clear coral eager early fair fleet fond fresh gentle glad green happy keen kind late "
    "light lively lucky mellow merry mild neat noble pale plain proud quick quiet rapid ready rosy sage sharp shy "
    "silent silver sleek small smart solid spry steady still stout sunny swift tidy true vivid warm wise witty young"
).split()
_NOUNS = (
    "acorn aspen badger bay beacon birch brook canyon cedar cliff cloud comet cove crane creek delta dune ember fern "
    "field finch fjord forest fox garnet glade grove harbor hawk hazel heron hill island ivy jay lagoon lake lark "
    "leaf maple marsh meadow moss oak orchid otter owl pebble pine plover pond quartz raven reef ridge river robin "
    "rowan shore sparrow spruce stone thrush tide valley willow wren"
).split()


def new_agent_id() -> str:
    return "agent-" + os.urandom(16).hex()


def is_agent_id(text: str) -> bool:
    return _ID.match(text) is not None


def is_valid_name(text: str) -> bool:
    return _NAME.match(text) is not None


def is_valid_branch(text: str) -> bool:
    """Whether git takes the text for the name of a branch."""
    return bool(text) and _BAD_BRANCH.search(text) is None


def check_name(text: str, what: str = "agent name") -> str:
    """The name itself, or an error that says what a name may look like."""
    if is_valid_name(text):
        return text
    raise UsageError(
        f"{what} {text!r} cannot be used",
        hint="use letters, digits, - and _, at most 63, with a letter or digit first and last",
    )


def random_name() -> str:
    """Two readable words; the caller makes sure that it is free."""
    first, second = os.urandom(1)[0], os.urandom(1)[0]
    return f"{_ADJECTIVES[first % len(_ADJECTIVES)]}-{_NOUNS[second % len(_NOUNS)]}"


def slug(text: str, limit: int = 63) -> str:
    """A valid name made from any text; empty when nothing of it can be kept."""
    words = re.sub(r"[^A-Za-z0-9_]+", "-", text)
    return words[:limit].strip("-_")
