"""Files to and from a host, outside git: what comes back is a stranger's and treated so."""

import filecmp
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from mngr import process
from mngr.errors import MngrError, NotFoundError, RefusedError, UsageError
from mngr.hosts.protocol import Host
from mngr.process import Stream
from mngr.sh.codes import Exit
from mngr.sh.program import READ_AND_RUN, encode, load, quote
from mngr.transfer.git import run_script
from mngr.transfer.pack import LastWords
from mngr.transfer.safe_paths import Limits, open_parent, plain_path, show
from mngr.transfer.tar import send_tar

if TYPE_CHECKING:
    from mngr.transfer.archive import Unpacked

_NO_TAR = 127
_END_S = 60.0
_PADDING = 1 << 20
_NOTHING = "nothing matches"
_NAMED = 5
_RESULT = "result.json"
_GLOB = re.compile(r"([*?\[\]!^-])")
_DEFAULT = Limits()


class PulledFiles(Struct, frozen=True):
    """What now lies in the directory, relative to it, also files that were there already and the same."""

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


def pull_outbox(
    host: Host, outbox: str, to_dir: str, *, limits: Limits = _DEFAULT, force: bool = False
) -> PulledFiles:
    """Brings everything an agent handed over; its result comes first, so that nothing can crowd it out."""
    pulled = pull_files(host, outbox, (_RESULT, "."), to_dir, limits=limits, force=force)
    return PulledFiles(pulled.files, tuple(note for note in pulled.notes if note != f"{_NOTHING} {_RESULT}"))


def pull_files(
    host: Host,
    root: str,
    patterns: Sequence[str],
    to_dir: str,
    *,
    limits: Limits = _DEFAULT,
    force: bool = False,
) -> PulledFiles:
    """Brings files whose paths below `root` match shell patterns; a matching directory comes whole.

    What is unsafe or too big is left out with a note. A file that is there and differs refuses the pull,
    before anything is written, unless `force`.
    """
    checked = []
    for pattern in patterns:
        path = plain_path(pattern)
        if path is None:
            raise UsageError(
                f'pattern "{show(pattern)}" leads out of the work dir', hint="write it relative, without .."
            )
        checked.append(path or ".")
    os.makedirs(to_dir, exist_ok=True)
    staging = os.path.join(to_dir, f".mngr-incoming-{os.urandom(6).hex()}")
    os.mkdir(staging, 0o700)
    try:
        arrived = _receive(host, root, checked, staging, limits)
        if len(arrived.notes) >= len(patterns) and all(note.startswith(_NOTHING) for note in arrived.notes):
            raise NotFoundError(f"{'; '.join(arrived.notes)} in {root} on {host.name}", hint=_LOOK)
        if not force:
            _refuse_overwriting(staging, to_dir, arrived)
        # Moves the staged files to their places, never through a link.
        settled, notes = [], list(arrived.notes)
        for path in (*arrived.files, *arrived.links):
            try:
                _place(staging, to_dir, path, arrived.links.get(path))
                settled.append(path)
            except OSError as error:
                notes.append(f"left out {show(path)}: {error.strerror}")
        return PulledFiles(tuple(sorted(settled)), tuple(notes))
    finally:
        process.run(("rm", "-rf", "--", staging), timeout_s=600)


def push_files(paths: Sequence[str], host: Host, root: str) -> tuple[str, ...]:
    """Puts files and folders into a directory of the host, each under its own name; returns notes."""
    members: list[str] = []
    names: set[str] = set()
    for path in map(os.path.abspath, paths):
        folder, name = os.path.split(path)
        if not name or not os.path.lexists(path):
            raise UsageError(f"no file {path} to push", hint="check the spelling; paths are of this machine")
        if name in names:
            raise UsageError(
                f'two of the files are called "{name}"', hint="push them one at a time, or their folder"
            )
        names.add(name)
        members += ["-C", folder, f"./{name}"]
    if not members:
        return ()
    run_script(host, f"mkdir -p -- {quote(root)}\n").check(f"cannot make {root} on {host.name}")
    return send_tar(host, root, members)


_LOOK = "patterns are relative to the work dir; see what is there: mngr exec NAME ls"


def _pack_script(root: str, patterns: Sequence[str]) -> str:
    """Shell lines that pack what patterns match; only their glob characters mean anything to the shell."""
    loops = []
    for number, pattern in enumerate(patterns):
        glob = "".join(
            part if _GLOB.fullmatch(part) else quote(part) for part in _GLOB.split(pattern) if part
        )
        loops.append(f'for f in ./{glob}; do mngr_match {number} "$f" && set -- "$@" "$f"; done\n')
    return (
        f"{load('sh/lib/match')}cd -P -- {quote(root)} || exit {Exit.NO_DIRECTORY}\ntop=$(pwd -P)\n{''.join(loops)}"
        '[ "$#" -gt 0 ] || exit 0\nexec tar -c -f - "$@"\n'
    )


def _receive(host: Host, root: str, patterns: Sequence[str], staging: str, limits: Limits) -> "Unpacked":
    from mngr.transfer.archive import unpack  # tarfile is slow to import, and only this path needs it

    stream = host.stream(READ_AND_RUN)
    far = LastWords(stream)
    try:
        script = _pack_script(root, patterns)
        try:
            stream.stdin.write(encode(script))
            stream.stdin.close()
        except BrokenPipeError:
            pass
        unpacked = unpack(stream.stdout, staging, limits)
        code = stream.wait(_END_S) if _is_drained(stream) else 0
        complaints = far.heard().decode(errors="replace") if code or not unpacked.stopped else ""
    finally:
        stream.kill()
    if code == Exit.NO_DIRECTORY:
        raise NotFoundError(
            f"no folder {root} on {host.name}", hint="has the agent been destroyed? see: mngr list"
        )
    if code == _NO_TAR:
        raise MngrError(f'host "{host.name}" has no tar', hint="install it there, then try again")
    notes, rest = list(unpacked.notes), []
    for line in complaints.splitlines():
        word, _, number = line.partition(" ")
        if word == "mngr-missing":
            notes.append(f"{_NOTHING} {show(patterns[int(number)])}")
        elif word == "mngr-outside":
            notes.append(f"left out a match of {show(patterns[int(number)])}: it lies behind a link, outside")
        else:
            rest.append(show(line))
    if code:
        notes.append(f"some files could not be packed: {'; '.join(rest[:_NAMED])}")
    return msgspec.structs.replace(unpacked, notes=tuple(notes))


def _is_drained(stream: Stream) -> bool:
    """Reads the padding after an archive's end; False when it goes on longer than any honest one."""
    left = _PADDING
    while left > 0:
        data = stream.stdout.read(min(left, 1 << 16))
        if not data:
            return True
        left -= len(data)
    return False


def _refuse_overwriting(staging: str, to_dir: str, arrived: "Unpacked") -> None:
    differing = []
    for path in (*arrived.files, *arrived.links):
        old, link = os.path.join(to_dir, path), arrived.links.get(path)
        if not os.path.lexists(old):
            continue
        if link is not None or os.path.islink(old):
            is_same = os.path.islink(old) and os.readlink(old) == link
        else:
            is_same = filecmp.cmp(os.path.join(staging, path), old, shallow=False)
        if not is_same:
            differing.append(path)
    if differing:
        more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
        names = ", ".join(show(path) for path in sorted(differing)[:_NAMED])
        raise RefusedError(
            f"{to_dir} holds other versions of {names}{more}; nothing was written",
            hint="name another directory, or replace them: --overwrite",
        )


def _place(staging: str, to_dir: str, path: str, target: str | None) -> None:
    name = path.rpartition("/")[2]
    parent = open_parent(to_dir, path)
    try:
        if target is None:
            os.rename(os.path.join(staging, path), name, dst_dir_fd=parent)
            return
        try:
            os.unlink(name, dir_fd=parent)
        except FileNotFoundError:
            pass
        os.symlink(target, name, dir_fd=parent)
    finally:
        os.close(parent)
