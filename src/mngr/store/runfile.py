"""`run.sh`: an agent's directory, environment and command as quoted data, and nothing evaluated."""

import os
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from mngr.errors import UsageError
from mngr.sh.program import load, quote, words
from mngr.store.paths import AgentPaths
from mngr.store.rules import UnfitError
from mngr.store.untrusted import decode

# Shells give these a meaning of their own: the first ones are exported last, when our shell needs them no more. What
# a shell refuses, changes or cannot name reaches the program through another one, which reads it from the run file.
_LAST = frozenset("IFS ENV BASH_ENV PS1 PS2 PS4 PWD OLDPWD OPTARG".split())
_SPECIAL = frozenset(
    "OPTIND PPID UID EUID GROUPS SHELLOPTS BASHOPTS LINENO _ RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME HISTCMD "
    "DIRSTACK FUNCNAME BASHPID BASH_VERSINFO BASH_COMMAND".split()
)
_ODD = "# odd: "
_PERL = (
    'my $file = shift; open F, "<", $file or exit 72; '
    'while (<F>) { $ENV{pack "H*", $1} = pack "H*", $2 if /^# odd: ([0-9a-f]+)=([0-9a-f]*)$/ } close F; '
    'exec { $ARGV[0] } @ARGV; print STDERR "exec: $ARGV[0]: ", $! == 2 ? "not found" : $!, "\\n"; '
    "exit($! == 2 ? 127 : 126)"
)
_PYTHON = r"""import os, re, sys
with open(sys.argv[1], "rb") as file:
    for name, value in re.findall(rb"(?m)^# odd: ([0-9a-f]+)=([0-9a-f]*)$", file.read()):
        os.environb[bytes.fromhex(name.decode())] = bytes.fromhex(value.decode())
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    is_missing = isinstance(error, FileNotFoundError)
    print(f"exec: {sys.argv[2]}: {'not found' if is_missing else error.strerror}", file=sys.stderr)
    sys.exit(127 if is_missing else 126)
"""
_DATA = "# data: "


class RunFile(Struct, frozen=True):
    """What a run file says: enough to start the same program again, or a copy of it."""

    cwd: str
    argv: tuple[str, ...]
    env: dict[str, str] = {}


def run_file_text(run: RunFile, paths: AgentPaths) -> str:
    """The sh program: `run.sh launch` becomes the agent, `run.sh -- CMD…` runs CMD in the agent's place.

    Programs in the agent's own `bin` come first for both.
    """
    odd = {name: value for name, value in run.env.items() if not is_plain(name)}
    last = {name: value for name, value in run.env.items() if name in _LAST}
    first = {name: value for name, value in run.env.items() if name not in odd and name not in last}
    become = "mngr_become" if odd else "exec"
    odd_lines = "".join(
        f"{_ODD}{os.fsencode(name).hex()}={os.fsencode(value).hex()}\n" for name, value in odd.items()
    )
    packed = RunFile(
        cwd=_pack(run.cwd),
        argv=tuple(map(_pack, run.argv)),
        env={_pack(name): _pack(value) for name, value in run.env.items()},
    )
    encoded = msgspec.json.encode(packed).decode()
    data = "".join(char if char < "\x7f" else f"\\u{ord(char):04x}" for char in encoded)
    return (
        f"{_DATA}{data}\n{odd_lines}{load('sh/lib/run_file')}"
        f'mngr_begin "${{1-}}" {words(f"{paths.dir}/.pid", paths.pid)}\n'
        f"{_exports(first)}mngr_go_to {words(run.cwd, paths.bin)}\n"
        f"{_become_function(odd, paths)}{_exports(last)}"
        f'if [ "${{1-}}" = -- ]; then shift; {become} "$@"; fi\n'
        f"{become} {words(*run.argv)}\n"
    )


def _exports(env: Mapping[str, str]) -> str:
    return "".join(f"export {name}={quote(value)}\n" for name, value in env.items())


def _become_function(odd: Mapping[str, str], paths: AgentPaths) -> str:
    """The sh function `mngr_become CMD…`: becomes the command with what the shell itself cannot export.

    No value is in an argument unless the host has neither perl nor python3; then env(1) has them for a moment.
    """
    if not odd:
        return ""
    pairs = words(*(f"{name}={value}" for name, value in odd.items()))
    programs = f"mngr_perl={quote(_PERL)}\nmngr_python={quote(_PYTHON)}\n{load('sh/lib/become')}"
    return f'{programs}mngr_become() {{ mngr_become_odd {quote(paths.run)} "$@"; exec env {pairs} "$@"; }}\n'


def parse_run_file(data: bytes) -> RunFile:
    """Reads back what `run_file_text` was given; UnfitError when that cannot be found there."""
    first = data.partition(b"\n")[0].decode("ascii", "replace")
    stored = decode(first.removeprefix(_DATA), RunFile)
    if stored is None:
        raise UnfitError("", "its first line is not the data that mngr wrote")
    try:
        return RunFile(
            cwd=_unpack(stored.cwd),
            argv=tuple(map(_unpack, stored.argv)),
            env={_unpack(name): _unpack(value) for name, value in stored.env.items()},
        )
    except UnicodeEncodeError:
        raise UnfitError("", "it holds characters that are no bytes") from None


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
    return name.isascii() and name.isidentifier() and name not in _SPECIAL


# A byte becomes the character of the same number, so that any bytes survive JSON.
def _pack(text: str) -> str:
    return os.fsencode(text).decode("latin-1")


def _unpack(text: str) -> str:
    return os.fsdecode(text.encode("latin-1"))
