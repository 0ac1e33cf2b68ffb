"""The exit codes of our shell programs. A program names one as `$EXIT_NAME`; `program.load` gives it the number."""

from enum import IntEnum, unique


@unique
class Exit(IntEnum):
    """How a shell program of ours ended, other than with 0 or with the code of a command that failed in it."""

    TIME_OVER = 40
    """A host made for agents ended: its time was over. Containers keep this code and the next two."""
    IDLE = 41
    """A host made for agents ended: no agent worked for its idle timeout."""
    LEASE_OVER = 42
    """A host made for agents ended: no manager looked at it for as long as its lease."""
