"""Does a test run a command of the block it cites, or only something that looks like it?"""

import re
import shlex
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from mngr_e2e.tutorial.blocks import Block
from mngr_e2e.tutorial.literals import HOLE
from mngr_e2e.tutorial.shell import without_comments

SCENERY = frozenset("cd echo export mkdir set sleep source touch true .".split())
_VERBS = frozenset(
    "add apply check clear config create delete destroy diff edit explain export get import info init inspect "
    "install list login logout ls new path prune pull push remove rename reset restore rm run set show start "
    "status stop sync trust uninstall unset update upgrade use view".split()
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BEFORE_PROGRAM = frozenset("sudo env command exec time nohup ! { ( if then do while else".split())
_ENDS_COMMAND = re.compile(r"[;&|()]+")


class Invocation(Struct, frozen=True):
    """A program, the words that choose what it does, and whether it only asks for help."""

    program: str
    words: tuple[str, ...]
    is_help: bool


def runs_a_command_of(block: Block, runs: Sequence[str | None], verbs: frozenset[str] = _VERBS) -> bool:
    """Whether any run has the program and subcommand of any command of the block. An unknown run is believed."""
    cited = [found for command in block.commands for found in invocations(command, verbs)]
    cited = [one for one in cited if one.program not in SCENERY] or cited
    if not cited or None in runs:
        return True
    done = [found for run in runs if run for found in invocations(run, verbs)]
    return any(_is_same(one, other) for one in cited for other in done)


def known_verbs(blocks: Iterable[Block]) -> frozenset[str]:
    """Words that are subcommands: the usual ones, and those that follow a program in the tutorial itself."""
    commands = (command for block in blocks for command in block.commands)
    found = (one for command in commands for one in invocations(command, frozenset()))
    return _VERBS | {one.words[0] for one in found if one.words}


def invocations(command: str, verbs: frozenset[str]) -> tuple[Invocation, ...]:
    """The programs that a command line calls, in order."""
    found = []
    for words in simple_commands(command):
        plain = [word for word in words[1:] if not word.startswith("-")][:2]
        if len(plain) == 2 and plain[1] not in verbs and HOLE not in plain[1]:
            plain.pop()
        found.append(Invocation(words[0].rpartition("/")[2], tuple(plain), "--help" in words))
    return tuple(found)


def simple_commands(command: str) -> list[list[str]]:
    """The words of each program call of a command line; what stands before a program is left out."""
    found: list[list[str]] = []
    words: list[str] = []
    for token in [*_tokens(command), ";"]:
        if not _ENDS_COMMAND.fullmatch(token):
            words.append(token)
            continue
        own = list(words)
        while own and (own[0] in _BEFORE_PROGRAM or _ASSIGNMENT.match(own[0])):
            own.pop(0)
        if own and own[0].rpartition("/")[2].startswith("python") and own[1:2] == ["-m"]:
            own = own[2:]
        if own and not own[0].startswith("#"):
            found.append(own)
        words = []
    return found


@lru_cache(maxsize=4096)
def _tokens(command: str) -> tuple[str, ...]:
    first_line = command.split("\n")[0]
    text = without_comments(first_line if "<<" in first_line else command).replace("\n", " ; ")
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return tuple(lexer)
    except ValueError:
        return tuple(text.split())


def _is_same(cited: Invocation, done: Invocation) -> bool:
    if done.is_help != cited.is_help and (done.is_help or not cited.words):
        return False
    pairs = zip((cited.program, *cited.words), (done.program, *done.words), strict=False)
    # A HOLE of what was run may be anything.
    return len(done.words) >= len(cited.words) and all(
        word == other or re.fullmatch(".*".join(map(re.escape, other.split(HOLE))), word, re.DOTALL)
        for word, other in pairs
    )
