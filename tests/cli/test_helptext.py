"""The texts that ship with the package are what the commands say."""

import click
import pytest
from tests.cli.command import Mngr
from tools.helptext import completion_text, help_text

from mngr.cli.app import app
from mngr.cli.commands import ALIASES, COMMANDS
from mngr.cli.shipped import read_shipped, shipped_topics
from mngr.cli.verb import Verb


def commands() -> list[tuple[str, Verb]]:
    found: list[tuple[str, Verb]] = []
    for name in COMMANDS:
        command = app.get_command(click.Context(app), name)
        below = command.commands.items() if isinstance(command, click.Group) else [("", command)]
        found += [(f"{name} {sub}".strip(), verb) for sub, verb in below if isinstance(verb, Verb)]
    return found


@pytest.mark.accept("U3", "S1")
def test_the_shipped_texts_are_fresh() -> None:
    again = "run: python -m tools.helptext"
    assert read_shipped("help.txt") == help_text(), again
    assert read_shipped("completion.txt") == completion_text(), again


@pytest.mark.accept("U3", "K1")
@pytest.mark.parametrize(("name", "command"), commands(), ids=[name for name, _ in commands()])
def test_every_command_has_help_and_examples_that_are_its_own(name: str, command: Verb) -> None:
    assert command.help
    examples = [line.strip() for line in command.examples.splitlines() if line.strip()]
    assert examples
    spellings = [name, *(alias for alias, meant in ALIASES.items() if meant == name)]
    assert any(f"mngr {spelling}" in line or name in line for line in examples for spelling in spellings)
    for param in command.params:
        assert not isinstance(param, click.Option) or param.help, param.name


@pytest.mark.accept("U3")
def test_help_on_topics_and_commands(mngr: Mngr) -> None:
    assert set(shipped_topics()) == set(
        "address agent-types states exit-codes filters config env pipes policy transfers".split()
    )
    assert "124" in mngr.ok("help", "exit-codes").stdout
    assert mngr.ok("help", "stop").stdout == mngr.ok("stop", "--help").stdout
    assert mngr.ok("help", "snapshot", "restore").stdout == mngr.ok("snapshot", "restore", "--help").stdout
    assert "Examples:" in mngr.ok("create", "--help").stdout
    done = mngr("help", "exitcodes")
    assert done.code == 2
    assert "exit-codes" in done.stderr


@pytest.mark.accept("U3")
def test_help_shows_a_commands_own_options_first_and_numbers_without_ranges(mngr: Mngr) -> None:
    text = mngr.ok("start", "--help").stdout
    assert text.index("--jobs N") < text.index("Choosing agents:") < text.index("--where")
    assert text.index("--where") < text.index("Options of every command:") < text.index("--help")
    assert "How many at once. Default: 8." in text
    assert "--label KEY=VALUE" in mngr.ok("create", "--help").stdout.partition("Options of every")[0]


@pytest.mark.accept("U3")
def test_help_on_a_noun_lists_its_commands_in_their_order_with_examples(mngr: Mngr) -> None:
    text = mngr.ok("snapshot", "--help").stdout
    assert text.index("  list ") < text.index("  restore ") < text.index("  destroy ")
    assert "Examples:\n  mngr snapshot create foo before-refactoring\n" in text
