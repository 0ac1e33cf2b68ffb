"""Which files a `mngr tutorial` command means, and what `[tutorial]` in the config says about agents."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
from msgspec import Struct

import mngr
from mngr_lib.command_options import note
from mngr_lib.suggest import did_you_mean

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_TUTORIAL, _TESTS = "tutorial.sh", "tests/e2e"
_TEXTS = ("tutorial", "type", "provider", "program", "reference", "prompts")
_NUMBERS = ("rounds", "batch")
KEYS = ("tutorial", "tests", *_TEXTS[1:], *_NUMBERS, "timeout")


class Places(Struct, frozen=True):
    """The files that were meant, and the config they come from."""

    tutorial: str
    tests: tuple[str, ...]
    artifacts: str
    root: str
    section: Mapping[str, Any]
    manager: "mngr.Manager"


def find_places(context: click.Context, tutorial: str | None, tests: Sequence[str]) -> Places:
    """The arguments, else the config's `[tutorial]`, else the usual names; relative to here or to the repository."""
    manager = mngr.Manager(overrides=context.meta.get("overrides", ()))
    root = manager.config.repo_root
    section = _checked(manager.config.section("tutorial"))
    for warning in manager.warnings:
        note(f"warning: {warning}")
    folders = section.get("tests", _TESTS)
    folders = [folders] if isinstance(folders, str) else folders
    return Places(
        tutorial or _found(section.get("tutorial", _TUTORIAL), root),
        tuple(tests) or tuple(_found(path, root) for path in folders),
        _found(os.path.join(".mngr", "e2e"), root),
        root,
        section,
        manager,
    )


def with_places(function: F) -> F:
    """The arguments and the option that most of these commands share."""
    function = click.option("--json", "as_json", is_flag=True, help="One JSON document.")(function)
    function = click.argument("tests", nargs=-1)(function)
    return click.argument("tutorial", required=False)(function)


def reading(places: Places, work: Callable[[], T]) -> T:
    """Does the work; a file that cannot be read is a usage error that says which."""
    try:
        return work()
    except OSError as error:
        if error.filename is None:
            raise
        what = "tutorial" if error.filename == places.tutorial else "tests"
        raise mngr.UsageError(
            f"cannot read the {what}: {error.filename}: {error.strerror}",
            hint=f"name both: mngr tutorial check TUTORIAL TESTS; or: mngr config set tutorial.{what} PATH",
        ) from error


def _checked(section: dict[str, Any]) -> dict[str, Any]:
    for key in section:
        if key not in KEYS:
            hint = did_you_mean(key, KEYS, form='"tutorial.{}"')
            raise mngr.UsageError(f'unknown key "tutorial.{key}"', hint=hint)
    folders = section.get("tests", "")
    are_paths = isinstance(folders, str) or (
        isinstance(folders, list) and all(isinstance(one, str) for one in folders)
    )
    if not are_paths or not isinstance(section.get("tutorial", ""), str):
        raise mngr.UsageError("tutorial.tutorial must be a path, tutorial.tests a path or a list of paths")
    for key in _TEXTS[1:]:
        if not isinstance(section.get(key, ""), str):
            raise mngr.UsageError(f"tutorial.{key} must be a text")
    for key in _NUMBERS:
        value = section.get(key, 1)
        if not (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
            raise mngr.UsageError(f"tutorial.{key} must be a number of 1 or more")
    return section


def _found(path: str, root: str) -> str:
    if os.path.exists(path) or not root:
        return path
    return os.path.relpath(os.path.join(root, path))
