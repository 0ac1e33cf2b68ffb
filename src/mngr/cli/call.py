"""One call of a command: what it acts with and where it writes."""

from functools import cached_property
from typing import TYPE_CHECKING

from mngr.cli.render import CommandOutput
from mngr.errors import UsageError

if TYPE_CHECKING:
    from mngr.actions.manager import Manager


class Call:
    """Handed to every command as its first argument."""

    def __init__(self, verb: str, overrides: tuple[str, ...] = ()) -> None:
        self.verb = verb
        self.output = CommandOutput()
        self._overrides = overrides
        self._warned: set[str] = set()

    @cached_property
    def manager(self) -> "Manager":
        from mngr.actions.manager import Manager  # `completion` and `help` need none

        try:
            return Manager(overrides=self._overrides)
        except FileNotFoundError:
            raise UsageError("the current directory no longer exists", hint="cd to one that does") from None

    def warn(self, *texts: str) -> None:
        """Says each warning once."""
        for text in texts:
            if text not in self._warned:
                self._warned.add(text)
                self.output.warn(text)

    def warn_of_manager(self) -> None:
        if "manager" in self.__dict__:
            self.warn(*self.manager.warnings)
