"""How every git of ours is run: the settings on its command line and its environment, as data. Starts nothing.

A repository's own configuration can name programs: hooks, a file system monitor, filters, remotes. Hooks and the
monitor are off for every git. In a repository that an agent can write to (`ISOLATED_ENV`), nothing is fetched either,
whatever its configuration says. The names of filters cannot be known beforehand: a work tree of an agent is only read
through a git directory of ours, `mngr.transfer.view`.
"""

from collections.abc import Mapping, Sequence

ENV: Mapping[str, str] = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_EDITOR": "true",
    "GIT_LFS_SKIP_SMUDGE": "1",
}
"""For every git of ours: no question, no editor, no lock that is not needed, no download of large files."""

ISOLATED_ENV: Mapping[str, str] = {
    # Neither a missing object (a promisor remote) nor an address that the configuration rewrites starts a transport.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ASKPASS": "true",
    # History as it is: no replacements, no grafts. git complains about a path whose folder is there and not the file.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null/none",
}
"""Added where an agent can write to the repository."""

FOREIGN = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"),
)
"""Variables that would lead git to another repository than the one in its arguments; `mngr.process` passes none on."""

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "receive.autogc=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "advice.addEmbeddedRepo=false",
    "core.safecrlf=false",
)
ISOLATED_SETTINGS = ("core.alternateRefsCommand=true",)
"""For a git that takes commits into an agent's repository, where alternates are asked what they have: nothing."""


def git_argv(*args: str, settings: Sequence[str] = ()) -> tuple[str, ...]:
    """The command for one git process: our settings, those given, then what git is to do."""
    flags = (word for setting in (*_SETTINGS, *settings) for word in ("-c", setting))
    return ("git", *flags, *args)


def git_env(extra: Mapping[str, str] | None = None, *, isolated: bool = False) -> dict[str, str]:
    """The variables for one git process, to be added to an environment without `FOREIGN`."""
    return {**ENV, **(ISOLATED_ENV if isolated else {}), **(extra or {})}
