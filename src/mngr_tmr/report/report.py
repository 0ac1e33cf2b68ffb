"""Writes everything that a run's folder tells, at any moment: page, summary, JUnit, and lines for the terminal."""

import os
from collections.abc import Mapping

from msgspec import Struct

from mngr_tmr.agent_text import one_line
from mngr_tmr.history.estimates import calibrate, read_past
from mngr_tmr.model.estimate import Calibration
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.out.junit import junit
from mngr_tmr.report.out.markdown import append_step_summary, step_summary
from mngr_tmr.report.out.page.source import TmrSource
from mngr_tmr.report.out.summary import make_summary
from mngr_tmr.report.out.terminal import report_lines
from mngr_tmr.run_folder.folder import RunFolder
from mngr_view.errors import ViewError
from mngr_view.page import page_parts


class WrittenReport(Struct, frozen=True):
    """What to print, how a command should end, and the page, empty when it could not be made."""

    lines: tuple[str, ...]
    exit_code: int
    page: str
    model: ReportModel


def write_report(folder: RunFolder, *, env: Mapping[str, str] | None = None) -> WrittenReport:
    """Writes all files anew; also GITHUB_STEP_SUMMARY if set. Damage is reported; only `run.json` must be intact."""
    source = TmrSource(folder)
    model = source.model()
    write_summary(folder, model)
    calibration = calibrate(read_past(os.path.dirname(folder.path))) if model.is_over else None
    if calibration:
        write_summary(folder, model, calibration)
    page, problem = try_page(folder, source, model)
    clean = folder.redactor.text
    append_step_summary(clean(step_summary(model)), os.environ if env is None else env)
    problems = (f"no page: {one_line(problem)}",) if problem else ()
    lines = tuple(map(clean, (*report_lines(model, folder, page, calibration), *problems)))
    return WrittenReport(lines, model.exit_code, page, model)


def write_summary(folder: RunFolder, model: ReportModel, calibration: Calibration | None = None) -> None:
    """`summary.json` and `junit.xml`, each in one step."""
    folder.writer.write_json(folder.summary, make_summary(model, folder, calibration))
    folder.writer.write(folder.junit, junit(model))


def try_page(folder: RunFolder, source: TmrSource, model: ReportModel) -> tuple[str, str]:
    """Writes the page; its path, or else what was in the way."""
    try:
        folder.writer.write_clean(folder.report, page_parts(source.index_of(model), source.chunks()))
    except ViewError as error:
        return "", f"{error.message} ({error.hint})" if error.hint else error.message
    except OSError as error:
        return "", f"cannot write {folder.report}: {error.strerror or error}"
    return folder.report, ""
