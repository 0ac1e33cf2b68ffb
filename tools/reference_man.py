"""The reference as manual pages, in the part of roff that groff and mandoc read alike."""

from collections.abc import Iterable

from tools.reference_pages import Block, Page, Part, Topic, read_sections

from mngr.cli.option_groups import COMMON, OWN

_NOTE = '.\\" Made from the commands by `make docs`; changes here are lost.'
_SPECIAL = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}
_EXIT_CODES = "exit-codes"
_ABOUT = "A page for each command, such as mngr-create(1), says all about it; so does mngr help COMMAND."


def command_man(page: Page, topics: list[Topic]) -> str:
    own = page.parts[0]
    lines = [
        *_head(f"mngr-{page.name}", page.line),
        ".SH SYNOPSIS",
        *_synopsis(part.usage for part in page.parts),
    ]
    lines += [".SH DESCRIPTION", *_paragraphs(page.paragraphs or own.paragraphs)]
    if page.aliases:
        also = " or ".join(f"mngr {alias}" for alias in page.aliases)
        lines += _paragraphs([f"This can also be written {also}."])
    if page.paragraphs:
        lines += [".SH COMMANDS", *(line for part in page.parts for line in _subcommand(part))]
        lines += [f".SH {COMMON.upper()}", *_definitions(page.common)]
    else:
        lines += [".SH OPTIONS", *_groups({**own.options, COMMON: page.common})]
    lines += _exit_status(topics)
    if not page.paragraphs:
        lines += [".SH EXAMPLES", *_verbatim(own.examples)]
    return _joined([*lines, *_see_also(["mngr"])])


def overview_man(pages: list[Page], topics: list[Topic], line: str) -> str:
    lines = [*_head("mngr", line), ".SH SYNOPSIS", *_synopsis(["mngr COMMAND [WORDS] [OPTIONS]"])]
    lines += [".SH DESCRIPTION", *_paragraphs([_ABOUT])]
    lines.append(".SH COMMANDS")
    for section, commands in read_sections().items():
        lines += [f".SS {_text(section)}", *_definitions(commands.items())]
    lines += [f".SH {COMMON.upper()}", *_definitions(pages[0].common)]
    for topic in topics:
        lines += [f".SH {_text(topic.title.upper())}", *_blocks(topic.blocks)]
    return _joined([*lines, *_see_also(f"mngr-{page.name}" for page in pages)])


def _head(name: str, line: str) -> list[str]:
    return [
        _NOTE,
        f'.TH {_text(name.upper())} 1 "" mngr "Manual of mngr"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{_text(name)} \\- {_text(line)}",
    ]


def _synopsis(usages: Iterable[str]) -> list[str]:
    lines = []
    for usage in usages:
        words = usage.split()
        count = next(at for at, word in enumerate([*words, "["]) if not word.islower() or "[" in word)
        bold, rest = _text(" ".join(words[:count])), _text(" ".join(words[count:]))
        lines += [f"\\fB{bold}\\fR {rest}".rstrip(), ".br"]
    return lines[:-1]


def _subcommand(part: Part) -> list[str]:
    lines = [f".SS {_text(part.name)}", *_paragraphs(part.paragraphs)]
    for options in part.options.values():
        lines += _definitions(options)
    return [*lines, *_verbatim(part.examples)]


def _groups(groups: dict[str, list[tuple[str, str]]]) -> list[str]:
    lines = []
    for title, options in groups.items():
        lines += [*([] if title == OWN else [f".SS {_text(title)}"]), *_definitions(options)]
    return lines


def _exit_status(topics: list[Topic]) -> list[str]:
    codes = next(topic for topic in topics if topic.name == _EXIT_CODES)
    return [".SH EXIT STATUS", *_blocks(codes.blocks)]


def _see_also(names: Iterable[str]) -> list[str]:
    words = [f"\\fB{_text(name)}\\fR(1)" for name in names]
    return [".SH SEE ALSO", ",\n".join(words)]


def _blocks(blocks: Iterable[Block]) -> list[str]:
    lines = []
    for block in blocks:
        if block.rows:
            lines += _definitions(block.rows)
        else:
            lines += _verbatim(block.lines) if block.lines else _paragraphs([block.text])
    return lines


def _paragraphs(paragraphs: Iterable[str]) -> list[str]:
    return [line for paragraph in paragraphs for line in (".PP", _text(paragraph))]


def _definitions(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [line for term, text in pairs for line in (".TP", f"\\fB{_text(term)}\\fR", _text(text))]


def _verbatim(lines: Iterable[str]) -> list[str]:
    return [".PP", ".RS 4", ".nf", *(_text(line) for line in lines), ".fi", ".RE"]


def _joined(lines: list[str]) -> str:
    """The page; a heading already begins a paragraph."""
    kept = [
        line
        for before, line in zip(["", *lines], lines, strict=False)
        if line != ".PP" or not before.startswith((".SH", ".SS"))
    ]
    return "\n".join(kept) + "\n"


def _text(text: str) -> str:
    """One line of text that roff prints as it is."""
    escaped = "".join(
        _SPECIAL.get(char, char if char.isascii() else f"\\[u{ord(char):04X}]") for char in text
    )
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
