"""The reference as Markdown pages, for a browser and for agents that read the repository."""

import re
from collections.abc import Iterable

from tools.reference_pages import Block, Page, Part, Topic, read_sections

from mngr.cli.commands import COMMANDS
from mngr.cli.option_groups import COMMON

_NOTE = "<!-- Made from the commands by `make docs`; changes here are lost. -->"
_EXIT_CODES = "exit-codes"
_MARKS = re.compile(r"([\\`*_<\[\]])")
_COMMAND = rf"mngr (?:(?:{'|'.join(COMMANDS)})\b)(?: (?:--?[a-z][\w-]*|[A-Z]{{3,}}\b))*"
_WORDS = re.compile(
    rf"""
    mngr\ help\ (?P<topic>[a-z-]+) | {_COMMAND.replace(" ", chr(92) + " ")}
    | (?<![\w-])--?[a-zA-Z][\w-]*            # an option
    | \$?[A-Z]+(?:__?[A-Z]+)+ | \$[A-Z]+     # a variable
    | [a-z]+(?:_[a-z]+)+                     # a key
    | \[[A-Z a-z.]\S*\](?=[\s)]|$)           # [NAME][@HOST]
    | '\{{[^']*'                             # '{{name}}'
    | :[a-z]+/\*
    """,
    re.VERBOSE,
)


def command_page(page: Page, topics: list[Topic]) -> str:
    names = [topic.name for topic in topics]
    about = page.paragraphs or page.parts[0].paragraphs
    also = f"Also: {', '.join(f'`mngr {alias}`' for alias in page.aliases)}." if page.aliases else ""
    usage = _code((part.usage for part in page.parts), "text")
    head = [_NOTE, f"# mngr {page.name}", _prose(about[0], names), usage, also, *_texts(about[1:], names)]
    if page.paragraphs:
        body = [text for part in page.parts for text in _subcommand(part, names)]
    else:
        body = _details(page.parts[0], names, "##")
    codes = next(topic for topic in topics if topic.name == _EXIT_CODES)
    foot = [
        f"## {COMMON}",
        _options(page.common, names),
        f"## {codes.title}",
        *_blocks(codes, names),
        "[All commands and topics](README.md)",
    ]
    return _joined([*head, *body, *foot])


def topic_page(topic: Topic, topics: list[Topic]) -> str:
    names = [one.name for one in topics]
    blocks = (text.replace("](topics/", "](") for text in _blocks(topic, names))
    return _joined(
        [
            _NOTE,
            f"# {topic.title}",
            *blocks,
            f"In the terminal: `mngr help {topic.name}`. [All commands and topics](../README.md)",
        ]
    )


def index_page(pages: list[Page], topics: list[Topic]) -> str:
    by_name = {page.name: page for page in pages}
    texts = [_NOTE, "# Commands of mngr", _code(["mngr COMMAND [WORDS] [OPTIONS]"], "text")]
    for section, commands in read_sections().items():
        lines = [f"- [`mngr {name}`]({name}.md): {_escape(by_name[name].line)}" for name in commands]
        texts += [f"## {section}", "\n".join(lines)]
    names = [f"- [{topic.title}](topics/{topic.name}.md)" for topic in topics]
    texts += ["## Topics", "\n".join(names)]
    texts.append("The same as manual pages: `man -l docs/man/mngr.1`.")
    return _joined(texts)


def _subcommand(part: Part, topics: list[str]) -> list[str]:
    return [f"## {part.name}", *_texts(part.paragraphs, topics), *_details(part, topics, "###")]


def _details(part: Part, topics: list[str], level: str) -> list[str]:
    texts = [f"{level} Examples", _code(part.examples)]
    for title, options in part.options.items():
        texts += [f"{level} {title}", _options(options, topics)]
    return texts


def _options(options: list[tuple[str, str]], topics: list[str]) -> str:
    return "\n".join(f"- `{names}`: {_prose(text, topics)}" for names, text in options)


def _blocks(topic: Topic, topics: list[str]) -> list[str]:
    return [_block(block, topics) for block in topic.blocks]


def _block(block: Block, topics: list[str]) -> str:
    if block.rows:
        return "\n".join(f"- `{term}`: {_prose(meaning, topics)}" for term, meaning in block.rows)
    if not block.lines:
        return _prose(block.text, topics)
    return _code(block.lines, "sh" if all(line.startswith("mngr ") for line in block.lines) else "text")


def _texts(paragraphs: Iterable[str], topics: list[str]) -> list[str]:
    return [_prose(paragraph, topics) for paragraph in paragraphs]


def _prose(text: str, topics: list[str]) -> str:
    """Escaped, with options as code and `mngr help TOPIC` as a link."""
    result, at = "", 0
    for found in _WORDS.finditer(text):
        result += _escape(text[at : found.start()]) + _word(found, topics)
        at = found.end()
    return result + _escape(text[at:])


def _word(found: re.Match[str], topics: list[str]) -> str:
    code = f"`{found[0]}`"
    topic = found["topic"]
    return f"[{code}](topics/{topic}.md)" if topic in topics else code


def _escape(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)


def _code(lines: Iterable[str], language: str = "sh") -> str:
    return "\n".join([f"```{language}", *lines, "```"])


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(text for text in texts if text) + "\n"
