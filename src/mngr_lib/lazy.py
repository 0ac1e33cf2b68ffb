"""A module whose names are imported when they are first used (PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    module: dict[str, Any], homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Returns `__all__`, `__getattr__` and `__dir__` for a module, from its globals and the names of other modules."""
    home = {name: path for path, names in homes.items() for name in names.split()}
    public = sorted(home)

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        value = module[name] = getattr(import_module(home[name]), name)
        return value

    return public, load, lambda: [*public, *(name for name in module if name not in home)]
