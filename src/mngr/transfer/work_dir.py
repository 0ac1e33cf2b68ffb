"""The directory a transfer fills: claimed before anything is put there, removed only when it was ours."""

import posixpath
from contextlib import suppress

from mngr.errors import MngrError, RefusedError
from mngr.hosts.protocol import Host
from mngr.process import Completed
from mngr.sh.codes import Exit
from mngr.sh.lines import remove_tree
from mngr.sh.program import program, quote
from mngr.store.paths import REMOVED, HostPaths
from mngr.transfer.git import run_script


def claim_script(host: Host, work_dir: str) -> str:
    """Shell lines that make the directory, or take an empty one, and note that it is ours."""
    return program("sh/make_work_dir", folder=work_dir, mark=_mark(host, work_dir))


def check_claimed(done: Completed, host: Host, work_dir: str) -> None:
    if done.code == Exit.OCCUPIED:
        raise RefusedError(
            f"{work_dir} on {host.name} is there already and not empty",
            hint="name another work dir, or use --transfer none to work in it as it is",
        )
    if done.code:
        raise MngrError(
            f"cannot make {work_dir} on {host.name}: {done.complaint}",
            hint="is the folder above it writable?",
        )


def remove_claimed(host: Host, work_dir: str) -> None:
    """Undoes a claim: removes the directory if the claim was noted, else nothing.

    Called while another error is on its way, which must not be hidden: a host that is gone keeps what it has.
    """
    with suppress(MngrError):
        run_script(host, _remove_script(host, work_dir, needs_mark=True), timeout_s=600)


def remove_work_dir(host: Host, work_dir: str) -> tuple[str, ...]:
    """Removes a work dir of ours with all in it; one that is not ours or resists becomes a note."""
    if posixpath.normpath(work_dir) != work_dir or not posixpath.isabs(work_dir) or work_dir == "/":
        return (f"kept {work_dir}: not a plain absolute path",)
    inside = work_dir.startswith(HostPaths(host.dir).work + "/")
    done = run_script(host, _remove_script(host, work_dir, needs_mark=not inside), timeout_s=600)
    if done.code == Exit.NOT_OURS:
        return (f"kept {work_dir}: mngr did not make it",)
    return (f"kept {work_dir}: {done.complaint}",) if done.code else ()


def _remove_script(host: Host, work_dir: str, *, needs_mark: bool) -> str:
    mark, path = quote(_mark(host, work_dir)), quote(work_dir)
    check = (
        f'[ "$(cat {mark} 2>/dev/null)" = "$(printf %s {path})" ] || exit {Exit.NOT_OURS}\n'
        if needs_mark
        else ""
    )
    folder, name = posixpath.split(work_dir)
    # Killed halfway it leaves no repository without its objects in its place, and `gc` removes the rest.
    away = path if needs_mark else quote(f"{folder}/{REMOVED}{name}")
    move = "" if needs_mark else f"mv -- {path} {away} || exit 1\n"
    return (
        f"[ -e {path} ] || [ -L {path} ] || {{ rm -f {mark}; exit 0; }}\n{check}{move}"
        f"{remove_tree(away)}\n"
        f"[ ! -e {away} ] || exit 1\n"
        f"rm -f {mark}\n"
    )


def _mark(host: Host, work_dir: str) -> str:
    from hashlib import sha256  # loads OpenSSL, 13 ms: a worktree needs none

    name = sha256(work_dir.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return f"{host.dir}/made/{name}"
