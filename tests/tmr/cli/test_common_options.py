"""Commands of plugins take the options of every command, and `config set` knows the keys of their sections."""

from collections.abc import Iterator

import click
import pytest
from tests.cli.command import Mngr

from mngr.cli.app import app


def leaves(command: click.Command, name: str, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    for below in command.list_commands(context):
        found = command.get_command(context, below)
        assert found
        yield from leaves(found, f"{name} {below}", context)


def test_every_command_takes_the_options_of_every_command() -> None:
    """`-S` behind `mngr tmr run` was refused, though other verbs take it."""
    context = click.Context(app)
    lacking = []
    for name in ("tmr", "tutorial", "e2e", "demo"):
        command = app.get_command(context, name)
        assert command
        for leaf, one in leaves(command, name, context):
            words = [word for param in one.get_params(context) for word in param.opts]
            wanted = {"-S", "-q", "-v"} | ({"--format"} if "--json" in words else set())
            lacking += [(leaf, word) for word in wanted.difference(words)]
            assert len(words) == len(set(words)), (leaf, words)
    assert lacking == []


def test_the_options_of_every_command_do_behind_tmr_what_they_do_elsewhere(mngr: Mngr) -> None:
    said = mngr.ok("tmr", "runs", "-S", "tmr.out=elsewhere", "-v")
    assert "elsewhere" in said.stderr
    quiet = mngr.ok("-S", "tmr.out=here", "tmr", "runs", "-q", "--format", "json", "-S", "prefix=x-")
    assert (quiet.json["runs"], quiet.stderr) == ([], "")
    assert mngr("tmr", "runs", "--format", "xml").code == 2
    assert mngr("tmr", "runs", "-S", "nonsense=1").code == 2


@pytest.mark.accept("U3")
def test_an_unknown_key_of_a_plugins_section_is_refused(mngr: Mngr) -> None:
    """`mngr config set tmr.typo 1` was accepted, and the next run refused it."""
    for key, near in (("tmr.slotz", "slots"), ("tutorial.prgram", "program")):
        refused = mngr("config", "set", key, "3")
        assert (refused.code, key in refused.stderr, f'"{near}"' in refused.stderr) == (2, True, True)
    assert mngr("config", "set", "tmr", "{typo = 1}").code == 2
    mngr.ok("config", "set", "tmr.slots", "3")
    assert mngr.ok("config", "get", "tmr.slots").stdout == "3\n"
    (mngr.world.host_dir / "config.toml").write_text("[tmr]\nslotz = 3\n")
    edited = mngr("config", "edit", EDITOR="true")
    assert (edited.code, "tmr.slotz" in edited.stderr) == (2, True)
