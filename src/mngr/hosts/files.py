"""`Host.read` and `Host.write` for hosts that have only `run`: written once, in portable sh."""

from collections.abc import Sequence
from typing import Protocol

from mngr.process import Completed

_TIMEOUT_S = 300.0

_NONE = 44
# $1 path. Opening a FIFO would wait for its writer.
_READ = f"""
[ -e "$1" ] || exit {_NONE}
[ -f "$1" ] || {{ printf '%s: it is not a regular file\\n' "$1" >&2; exit 1; }}
exec cat -- "$1"
"""

# $1 path, $2 mode, $3 size: a stream that was cut short never becomes the file.
_WRITE = """
umask 077
[ ! -d "$1" ] || { printf '%s: is a directory\\n' "$1" >&2; exit 1; }
mkdir -p -- "${1%/*}/" || exit 1
new=$1.new.$$
if cat >"$new" && [ "$(wc -c <"$new")" -eq "$3" ] && chmod "$2" "$new"; then
  sync "$new" 2>/dev/null
  mv -f -- "$new" "$1" && exit 0
fi
rm -f -- "$new"
exit 1
"""


class CommandRunner(Protocol):
    """As much of a host as is needed here."""

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 60) -> Completed: ...


def read_by_run(host: CommandRunner, path: str) -> bytes:
    """The whole file; FileNotFoundError when there is none."""
    done = host.run(["sh", "-c", _READ, "mngr-read", path], timeout_s=_TIMEOUT_S)
    if done.code == _NONE:
        raise FileNotFoundError(path)
    return done.check(f"cannot read {path}").stdout


def write_by_run(host: CommandRunner, path: str, data: bytes, mode: int) -> None:
    """Replaces the file as a whole: written beside it, counted, then renamed."""
    argv = ["sh", "-c", _WRITE, "mngr-write", path, f"{mode:o}", str(len(data))]
    host.run(argv, stdin=data, timeout_s=_TIMEOUT_S).check(f"cannot write {path}")
