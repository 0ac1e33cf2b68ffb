"""A program's commands and options as its help text tells them, whatever printed it.

Read generously: an option counts as known when the text mentions it anywhere, so that a finding means something.
"""

import re

from msgspec import Struct

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|.\x08")
_OPTION = re.compile(r"(?<![\w./-])(--?)(\[no-\])?([A-Za-z0-9?][\w-]*)")
_VALUE = re.compile(
    r"(?<![\w./-])(--?[A-Za-z0-9][\w-]*)(?:[ =]\[?<[^>]+>|\[?=[\w<{]|[ =][A-Z][A-Z0-9_|=:.-]*\b|[ =]\{[^}]*\}"
    r"|[ =](?:string|strings|int|uint|float|duration|stringArray|file|path)\b)"
)
_ROW = re.compile(
    r"^(\s+)([a-z][\w:.-]*(?:(?:, ?| ?\| ?)[a-z][\w:.-]*)*)\s*(?:\*\s*)?(?:(?:\s{2,}|\t|: )\S.*)?$"
)
# argparse lists commands below the positional argument that chooses one, whose name may be anything.
_CHOOSING = re.compile(r"^positional arguments:\n((?:[ \t]+.*\n|\n)+)", re.MULTILINE)
_CHOSEN = re.compile(r"^    ([a-z][\w-]*)(?: \(([\w, -]+)\))?(?:  +\S.*)?$", re.MULTILINE)
_CHOICES = re.compile(r"(?P<before>\S+\s+)?\{(?P<words>[\w-]+(?:,[\w-]+)+)\}")
_ALIASES = re.compile(r"\((?:also|alias(?:es)?):? ([\w, -]+)\)")
_NOT_COMMANDS = re.compile(
    r"option|flag|argument|example|environment|variable|topic|see also|usage|positional|copyright|exit|files|author",
    re.IGNORECASE,
)
# The usage line of a program that has commands, whether or not they could be read.
_DISPATCHES = re.compile(r"^usage:.*(?:\b(?:sub)?command\b|[\w}>] \.\.\.$)", re.IGNORECASE | re.MULTILINE)
# Many programs take them and do not say so.
_EVERYWHERE = frozenset(("-h", "--help", "-V", "--version"))
# click-default-group marks the default command by a star.
_DEFAULT = re.compile(r"^\s+[a-z][\w-]*\*\s|^\s+[a-z][\w-]*\s.*\(default\)\.?$", re.MULTILINE)
_COMMAND_WORD = re.compile(
    r"[\[<({]*(?:sub-?)?(?:commands?|cmd|verb|action)\b|[\[(]*\{|\.\.\.", re.IGNORECASE
)
_OPTIONAL = re.compile(
    r"\[(?:-[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*|(?:global[ -])?(?:options?|flags?)(?:\.\.\.)?)\]", re.IGNORECASE
)


class Help(Struct, frozen=True):
    """What one command says of itself; `valued` are the options that take the next word.

    Without `tells_options` it may have others: a reference has pages of commands, and often none of the program; and
    the commands of a program may be listed in a way that was not understood.
    """

    commands: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    text: str = ""
    tells_options: bool = True


def read_help(text: str) -> Help:
    plain = _ESCAPES.sub("", text).replace("\r", "")
    commands = frozenset(_commands(plain))
    found: set[str] = set()
    for dashes, no, name in _OPTION.findall(plain):
        found.add(dashes + name)
        if no:
            found.add(f"{dashes}no-{name}")
    return Help(
        commands,
        frozenset(found),
        frozenset(_VALUE.findall(plain)),
        plain,
        tells_options=bool(commands) or not _DISPATCHES.search(plain),
    )


def is_known_option(word: str, helps: list[Help]) -> bool:
    """Whether any of these commands has the option; `-xyz` may be three options, or one with its value."""
    name = word.split("=", 1)[0]
    known = _EVERYWHERE.union(*(one.options for one in helps))
    if name in known or re.fullmatch(r"-\d+(?:\.\d+)?", name):
        return True
    if name.startswith("--"):
        return False
    letters = [f"-{letter}" for letter in name[1:]]
    if letters[0] not in known:
        return False
    return letters[0] in frozenset().union(*(one.valued for one in helps)) or all(
        one in known for one in letters
    )


def accepts_arguments(read: Help, path: tuple[str, ...]) -> bool:
    """Whether a command that has commands also takes other words: it has a default command, or a usage line says so."""
    if _DEFAULT.search(read.text):
        return True
    start = re.compile(
        rf"^[\s$*`.]*(?:usage:\s*|or:\s*)?{re.escape(' '.join(path))} (.*(?:\n[ \t]+\S.*)*)", re.I | re.M
    )
    for usage in start.findall(read.text):
        words = _OPTIONAL.sub(" ", usage).split()
        first = next((word for word in words if not word.startswith("-")), "")
        if first and not _COMMAND_WORD.match(first) and first.strip("[]<>") not in read.commands:
            return True
    return False


def _commands(text: str) -> set[str]:
    """Words in rows under a heading that is not about options, and argparse's `{add,remove}`."""
    found: set[str] = set()
    for match in _CHOICES.finditer(text):
        if not (match["before"] or "").lstrip("[(").startswith("-"):
            found |= set(match["words"].split(","))
    heading, width = "", 0
    for section in _CHOOSING.findall(text):
        for name, aliases in _CHOSEN.findall(section):
            found |= {name, *(word.strip() for word in aliases.split(",") if word.strip())}
    for line in text.split("\n"):
        row = _ROW.match(line)
        if line.strip() and not line[0].isspace():
            heading, width = re.sub(r"\([^)]*\)", "", line), 0
        elif row and not _NOT_COMMANDS.search(heading) and width in (0, len(row[1])):
            width = len(row[1])
            found |= {word.strip().rstrip(":") for word in re.split(r"[,|]", row[2])}
            for also in _ALIASES.findall(line):
                found |= {word.strip() for word in also.split(",")}
    return found
