"""A hook: one line per new agent in the file that MNGR_BOX_JOURNAL names."""

import os

from mngr.plugin import Agent, hookimpl


class Journal:
    """Acts on one of the moments in `mngr/hookspecs.py`."""

    @hookimpl
    def after_create(self, agent: Agent) -> None:
        path = os.environ.get("MNGR_BOX_JOURNAL")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"{agent.address} {agent.type}\n")
