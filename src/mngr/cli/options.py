"""Options that several commands share, and the small records they become."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click
from msgspec import Struct

from mngr.actions.filter import Filter
from mngr.cli.option_groups import ChoosingOption
from mngr.errors import UsageError
from mngr.model.duration import parse_duration

F = TypeVar("F", bound=Callable[..., Any])

JOBS = 8


class Chosen(Struct, frozen=True):
    """Which agents a command shall act on."""

    names: tuple[str, ...] = ()
    filter: Filter = Filter()
    all: bool = False

    @property
    def from_stdin(self) -> bool:
        return "-" in self.names

    @property
    def is_one(self) -> bool:
        """Exactly one agent was named: the answer is its record, not a list."""
        return len(self.names) == 1 and not self.from_stdin and not self.names[0].startswith("@")

    @property
    def is_empty(self) -> bool:
        """Nothing was said: that is a mistake, not everybody."""
        return not self.names and not self.all and self.filter.is_empty

    def check(self) -> "Chosen":
        """Refuses what cannot be meant, before anything is done."""
        self.filter.check()
        if self.from_stdin and len(self.names) > 1:
            raise UsageError(
                '"-" reads the targets from stdin and goes alone', hint="put all of them on stdin"
            )
        if self.all and self.names:
            raise UsageError("--all goes without names", hint="name the agents, or say --all")
        return self


def duration(value: Any) -> float:
    """A click type: `90`, `1.5s`, `10m`, `2h` → seconds."""
    return parse_duration(str(value))


def with_filters(function: F) -> F:
    """The filters of `list`; the command gets them as one `Filter` called `filter`."""

    @wraps(function)
    def packed(
        *arguments: Any,
        where: tuple[str, ...],
        labels: tuple[str, ...],
        project: str,
        provider: str,
        host: str,
        **rest: Any,
    ) -> Any:
        running, stopped = rest.pop("running"), rest.pop("stopped")
        chosen = Filter(tuple(where), running, stopped, tuple(labels), project, provider, host)
        return function(*arguments, filter=chosen, **rest)

    for option in reversed(_FILTERS):
        option(packed)
    return packed  # type: ignore[return-value]  # the same body, told apart only by its options


def with_targets(function: F) -> F:
    """Names, `-`, `--all` and filters; the command gets them as one `Chosen`, its second argument."""

    @with_filters
    @wraps(function)
    def packed(call: Any, *, names: tuple[str, ...], all: bool, filter: Filter, **rest: Any) -> Any:
        return function(call, Chosen(tuple(names), filter, all).check(), **rest)

    all_option(packed)
    click.argument("names", nargs=-1, metavar="[AGENT|-]...")(packed)
    return packed  # type: ignore[return-value]


_FILTERS = (
    click.option(
        "--where",
        cls=ChoosingOption,
        multiple=True,
        metavar="FIELD=VALUE",
        help="Only those that match; also FIELD!=VALUE and FIELD~GLOB; repeatable.",
    ),
    click.option(
        "--running", cls=ChoosingOption, is_flag=True, help="Only those that are alive, working or waiting."
    ),
    click.option(
        "--stopped", cls=ChoosingOption, is_flag=True, help="Only those that ended or were stopped."
    ),
    click.option(
        "--label",
        "labels",
        cls=ChoosingOption,
        multiple=True,
        metavar="KEY[=VALUE]",
        help="Only those with this label; repeatable.",
    ),
    click.option(
        "--project", cls=ChoosingOption, default="", metavar="NAME", help="Only those of this project."
    ),
    click.option(
        "--provider",
        cls=ChoosingOption,
        default="",
        metavar="NAME",
        help="Only those on hosts of this provider.",
    ),
    click.option("--host", cls=ChoosingOption, default="", metavar="NAME", help="Only those on this host."),
)

all_option = click.option("--all", "all", cls=ChoosingOption, is_flag=True, help="Every agent.")
jobs_option = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 1024),
    default=JOBS,
    show_default=True,
    metavar="N",
    help="How many at once.",
)
yes_option = click.option("--yes", "-y", "--force", "-f", "yes", is_flag=True, help="Do not ask.")
connect_command_option = click.option(
    "--connect-command", default="", metavar="COMMAND", help="Run this instead of attaching (mngr help env)."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")


def timeout_option(help: str) -> Callable[[F], F]:
    return click.option("--timeout", "timeout_s", type=duration, default=None, metavar="DURATION", help=help)
