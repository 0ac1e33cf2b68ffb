"""Cherry-picks and reverts without a checkout."""

from msgspec import Struct

from mngr_tmr.git import Merge, Repository


class CommitDiff(Struct, frozen=True):
    """From a commit to its child."""

    before: str
    after: str


def cherry_pick(repo: Repository, tip: str, diff: CommitDiff, root: str) -> Merge:
    """Merges a difference into `tip`, which descends from `root`.

    git 2.39 merges over the common ancestor only. Where that is not `before`, the tip's tree gets a commit whose
    parent is.
    """
    ours = tip
    if diff.before != root:
        ours = repo.commit(f"{tip}^{{tree}}", [diff.before], "a tip to merge into")
    return repo.merge(ours, diff.after)


def revert(repo: Repository, tip: str, commit: str, parent: str) -> Merge:
    """Merges the inverse of an ancestor of `tip` into it, as `git revert` would."""
    inverse = repo.commit(f"{parent}^{{tree}}", [commit], "an inverse to merge in")
    return repo.merge(tip, inverse)
