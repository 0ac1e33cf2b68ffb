"""What an agent's host must have, and how a bare one gets it (K19)."""

from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.sh.program import READ_AND_RUN, encode

NEEDED = ("tmux", "git")
_INSTALL_S = 900.0

_MISSING = """for program in tmux git; do command -v "$program" >/dev/null 2>&1 || echo "$program"; done
exit 0
"""
# As root, or as a user who may become root without being asked.
_INSTALL = """set -- {names}
if [ "$(id -u)" = 0 ]; then as_root=; else as_root='sudo -n'; fi
if command -v apt-get >/dev/null 2>&1; then
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" ||
    {{ $as_root apt-get -qq update &&
      $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; }}
elif command -v apk >/dev/null 2>&1; then $as_root apk add -q "$@"
elif command -v dnf >/dev/null 2>&1; then $as_root dnf -q -y install "$@"
else echo 'it has no apt-get, apk or dnf' >&2; exit 1
fi >/dev/null
"""


def missing(host: Host) -> tuple[str, ...]:
    """Programs that agents need and the host has not."""
    done = host.run(READ_AND_RUN, stdin=encode(_MISSING))
    return tuple(done.check(f'cannot look for programs on "{host.name}"').text.split())


def bootstrap(host: Host) -> tuple[str, ...]:
    """Installs what is missing with the host's own package manager, and says what that was; twice is safe."""
    names = missing(host)
    if not names:
        return ()
    done = host.run(READ_AND_RUN, stdin=encode(_INSTALL.format(names=" ".join(names))), timeout_s=_INSTALL_S)
    left = missing(host)
    if left:
        raise MngrError(
            f'{" and ".join(left)} could not be installed on "{host.name}": {done.complaint[-1000:] or done.code}',
            hint=f"install {' '.join(left)} there by hand, then try again",
        )
    return names
