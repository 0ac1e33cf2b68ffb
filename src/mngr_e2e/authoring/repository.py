"""The user's repository as agents get it and as their work comes back: commits that no branch and no index shows.

An agent starts from a commit of the files as they are, uncommitted ones too; what it did is another commit, and the
difference of the two is all that is ever looked at. Files are written only at the very end.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

import mngr
from mngr_lib.files import replace_file
from mngr_lib.git import git_argv, git_env

_TIMEOUT_S = 600.0
_MAKER = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "mngr"), ("EMAIL", "mngr@localhost"))
}
PLAIN_MODES = ("100644", "100755")


class FileChange(Struct, frozen=True):
    """A file that differs between two commits; `blob` is empty when it is gone, `mode` tells a link from a file."""

    path: str
    mode: str
    blob: str


class TutorialRepository(Struct, frozen=True):
    """A work tree of git, by its top folder."""

    top: str

    def relative(self, path: str) -> str:
        """A path of this machine as git names it."""
        inside = os.path.relpath(os.path.realpath(path), self.top)
        if inside == ".." or inside.startswith("../"):
            raise mngr.UsageError(
                f"{path} is not in the repository {self.top}", hint="agents get a copy of that repository"
            )
        return inside

    def snapshot(self) -> str:
        """A commit of every file as it is now, ignored ones left out; nothing in the repository shows it."""
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
            head = self.git("rev-parse", "-q", "--verify", "HEAD^{commit}", check=False).strip()
            if head:
                self.git("read-tree", head, env=index)
            self.git("add", "-A", env=index)
            tree = self.git("write-tree", env=index).strip()
        return self.commit(tree, head)

    def commit(self, tree: str, parent: str) -> str:
        above = ("-p", parent) if parent else ()
        return self.git("commit-tree", tree, *above, "-m", "mngr: the files as they are", env=_MAKER).strip()

    def changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        fields = self.git("diff-tree", "-r", "-z", "--no-renames", before, after).split("\0")
        found = []
        for meta, path in zip(fields[0::2], fields[1::2], strict=False):
            _, mode, _, blob, status = meta.removeprefix(":").split(" ")
            found.append(FileChange(path, mode, "" if status == "D" else blob))
        return tuple(found)

    def files(self, commit: str, places: Sequence[str]) -> dict[str, bytes]:
        """The plain files at or below these paths, in order."""
        below = () if "." in places else places
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *below).split("\0")
        blobs: dict[str, str] = {}
        for entry in filter(None, listed):
            meta, _, path = entry.partition("\t")
            mode, _, blob = meta.split(" ")
            if mode in PLAIN_MODES:
                blobs[path] = blob
        return dict(zip(blobs, self.blobs(list(blobs.values())), strict=True))

    def blobs(self, names: Sequence[str]) -> list[bytes]:
        """What blobs hold, by one process."""
        paths = "".join(f"{name}\n" for name in names).encode()
        output, found = self._run(("cat-file", "--batch"), stdin=paths).stdout, []
        for _ in names:
            head, _, output = output.partition(b"\n")
            size = int(head.rpartition(b" ")[2])
            found.append(output[:size])
            output = output[size + 1 :]
        return found

    def with_files(self, commit: str, files: Iterable[FileChange]) -> str:
        """A commit like another one, with some files as they are in a third."""
        entries = "".join(f"{file.mode} {file.blob}\t{file.path}\0" for file in files)
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
            self.git("read-tree", commit, env=index)
            self._run(("update-index", "-z", "--index-info"), index, stdin=os.fsencode(entries))
            tree = self.git("write-tree", env=index).strip()
        return self.commit(tree, commit)

    def edited_since(self, commit: str, paths: Iterable[str]) -> list[str]:
        """Those paths whose files are no longer what the commit holds."""
        return [path for path in paths if self._blob_now(path) != self._blob_in(commit, path)]

    def write(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            write_file(os.path.join(self.top, path), data)

    def drop_branch(self, branch: str) -> None:
        self.git("update-ref", "-d", f"refs/heads/{branch}", check=False)

    def git(self, *words: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
        return os.fsdecode(self._run(words, env, check).stdout)

    def _blob_now(self, path: str) -> str:
        full = os.path.join(self.top, path)
        return self.git("hash-object", f"--path={path}", full).strip() if os.path.isfile(full) else ""

    def _blob_in(self, commit: str, path: str) -> str:
        return self.git("rev-parse", "-q", "--verify", f"{commit}:{path}", check=False).strip()

    def _run(
        self,
        words: Sequence[str],
        env: Mapping[str, str] | None = None,
        check: bool = True,
        stdin: bytes = b"",
    ) -> mngr.Completed:
        argv = git_argv("-C", self.top, "--literal-pathspecs", *words, settings=("core.quotePath=false",))
        done = mngr.run_program(argv, stdin=stdin, timeout_s=_TIMEOUT_S, env=git_env(env))
        if check and done.code:
            complaint = done.complaint
            raise mngr.MngrError(
                f"git {words[0]} failed in {self.top}: {complaint}", hint="run git status there"
            )
        return done


def find_repository(path: str) -> TutorialRepository:
    """The repository that holds a file; a UsageError without one."""
    folder = os.path.dirname(os.path.realpath(path))
    top = TutorialRepository(folder).git("rev-parse", "--show-toplevel", check=False).rstrip("\n")
    if not top:
        raise mngr.UsageError(
            f"{folder} is not in a git repository, of which an agent could get a copy",
            hint="make one: git init",
        )
    return TutorialRepository(top)


def write_file(path: str, data: bytes) -> None:
    """Replaces a file in one step and keeps its mode; a link is followed."""
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    replace_file(path, data, keeps_mode=True)
