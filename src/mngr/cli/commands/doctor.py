"""`mngr doctor`."""

from mngr.actions.doctor import examine
from mngr.cli.call import Call
from mngr.cli.verb import check_defaults, verb
from mngr.errors import ExitCode, MngrError
from mngr.model.finding import Finding
from mngr_lib.safe_text import one_line

_MARKS = {"error": "missing", "warning": "warning"}


@verb(
    "doctor",
    uses_config=False,
    examples="""
        mngr doctor
        mngr doctor --json
    """,
)
def command(call: Call) -> int:
    """Find what is missing on this machine, offline, and say the command that fixes it."""
    call.output.check(Finding)
    findings = [_with_defaults(call, finding) for finding in examine(manager=call.manager)]
    call.output.many(findings, lambda: "\n".join(finding_text(finding) for finding in findings))
    return (
        ExitCode.FAILED if any(not one.ok and one.severity == "error" for one in findings) else ExitCode.DONE
    )


def _with_defaults(call: Call, finding: Finding) -> Finding:
    """What of the config only the commands themselves can judge: the options that it sets defaults for."""
    if finding.name != "config" or not finding.ok:
        return finding
    try:
        check_defaults(call.manager.config)
    except MngrError as error:
        return Finding("config", False, finding.severity, error.message, error.hint or "mngr config edit")
    return finding


def finding_text(finding: Finding) -> str:
    mark = "ok" if finding.ok else _MARKS.get(finding.severity, "note")
    line = f"{mark:<9}{one_line(finding.name)}: {one_line(finding.found)}"
    return line if finding.ok or not finding.fix else f"{line}\n         fix: {one_line(finding.fix)}"
