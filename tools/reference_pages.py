"""What the reference says about each command, read from the click commands; `reference` writes it down."""

import inspect

import click
from msgspec import Struct

from mngr import registry
from mngr.cli.app import app
from mngr.cli.commands import ALIASES, SECTIONS
from mngr.cli.option_groups import COMMON, option_groups, option_lines
from mngr.cli.shipped import read_shipped, shipped_topics
from mngr.cli.verb import Verb

DISTRIBUTION = "mngr-agents"
"""Ours: the commands that its own plugins add are documented with the rest."""

_INDENT = "  "
_EXAMPLES = "\b"
_TITLES = {"env": "Environment", "exit-codes": "Exit status"}


class Part(Struct, frozen=True):
    """One command that can be run."""

    name: str
    usage: str
    paragraphs: tuple[str, ...]
    options: dict[str, list[tuple[str, str]]]
    """By heading: how each is named, what it does. The options of every command are the page's."""
    examples: tuple[str, ...]


class Page(Struct, frozen=True):
    """One word after `mngr`: a command, or several of one noun."""

    name: str
    line: str
    aliases: tuple[str, ...]
    paragraphs: tuple[str, ...]
    """What a noun says before its commands; a page of one command has none."""
    parts: tuple[Part, ...]
    common: list[tuple[str, str]]


class Block(Struct, frozen=True):
    """A piece of a topic: text to fill, rows of a term and its meaning, or lines to keep as they are."""

    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()


class Topic(Struct, frozen=True):
    """A page of `mngr help TOPIC`."""

    name: str
    title: str
    blocks: tuple[Block, ...]


def read_sections() -> dict[str, dict[str, str]]:
    """Commands and their help lines by heading: our own, and those of plugins that come with us."""
    ours = registry.entries(registry.COMMANDS).items()
    lines = registry.plugin_commands()
    added = {name: lines[name] for name, entry in sorted(ours) if entry.distribution == DISTRIBUTION}
    return {**SECTIONS, "From plugins": added} if added else SECTIONS


def read_pages() -> list[Page]:
    """A page for each command; a stranger's plugin documents its own."""
    root = click.Context(app, info_name="mngr")
    return [_page(name, line, root) for section in read_sections().values() for name, line in section.items()]


def read_topics() -> list[Topic]:
    return [
        Topic(name, _TITLES.get(name, name.capitalize()), blocks_of(read_shipped(f"topics/{name}.txt")))
        for name in shipped_topics()
    ]


def blocks_of(text: str) -> tuple[Block, ...]:
    """Tells text from what is indented under it."""
    blocks: list[Block] = []
    run: list[str] = []
    for line in [*text.splitlines(), ""]:
        changes = run and line.startswith(_INDENT) != run[0].startswith(_INDENT)
        if run and (not line or changes):
            blocks.append(_block(run))
            run = []
        if line:
            run.append(line)
    return tuple(blocks)


def _page(name: str, line: str, root: click.Context) -> Page:
    command = app.get_command(root, name)
    assert command
    context = _context(command, root)
    contexts = _leaves(context)
    return Page(
        name=name,
        line=line,
        aliases=tuple(alias for alias, meant in ALIASES.items() if meant == name),
        paragraphs=_paragraphs(command) if isinstance(command, click.Group) else (),
        parts=tuple(_part(one) for one in contexts),
        common=_common(contexts),
    )


def _common(contexts: list[click.Context]) -> list[tuple[str, str]]:
    """The options of every command that any of these has, --help last."""
    lines = dict.fromkeys(line for one in contexts for line in _options(one)[COMMON])
    return sorted(lines, key=lambda line: "--help" in line[0])


def _leaves(context: click.Context) -> list[click.Context]:
    """The commands that can be run, in the order in which help shows them."""
    command = context.command
    if not isinstance(command, click.Group):
        return [context]
    below = [command.get_command(context, name) for name in command.list_commands(context)]
    return [leaf for one in below if one and not one.hidden for leaf in _leaves(_context(one, context))]


def _context(command: click.Command, above: click.Context) -> click.Context:
    return click.Context(command, info_name=command.name, parent=above, **command.context_settings)


def _part(context: click.Context) -> Part:
    command = context.command
    return Part(
        name=context.command_path,
        usage=" ".join([context.command_path, *command.collect_usage_pieces(context)]),
        paragraphs=_paragraphs(command),
        options={title: lines for title, lines in _options(context).items() if title != COMMON},
        examples=_examples(command),
    )


def _options(context: click.Context) -> dict[str, list[tuple[str, str]]]:
    return {
        title: option_lines(options, context) for title, options in option_groups(context.command, context)
    }


def _paragraphs(command: click.Command) -> tuple[str, ...]:
    parts = _help(command).split("\n\n")
    return tuple(" ".join(part.split()) for part in parts if not part.startswith(_EXAMPLES))


def _examples(command: click.Command) -> tuple[str, ...]:
    """A verb has them beside its help; a plugin's command in it, as a paragraph that click shall not fill."""
    if isinstance(command, Verb):
        text = command.examples
    else:
        text = "\n".join(part[1:] for part in _help(command).split("\n\n") if part.startswith(_EXAMPLES))
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _help(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "")


def _block(run: list[str]) -> Block:
    if not run[0].startswith(_INDENT):
        return Block(text=" ".join(run))
    halves = [line.strip().partition(_INDENT) for line in run]
    if all(meaning for _, _, meaning in halves):
        return Block(rows=tuple((term, meaning.strip()) for term, _, meaning in halves))
    return Block(lines=tuple(line.removeprefix(_INDENT) for line in run))
