"""The options of `create`, made from the fields of `CreateSpec`, and the request that a command line is."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from mngr.actions.create.request import (
    CreateSpec,
    declared_options,
    join_requests,
    read_request,
)
from mngr.cli.option_groups import RequestOption
from mngr.config.layers import Config

F = TypeVar("F", bound=Callable[..., Any])


def with_create_options(function: F) -> F:
    """Adds an option for each field of `CreateSpec` that declares one."""
    for declared in reversed(declared_options()):
        settings: dict[str, Any] = {"default": declared.default, "type": type(declared.default)}
        if isinstance(declared.default, bool):
            settings = {"default": False} if "/" in declared.words[0] else {"is_flag": True}
        elif isinstance(declared.default, dict | tuple):
            settings = {"multiple": True}
        click.option(
            *declared.words,
            declared.field,
            cls=RequestOption,
            metavar=declared.metavar or None,
            help=declared.help,
            **settings,
        )(function)
    return function


def request_from_words(
    context: click.Context, options: Mapping[str, Any], words: Mapping[str, Any], config: Config
) -> CreateSpec:
    """What the command line asks for, then its templates, then `[commands.create]`; tables of all add up.

    `options` are fields by their options, `words` those that the command line gives otherwise.
    """
    configured = context.default_map or {}
    asked = {
        name: value
        for name, value in options.items()
        if value and context.get_parameter_source(name) != ParameterSource.DEFAULT_MAP
    }
    asked |= {name: value for name, value in words.items() if value}
    # Read by click, which knows the types; but where words and config both fill a table, it has only the words.
    defaults = {
        name: configured[name] if name in asked else options[name] for name in configured if options.get(name)
    }
    templates = asked.pop("template", ()) or defaults.get("template", ())
    request = read_request({**asked, "template": templates})
    return join_requests(request, read_request({**defaults, "template": ()}), config=config)
