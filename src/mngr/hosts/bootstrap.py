"""What an agent's host must have, and how a bare one gets it (K19)."""

from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.sh.program import argv

NEEDED = ("tmux", "git")
_INSTALL_S = 900.0


def missing(host: Host) -> tuple[str, ...]:
    """Programs that agents need and the host has not."""
    done = host.run(argv("sh/missing"))
    return tuple(done.check(f'cannot look for programs on "{host.name}"').text.split())


def bootstrap(host: Host) -> tuple[str, ...]:
    """Installs what is missing with the host's own package manager, and says what that was; twice is safe."""
    names = missing(host)
    if not names:
        return ()
    done = host.run(argv("sh/install", *names), timeout_s=_INSTALL_S)
    left = missing(host)
    if left:
        raise MngrError(
            f'{" and ".join(left)} could not be installed on "{host.name}": {done.complaint[-1000:] or done.code}',
            hint=f"install {' '.join(left)} there by hand, then try again",
        )
    return names
