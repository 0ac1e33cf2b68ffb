"""A desk for OpenCode."""

import json

from tests.agents.desk import Desk
from tests.agents.offline import opencode_env, opencode_settings


class OpenCodeDesk(Desk):
    """A desk whose agents are OpenCodes."""

    type = "opencode"

    def offline_env(self) -> dict[str, str]:
        return opencode_env(self.model, self.world.home)

    def configure(self, **settings: object) -> None:
        """Agents that are made from now on have these settings too."""
        content = {**opencode_settings(self.model), **settings}
        self.keys["OPENCODE_CONFIG_CONTENT"] = json.dumps(content)
