"""What a test ends when it ends."""

from mngr.hosts.protocol import Host
from mngr.store.paths import HostPaths
from mngr.tmux.server import tmux


def end_tmux_server(host: Host) -> None:
    """Ends the tmux server that agents of a test left on a host; without one, nothing happens."""
    host.run(tmux(HostPaths(host.dir), "kill-server"))
