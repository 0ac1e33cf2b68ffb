"""What `create` is asked for: options, each declared once on its field, and templates as defaults for them."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, TypedDict

import msgspec
from msgspec import Struct, field

from mngr.config.keys import join_key
from mngr.config.layers import Config
from mngr.errors import UsageError, did_you_mean
from mngr.model.duration import parse_duration
from mngr.model.host import HostOptions
from mngr.model.labels import parse_labels


class WorkOptions(HostOptions, frozen=True, kw_only=True):
    """What the agent works on, and how that gets to its host."""

    source: Annotated[
        str, "--from SOURCE", "What to work on: a path, an agent or a git URL. Default: here."
    ] = field(name="from", default="")
    transfer: Annotated[
        str,
        "--transfer HOW",
        "How the work gets there: worktree, mirror, copy or none (mngr help transfers).",
    ] = ""
    branch: Annotated[
        str,
        "--branch [BASE][:NEW]",
        "Where to start, and the branch to make. Default: :mngr/*, where * is the agent's name.",
    ] = ""
    include_dirty: Annotated[bool, "--include-dirty", "Bring uncommitted changes along."] = False
    upload: Annotated[
        tuple[str, ...],
        "--upload LOCAL:REMOTE",
        "Copy a file to REMOTE in its work dir, or a folder (or a file, to REMOTE/) into it; repeatable.",
    ] = ()
    setup: Annotated[
        tuple[str, ...],
        "--setup CMD",
        "Run in the work dir before the agent starts; repeatable, in this order.",
    ] = ()


class AgentOptions(WorkOptions, frozen=True, kw_only=True):
    """What runs, with which environment, and what it is known by."""

    type: Annotated[str, "--type TYPE", "The agent's type: the same as the second word."] = ""
    args: tuple[str, ...] = ()
    env: Annotated[
        dict[str, str],
        "--env KEY=VALUE",
        "A variable for the agent, never evaluated by a shell; repeatable.",
    ] = field(default_factory=dict)
    env_file: Annotated[
        tuple[str, ...], "--env-file FILE", "Variables from a file of KEY=VALUE lines; repeatable."
    ] = ()
    pass_env: Annotated[
        tuple[str, ...], "--pass-env KEY", "Hand on a variable of your own environment; repeatable."
    ] = ()
    labels: Annotated[dict[str, str], "--label KEY=VALUE", "A label to find it by; repeatable."] = field(
        default_factory=dict
    )
    project: Annotated[
        str, "--project NAME", "The project it belongs to. Default: the name of the source."
    ] = ""
    windows: Annotated[
        dict[str, str], "-w, --window NAME=CMD", "One more tmux window that runs CMD; repeatable."
    ] = field(default_factory=dict)
    record: Annotated[
        bool, "--record/--no-record", "Record its terminal, for capture --cast. Default: no."
    ] = False
    isolate: Annotated[
        str,
        "--isolate HOW",
        "pid: a PID namespace of its own, so that nothing it starts outlives it.",
    ] = ""


class CreateSpec(AgentOptions, frozen=True, kw_only=True, omit_defaults=True):
    """A line of `create -` decodes into this; `source` is called `from` there, as on the command line."""

    name: str = ""
    provider: Annotated[str, "--provider NAME", "Who provides the host: the same as NAME@.PROVIDER."] = ""
    message: str = ""
    template: Annotated[
        tuple[str, ...],
        "-t, --template NAME",
        "Take options from [templates.NAME] of the config; repeatable, later ones win.",
    ] = ()
    reuse: Annotated[
        bool, "--reuse", "If there is an agent of that name, take it (and start it) instead of failing."
    ] = False


class CreateFields(TypedDict, total=False):
    """The same fields as keywords, for `mngr.create("foo", type="command", args=("sleep", "60"))`."""

    type: str
    provider: str
    args: tuple[str, ...]
    message: str
    source: str
    transfer: str
    branch: str
    include_dirty: bool
    env: dict[str, str]
    env_file: tuple[str, ...]
    pass_env: tuple[str, ...]
    labels: dict[str, str]
    project: str
    windows: dict[str, str]
    setup: str | tuple[str, ...]
    upload: tuple[str, ...]
    template: str | tuple[str, ...]
    reuse: bool
    snapshot: str
    idle_timeout: str
    lease: str
    timeout: str
    record: bool
    isolate: str
    image: str
    cpus: float
    memory: str
    offline: bool


# Options of the command that are no part of a request: a template may set them for the command line.
COMMAND_OPTIONS = frozenset(
    "connect foreground connect_command jobs max_running dry_run message_file edit_message "
    "format json quiet verbose".split()
)

HOST_FIELDS = HostOptions.__struct_fields__
"""Options that a provider must be able to honour."""


class DeclaredOption(Struct, frozen=True):
    """An option of `create` as its field declares it."""

    field: str
    words: tuple[str, ...]
    metavar: str
    help: str
    default: Any


@cache
def declared_options() -> tuple[DeclaredOption, ...]:
    """The options of `create` that are read off the record, in the order in which help shows them."""
    blank, found = CreateSpec(), []
    for part in (CreateSpec, AgentOptions, WorkOptions, HostOptions):
        for name, hint in part.__annotations__.items():
            if metadata := getattr(hint, "__metadata__", ()):
                words = metadata[0].replace(",", "").split()
                metavar = words.pop() if not words[-1].startswith("-") else ""
                found.append(
                    DeclaredOption(
                        field=name,
                        words=tuple(words),
                        metavar=metavar,
                        help=metadata[1],
                        default=getattr(blank, name),
                    )
                )
    return tuple(found)


@cache
def request_keys() -> dict[str, str]:
    """Each name that a JSON line, a template or a keyword may use for a field, with the field."""
    keys = {name: name for name in CreateSpec.__struct_fields__}
    for option in declared_options():
        keys[option.words[-1].partition("/")[0].removeprefix("--").replace("-", "_")] = option.field
    return keys


def split_request(fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of a line is for `create`, by its field, and what is not."""
    asked: dict[str, Any] = {}
    other: dict[str, Any] = {}
    for key, value in fields.items():
        name = request_keys().get(key.replace("-", "_"))
        if name:
            asked[name] = value
        else:
            other[key] = value
    return asked, other


def read_request(fields: Mapping[str, Any]) -> CreateSpec:
    """A spec from loose data: a JSON line, a template, keywords, options. A wrong key or value is a usage error.

    Tables may be given as NAME=VALUE words and lists as a single word, as on the command line.
    """
    asked, unknown = split_request(fields)
    for key in unknown:
        raise UsageError(f'create has no option "{key}"', hint=did_you_mean(key, request_keys()))
    for option in declared_options():
        value = asked.get(option.field)
        if isinstance(option.default, dict) and isinstance(value, str | list | tuple):
            words = [value] if isinstance(value, str) else [str(word) for word in value]
            asked[option.field] = parse_labels(words) if option.field == "labels" else _pairs(option, words)
        elif isinstance(option.default, tuple) and isinstance(value, str):
            asked[option.field] = [value] if value else []
        elif option.metavar == "DURATION" and value:
            asked[option.field] = str(value)
            parse_duration(str(value))
    if "source" in asked:
        asked["from"] = asked.pop("source")
    try:
        return msgspec.convert(asked, CreateSpec)
    except msgspec.ValidationError as error:
        raise UsageError(f"create cannot take this: {error}", hint="see: mngr create --help") from None


def with_defaults(spec: CreateSpec, defaults: CreateSpec) -> CreateSpec:
    """`spec`, with `defaults` wherever a field is blank; tables are joined, `spec` winning key by key."""
    blank = CreateSpec()
    merged: dict[str, Any] = {}
    for name in spec.__struct_fields__:
        value, default = getattr(spec, name), getattr(defaults, name)
        if isinstance(value, dict):
            merged[name] = {**default, **value}
        else:
            merged[name] = default if value == getattr(blank, name) else value
    return CreateSpec(**merged)


def _pairs(option: DeclaredOption, words: Iterable[str]) -> dict[str, str]:
    pairs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            flag = option.words[-1]
            also = f", or --pass-env {word} to hand on yours" if option.field == "env" else ""
            raise UsageError(f'{flag} "{word}" is not NAME=VALUE', hint=f"write {flag} NAME=VALUE{also}")
        pairs[name] = value
    return pairs


def join_requests(*requests: CreateSpec, config: Config) -> CreateSpec:
    """One request of several: an earlier one wins, and the templates of each win over the requests after it."""
    joined = CreateSpec()
    for request in requests:
        joined = with_defaults(joined, msgspec.structs.replace(request, template=()))
        for name in reversed(request.template):
            table = config.section(join_key(("templates", name)))
            if not table:
                hint = did_you_mean(name, config.section("templates")) or "[templates.NAME] in the config"
                raise UsageError(f'no template "{name}"', hint=hint)
            asked, other = split_request(table)
            for key in other:
                if key not in COMMAND_OPTIONS:
                    hint = did_you_mean(key, request_keys())
                    raise UsageError(f'template "{name}" has an unknown option "{key}"', hint=hint)
            joined = with_defaults(joined, read_request({**asked, "template": ()}))
    return joined
