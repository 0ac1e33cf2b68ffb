"""What a check found: `mngr doctor` looks at a machine, `preflight` at what an agent would be started with."""

from msgspec import Struct

ERROR, WARNING, INFO = "error", "warning", "info"


class Finding(Struct, frozen=True):
    """One thing looked at. `severity` says what it means when it is not ok: error, warning or info."""

    name: str
    ok: bool
    severity: str
    found: str
    fix: str = ""


class LaunchPlan(Struct, frozen=True):
    """What an agent would be started with: its arguments, the variables it is given by name, where its work comes from.

    `is_here` is False when it would run on another machine: then files it names cannot be looked at. `names_here` are
    the variables that are set here, whether they are given or not.
    """

    argv: tuple[str, ...] = ()
    env: dict[str, str] = {}
    source: str = ""
    is_here: bool = True
    names_here: tuple[str, ...] = ()
