"""The options of `create`, and how they and JSON lines become a `CreateSpec`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click
import msgspec

from mngr.actions.create.request import CreateSpec, create_spec, with_defaults
from mngr.config.keys import join_key
from mngr.config.layers import Config
from mngr.errors import UsageError, did_you_mean
from mngr.model.duration import parse_duration
from mngr.model.labels import parse_labels

F = TypeVar("F", bound=Callable[..., Any])

FIELDS = frozenset(field.encode_name for field in msgspec.structs.fields(CreateSpec))
_ALSO = {"label": "labels", "window": "windows", "source": "from"}
_TABLES = ("env", "labels", "windows")
_LISTS = ("env_file", "pass_env", "upload")

_OPTIONS = (
    click.option(
        "--type", "type", default="", metavar="TYPE", help="The agent's type: the same as the second word."
    ),
    click.option(
        "--provider", default="", metavar="NAME", help="Who provides the host: the same as NAME@.PROVIDER."
    ),
    click.option(
        "--from",
        "source",
        default="",
        metavar="SOURCE",
        help="What to work on: a path, an agent or a git URL. Default: here.",
    ),
    click.option(
        "--transfer",
        default="",
        metavar="HOW",
        help="How the work gets there: worktree, mirror, copy or none (mngr help transfers).",
    ),
    click.option(
        "--branch",
        default="",
        metavar="[BASE][:NEW]",
        help="Where to start, and the branch to make. Default: :mngr/*, where * is the agent's name.",
    ),
    click.option("--include-dirty", is_flag=True, help="Bring uncommitted changes along."),
    click.option(
        "--env",
        multiple=True,
        metavar="KEY=VALUE",
        help="A variable for the agent, never evaluated by a shell; repeatable.",
    ),
    click.option(
        "--env-file",
        multiple=True,
        metavar="FILE",
        help="Variables from a file of KEY=VALUE lines; repeatable.",
    ),
    click.option(
        "--pass-env",
        multiple=True,
        metavar="KEY",
        help="Hand on a variable of your own environment; repeatable.",
    ),
    click.option(
        "--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label to find it by; repeatable."
    ),
    click.option(
        "--project",
        default="",
        metavar="NAME",
        help="The project it belongs to. Default: the name of the source.",
    ),
    click.option(
        "-w",
        "--window",
        "windows",
        multiple=True,
        metavar="NAME=CMD",
        help="One more tmux window that runs CMD; repeatable.",
    ),
    click.option("--setup", default="", metavar="CMD", help="Run in the work dir before the agent starts."),
    click.option(
        "--upload",
        multiple=True,
        metavar="LOCAL:REMOTE",
        help="Copy a file to REMOTE in its work dir, or a folder (or a file, to REMOTE/) into it; repeatable.",
    ),
    click.option(
        "-t",
        "--template",
        default="",
        metavar="NAME",
        help="Take options from [templates.NAME] of the config.",
    ),
    click.option(
        "--reuse",
        is_flag=True,
        help="If there is an agent of that name, take it (and start it) instead of failing.",
    ),
    click.option("--snapshot", default="", metavar="NAME", help="Start from a snapshot."),
    click.option(
        "--idle-timeout", default="", metavar="DURATION", help="Stop the host after this long without work."
    ),
    click.option(
        "--lease",
        default="",
        metavar="DURATION",
        help="Stop the host when no mngr has looked at it for this long.",
    ),
    click.option(
        "--timeout",
        default="",
        metavar="DURATION",
        help="Stop the host after this long, whatever runs on it.",
    ),
    click.option(
        "--record/--no-record", default=False, help="Record its terminal, for capture --cast. Default: no."
    ),
    click.option(
        "--isolate",
        default="",
        metavar="HOW",
        help="pid: a PID namespace of its own, so that nothing it starts outlives it.",
    ),
    click.option("--image", default="", metavar="IMAGE", help="The image of a new host."),
    click.option("--cpus", type=float, default=0, metavar="N", help="Processors of a new host."),
    click.option("--memory", default="", metavar="SIZE", help="Memory of a new host, such as 4G."),
    click.option("--offline", is_flag=True, help="A new host without network."),
)


def with_create_options(function: F) -> F:
    """Adds them all; the command gets them by name, for `spec_from_options`."""
    for option in reversed(_OPTIONS):
        option(function)
    return function


def spec_from_options(options: Mapping[str, Any], defaults: Mapping[str, Any], config: Config) -> CreateSpec:
    """What the command line says, then its template, then the config; environment, labels and windows add up."""
    fields = {"from" if key == "source" else key: value for key, value in options.items()}
    spec = _spec({key: value for key, value in fields.items() if value})
    spec = with_defaults(spec, _spec({key: defaults[key] for key in _TABLES if key in defaults}))
    return with_template(spec, config)


def with_template(spec: CreateSpec, config: Config) -> CreateSpec:
    """The spec with what its template says, wherever it says nothing itself."""
    if not spec.template:
        return spec
    table = config.section(join_key(("templates", spec.template)))
    if not table:
        known = config.section("templates")
        raise UsageError(
            f'no template "{spec.template}"',
            hint=did_you_mean(spec.template, known) or "[templates.NAME] in the config",
        )
    filled = with_defaults(spec, spec_from_line(split_line(table)[0]))
    return msgspec.structs.replace(filled, template="")


def split_line(line: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of a line is for `create`, in its one spelling, and what is only carried along."""
    asked: dict[str, Any] = {}
    carried: dict[str, Any] = {}
    for key, value in line.items():
        name = key.replace("-", "_")
        name = _ALSO.get(name, name)
        if name in FIELDS:
            asked[name] = value
        else:
            carried[key] = value
    return asked, carried


def spec_from_line(asked: Mapping[str, Any]) -> CreateSpec:
    """The spec of one line of `create -`; a wrong value is a usage error that names it."""
    return _spec({key: value for key, value in asked.items() if value is not None})


def _spec(fields: dict[str, Any]) -> CreateSpec:
    for key in _TABLES:
        if isinstance(fields.get(key), str | list | tuple):
            said = fields[key]
            words = [said] if isinstance(said, str) else [str(word) for word in said]
            fields[key] = parse_labels(words) if key == "labels" else _pairs(key, words)
    for key in _LISTS:
        if isinstance(fields.get(key), str):
            fields[key] = [fields[key]]
    for key in ("timeout", "idle_timeout", "lease"):
        if fields.get(key):
            fields[key] = str(fields[key])
            parse_duration(fields[key])
    return create_spec(fields)


def _pairs(key: str, words: Iterable[str]) -> dict[str, str]:
    option = "--window" if key == "windows" else f"--{key}"
    pairs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            also = f", or --pass-env {word} to hand on yours" if key == "env" else ""
            raise UsageError(f'{option} "{word}" is not NAME=VALUE', hint=f"write {option} NAME=VALUE{also}")
        pairs[name] = value
    return pairs
