"""Where the work comes from: a folder of this machine, and what git says about it."""

import os
from itertools import chain, count

import msgspec
from msgspec import Struct

from mngr.errors import RefusedError, UsageError, did_you_mean
from mngr.model.ids import is_valid_branch
from mngr.process import Completed
from mngr.transfer.git import git
from mngr.transfer.protocol import WorkSource

DEFAULT_BRANCH = ":mngr/*"

# rev-parse repeats a flag it does not know: a separator that no path can fake, newlines included.
_MARK = "--mngr-mark"
_HEX = frozenset("0123456789abcdef")


class BranchChoice(Struct, frozen=True):
    """What `--branch [BASE][:NEW]` asks for; `base` is empty for the commit that is checked out."""

    base: str
    new: str


def parse_branch_option(text: str, name: str) -> BranchChoice:
    """Reads `[BASE][:NEW]`; `*` in NEW stands for the agent's name, and NEW is `mngr/*` when left out."""
    base, colon, new = text.partition(":")
    if colon and not new:
        raise UsageError(
            f'--branch "{text}" names no new branch after ":"', hint=f'write "{text}NAME" or "{base}"'
        )
    if base.startswith("-"):
        raise UsageError(
            f'--branch "{text}": a base cannot start with "-"', hint='write it as "[BASE][:NEW]"'
        )
    return BranchChoice(base, check_branch((new or DEFAULT_BRANCH[1:]).replace("*", name)))


def check_branch(name: str) -> str:
    """The name itself, or an error when git would not take it for a branch."""
    if not is_valid_branch(name):
        raise UsageError(
            f"branch name {name!r} cannot be used",
            hint="git wants letters, digits, - _ . and /, no spaces, no ..",
        )
    return name


def is_commit_id(text: str) -> bool:
    """Whether a text is a whole object id, and so means nothing else to git."""
    return len(text) in (40, 64) and _HEX.issuperset(text)


def find_source(
    path: str, *, base: str = "", include_dirty: bool = False, isolated: bool = False
) -> WorkSource:
    """Asks git once what the folder is; `base` names another commit to start from than HEAD.

    `isolated` is for the work dir of an agent.
    """
    path = os.path.abspath(path)
    if not os.path.isdir(path):
        raise UsageError(f"no folder {path}", hint="name an existing folder as the source")
    if base.startswith("-"):
        raise UsageError(f'"{base}" is no base', hint="name a branch, a tag or a commit")
    asked = [
        "--is-bare-repository",
        "--path-format=absolute",
        "--git-common-dir",
        _MARK,
        "--show-toplevel",
        _MARK,
    ]
    commits = ["HEAD", f"{base}^{{commit}}"] if base else ["HEAD"]
    done = git(path, "rev-parse", *asked, *commits, "--symbolic-full-name", "HEAD", isolated=isolated)
    if done.code and b"not a git repository" in done.stderr:
        if base:
            raise UsageError(
                f'{path} is not a git repository and has no "{base}"', hint="leave the base out, or: git init"
            )
        return WorkSource(path=path, include_dirty=include_dirty)
    parts = os.fsdecode(done.stdout).split(f"\n{_MARK}\n")
    if done.stdout.startswith(b"true") or b"must be run in a work tree" in done.stderr:
        raise UsageError(
            f"{path} is a bare repository or lies inside a .git directory: it has no files to work on",
            hint="name a checkout of it, for example: git worktree add ../checkout",
        )
    if len(parts) < 3:
        raise UsageError(f"git cannot read {path}: {done.complaint}", hint="run git status there")
    bare_and_common, top, rest = parts
    source = WorkSource(
        path=path, common_dir=bare_and_common.partition("\n")[2], include_dirty=include_dirty, top=top
    )
    lines = rest.rstrip("\n").split("\n")
    if not is_commit_id(lines[0]):
        return _without_commits(source, base)
    source = msgspec.structs.replace(source, head=lines[0], head_branch=_short(lines[-1]))
    return _from_base(source, base, done, lines[1] if len(lines) == 3 else "") if base else source


def _without_commits(source: WorkSource, base: str) -> WorkSource:
    ref = git(source.path, "symbolic-ref", "-q", "HEAD").text.strip()
    source = msgspec.structs.replace(source, head_branch=_short(ref))
    if not base:
        return source
    done = git(source.path, "rev-parse", "-q", "--verify", f"{base}^{{commit}}")
    return _from_base(source, base, done, done.text.strip())


def _from_base(source: WorkSource, base: str, done: Completed, commit: str) -> WorkSource:
    if done.code or not is_commit_id(commit):
        names = git(source.path, "for-each-ref", "--format=%(refname:short)").text.splitlines()
        hint = did_you_mean(base, names, else_hint="it must be a branch, a tag or a commit: git branch -a")
        raise UsageError(f'no commit "{base}" in {source.top}', hint=hint)
    if source.include_dirty and commit != source.head:
        raise UsageError(
            f'uncommitted work belongs to the checked-out commit, not to "{base}"',
            hint="leave out the base, or --include-dirty",
        )
    return msgspec.structs.replace(source, head=commit)


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""


def dirty_summary(source: WorkSource) -> str:
    """What uncommitted things would stay behind, in one line; empty when there are none."""
    if not source.common_dir:
        return ""
    done = git(source.top, "status", "--porcelain", "-z", timeout_s=120).check(
        "cannot read the work tree's status"
    )
    return summarise_status(done.stdout)


def summarise_status(status: bytes) -> str:
    """Counts the records of `git status --porcelain -z`."""
    counts = {"changed": 0, "deleted": 0, "renamed": 0, "untracked": 0}
    records = iter(status.split(b"\0"))
    for record in records:
        if not record:
            continue
        code = record[:2]
        if b"R" in code or b"C" in code:
            next(records, None)
        is_renamed, is_deleted = b"R" in code, b"D" in code
        kind = "renamed" if is_renamed else "deleted" if is_deleted else "changed"
        counts["untracked" if code == b"??" else kind] += 1
    return ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)


def free_branch(source: WorkSource, requested: str) -> tuple[str, tuple[str, ...]]:
    """The requested name, or the next free one with a note about it."""
    check_branch(requested)
    parts = requested.split("/")
    above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    # A pattern with a glob matches that ref alone; without one it also lists everything below.
    alone = [f"refs/heads/{name[:-1]}[{name[-1]}]" for name in above]
    listed = git(
        source.common_dir,
        *(
            "for-each-ref",
            "--format=%(refname)",
            f"refs/heads/{requested}",
            f"refs/heads/{requested}-*",
            *alone,
        ),
    ).check("cannot list branches")
    taken = [ref.removeprefix("refs/heads/") for ref in os.fsdecode(listed.stdout).split("\n") if ref]
    blocking = next((name for name in above if name in taken), None)
    if blocking:
        raise RefusedError(
            f'branch "{requested}" cannot be made beside the branch "{blocking}"',
            hint='choose another name, for example: --branch ":agents/*"',
        )
    names = chain([requested], (f"{requested}-{number}" for number in count(2)))
    name = next(
        name for name in names if not any(other == name or other.startswith(f"{name}/") for other in taken)
    )
    return name, () if name == requested else (f'branch "{requested}" is taken, so this one is "{name}"',)


def content_notes(source: WorkSource) -> tuple[str, ...]:
    """What a checkout of this source will not hold: submodules, large files."""
    notes = []
    if os.path.exists(os.path.join(source.top, ".gitmodules")):
        notes.append("submodules are not initialised; in the copy: git submodule update --init")
    try:
        with open(os.path.join(source.top, ".gitattributes"), "rb") as file:
            uses_lfs = b"filter=lfs" in file.read(1 << 20)
    except OSError:
        uses_lfs = False
    if uses_lfs:
        notes.append("large files (LFS) are pointers; in the copy: git lfs pull")
    return tuple(notes)


def need_git(source: WorkSource, transfer: str) -> None:
    """Refuses a folder without git for a transfer that lives on it."""
    if not source.common_dir:
        raise UsageError(
            f"{source.path} is not a git repository, which {transfer} needs",
            hint="use --transfer copy, or --transfer none, or: git init",
        )
