"""Files by tar: the real program on both sides, argv only, any name."""

from collections.abc import Sequence

from mngr import process
from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.process import Completed
from mngr.transfer.git import failed
from mngr.transfer.pack import LastWords

TAR_TIMEOUT_S = 3600.0
# GNU tar's 1 means "some files changed while they were read", with a complete archive.
_CHANGED = 1


def send_tar(host: Host, to_dir: str, members: Sequence[str]) -> tuple[str, ...]:
    """Packs what `members` (tar's own arguments) name here, unpacks it in a directory of the host."""
    stream = host.stream(("tar", "-x", "-p", "-o", "-f", "-", "-C", to_dir))
    far = LastWords(stream)
    try:
        write = stream.stdin.fileno()
        argv = ("tar", "-c", "-f", f"/dev/fd/{write}", *members)
        packed = process.run_with_fds(argv, pass_fds=(write,), timeout_s=TAR_TIMEOUT_S)
        stream.stdin.close()
        code = stream.wait(TAR_TIMEOUT_S)
        output = far.heard()
    finally:
        stream.kill()
    if code == 127:
        raise MngrError(f'host "{host.name}" has no tar', hint="install it there, then try again")
    if code:
        far_done = Completed((), code, b"", output)
        raise failed(
            f"cannot unpack in {to_dir} on {host.name}", far_done, "is there room, and is it writable?"
        )
    if packed.code not in (0, _CHANGED):
        raise failed(
            "cannot read the files to copy", packed, "every file must be readable; remove what is not"
        )
    return ("some files changed while they were copied",) if packed.code == _CHANGED else ()
