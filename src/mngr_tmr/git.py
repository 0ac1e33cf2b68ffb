"""git on a repository's objects: no checkout, no index but a temporary one, no hook, no filter, no prompt.

Trees and commits are written beside the user's own; nothing else of the repository changes before `move_branch`.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

import mngr
from mngr_lib.git import git_argv, git_env

NOTHING = "0"
_DEADLINE_S = 600.0
OBJECTS_ONLY = (
    "core.attributesFile=/dev/null",
    "core.bare=true",
    "core.bigFileThreshold=1m",
    "i18n.commitEncoding=UTF-8",
    "merge.renames=true",
    "merge.directoryRenames=false",
    "merge.renormalize=false",
    "merge.conflictStyle=merge",
)
"""Settings under which git calls the repository bare and merges alike for everybody."""
AS_IT_IS = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_ATTR_NOSYSTEM": "1"}
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_DEFAULT_IDENTITY = ("mngr tmr", "tmr@localhost")


class TreeEntry(Struct, frozen=True):
    """What a tree holds at a path; a mode of "0" means that nothing is there."""

    path: str
    mode: str
    id: str


class Merge(Struct, frozen=True):
    """A merged tree. With conflicts its files hold markers, and `stages` the three sides by path and stage."""

    tree: str
    stages: tuple[tuple[str, int, TreeEntry], ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not self.stages and not self.messages


def is_object_id(text: str) -> bool:
    return _OBJECT_ID.fullmatch(text) is not None


class Repository:
    """A repository by the path of a checkout or a git directory; every commit made here is dated `when`."""

    def __init__(self, path: str, when: float) -> None:
        self.path = path
        found = _git(("-C", path, "rev-parse", "--path-format=absolute", "--git-common-dir"))
        self._dir = os.fsdecode(found.check(f"no repository in {path}").stdout).removesuffix("\n")
        # Who commits: the user as git knows them, or a default identity.
        output = _git(("-C", path, "config", "-z", "--get-regexp", r"^user\.(name|email)$"))
        known = dict(line.partition("\n")[::2] for line in os.fsdecode(output.stdout).split("\0") if line)
        name, email = known.get("user.name", ""), known.get("user.email", "")
        if not name.strip() or not email.strip():
            name, email = _DEFAULT_IDENTITY
        values = {"NAME": name, "EMAIL": email, "DATE": f"@{int(when)} +0000"}
        self._who = {
            f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in values.items()
        }

    def git(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> mngr.Completed:
        """Runs git on the objects; the caller looks at the exit code."""
        return _git(("--git-dir", self._dir, *args), stdin, env)

    def ask(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """What git prints; an error when it fails."""
        return self.git(*args, stdin=stdin, env=env).check(f"git {args[0]} failed").stdout

    def word(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        return os.fsdecode(self.ask(*args, stdin=stdin, env=env)).strip()

    def tree(self, commit: str) -> str:
        return self.word("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}")

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """Writes a commit; the same arguments give the same id."""
        flags = [word for parent in parents for word in ("-p", parent)]
        text = message.encode(errors="replace")
        return self.word("commit-tree", tree, *flags, "-F", "-", stdin=text, env=self._who)

    def compose(self, tree: str, entries: Iterable[TreeEntry]) -> str:
        """The tree with other entries at some paths."""
        gone_first = sorted(entries, key=lambda entry: (entry.mode != NOTHING, entry.path))
        lines = [
            os.fsencode(f"{entry.mode} {entry.id}\t{entry.path}")
            for entry in gone_first
            if is_object_id(entry.id)
        ]
        with tempfile.TemporaryDirectory(prefix="mngr-tmr-") as folder:
            env = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
            self.ask("read-tree", tree, env=env)
            self.ask("update-index", "-z", "--index-info", stdin=b"\0".join(lines) + b"\0", env=env)
            return self.word("write-tree", env=env)

    def merge(self, ours: str, theirs: str) -> Merge:
        """Merges two commits over their common ancestor, in memory."""
        done = self.git("merge-tree", "--write-tree", "-z", "--messages", ours, theirs)
        if done.code not in (0, 1):
            done.check("git merge-tree failed")
        return read_merge(done.stdout, is_clean=done.code == 0)

    def entries(self, treeish: str, *paths: str) -> dict[str, TreeEntry]:
        """Every file of a tree, or those at some paths."""
        found = {}
        for line in self.ask("ls-tree", "-r", "-z", "--full-tree", treeish, "--", *paths).split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, _, oid = os.fsdecode(about).split(" ")
            found[os.fsdecode(path)] = TreeEntry(os.fsdecode(path), mode, oid)
        return found

    def sizes(self, ids: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The kind and size of those objects that exist."""
        lines = "\n".join(oid for oid in ids if is_object_id(oid))
        output = self.ask("cat-file", "--batch-check", stdin=lines.encode() + b"\n")
        fields = [line.split() for line in output.decode(errors="replace").split("\n")]
        return {row[0]: (row[1], int(row[2])) for row in fields if len(row) == 3}

    def blobs(self, ids: Iterable[str], limit: int = 1 << 20) -> dict[str, bytes]:
        """The contents of those blobs that exist and are no larger than `limit`, from one process."""
        small = [
            oid for oid, (kind, size) in self.sizes(set(ids)).items() if kind == "blob" and size <= limit
        ]
        return dict(zip(small, self.contents(small), strict=True))

    def contents(self, ids: Iterable[str]) -> Iterator[bytes]:
        """Objects of any kind as they are stored, in their order, from one process; all of them must exist."""
        required = list(ids)
        if not required:
            return
        output = memoryview(self.ask("cat-file", "--batch", stdin="\n".join(required).encode() + b"\n"))
        at = 0
        for _ in required:
            line_end = bytes(output[at : at + 200]).index(b"\n") + at
            size = int(bytes(output[at:line_end]).split()[2])
            yield bytes(output[line_end + 1 : line_end + 1 + size])
            at = line_end + size + 2

    def write_blob(self, data: bytes) -> str:
        return self.word("hash-object", "-w", "--stdin", stdin=data)

    def branch(self, name: str) -> str:
        """Where a branch stands; empty when there is none."""
        return os.fsdecode(self.git("rev-parse", "-q", "--verify", f"refs/heads/{name}").stdout).strip()

    def checked_out(self) -> frozenset[str]:
        """The branches that are checked out, here or in another worktree."""
        # Calling the repository bare, as all other commands do, would hide the main checkout's branch.
        output = self.word("-c", "core.bare=false", "worktree", "list", "--porcelain")
        mark = "branch refs/heads/"
        return frozenset(line.removeprefix(mark) for line in output.split("\n") if line.startswith(mark))

    def move_branch(self, name: str, to: str) -> None:
        """Points a branch at a commit, unless it was moved meanwhile or is checked out."""
        before = self.branch(name)
        if before == to:
            return
        if name in self.checked_out():
            raise mngr.RefusedError(
                f'branch "{name}" is checked out', hint="switch to another branch there, then integrate again"
            )
        self.ask("update-ref", "-m", "tmr: integrated", f"refs/heads/{name}", to, before or "0" * len(to))


def read_merge(output: bytes, *, is_clean: bool) -> Merge:
    """What `merge-tree -z --messages` printed: the tree, then stages, an empty field, then messages."""
    fields = [os.fsdecode(field) for field in output.split(b"\0")]
    if is_clean:
        return Merge(fields[0])
    end = fields.index("", 1)
    stages = []
    for field in fields[1:end]:
        about, _, path = field.partition("\t")
        mode, oid, stage = about.split(" ")
        stages.append((path, int(stage), TreeEntry(path, mode, oid)))
    # Each message is a number of paths, the paths, a kind and a text; mere progress is left out.
    messages, at = [], end + 1
    while at < len(fields) and fields[at].isdigit():
        at += int(fields[at]) + 1
        kind, text = fields[at : at + 2]
        if kind.startswith("CONFLICT"):
            messages.append(text.strip())
        at += 2
    return Merge(fields[0], tuple(stages), tuple(messages) or ("conflict",))


def run_git(
    repo: str, *args: str, stdin: bytes = b"", timeout_s: float = 120, env: Mapping[str, str] | None = None
) -> mngr.Completed:
    """Runs git in a checkout of the user's, with its files; the caller looks at the exit code."""
    argv = git_argv("-C", repo, *args)
    return mngr.run_program(argv, stdin=stdin, timeout_s=timeout_s, env=git_env(env))


def _git(args: Sequence[str], stdin: bytes = b"", env: Mapping[str, str] | None = None) -> mngr.Completed:
    argv = git_argv(*args, settings=OBJECTS_ONLY)
    given = git_env({**AS_IT_IS, **(env or {})})
    return mngr.run_program(argv, stdin=stdin, timeout_s=_DEADLINE_S, env=given, cwd="/")
