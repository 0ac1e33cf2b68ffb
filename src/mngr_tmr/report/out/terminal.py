"""The end of a run on a terminal: causes, counts, the branch, the page, what to do next; safe to print."""

import os
import shlex
from collections.abc import Iterable, Sequence

import mngr
from mngr_lib.safe_text import plain
from mngr_tmr.agent_text import one_line
from mngr_tmr.git import Repository
from mngr_tmr.model.estimate import Calibration
from mngr_tmr.report.data.causes import FailureCause
from mngr_tmr.report.data.counts import count_line, failures_and_causes, plural
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.data.saved import saved_agents
from mngr_tmr.report.data.sections import NAMES, SECTIONS, SectionName
from mngr_tmr.report.out.budget_lines import budget_end
from mngr_tmr.report.out.estimate_lines import calibration_line, used_line
from mngr_tmr.run_folder.folder import RunFolder, runs_folder

_MOST = 10
_WIDE = 150
_LONGEST = 1000
_QUIET: tuple[SectionName, ...] = (
    "implementation",
    "other",
    "clean",
    "skipped",
    "queued",
    "running",
    "added",
)


def report_lines(
    model: ReportModel, folder: RunFolder, page: str, calibration: Calibration | None = None
) -> tuple[str, ...]:
    """Every line is safe to print."""
    lines = [model.headline] if model.headline else []
    if model.state == "integrating":
        lines.append(f"integrating: {model.now.stage.step}; the lines below are not final")
    elif model.state == "failed":
        lines.append(f"integration failed: {one_line(model.now.stage.message, _LONGEST)}")
    lines += _findings(model)
    lines += _branch(model, branch_log(model))
    if saved := saved_agents(model.spec, model.now.records):
        lines.append(saved.text)
    cost, tokens = model.usage.cost_usd, model.usage.tokens
    if cost or tokens:
        used = ([f"${cost:.2f}"] if cost is not None else []) + ([f"{tokens:,} tokens"] if tokens else [])
        lines.append(f"agents used {', '.join(used)}, all attempts together")
    if model.spec.estimate and model.is_over:
        lines.append(used_line(model.spec.estimate.total, model.usage, model.now.took_s))
    if end := budget_end(model.spec, model.now.spent):
        lines.append(end)
    lines += [calibration_line(calibration)] if calibration else []
    lines += [f"  problem: {problem}" for problem in model.now.problems]
    lines += [f"page: {page}"] if page else []
    lines += _next(model, folder)
    return tuple(map(printable, lines))


def printable(line: str) -> str:
    """A line without control characters, of limited length."""
    return " ".join(plain(line).splitlines())[:_LONGEST]


def cause_line(cause: FailureCause) -> str:
    where = f" ({cause.frame})" if cause.frame else ""
    mark = "" if cause.is_open else " [fixed]"
    likely = f", likely {cause.likely.kind}" if cause.likely else ""
    return f"  {len(cause.tests):>3} x {cause.stage}: {one_line(cause.title, _WIDE)}{where}{likely}{mark}"


def run_argument(model: ReportModel, folder: RunFolder) -> str:
    """How commands name the run: by its name, or by its folder where that is not the usual one."""
    usual = os.path.join(runs_folder(model.spec.repo), model.spec.id)
    return (
        model.spec.id
        if os.path.realpath(usual) == os.path.realpath(folder.path)
        else shlex.quote(folder.path)
    )


def branch_log(model: ReportModel) -> tuple[str, ...]:
    """`git log --oneline` of the integrated branch; empty when there is none, or no repository any more."""
    one = model.integration
    if one is None or one.tip == one.base:
        return ()
    try:
        log = Repository(model.spec.repo, 0).ask(
            "log", "--oneline", "--no-decorate", f"{one.base}..{one.tip}", "--"
        )
    except mngr.MngrError as error:
        return (f"(cannot be read: {error})",)
    return tuple(log.decode(errors="replace").splitlines())


def _findings(model: ReportModel) -> Iterable[str]:
    """Causes, counts, the rows of sections with findings, and what agents raised."""
    if model.causes:
        yield f"{failures_and_causes(model.causes)}:"
        yield from map(cause_line, model.causes[:_MOST])
        yield from _more(len(model.causes) - _MOST)
    yield count_line(model)
    for name in NAMES:
        rows = model.section(name)
        if rows and name not in _QUIET:
            yield f"  {SECTIONS[name].title.lower()}:"
            yield from (f"    {row.task.node_id}: {one_line(row.why, _WIDE)}" for row in rows[:_MOST])
            yield from _more(len(rows) - _MOST, "    ")
    if model.raised:
        yield f"raised by agents: {plural(len(model.raised), 'escalation')}"
        for one in model.raised[:_MOST]:
            yield f"  {len(one.tests):>3} x {one_line(f'{one.kind}: {one.title}', _WIDE)}"
        yield from _more(len(model.raised) - _MOST)


def _branch(model: ReportModel, log: Sequence[str]) -> Iterable[str]:
    one = model.integration
    if one is None:
        return
    if not log:
        yield "nothing was integrated"
    else:
        yield f"branch {one.branch}, {plural(len(log), 'commit')}:"
        yield from (f"  {line}" for line in log[: 3 * _MOST])
        yield from _more(len(log) - 3 * _MOST)
    for gate in one.gates:
        if not gate.passed:
            yield f"  gate {gate.name} failed: {one_line(gate.detail, _WIDE)}"
    for weakening in one.weakenings[:_MOST]:
        yield f"  weaker test: {weakening.kind.replace('_', ' ')} in {weakening.file} ({weakening.test})"


def _next(model: ReportModel, folder: RunFolder) -> Iterable[str]:
    one, run = model.integration, run_argument(model, folder)
    rows: list[tuple[str, str]] = [("view", f"mngr tmr report {run} --serve")]
    if one is not None and one.tip != one.base:
        rows.append(("review", f"git log --reverse -p {one.base[:12]}..{one.branch}"))
        rows.append(("merge", f"git merge {one.branch}"))
    if one is not None and one.fixes:
        rows.append(("revert one", f"git switch {one.branch} && git revert {one.fixes[0].commit[:12]}"))
    if model.state == "failed":
        rows.append(("integrate", f"mngr tmr integrate {run}"))
    if model.state == "interrupted":
        rows.append(("resume", f"mngr tmr resume {run}"))
    elif model.state == "finished" and "infrastructure" in model.counts():
        rows.append(("resume", f"mngr tmr resume {run} --retry"))
    yield "next:"
    yield from (f"  {word:<14}{command}" for word, command in rows)


def _more(count: int, indent: str = "  ") -> Iterable[str]:
    if count > 0:
        yield f"{indent}  … and {count} more"
