"""Tells plugins what happens, through pluggy; imported only when some plugin wants to know."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pluggy

from mngr import hookspecs, registry
from mngr.errors import MngrError

_MAY_REFUSE = "before_create"


def call(moment: str, arguments: dict[str, Any], warn: Callable[[str], None]) -> None:
    plugins, broken = _plugins()
    for complaint in broken:
        warn(complaint)
    try:
        getattr(plugins.hook, moment)(**arguments)
    except Exception as error:  # a stranger's code: named, and passed over
        if moment == _MAY_REFUSE and isinstance(error, MngrError):
            raise
        warn(f"a plugin failed in {moment}: {type(error).__name__}: {error}")


@cache
def _plugins() -> tuple[pluggy.PluginManager, tuple[str, ...]]:
    manager = pluggy.PluginManager("mngr")
    manager.add_hookspecs(hookspecs.Moments)
    broken = []
    for entry in registry.entries(registry.HOOKS).values():
        try:
            plugin = registry.load_entry(entry)
            manager.register(plugin() if isinstance(plugin, type) else plugin, name=entry.name)
        except registry.PluginError as error:
            broken.append(error.message)
    return manager, tuple(broken)
