"""From runs of pytest to what a test depends on. Pure; what a host says is bounded here."""

from collections.abc import Sequence

from mngr_tmr.copies.copy import PytestResult
from mngr_tmr.copies.facts import Reads
from mngr_tmr.model.dependencies import Dependencies

MOST_PATHS = 20_000
LONGEST_PATH = 4096


def dependencies_of(
    rans: Sequence[PytestResult], node_id: str, file: str, *, setup: str = ""
) -> Dependencies | None:
    """What the test in this file depends on after these runs in one copy; None where a run did not tell.

    Files that tests leave in the copy may carry what they read into later tests: then the reads of all count.
    """
    facts = [ran.facts for ran in rans]
    observed = [one.observed for one in facts]
    environments = {one.environment for one in facts}
    if not facts or not all(observed) or len(environments) > 1 or "" in environments:
        return None
    is_mixed = any(one.mixed for one in observed if one)
    why = next((one.unknown for one in observed if one and one.unknown), "")
    why = "a setup made files" if setup else why
    found = [one for ran in facts for one in ran.reads if is_mixed or one.node_id in ("", node_id)]
    if not why and not all(any(not one.node_id for one in ran.reads) for ran in facts):
        return None
    if sum(map(_size, found)) > MOST_PATHS * len(rans) or any(map(_is_too_long, found)):
        found, why = [], "it reads too many files to list"
    return Dependencies(
        tuple(sorted({file, *(path for one in found for path in one.files)})),
        tuple(sorted({path for one in found for path in one.folders})),
        tuple(sorted({path for one in found for path in one.searched})),
        why[:200],
        environments.pop()[:100],
    )


def _size(one: Reads) -> int:
    return len(one.files) + len(one.folders) + len(one.searched)


def _is_too_long(one: Reads) -> bool:
    return any(len(path) > LONGEST_PATH for path in (*one.files, *one.folders, *one.searched))
