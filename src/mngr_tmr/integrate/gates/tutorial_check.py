"""The tutorial check on any commit, read from its objects: what became uncovered or stale since the base."""

from mngr_e2e.tutorial.blocks import read_blocks
from mngr_e2e.tutorial.check import Report, compare
from mngr_e2e.tutorial.citations import TestSources, read_tests
from mngr_tmr.git import Repository
from mngr_tmr.integrate.gates.checks import BranchCheck
from mngr_tmr.model.run import RunSpec
from mngr_tmr.verify.added import is_test_file

_MOST = 10


def tutorial_check(repo: Repository, run: RunSpec) -> BranchCheck:
    """A check that reports only problems that the base does not have."""
    known = set(findings(repo, run, run.base))

    def problem(commit: str) -> str:
        new = [finding for finding in findings(repo, run, commit) if finding not in known]
        return "; ".join(new[:_MOST])

    return BranchCheck("tutorial check", problem)


def findings(repo: Repository, run: RunSpec, commit: str) -> list[str]:
    report = report_at(repo, run, commit)
    if report is None:
        return [f"{run.tutorial} is gone"]
    return [
        *(f"no test cites the block: {block.title}" for block in report.uncovered),
        *(f"{stale.node_id} cites no block of the tutorial" for stale in report.stale),
        *(f"{one.path}: {one.problem}" for one in report.unreadable),
        *report.problems,
    ]


def report_at(repo: Repository, run: RunSpec, commit: str) -> Report | None:
    """The check's own report; None without a tutorial."""
    entries = repo.entries(commit)
    files = {path: entry.id for path, entry in entries.items() if path == run.tutorial or is_test_file(path)}
    if run.tutorial not in files:
        return None
    blobs = repo.blobs(files.values())
    read = [read_tests(blobs.get(oid, b""), path) for path, oid in files.items() if path != run.tutorial]
    tests = TestSources(
        tuple(case for one in read for case in one.cases),
        tuple(problem for one in read for problem in one.unreadable),
    )
    text = blobs.get(files[run.tutorial], b"").decode(errors="replace")
    return compare(run.tutorial, read_blocks(text), tests)
