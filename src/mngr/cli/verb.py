"""What all commands share: `--format`, `-q`, `-v`, `-S`, defaults from the config, examples in the help."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import click
from msgspec import Struct

from mngr.cli.call import Call
from mngr.cli.commands import COMMANDS
from mngr.cli.option_groups import CommonVerbOption, RequestOption, option_groups, option_lines
from mngr.cli.render import HUMAN, JSON, CommandOutput
from mngr.config.keys import Key, join_key
from mngr.config.layers import Config, check_command_keys, check_template_keys, check_verbs
from mngr.errors import UsageError, did_you_mean
from mngr.registry import plugin_commands

Body = Callable[..., int | None]
_COMMON = ("format", "json", "quiet", "verbose", "set")
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class ParseRules(Struct, frozen=True):
    """How a command reads its words, where that differs from the usual."""

    uses_config: bool = True
    takes_command: bool = False
    """The words after `--` are another program's command line and arrive as `args`."""
    options_anywhere: bool = True
    """Otherwise, without a `--`, what follows the first word is not ours to read."""
    many_values: tuple[str, ...] = ()
    """Options that take every word up to the next option."""
    has_templates: bool = False
    """`--template NAME` sets defaults from `[templates.NAME]`."""


class Verb(click.Command):
    """A command whose body takes a `Call` first and returns an exit code."""

    def __init__(self, name: str, rules: ParseRules, *, examples: str, **settings: Any) -> None:
        interspersed = {"allow_interspersed_args": rules.options_anywhere}
        super().__init__(name, context_settings={**_HELP, **interspersed}, **settings)
        self.examples, self.rules = examples.strip("\n"), rules
        self.params += [
            CommonVerbOption(
                ["-S", "--set"],
                multiple=True,
                metavar="KEY=VALUE",
                help="Override a config key for this call.",
            ),
            CommonVerbOption(
                ["--format"],
                default=HUMAN,
                metavar="FORMAT",
                help="human (the default), json, jsonl or a template: '{name}\\t{state}'.",
            ),
            CommonVerbOption(["--json"], is_flag=True, help="The same as --format json."),
            CommonVerbOption(["-q", "--quiet"], is_flag=True, help="No progress and no warnings."),
            CommonVerbOption(
                ["-v", "--verbose"],
                is_flag=True,
                help="Show each process with its time, and where an error came from.",
            ),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for option in self.rules.many_values:
            args = spread(option, args)
        own, command = args, list[str]()
        if self.rules.takes_command and "--" in args:
            at = args.index("--")
            own, command = args[:at], args[at + 1 :]
            ctx.allow_interspersed_args = True
        given = self.make_parser(ctx).parse_args(list(own))[0]
        if not given.get("help"):
            self._begin(ctx, given)
        rest = super().parse_args(ctx, own)
        if self.rules.takes_command:
            ctx.params["args"] = tuple(command)
        return rest

    def _begin(self, ctx: click.Context, given: Mapping[str, Any]) -> None:
        """Loads the config, with the words' own overrides, before any option asks for its default."""
        overrides = (*ctx.meta.get("overrides", ()), *(given.get("set") or ()))
        call = ctx.meta["call"] = Call(self.name or "", overrides)
        if not self.rules.uses_config:
            return
        config = call.manager.config
        if config.section("commands"):
            check_verbs(config, (*COMMANDS, *plugin_commands()))
            ctx.default_map = self._defaults(ctx, config)
        templates = given.get("template") or (ctx.default_map or {}).get("template")
        if self.rules.has_templates and templates:
            check_template_keys(config, (*option_names(self), "args", "name"))
            request = {param.name for param in self.params if isinstance(param, RequestOption)}
            for template in templates:
                named = defaults_from(config.section(join_key(("templates", str(template)))), self)
                own = {name: value for name, value in named.items() if name not in request}
                ctx.default_map = {**(ctx.default_map or {}), **own}

    def _defaults(self, ctx: click.Context, config: Config) -> dict[str, Any]:
        group = ctx.parent.command if ctx.parent and isinstance(ctx.parent.command, VerbGroup) else None
        name = (group or self).name or ""
        check_command_keys(config, name, *default_keys(group or self))
        return defaults_from(config.section(f"commands.{name}"), self)

    def invoke(self, ctx: click.Context) -> Any:
        common = {name: ctx.params.pop(name) for name in _COMMON}
        call: Call = ctx.meta["call"]
        call.output = CommandOutput(
            JSON if common["json"] else common["format"], quiet=common["quiet"], verbose=common["verbose"]
        )
        assert self.callback
        try:
            return ctx.invoke(self.callback, call, **ctx.params)
        finally:
            call.warn_of_manager()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, options in option_groups(self, ctx):
            with formatter.section(title):
                formatter.write_dl(option_lines(options, ctx))

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        _write_examples(self.examples.splitlines(), formatter)


def verb(name: str, *, examples: str, **rules: Any) -> Callable[[Body], Verb]:
    """Makes a function a command whose help is its docstring; `rules` are the fields of ParseRules."""

    def decorate(body: Body) -> Verb:
        params = list(reversed(getattr(body, "__click_params__", [])))
        return Verb(
            name, ParseRules(**rules), examples=examples, callback=body, params=params, help=body.__doc__
        )

    return decorate


class VerbGroup(click.Group):
    """Commands of one noun, such as `snapshot create`."""

    def __init__(self, name: str, commands: list[Verb], *, help: str) -> None:
        super().__init__(name, commands={command.name or "": command for command in commands}, help=help)
        self.context_settings = _HELP
        self.verbs = tuple(commands)

    def list_commands(self, _: click.Context) -> list[str]:
        return list(self.commands)

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        _write_examples([verb.examples.splitlines()[0] for verb in self.verbs], formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise UsageError(f'no command "{self.name} {args[0]}"', hint=did_you_mean(args[0], self.commands))
        return super().resolve_command(ctx, args)


def check_defaults(config: Config) -> None:
    """Refuses defaults for commands and options that there are not, of all commands that the config names."""
    check_verbs(config, (*COMMANDS, *plugin_commands()))
    for name in config.section("commands"):
        check_command_keys(config, name, *default_keys(_command(name)))


def check_default(key: Key) -> None:
    """Refuses to set a default for a command or an option that there is not: all its calls would fail."""
    known: Collection[str] = (*COMMANDS, *plugin_commands())
    shown, name = known, key[1]
    if name in known and len(key) > 2:
        known, shown = default_keys(_command(name))
        name = key[2]
    if name not in known:
        raise UsageError(f"cannot set that: unknown key {join_key(key)}", hint=did_you_mean(name, shown))


def default_keys(command: click.Command) -> tuple[set[str], set[str]]:
    """The options of a command or a group that the config may name, and those of them that are no older names."""
    commands = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    known = {key: param for each in commands for key, param in option_names(each).items()}
    return set(known), {key for key, param in known.items() if f"--{key.replace('_', '-')}" in param.opts}


def _command(name: str) -> click.Command:
    root = click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    found = root.command.get_command(root, name)
    assert found
    return found


def option_names(command: click.Command) -> dict[str, click.Parameter]:
    """How config files and JSON lines call a command's options: the long names, with `_`."""
    names: dict[str, click.Parameter] = {}
    for param in command.params:
        if isinstance(param, click.Option) and param.name:
            longs = (word[2:].replace("-", "_") for word in param.opts if word.startswith("--"))
            names |= dict.fromkeys((*longs, param.name), param)
    return {name: param for name, param in names.items() if name not in ("set", "help")}


def defaults_from(section: Mapping[str, Any], command: click.Command) -> dict[str, Any]:
    """A config table as click wants its default map: by parameter, several values as a list of words."""
    known = option_names(command)
    defaults = {}
    for name, value in section.items():
        param = known.get(name)
        if param is None or not param.name:
            continue
        if getattr(param, "multiple", False) and isinstance(value, dict):
            value = [f"{key}={item}" for key, item in value.items()]
        elif getattr(param, "multiple", False):
            value = list(value) if isinstance(value, list) else [value]
        defaults[param.name] = value
    return defaults


def spread(option: str, args: list[str]) -> list[str]:
    """`--files a b` as click reads it: `--files a --files b`."""
    result: list[str] = []
    inside = False
    for index, word in enumerate(args):
        if word == "--":
            return result + args[index:]
        is_first = bool(result) and result[-1] == option
        if word.startswith("-") and word != "-" and not is_first:
            inside = word == option
        elif inside and not is_first:
            result.append(option)
        result.append(word)
    return result


def _write_examples(lines: list[str], formatter: click.HelpFormatter) -> None:
    formatter.write("\nExamples:\n")
    for line in lines:
        formatter.write(f"  {line.strip()}\n" if line.strip() else "\n")
