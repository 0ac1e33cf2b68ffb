"""What a world gives to mngr, where mngr is installed: state of its own, recordings by default, and a clean end."""

import hashlib
import importlib.util
import os
import shutil
from collections.abc import Iterator, Mapping

CONNECT = "mngr-e2e-connect"
_CONFIG = f'[commands.create]\nconnect_command = "{CONNECT}"\n'
# Where mngr puts its tmux socket when the host dir is too long for a socket's address.
_ELSEWHERE = "/tmp/mngr-{}/socket"


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


def sockets_elsewhere(root: str, env: Mapping[str, str]) -> Iterator[str]:
    """tmux sockets outside the world that belong to host dirs in it, or to the one its environment names."""
    folders = {env.get("MNGR_HOST_DIR", "")}
    folders.update(at for at, names, _ in os.walk(root) if {"agents", "names"} <= set(names))
    for folder in filter(None, folders):
        path = _ELSEWHERE.format(hashlib.sha256(os.path.abspath(folder).encode()).hexdigest()[:16])
        if os.path.lexists(os.path.dirname(path)):
            yield path


def remove_sockets(paths: tuple[str, ...]) -> None:
    """Removes sockets whose servers are gone, each with its folder; twice is safe."""
    for path in paths:
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
