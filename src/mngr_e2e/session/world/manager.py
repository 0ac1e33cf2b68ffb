"""What a world gives to mngr, where mngr is installed: state of its own, recordings by default, and a clean end."""

import importlib.util
import os
import shutil
from collections.abc import Mapping

CONNECT = "mngr-e2e-connect"
_CONFIG = f'[commands.create]\nconnect_command = "{CONNECT}"\n'


def manager_env(root: str, session: str) -> dict[str, str]:
    """The variables that give a world agents, a tmux server and names of its own; none without mngr."""
    if importlib.util.find_spec("mngr") is None:
        return {}
    return {"MNGR_HOST_DIR": f"{root}/mngr", "MNGR_PREFIX": f"e2e-{session}-"}


def record_agents(env: Mapping[str, str]) -> None:
    """Has every agent that is created in this world recorded, by the config of its user, which needs no trust."""
    host_dir = env.get("MNGR_HOST_DIR")
    if host_dir and shutil.which(CONNECT, path=env.get("PATH")):
        os.makedirs(host_dir, 0o700)
        with open(os.path.join(host_dir, "config.toml"), "w") as file:
            file.write(_CONFIG)
