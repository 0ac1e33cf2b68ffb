"""Names and ids of agents."""

import os
import re

from mngr.errors import UsageError

# Sets and no patterns: compiling these would be a hundredth of the time of `create`.
_HEX = frozenset("0123456789abcdef")
_LETTERS_AND_DIGITS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_IN_NAMES = _LETTERS_AND_DIGITS | {"-", "_"}
_NOT_IN_BRANCHES = frozenset(map(chr, range(33))) | frozenset("\x7f~^:?*[\\")

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
    # One fixed length: a process is found by `grep MNGR_AGENT_ID=<id>`, which has no end anchor.
    return len(text) == 38 and text.startswith("agent-") and _HEX.issuperset(text[6:])


def is_valid_name(text: str) -> bool:
    return (
        0 < len(text) <= 63
        and _IN_NAMES.issuperset(text)
        and text[0] in _LETTERS_AND_DIGITS
        and text[-1] in _LETTERS_AND_DIGITS
    )


def is_valid_branch(text: str) -> bool:
    """Whether git takes the text for the name of a branch."""
    return (
        text not in ("", "@", "HEAD")
        and _NOT_IN_BRANCHES.isdisjoint(text)
        and not text.startswith(("-", ".", "/"))
        and not text.endswith(("/", ".", ".lock"))
        and not any(part in text for part in ("..", "@{", "//", "/.", "./", ".lock/"))
    )


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
