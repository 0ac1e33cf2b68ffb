"""Files from one host to another through this machine: tar there, tar here, nothing stored between."""

import threading
from collections.abc import Sequence

from mngr.errors import MngrError
from mngr.hosts.protocol import Host, shares_files
from mngr.process import CommandFailedError, Completed, Stream
from mngr.sh.codes import Exit
from mngr.sh.program import program, quote
from mngr.transfer.files import pull_files
from mngr.transfer.pack import LastWords
from mngr.transfer.tar import TAR_TIMEOUT_S

_CHUNK = 1 << 20
_END_S = 60.0
# GNU tar's 1 means "some files changed while they were read", with a complete archive.
_CHANGED = 1
_NO_TAR = 127

UNPACK = ("tar", "-x", "-p", "-o", "-f", "-", "-C")


def copy_tree(
    from_host: Host, from_dir: str, to_host: Host, to_dir: str, *, leave_out: Sequence[str] = ()
) -> tuple[str, ...]:
    """Copies what is in a directory, but for the top-level names left out, into a directory that is there.

    What a remote host sends to this machine is a stranger's: it is unpacked by `pull_files`, confined and without
    repositories of git, whose settings an agent here would run.
    """
    if shares_files(to_host) and not shares_files(from_host):
        if not leave_out:
            return pull_files(from_host, from_dir, (".",), to_dir).notes
        listing = _list_script(from_dir, leave_out) + 'printf "%s\\0" "$@"\n'
        done = from_host.run(("sh", "-c", listing, "mngr-names"))
        listed = done.check(f"cannot list {from_dir} on {from_host.name}").stdout.decode(
            "utf-8", "surrogateescape"
        )
        # Each as a pattern that means exactly itself.
        names = [
            "".join(f"[{char}]" if char in "*?[" else char for char in name)
            for name in listed.split("\0")
            if name
        ]
        return pull_files(from_host, from_dir, names, to_dir).notes if names else ()
    pack = from_host.stream(("sh", "-c", pack_script(from_dir, leave_out), "mngr-pack"))
    return relay(pack, to_host.stream((*UNPACK, to_dir)), f"cannot copy {from_dir} to {to_dir}")


def pack_script(folder: str, leave_out: Sequence[str] = ()) -> str:
    """Shell lines that write a tar of what is in a folder to stdout."""
    if not leave_out:
        return f"cd -- {quote(folder)} || exit {Exit.NO_DIRECTORY}\nexec tar -c -f - .\n"
    return f'{_list_script(folder, leave_out)}[ "$#" -gt 0 ] || set -- -T /dev/null\nexec tar -c -f - "$@"\n'


def relay(pack: Stream, unpack: Stream, doing: str) -> tuple[str, ...]:
    """Pumps one command's output into another and sees both to their end; returns notes."""
    heard = LastWords(pack), LastWords(unpack)
    deadline = threading.Timer(TAR_TIMEOUT_S, pack.kill)
    deadline.daemon = True
    deadline.start()
    try:
        try:
            while data := pack.stdout.read(_CHUNK):
                left = memoryview(data)
                while left:
                    left = left[unpack.stdin.write(left) :]
        except (BrokenPipeError, ValueError):
            pass
        try:
            unpack.stdin.close()
        except OSError:
            pass
        codes = pack.wait(_END_S), unpack.wait(_END_S)
        output = b"\n".join(words.heard().strip() for words in heard).strip()
    finally:
        deadline.cancel()
        pack.kill()
        unpack.kill()
    if _NO_TAR in codes:
        raise MngrError(f"{doing}: one side has no tar", hint="install it there, then try again")
    if codes[0] not in (0, _CHANGED) or codes[1]:
        raise CommandFailedError(doing, Completed((), codes[1] or codes[0], b"", output))
    return ("some files changed while they were copied",) if codes[0] == _CHANGED else ()


def _list_script(folder: str, leave_out: Sequence[str]) -> str:
    return program("sh/list_folder", folder=folder, leave_out=" ".join(leave_out))
