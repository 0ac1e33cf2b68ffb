"""The end of a run on a terminal: causes, counts, the branch, the page, what to do next; safe to print."""

import os
import shlex
from collections.abc import Iterable, Sequence

import mngr
from mngr_tmr.agent_text import one_line, plain
from mngr_tmr.git import Repository
from mngr_tmr.report.data.causes import FailureCause
from mngr_tmr.report.data.counts import cost_of, count_line, failures_and_causes, plural, tokens_of
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.data.sections import NAMES, SECTIONS, SectionName
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


def report_lines(model: ReportModel, folder: RunFolder, page: str) -> tuple[str, ...]:
    """Every line is safe to print."""
    log = branch_log(model)
    parts = (
        (model.headline,) if model.headline else (),
        _stage(model),
        _causes(model),
        _counts(model),
        _raised(model),
        _branch(model, log),
        _used(model),
        (f"  problem: {problem}" for problem in model.now.problems),
        (f"page: {page}",) if page else (),
        _next(model, folder),
    )
    return tuple(printable(line) for part in parts for line in part)


def printable(line: str) -> str:
    """A line without anything that a terminal would obey."""
    return " ".join(plain(line).splitlines())[:_LONGEST]


def cause_line(cause: FailureCause) -> str:
    where = f" ({cause.frame})" if cause.frame else ""
    mark = "" if cause.is_open else " [fixed]"
    return f"  {len(cause.tests):>3} x {cause.stage}: {one_line(cause.title, _WIDE)}{where}{mark}"


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
        said = Repository(model.spec.repo, 0).ask(
            "log", "--oneline", "--no-decorate", f"{one.base}..{one.tip}", "--"
        )
    except mngr.MngrError as error:
        return (f"(cannot be read: {error})",)
    return tuple(said.decode(errors="replace").splitlines())


def _stage(model: ReportModel) -> Iterable[str]:
    stage = model.now.stage
    if model.state == "integrating":
        yield f"integrating: {stage.step}; what follows is not the end of the run"
    elif model.state == "failed":
        yield f"integration failed: {one_line(stage.message, _LONGEST)}"


def _causes(model: ReportModel) -> Iterable[str]:
    if not model.causes:
        return
    yield f"{failures_and_causes(model.causes)}:"
    yield from map(cause_line, model.causes[:_MOST])
    yield from _more(len(model.causes) - _MOST)


def _counts(model: ReportModel) -> Iterable[str]:
    yield count_line(model)
    for name in NAMES:
        rows = model.section(name)
        if rows and name not in _QUIET:
            yield f"  {SECTIONS[name].title.lower()}:"
            yield from (f"    {row.task.node_id}: {one_line(row.why, _WIDE)}" for row in rows[:_MOST])
            yield from _more(len(rows) - _MOST, "    ")


def _used(model: ReportModel) -> Iterable[str]:
    cost, tokens = cost_of(model.usage), tokens_of(model.usage)
    if not cost and not tokens:
        return
    parts = ([f"${cost:.2f}"] if cost is not None else []) + ([f"{tokens:,} tokens"] if tokens else [])
    yield f"agents used {', '.join(parts)}, all attempts together"


def _raised(model: ReportModel) -> Iterable[str]:
    if not model.raised:
        return
    yield f"raised by agents: {plural(len(model.raised), 'matter')}"
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
    if (more := _resume(model)) is not None:
        rows.append(("resume", f"mngr tmr resume {run}{more}"))
    yield "next:"
    yield from (f"  {word:<14}{command}" for word, command in rows)


def _resume(model: ReportModel) -> str | None:
    """What to say to `resume` to take up what is not done; None when all is."""
    counts = model.counts()
    if model.state == "interrupted":
        return ""
    return " --retry" if "infrastructure" in counts and model.state == "finished" else None


def _more(count: int, indent: str = "  ") -> Iterable[str]:
    if count > 0:
        yield f"{indent}  … and {count} more"
