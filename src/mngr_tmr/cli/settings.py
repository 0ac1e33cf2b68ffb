"""The settings of a run: flags over the config's `[tmr]` over the defaults."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
import msgspec
from msgspec.structs import replace

import mngr
from mngr_lib.suggest import did_you_mean
from mngr_tmr.cli.limit_settings import LIMIT_KEYS, budget_options, changed_limits
from mngr_tmr.cli.slots import with_numbers
from mngr_tmr.model.alerts import AlertTargets
from mngr_tmr.model.run import RunOptions, Secrets

F = TypeVar("F", bound=Callable[..., Any])

_TIMES = ("timeout", "grace", "idle", "silence")
_LISTS = ("args", "implementation", "integrator_args", "programs")
_RUN_KEYS = (
    "base",
    "name",
    "out",
    "pytest",
    "tutorial",
    "paths",
    "programs",
    "env",
    "integrator_env",
    "labels",
    "alert",
)
_OPTION_KEYS = tuple(
    name for name in RunOptions.__struct_fields__ if name != "limits" and not name.endswith(("_s", "_names"))
)
KEYS = tuple(sorted({*_TIMES, *_RUN_KEYS, *_OPTION_KEYS, *LIMIT_KEYS}))


_ENVIRONMENT = (
    click.option(
        "--own-venv/--no-own-venv",
        default=None,
        help="Give every working copy a virtual environment of its own, with the project installed from that copy "
        "and all else shared with your Python (default: where there is a Python project).",
    ),
    click.option(
        "--setup", metavar="CMD", help="Run once in every working copy, with its own environment active."
    ),
    click.option(
        "--program",
        "programs",
        metavar="NAME",
        multiple=True,
        help="A program under test that must come from the working copy.",
    ),
)
"""How the code under test is made ready in a working copy."""
pytest_option = click.option(
    "--pytest",
    metavar="CMD",
    help="How pytest is started; a Python in front of it is the one whose packages are shared (default: python3 -m "
    "pytest of your virtual environment).",
)


def with_run_options(function: F) -> F:
    """The options that a run and its resumption share."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def with_environment(function: F) -> F:
    """The options about the environment of working copies alone."""
    for option in reversed(_ENVIRONMENT):
        function = option(function)
    return function


_OPTIONS = (
    click.option("--type", "type", metavar="TYPE", help="The agents' type (default: claude)."),
    click.option(
        "--arg", "args", multiple=True, help="An argument for it; {test}, {slug}, {file} are filled in."
    ),
    click.option("--provider", metavar="NAME", help="Where the agents run (default: here)."),
    click.option(
        "--snapshot",
        metavar="NAME",
        help="What new hosts start from (default: the first one, once it is set up).",
    ),
    click.option(
        "--slots", type=click.IntRange(1), help="How many at once (default: from cores and memory)."
    ),
    click.option(
        "--max-hosts",
        type=click.IntRange(2),
        help="How many hosts may be live at once, where the provider makes them: agents, verification and integration "
        "(default: the provider's, else half as many again as slots).",
    ),
    click.option("--timeout", metavar="TIME", help="How long an agent may work (default: 1h)."),
    click.option(
        "--group/--no-group",
        default=None,
        help="Give tests that fail alike one agent first and try its fix on the others (default: yes).",
    ),
    *budget_options,
    *_ENVIRONMENT,
    click.option(
        "--transfer", type=click.Choice(["mirror", "worktree"]), help="How copies are made (default: mirror)."
    ),
    click.option(
        "--integrator",
        type=click.Choice(["auto", "mechanical", "agent"]),
        help="Who builds the branch (default: auto, an agent only for conflicts).",
    ),
    click.option("--lint", metavar="CMD", help="A gate for the integrated branch."),
    click.option("--suite", metavar="CMD", help="The last gate: the whole suite."),
    click.option("--implementation", metavar="GLOB", multiple=True, help="Which paths are implementation."),
    click.option("--prompt", metavar="FILE", help="A template that extends the testing agents' prompt."),
    click.option("--env", metavar="K[=V]", multiple=True, help="A variable for the testing agents."),
    click.option("--integrator-env", metavar="K[=V]", multiple=True, help="One for the integrator alone."),
    click.option("--label", "labels", metavar="K=V", multiple=True, help="A label for every agent."),
    click.option("--keep", is_flag=True, default=None, help="Leave the agents running at the end."),
    click.option(
        "--push", is_flag=True, default=None, help="Push the branch and open a pull request with gh."
    ),
)


all_option = click.option(
    "--all",
    "runs_all",
    is_flag=True,
    help="An agent for every test, also where nothing that it depends on changed since its last verified pass.",
)
out_option = click.option("--out", metavar="DIR", help="Where runs are kept (default: .mngr/tmr).")
preflight_option = click.option(
    "--no-preflight",
    is_flag=True,
    default=None,
    help="Do not look for program, login and git identity first.",
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["human", "jsonl"]),
    default="human",
    help="jsonl: every step as a line of JSON on stdout.",
)


def read_settings(manager: mngr.Manager, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting that was given, on the command line or else in the config's `[tmr]`."""
    section = manager.config.section("tmr")
    for key in section:
        if key not in KEYS:
            raise mngr.UsageError(
                f'unknown key "tmr.{key}"',
                hint=did_you_mean(key, KEYS, else_hint="see: mngr tmr run --help", form='"tmr.{}"'),
            )
    settings = {key: value for key, value in flags.items() if value not in (None, (), "")}
    return {**section, **settings}


def new_options(settings: Mapping[str, Any], manager: mngr.Manager) -> tuple[RunOptions, str]:
    """The options of a new run, and in words where its numbers of slots and hosts come from."""
    return with_numbers(changed_options(RunOptions(), settings), manager)


def changed_options(options: RunOptions, settings: Mapping[str, Any]) -> RunOptions:
    """The options changed by the settings; a wrong value is a usage error that names it."""
    fields: dict[str, Any] = {key: settings[key] for key in _OPTION_KEYS if key in settings}
    fields |= {f"{key}_s": mngr.parse_duration(str(settings[key])) for key in _TIMES if key in settings}
    fields |= {key: _list(fields[key]) for key in _LISTS if key in fields}
    if "labels" in fields:
        fields["labels"] = _pairs(fields["labels"])
    for key, names in (("env", "env_names"), ("integrator_env", "integrator_env_names")):
        if key in settings:
            fields[names] = tuple(_pairs(settings[key]))
    try:
        limits = changed_limits(options.limits, settings)
        return msgspec.convert({**msgspec.to_builtins(replace(options, limits=limits)), **fields}, RunOptions)
    except msgspec.ValidationError as error:
        raise mngr.UsageError(f"tmr cannot take this: {error}", hint="see: mngr tmr run --help") from None


def secrets_of(settings: Mapping[str, Any], options: RunOptions) -> Secrets:
    return Secrets(
        environment(settings, "env", options.env_names),
        environment(settings, "integrator_env", options.integrator_env_names),
    )


def alerts_of(settings: Mapping[str, Any]) -> AlertTargets:
    """Where alerts go besides the terminal."""
    try:
        targets = msgspec.convert(settings.get("alert", {}), AlertTargets)
        problem = targets.problem()
    except msgspec.ValidationError as error:
        problem = f"alert: {error}"
    if problem:
        raise mngr.UsageError(problem, hint='[tmr.alert] takes command = "…" and webhook = "https://…"')
    return targets


def environment(settings: Mapping[str, Any], key: str, names: tuple[str, ...]) -> dict[str, str]:
    """The values of the variables that agents get: as given, else from our own environment; never written down."""
    found = known_environment(settings, key, names)
    for name in names:
        if name not in found:
            raise mngr.UsageError(
                f"the variable {name} has no value", hint=f"--env {name}=VALUE, or export it"
            )
    return found


def known_environment(settings: Mapping[str, Any], key: str, names: tuple[str, ...]) -> dict[str, str]:
    """The same, without those that have no value here and now."""
    given = _pairs(settings.get(key, ()))
    values = {name: os.environ.get(name) if given.get(name) is None else given[name] for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _list(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else list(value)


def _pairs(value: Any) -> dict[str, str | None]:
    """`K=V` words, or a table; a name without a value stands for our own variable of that name."""
    if isinstance(value, Mapping):
        return {str(key): str(one) for key, one in value.items()}
    pairs: dict[str, str | None] = {}
    for word in _list(value):
        name, equals, text = str(word).partition("=")
        pairs[name] = text if equals else None
    return pairs
