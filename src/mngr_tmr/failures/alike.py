"""Which of a run's tests fail alike at the base commit, and which of them is to get an agent first."""

from collections.abc import Mapping

from mngr_tmr.failures.fingerprint import Fingerprint, depth, fingerprint, telling_line, without_escapes
from mngr_tmr.model.facts import FailureGroup
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task
from mngr_tmr.model.verdict import Verified


def failure_text(verified: Verified | None) -> str:
    """What pytest said, or the reason when that is all there is; empty where nothing failed."""
    if verified is None or verified.verdict in ("passed", "skipped"):
        return ""
    messages = [run.message for run in verified.runs if run.outcome != "passed" and run.message]
    return (messages or [verified.reason or verified.verdict])[0]


def alike_failures(spec: RunSpec, base: Mapping[str, Verified]) -> tuple[FailureGroup, ...]:
    """Groups of two or more tests whose failures have one fingerprint. A flaky test is in none.

    First comes the test whose agent is expected to use the least, then the one that is nearest to the failure and the
    shortest.
    """
    estimates = spec.estimate.tasks if spec.estimate else {}
    found: dict[Fingerprint, list[tuple[float, int, float, Task]]] = {}
    for task in spec.tasks:
        verified = base.get(task.node_id)
        if verified is None or verified.verdict not in ("failed", "error"):
            continue
        text = failure_text(verified)
        mark = fingerprint("test", text, task.node_id)
        tokens = estimates[task.slug].tokens.high if task.slug in estimates else 0.0
        duration_s = sum(run.duration_s for run in verified.runs)
        if mark.message:
            found.setdefault(mark, []).append((tokens, depth(text), duration_s, task))
    groups = []
    for members in found.values():
        if len(members) > 1:
            ordered = [task for *_, task in sorted(members, key=lambda member: member[:3])]
            title = telling_line(without_escapes(failure_text(base[ordered[0].node_id])))
            groups.append(FailureGroup(title, tuple(task.slug for task in ordered)))
    return tuple(groups)
