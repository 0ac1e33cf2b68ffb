"""`junit.xml`: every row as a test case, in the form that CI services read."""

import re
from typing import Literal
from xml.etree import ElementTree as xml

from mngr_tmr.failures.fingerprint import without_escapes
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.data.rows import ReportRow
from mngr_tmr.report.data.sections import SECTIONS, SectionName

Mark = Literal["", "failure", "error", "skipped"]

MARKS: dict[SectionName, Mark] = {
    "implementation": "",
    "other": "",
    "set_aside": "",
    "clean": "",
    "added": "",
    "regressed": "failure",
    "disputed": "failure",
    "flaky": "failure",
    "failing": "failure",
    "fixed_by_others": "",
    "blocked": "error",
    "infrastructure": "error",
    "malformed": "error",
    "unverified": "error",
    "needs_you": "skipped",
    "running": "skipped",
    "queued": "skipped",
    "not_run": "skipped",
    "skipped": "skipped",
}
_COUNTED: dict[Mark, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT = 20_000


def junit(model: ReportModel) -> bytes:
    """The document; what agents wrote is text in it and nothing more."""
    spec = model.spec
    marks = [mark_of(row) for row in model.rows]
    totals = {"tests": str(len(marks))}
    totals |= {name: str(marks.count(mark)) for mark, name in _COUNTED.items()}
    seconds = {"time": _seconds(sum(_duration_s(row) for row in model.rows))}
    root = xml.Element("testsuites", {"name": f"mngr tmr {spec.id}", **totals, **seconds})
    suite = xml.SubElement(root, "testsuite", {"name": _clean(spec.id), **totals, **seconds})
    for row in model.rows:
        _case(suite, row)
    xml.indent(root)
    data: bytes = xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def mark_of(row: ReportRow) -> Mark:
    """How the test does on the branch, where that was measured; an agent without a usable answer is an error too."""
    mark = MARKS[row.section]
    seen = row.measured.tip if row.measured else None
    if seen is None or not seen.outcome or mark == "error" or row.section in ("running", "queued"):
        return "failure" if row.section == "added" and row.outcome not in ("", "passed") else mark
    if seen.is_failure:
        return "failure"
    return "skipped" if seen.outcome == "skipped" else ""


def _case(suite: xml.Element, row: ReportRow) -> None:
    file, classname, name = names_of(row.task.node_id)
    words = {"classname": _clean(classname), "name": _clean(name), "file": _clean(row.task.file or file)}
    if row.task.line:
        words["line"] = str(row.task.line)
    case = xml.SubElement(suite, "testcase", {**words, "time": _seconds(_duration_s(row))})
    title, mark = SECTIONS[row.section].title, mark_of(row)
    if mark:
        about = _clean(
            "; ".join(filter(None, (f"{title}: {row.why}" if row.why else title, _on_branch(row))))
        )
        found = xml.SubElement(case, mark, {"message": about[:1000]})
        if mark != "skipped":
            found.set("type", row.section)
            found.text = _clean(_evidence(row))
    parts = [f"section: {SECTIONS[row.section].title}", f"test: {row.task.node_id}"]
    if row.outcome:
        parts.append(f"the agent says: {row.outcome}, {row.claimed or 'nothing of the test'}")
    if row.verdict:
        parts.append(f"the check says: {row.verdict}")
    parts += filter(None, [_on_branch(row)])
    parts += [f"merged as: {one.commit}" for one in row.merged]
    parts += row.notes
    if row.result:
        parts += ["", row.result.summary]
    if summary := "\n".join(parts):
        xml.SubElement(case, "system-out").text = _clean(summary)


def names_of(node_id: str) -> tuple[str, str, str]:
    """File, class name and name of a test, as pytest's own JUnit file has them."""
    path, _, rest = node_id.partition("::")
    head, bracket, params = rest.partition("[")
    *classes, name = head.split("::")
    dotted = path.removesuffix(".py").replace("/", ".")
    return path, ".".join([dotted, *classes]), (name + bracket + params) or node_id


def _evidence(row: ReportRow) -> str:
    """What pytest said at the agent's commit, or the result that could not be read."""
    record = row.record
    if record is None:
        return row.why
    if record.claim and record.claim.problem:
        return record.claim.raw
    runs = record.after.runs if record.after else ()
    texts = [run.message for run in runs if run.outcome != "passed" and run.message]
    return texts[0] if texts else row.why


def _on_branch(row: ReportRow) -> str:
    tip = row.measured.tip if row.measured else None
    if tip is None or not tip.outcome:
        return ""
    return f"on the branch: {tip.outcome}" + (f": {tip.reason}" if tip.reason else "")


def _duration_s(row: ReportRow) -> float:
    """The longest that the test itself took in our checks."""
    record = row.record
    runs = [run for seen in (record.before, record.after) if seen for run in seen.runs] if record else []
    return max((run.duration_s for run in runs), default=0.0)


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _clean(text: str) -> str:
    """Only what XML can hold."""
    return _FORBIDDEN.sub("", without_escapes(text[:_TEXT]))
