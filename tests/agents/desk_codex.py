"""A desk for Codex."""

import os
from glob import glob

from tests.agents.desk import Desk
from tests.agents.offline import codex_args, codex_env


class CodexDesk(Desk):
    """A desk whose agents are Codexes."""

    type = "codex"

    def offline_env(self) -> dict[str, str]:
        return codex_env(self.world.home)

    def offline_args(self) -> tuple[str, ...]:
        return codex_args(self.model)

    def end(self) -> None:
        """Ends all that runs here; a server that is killed leaves its socket in a folder of its own."""
        super().end()
        for link in glob(f"{self.world.paths.agents}/*/codex/socket"):
            for path in (os.readlink(link), f"{os.readlink(link)}.lock"):
                if os.path.exists(path):
                    os.unlink(path)
