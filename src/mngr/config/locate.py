"""Where the layers are: the host dir, the repository around a directory, and the files in both."""

import os
from collections.abc import Mapping

from msgspec import Struct

from mngr.errors import RefusedError, UsageError


class ConfigDirs(Struct, frozen=True):
    """The two directories that config files live under; `repo_root` is empty outside a repository."""

    host_dir: str
    repo_root: str = ""

    @property
    def user_file(self) -> str:
        return os.path.join(self.host_dir, "config.toml")

    @property
    def project_file(self) -> str:
        """The file a repository commits for everyone."""
        return project_file(self.repo_root)

    @property
    def local_file(self) -> str:
        """One person's own settings for one checkout."""
        return local_file(self.repo_root)

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that may be a layer, weakest first."""
        repository = (self.project_file, self.local_file) if self.repo_root else ()
        return (self.user_file, *repository)


POLICY_FILE = "/etc/mngr/policy.toml"
"""An organisation's policy, for every user of the machine."""


def policy_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """The files of policies beside the user's config: the machine's, if it is there, and the one that is named."""
    named = env.get("MNGR_POLICY", "")
    machine = (POLICY_FILE,) if os.path.lexists(POLICY_FILE) else ()
    return (*machine, os.path.abspath(named)) if named else machine


def find_places(cwd: str, env: Mapping[str, str]) -> ConfigDirs:
    return ConfigDirs(host_dir(env), repo_root(cwd))


def host_dir(env: Mapping[str, str]) -> str:
    """`MNGR_HOST_DIR`, or `~/.mngr`; always absolute."""
    home = env.get("HOME") or os.path.expanduser("~")
    asked = env.get("MNGR_HOST_DIR") or os.path.join(home, ".mngr")
    if asked == "~" or asked.startswith("~/"):
        asked = home + asked[1:]
    try:
        return os.path.abspath(asked)
    except FileNotFoundError:
        raise UsageError(
            f'MNGR_HOST_DIR is "{asked}", and the current directory no longer exists',
            hint="make MNGR_HOST_DIR an absolute path",
        ) from None


def check_host_dir(path: str, env: Mapping[str, str]) -> None:
    """Refuses a host dir that another user owns or may write to: its config is obeyed and its records believed.

    Root may use the one of the user who called sudo.
    """
    try:
        link, folder = os.lstat(path), os.stat(path)
    except OSError:
        return
    ours = {0, os.geteuid()}
    if os.geteuid() == 0 and env.get("SUDO_UID", "").isdecimal():
        ours.add(int(env["SUDO_UID"]))
    if not {link.st_uid, folder.st_uid} <= ours:
        raise RefusedError(
            f"the host dir {path} belongs to another user", hint="set MNGR_HOST_DIR to a directory of yours"
        )
    if folder.st_mode & 0o002:
        raise RefusedError(
            f"every user may write to the host dir {path}", hint=f"see what is in it, then: chmod 700 {path}"
        )


def repo_root(cwd: str) -> str:
    """The nearest directory from here upwards that has a `.git`, or an empty text."""
    here = os.path.abspath(cwd)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above
    return here


def project_file(root: str) -> str:
    return os.path.join(root, ".mngr", "settings.toml")


def local_file(root: str) -> str:
    return os.path.join(root, ".mngr", "settings.local.toml")


def main_root(root: str) -> str:
    """The repository a linked worktree belongs to; any other checkout is its own.

    The repository must name the worktree too: a stray `.git` file alone could claim to belong anywhere.
    """
    link = os.path.join(root, ".git")
    line = _first_line(link)
    if not line.startswith("gitdir:"):
        return os.path.realpath(root)
    entry = os.path.realpath(os.path.join(root, line.removeprefix("gitdir:").strip()))
    back = _first_line(os.path.join(entry, "gitdir"))
    common, kind = os.path.split(os.path.dirname(entry))
    if kind != "worktrees" or not back or _real(entry, back) != _real(root, ".git"):
        return os.path.realpath(root)
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _real(start: str, path: str) -> str:
    return os.path.realpath(os.path.join(start, path))


def _first_line(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(8192).partition(b"\n")[0]).replace("\0", "")
    except OSError:
        return ""
