"""What a run's folder holds besides its reports, how large it is, and taking it away while the reports stay."""

import os
import shutil

from msgspec import Struct

from mngr_tmr.run_folder.folder import RunFolder

REPORTS = ("run.json", "summary.json", "report.html", "junit.xml", "pr.md", "reviewed.json", "deleted.json")
"""What stays: it tells of the run by itself. `deleted.json` says that and when the rest was deleted."""


class EvidenceDeleted(Struct, frozen=True):
    """What was deleted with the evidence of a run."""

    at: float
    bytes: int
    agents: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    snapshot: str = ""


class FolderSize(Struct, frozen=True):
    """Bytes on the disk."""

    evidence: int
    reports: int


def folder_size(folder: RunFolder) -> FolderSize:
    """Links are not followed; what cannot be read or is gone counts as nothing."""
    sizes = {True: 0, False: 0}
    for place, _, names in os.walk(folder.path):
        for name in names:
            try:
                about = os.lstat(os.path.join(place, name))
            except OSError:
                continue
            sizes[place == folder.path and name in REPORTS] += about.st_blocks * 512
    return FolderSize(sizes[False], sizes[True])


def has_evidence(folder: RunFolder) -> bool:
    """Whether the folder has all that a run leaves, and not its reports alone."""
    return not os.path.lexists(os.path.join(folder.path, "deleted.json"))


def remove_evidence(folder: RunFolder, deleted: EvidenceDeleted) -> None:
    """Says first what goes, so that half a deletion is no run that could be resumed."""
    folder.writer.write_json(os.path.join(folder.path, "deleted.json"), deleted)
    remove_files(folder, REPORTS)


def remove_files(folder: RunFolder, keep: tuple[str, ...] = ()) -> None:
    """Every file and folder but these; links are not followed. `run.json` goes last: what breaks off is still a run."""
    for entry in sorted(os.scandir(folder.path), key=lambda entry: entry.name == "run.json"):
        if entry.name in keep:
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
