"""The bell of this machine: a file that every change of an agent here replaces."""

import os

from mngr.actions.manager import Manager
from mngr.store.paths import HostPaths


class Bell:
    """Tells whether a look may show something new; agents on other hosts do not ring it."""

    def __init__(self, manager: Manager) -> None:
        self._path = HostPaths(manager.host_dir).bell
        self._heard = self._stamp()

    def rang(self) -> bool:
        """Whether it rang since this was last asked. Ask before you look: what comes during the look is for later."""
        before, self._heard = self._heard, self._stamp()
        return self._heard != before

    def _stamp(self) -> tuple[int, int]:
        try:
            found = os.stat(self._path)
        except OSError:
            return (0, 0)
        return (found.st_mtime_ns, found.st_ino)
