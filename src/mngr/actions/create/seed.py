"""A seed: what a new agent begins with. A clone and a snapshot bring more than a folder of the user's."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from msgspec import Struct

from mngr.actions.create.request import CreateSpec
from mngr.hosts.protocol import Host
from mngr.model.address import Address
from mngr.model.agent import AgentSpec
from mngr.transfer.protocol import Sent, WorkSource


class Seed(Struct, frozen=True, kw_only=True):
    """What a new agent begins with; the fields after `notes` are blank but for a clone or a snapshot."""

    source: WorkSource
    transfer: str
    notes: Callable[[], tuple[str, ...]] = tuple
    """What to tell a person of the source; asked for at the end, because git is still looking."""
    env: dict[str, str] = {}
    base_commit: str = ""
    """What the agent it is made from started from, so that every commit since counts as its work."""
    fetch_commits: Callable[[], AbstractContextManager[WorkSource]] | None = None
    """Gives the source with commits of another host, for as long as they are needed."""
    send_files: Callable[[Host, str], Sent] | None = None
    """Makes a work dir of files without git, in place of the transfer."""
    copy_conversation: Callable[[Host, AgentSpec], bool] | None = None
    """Gives the new agent the conversation; False when there is none to go on with."""
    home: tuple[str, str] = ("", "")
    """Provider and name of a host that is there already and ends with its last agent."""
    in_image: "Callable[[Address, Host], tuple[CreateSpec, Seed]] | None" = None
    """Reads the snapshot that is inside an image, from the host that was made from it: until then little is known."""
