"""The options of the commands that start agents, and what they become together with the config."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

import mngr
from mngr_e2e.authoring.agent.workplace import Author
from mngr_e2e.authoring.interface.material import Material
from mngr_e2e.cli.places import Places

F = TypeVar("F", bound=Callable[..., Any])

_REFERENCES = ("docs/reference", "docs/man")
_OPTIONS = (
    click.option("--type", default=None, metavar="TYPE", help="The type of agent. Default: claude."),
    click.option("--provider", default=None, metavar="NAME", help="Where the agent runs. Default: here."),
    click.option(
        "--rounds",
        type=click.IntRange(1),
        default=None,
        metavar="N",
        help="How often it may try. Default: 3.",
    ),
    click.option(
        "--timeout", default=None, metavar="DURATION", help="How long one turn of it may take. Default: 30m."
    ),
    click.option(
        "--batch",
        type=click.IntRange(1),
        default=None,
        metavar="N",
        help="How much one agent gets. Default: 20.",
    ),
    click.option("--keep", is_flag=True, default=None, help="Leave the agents where they are afterwards."),
    click.option("--dry-run", is_flag=True, help="Show the plan and the first prompt, and start nothing."),
    click.option("-q", "--quiet", is_flag=True, help="No progress."),
)


def with_agents(function: F) -> F:
    for option in reversed(_OPTIONS):
        option(function)
    return function


program_option = click.option(
    "--program", default=None, metavar="NAME", help="The program it is about. Default: the one it calls most."
)
reference_option = click.option(
    "--reference",
    default=None,
    metavar="PATH",
    help="Its manual pages or command reference. Default: docs/reference or docs/man, else its --help.",
)


def author_of(places: Places, given: Mapping[str, Any]) -> Author:
    """Options, else the config, else what an Author is by default."""
    options = {**places.section, **{key: value for key, value in given.items() if value is not None}}
    own: dict[str, Any] = {
        key: options[key] for key in ("type", "provider", "rounds", "batch", "keep") if key in options
    }
    if "timeout" in options:
        own["timeout_s"] = mngr.parse_duration(str(options["timeout"]))
    return Author(**own)


def material_of(places: Places, given: Mapping[str, Any]) -> Material:
    """What tells about the program; without the option and the config its reference is looked for in the usual places.

    The reference is a path in the repository, as an agent will find it in its copy.
    """
    section, root = places.section, places.root
    named = given.get("reference")
    if named is None and "reference" not in section:
        reference = next(
            (path for path in _REFERENCES if root and os.path.isdir(os.path.join(root, path))), ""
        )
    else:
        path = os.path.join(root, section["reference"]) if named is None else named
        reference = os.path.relpath(os.path.realpath(path), root or os.curdir)
        if not os.path.exists(path) or reference.startswith(".."):
            raise mngr.UsageError(
                f"no reference {path} in the repository",
                hint="name manual pages or a command reference that is in it",
            )
    return Material(
        program=given.get("program") or section.get("program", ""),
        reference=reference,
        prompts=section.get("prompts", ""),
    )
