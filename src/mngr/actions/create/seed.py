"""A seed: what a new agent begins with. A clone and a snapshot bring more than a folder of the user's."""

from collections.abc import Callable

from msgspec import Struct

from mngr.actions.create.request import CreateSpec
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.transfer.protocol import WorkSource


class StoredCommits(Struct, frozen=True):
    """Commits in a repository on a host: where its HEAD stood, and the files as they were."""

    host: Host
    repository: str
    head: str
    tree: str
    """A commit that holds the files: `head` itself, or one on top of it with the uncommitted work."""


class Seed(Struct, frozen=True, kw_only=True):
    """What a new agent begins with; the fields after `notes` are blank but for a clone or a snapshot."""

    source: WorkSource | None
    transfer: str
    notes: Callable[[], tuple[str, ...]] = tuple
    """What to tell a person of the source; asked for at the end, because git is still looking."""
    env: dict[str, str] = {}
    base_commit: str = ""
    """What the agent it is made from started from, so that every commit since counts as its work."""
    commits: StoredCommits | None = None
    """To be fetched into the source before they are sent."""
    unpack: Callable[[Host, str], tuple[str, ...]] | None = None
    """Puts files without git into an empty directory of a host."""
    copy_conversation: Callable[[Host, AgentSpec], bool] | None = None
    """Gives the new agent the conversation; False when there is none to go on with."""
    home: tuple[str, str] = ("", "")
    """Provider and name of a host that is there already and ends with its last agent."""
    in_image: CreateSpec | None = None
    """What was asked for of a snapshot that is inside the image its host is yet to be made from."""
