"""`run.sh`: an agent's directory, environment and command as quoted data, and nothing evaluated."""

import os
import re
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from mngr.errors import UsageError
from mngr.store.paths import AgentPaths
from mngr.store.script import quote, words

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# Shells give these a meaning of their own, so they reach the program through env(1) instead of `export`.
_SPECIAL = frozenset(
    "IFS OPTIND OPTARG PPID UID EUID GROUPS ENV BASH_ENV SHELLOPTS BASHOPTS PS1 PS2 PS4 PWD OLDPWD LINENO _ RANDOM "
    "SECONDS".split()
)
_DATA = "# data: "
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


class RunFile(Struct, frozen=True):
    """What a run file says: enough to start the same program again, or a copy of it."""

    cwd: str
    argv: tuple[str, ...]
    env: dict[str, str] = {}


def run_file_text(run: RunFile, paths: AgentPaths) -> str:
    """The sh program: `run.sh launch` becomes the agent, `run.sh -- CMD…` runs CMD in the agent's place.

    Programs in the agent's own `bin` come first for both.
    """
    exports = "".join(f"export {name}={quote(value)}\n" for name, value in run.env.items() if is_plain(name))
    odd = [f"{name}={value}" for name, value in run.env.items() if not is_plain(name)]
    env = f"env {words(*odd)} " if odd else ""
    temporary = quote(f"{paths.dir}/.pid")
    return (
        f"{_DATA}{_encode(run)}\n"
        'if [ "${1-}" = launch ]; then\n'
        "  s=; [ -r /proc/$$/stat ] && read -r s </proc/$$/stat\n"
        "  b=-; [ -r /proc/sys/kernel/random/boot_id ] && read -r b </proc/sys/kernel/random/boot_id\n"
        f"  (umask 077; printf '%s\\n' \"$$ $b $s\" >{temporary}) && mv -f {temporary} {quote(paths.pid)} || exit 73\n"
        "fi\n"
        "unset TMUX TMUX_PANE\n"
        f"{exports}"
        f'export PATH={quote(paths.bin)}:"${{PATH:-{_DEFAULT_PATH}}}"\n'
        f"cd -- {quote(run.cwd)} || exit 72\n"
        f'if [ "${{1-}}" = -- ]; then shift; exec {env}"$@"; fi\n'
        f"exec {env}{words(*run.argv)}\n"
    )


def parse_run_file(data: bytes) -> RunFile:
    """Reads back what `run_file_text` was given."""
    first = data.partition(b"\n")[0].decode("ascii", "replace")
    stored = msgspec.json.decode(first.removeprefix(_DATA), type=RunFile)
    return RunFile(
        cwd=_unpack(stored.cwd),
        argv=tuple(map(_unpack, stored.argv)),
        env={_unpack(name): _unpack(value) for name, value in stored.env.items()},
    )


def check_env(env: Mapping[str, str]) -> None:
    """Refuses names and values that no program can be given."""
    for name, value in env.items():
        if not name or "=" in name or "\0" in name:
            raise UsageError(f"environment name {name!r} cannot be used", hint="write --env NAME=VALUE")
        if "\0" in value:
            raise UsageError(f"the value of {name} holds a NUL byte", hint="no program can be given one")


def check_argv(argv: Sequence[str]) -> None:
    for word in argv:
        if "\0" in word:
            raise UsageError(f"argument {word!r} holds a NUL byte", hint="no program can be given one")


def is_plain(name: str) -> bool:
    """Whether a shell can `export` a variable of this name without giving it a meaning of its own."""
    return _PLAIN.match(name) is not None and name not in _SPECIAL


# A byte becomes the character of the same number, so that any bytes survive JSON.
def _pack(text: str) -> str:
    return os.fsencode(text).decode("latin-1")


def _unpack(text: str) -> str:
    return os.fsdecode(text.encode("latin-1"))


def _encode(run: RunFile) -> str:
    packed = RunFile(
        cwd=_pack(run.cwd),
        argv=tuple(map(_pack, run.argv)),
        env={_pack(name): _pack(value) for name, value in run.env.items()},
    )
    text = msgspec.json.encode(packed).decode()
    return "".join(char if char < "\x7f" else f"\\u{ord(char):04x}" for char in text)
