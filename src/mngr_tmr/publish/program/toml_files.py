"""TOML files, read with whatever parser this Python has."""

from __future__ import annotations

from typing import Any


def read_toml(path: str) -> dict[str, Any] | None:
    """A TOML file; None when it is missing or wrong, or when there is no parser (Python 3.11 has one)."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    for name in ("tomllib", "tomli", "pip._vendor.tomli"):
        try:
            parser = __import__(name, fromlist=["loads"])
        except ImportError:
            continue
        try:
            found: dict[str, Any] = parser.loads(text)
            return found
        except ValueError:
            return None
    return None
