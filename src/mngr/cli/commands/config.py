"""`mngr config`."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec
from msgspec import Struct

from mngr.cli.call import Call
from mngr.cli.editor import edit_file
from mngr.cli.table import align
from mngr.cli.terminal_text import columns
from mngr.cli.verb import VerbGroup, check_default, check_defaults, verb
from mngr.config.edit import Edited, file_for, set_value, unset_value
from mngr.config.keys import parse_key
from mngr.config.layers import LayerValue, check_section_keys
from mngr.config.locate import ConfigDirs, find_places
from mngr.config.schema import canonical_key, with_sections
from mngr.config.toml import format_value
from mngr.config.trust import TrustedFile, trust
from mngr.errors import ExitCode, MngrError
from mngr.registry import COMMANDS, entries, section_keys
from mngr_lib.safe_text import one_line

F = TypeVar("F", bound=Callable[..., Any])


class Setting(Struct, frozen=True):
    """A value in effect, and where it came from."""

    key: str
    value: Any
    source: str


class ConfigFile(Struct, frozen=True):
    """Where a layer is, or would be."""

    path: str
    exists: bool


def with_scope(function: F) -> F:
    """Which file: the user's own, the one a repository commits, or this checkout's."""
    for word, text in reversed(
        (
            ("user", "Your own file, for every repository (the default)."),
            ("project", "The repository's .mngr/settings.toml, which is committed."),
            ("local", "This checkout's .mngr/settings.local.toml."),
        )
    ):
        click.option(f"--{word}", "scope", flag_value=word, default=None, help=text)(function)
    words = click.Choice(["user", "project", "local"])
    click.option("--scope", "scope", type=words, default=None, help="The same as a word.")(function)
    return function


@verb("list", examples="mngr config list\nmngr config list --json")
def list_command(call: Call) -> int:
    """Every setting in effect, and where it came from."""
    call.output.check(Setting)
    settings = [Setting(*item) for item in call.manager.config.items()]

    def human() -> str:
        return "\n".join(
            one_line(f"{one.key} = {format_value(one.value)}  # {one.source}") for one in settings
        )

    call.output.many(list(settings), human)
    return ExitCode.DONE


@verb("get", examples="mngr config get prefix\nmngr config get commands.create.connect_command")
@click.argument("key")
def get_command(call: Call, *, key: str) -> int:
    """Print one value, or a table of them."""
    value = call.manager.config.get(key)
    if value is None:
        raise MngrError(f'"{key}" is not set', hint="mngr config list shows what is")
    call.output.check(Setting)
    call.output.one(
        Setting(key, value, call.manager.config.source(key)),
        lambda: one_line(value if isinstance(value, str) else format_value(value)),
    )
    return ExitCode.DONE


@verb(
    "set",
    uses_config=False,
    examples="mngr config set prefix dev-\nmngr config set --project commands.create.record true",
)
@click.argument("key")
@click.argument("value")
@with_scope
def set_command(call: Call, *, key: str, value: str, scope: str | None) -> int:
    """Set a key in a config file.

    The rest of the file stays as it is, comments too.
    """
    parts = canonical_key(parse_key(key))
    section = parts[0]
    if section == "commands" and len(parts) > 1:
        check_default(parts)
    keys = section_keys(section)
    schema = with_sections(tuple(entries(COMMANDS)), {} if keys is None else {section: keys})
    _tell(call, set_value(_places(), scope or "user", key, value, schema), "Set")
    return ExitCode.DONE


@verb(
    "unset",
    uses_config=False,
    examples="mngr config unset prefix\nmngr config unset --local commands.create.record",
)
@click.argument("key")
@with_scope
def unset_command(call: Call, *, key: str, scope: str | None) -> int:
    """Remove a key from a config file."""
    _tell(call, unset_value(_places(), scope or "user", key), "Unset")
    return ExitCode.DONE


@verb("edit", uses_config=False, examples="mngr config edit\nmngr config edit --project")
@with_scope
def edit_command(call: Call, *, scope: str | None) -> int:
    """Open a config file in $EDITOR, and check it afterwards."""
    path = file_for(_places(), scope or "user")
    os.makedirs(os.path.dirname(path), mode=0o777 if scope in ("project", "local") else 0o700, exist_ok=True)
    edit_file(path)
    loaded = call.manager.config
    check_defaults(loaded)
    for section in entries(COMMANDS):
        if loaded.section(section) and (keys := section_keys(section)) is not None:
            check_section_keys(loaded, section, keys)
    call.output.note(f"{one_line(path)} is fine: {len(loaded.items())} settings in effect")
    return ExitCode.DONE


@verb("path", uses_config=False, examples='mngr config path\n$EDITOR "$(mngr config path --project)"')
@with_scope
@click.option("--all", "all", is_flag=True, help="Every file that may be a layer, weakest first.")
def path_command(call: Call, *, scope: str | None, all: bool) -> int:
    """Print where a config file is, or would be."""
    places = _places()
    paths = places.files if all else (file_for(places, scope or "user"),)
    call.output.check(ConfigFile)
    files = [ConfigFile(path, os.path.exists(path)) for path in paths]
    call.output.many(list(files), lambda: "\n".join(one_line(path) for path in paths))
    return ExitCode.DONE


@verb("explain", examples="mngr config explain prefix\nmngr -S prefix=x- config explain prefix")
@click.argument("key")
def explain_command(call: Call, *, key: str) -> int:
    """What every layer says about a key, and which one is used."""
    call.output.check(LayerValue)
    values = list(call.manager.config.explain(key))

    def human() -> str:
        if not values:
            return f"{one_line(key)} is not set anywhere"
        rows = [[one.source, format_value(one.value), one.standing] for one in values]
        return align([["SOURCE", "VALUE", "STANDING"], *rows], columns())

    call.output.many([msgspec.to_builtins(one) for one in values], human)
    return ExitCode.DONE


@verb("trust", uses_config=False, examples="mngr config trust")
def trust_command(call: Call) -> int:
    """Let the repository's config name commands from now on.

    Until then connect_command, setup, agent types and the like have no effect there. Trust counts for
    the content as it is now: a change asks again.
    """
    call.output.check(TrustedFile)
    places = _places()
    result = trust(places.repo_root, places.host_dir)

    def human() -> str:
        if not result.files:
            return f"{one_line(result.root)} has no config to trust"
        lines = []
        for file in result.files:
            lines.append(f"{'Trusted' if file.changed else 'Trusted already:'} {one_line(file.path)}")
            lines += [f"  {one_line(key)}" for key in file.keys]
        return "\n".join(lines)

    call.output.many(list(result.files), human)
    return ExitCode.DONE


def _places() -> ConfigDirs:
    return find_places(os.getcwd(), os.environ)


def _tell(call: Call, edited: Edited, done: str) -> None:
    def human() -> str:
        return (
            f"{done} {one_line(edited.key)} in {one_line(edited.path)}"
            if edited.changed
            else "Nothing to change"
        )

    call.output.one(edited, human)
    if not edited.trusted:
        call.output.note("without effect until you trust it: mngr config trust")


command = VerbGroup(
    "config",
    [
        list_command,
        get_command,
        set_command,
        unset_command,
        edit_command,
        path_command,
        explain_command,
        trust_command,
    ],
    help="Read and change settings; mngr help config says how layers work.",
)
