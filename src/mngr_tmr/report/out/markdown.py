"""The report as GitHub shows it under a step of a workflow; what agents wrote is in code spans, which do nothing."""

import os
from collections.abc import Iterable, Mapping

from mngr_tmr.agent_text import code
from mngr_tmr.report.data.counts import count_line, failures_and_causes, plural
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.data.sections import SECTIONS, SectionName

VARIABLE = "GITHUB_STEP_SUMMARY"
_LIMIT = 900_000
_ROWS = 50
_QUIET: tuple[SectionName, ...] = ("clean", "skipped", "queued", "running")


def step_summary(model: ReportModel) -> str:
    """Causes, counts, the branch, then the rows with findings."""
    spec = model.spec
    parts = [f"## mngr tmr {code(spec.id)}", f"{count_line(model)}."]
    parts += [f"**{model.headline}**"] if model.headline else []
    parts += _causes(model)
    parts += _branch(model)
    if model.raised:
        lines = [f"- {len(one.tests)} x {code(one.kind)} {code(one.title)}" for one in model.raised[:_ROWS]]
        parts += ["### Raised by agents", "\n".join(lines)]
    for name in model.counts():
        if name in _QUIET:
            continue
        rows = model.section(name)
        lines = [
            f"| {code(row.task.node_id)} | {row.claimed or ' '} | {row.verdict or ' '} | {code(row.why)} |"
            for row in rows[:_ROWS]
        ]
        lines += [f"| and {len(rows) - _ROWS} more | | | |"] if len(rows) > _ROWS else []
        head = ["| test | claim | check | why |", "| --- | --- | --- | --- |"]
        parts += [f"### {SECTIONS[name].title} ({len(rows)})", "\n".join([*head, *lines])]
    parts += [f"> {code(problem)}" for problem in model.now.problems]
    text = "\n\n".join(parts) + "\n"
    return text if len(text.encode()) <= _LIMIT else text.encode()[:_LIMIT].decode(errors="ignore") + "\n…\n"


def append_step_summary(text: str, env: Mapping[str, str]) -> None:
    """Adds it to the file that GitHub named, if it named one."""
    path = env.get(VARIABLE)
    if path and os.path.isdir(os.path.dirname(path) or "."):
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(text)


def _causes(model: ReportModel) -> Iterable[str]:
    if not model.causes:
        return
    yield f"### {failures_and_causes(model.causes)}"
    lines = []
    for cause in model.causes[:_ROWS]:
        state = f"{len(cause.fixed)} of {len(cause.tests)} fixed" if cause.fixed else "open"
        state = state if cause.is_open else "fixed"
        lines.append(f"| {len(cause.tests)} | {code(cause.stage)} | {code(cause.title)} | {state} |")
    yield "\n".join(["| tests | stage | cause | |", "| ---: | --- | --- | --- |", *lines])


def _branch(model: ReportModel) -> Iterable[str]:
    one = model.integration
    if one is None or one.tip == one.base:
        return
    yield f"### Branch {code(one.branch)}"
    lines = [
        f"{fix.rank}. {code(fix.commit[:12])} {code(fix.title)}: {code(fix.reason)}" for fix in one.fixes
    ]
    if one.squashed:
        lines.append(
            f"- {code(one.squashed[:12])} tests and docs of {plural(len(one.squashed_tasks), 'task')}"
        )
    lines += [
        f"- gate {code(gate.name)} failed: {code(gate.detail)}" for gate in one.gates if not gate.passed
    ]
    lines += [f"- {one_.kind}: {code(one_.file)} {code(one_.test)}" for one_ in one.weakenings]
    yield "\n".join(lines)
