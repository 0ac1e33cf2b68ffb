"""No transfer: the agent works in place."""

from mngr.errors import MngrError
from mngr.hosts.protocol import Host, shares_files
from mngr.sh.program import quote
from mngr.transfer import work_dir as work_dirs
from mngr.transfer.git import run_script
from mngr.transfer.protocol import Brought, Sent, WorkSource


class NoneTransfer:
    """In the source folder itself; on a host that does not share it, in a folder of that host."""

    name = "none"

    def send(self, source: WorkSource, host: Host, work_dir: str, branch: str) -> Sent:  # noqa: ARG002
        if shares_files(host):
            return Sent(work_dir=source.path, branch=source.head_branch, base_commit=source.head)
        made = f"[ -d {quote(work_dir)} ] && exit 0\n{work_dirs.claim_script(host, work_dir)}echo made\n"
        done = run_script(host, made)
        if done.code:
            raise MngrError(
                f"cannot use {work_dir} on {host.name}: {done.complaint}",
                hint="name a folder that can be made there",
            )
        return Sent(work_dir=work_dir, owns_work_dir=done.stdout.strip() == b"made")

    def bring_back(self, host: Host, work_dir: str, into: WorkSource, branch: str) -> Brought:
        where = (
            "the agent works in the source itself" if shares_files(host) else f"the agent works in {work_dir}"
        )
        note = f"{where}: there is nothing to bring back; files: mngr pull NAME --files PATTERN --to DIR"
        return Brought(branch, into.head, into.head, (note,))
