"""Results on stdout, progress on stderr."""

from collections.abc import Callable
from typing import Any

import click
import msgspec

from mngr_lib.safe_text import one_line


def print_json(record: dict[str, Any]) -> None:
    click.echo(msgspec.json.encode(record).decode())


def print_text(lines: str) -> None:
    if lines:
        click.echo(lines)


def progress(quiet: bool) -> Callable[[str], None]:
    """Says what is going on, to the user who watches."""

    def say(text: str) -> None:
        if not quiet:
            click.echo(one_line(text), err=True)

    return say
