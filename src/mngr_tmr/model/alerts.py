"""Where the alerts of a run go besides the terminal."""

import shlex

from msgspec import Struct

_SCHEMES = ("http://", "https://")


class AlertTargets(Struct, frozen=True, forbid_unknown_fields=True):
    """`[tmr.alert]`: a command that gets the text on its standard input, and an address that it is posted to.

    It is written nowhere: the address of a webhook is often a secret.
    """

    command: str = ""
    webhook: str = ""

    def problem(self) -> str:
        """What is wrong with it; empty for nothing."""
        try:
            shlex.split(self.command)
        except ValueError as error:
            return f"alert.command: {error}"
        is_address = not self.webhook or self.webhook.startswith(_SCHEMES)
        return "" if is_address else "alert.webhook must begin with http:// or https://"


NO_ALERTS = AlertTargets()
