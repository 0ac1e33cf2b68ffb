"""The pytest plugin: fixture `e2e`, its options and its marker.

Loads the session room only when a test asks for the fixture; a suite that never does pays for this file alone.
"""

import os
import shlex
import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import pytest

if TYPE_CHECKING:
    from mngr_e2e.session.artifacts import Status
    from mngr_e2e.session.session import E2eSession

_KEPT = "e2e environment kept"
_RUN = pytest.StashKey[str]()
_FOLDER = pytest.StashKey[str]()
_SESSION = pytest.StashKey["E2eSession"]()
_REASON = pytest.StashKey[str]()
_REPORTS = pytest.StashKey[dict[str, pytest.TestReport]]()
_HOW_TO_LOOK = pytest.StashKey[str]()
_IS_NESTED = pytest.StashKey[bool]()
_ALIVE = pytest.StashKey[BinaryIO]()
_TAIL_LINES = 100
_SETTINGS = frozenset(("shell", "timeout_s", "output_mb", "record"))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("e2e", "end-to-end tests of command-line programs (fixture e2e)")
    group.addoption("--e2e-artifacts", metavar="DIR", help="where runs are kept (default: .mngr/e2e)")
    group.addoption("--e2e-run", metavar="NAME", help="name this run (default: time and process)")
    group.addoption(
        "--e2e-keep",
        choices=("never", "failed", "always"),
        default="never",
        help="leave a test's environment and say how to enter it (default: never)",
    )
    group.addoption(
        "--tutorial", metavar="FILE", help="fail the session unless every block of it is cited by a test"
    )
    group.addoption(
        "--tutorial-tests",
        metavar="PATH",
        action="append",
        help="where the tests of --tutorial are (default: what pytest was given)",
    )
    parser.addini("e2e_shell", "the shell that e2e.run uses", default="sh")
    parser.addini("e2e_record", "record what mngr create would attach to", type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "e2e(shell='bash', timeout_s=60, output_mb=10, record=False): how this test's commands are run and recorded",
    )
    # A worker of xdist gets the name from its controller.
    run = getattr(config, "workerinput", {}).get("mngr_e2e_run") or config.getoption("--e2e-run")
    if run is None:
        run = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}"
    elif not run.isprintable() or "/" in run or run.startswith(".") or not 0 < len(run) <= 100:
        raise pytest.UsageError(
            f"--e2e-run {run!r}: a run's name is a folder's name; leave out / and leading dots"
        )
    config.stash[_RUN] = run
    config.stash[_IS_NESTED] = "PYTEST_CURRENT_TEST" in os.environ
    if config.getoption("--tutorial") and not hasattr(config, "workerinput"):
        from mngr_e2e.tutorial.pytest_check import TutorialCheck

        config.pluginmanager.register(TutorialCheck(config))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells an xdist worker the run's name, so that all write into one run."""
    node.workerinput["mngr_e2e_run"] = node.config.stash[_RUN]


@pytest.fixture
def e2e(request: pytest.FixtureRequest) -> "Iterator[E2eSession]":
    """Runs commands in a world of this test's own: home, git repository, state; everything is written down."""
    from mngr_e2e.session import alive, artifacts, session as sessions  # noqa: I001

    item, config = request.node, request.config
    runs = artifacts.runs_folder(str(config.rootpath), config.getoption("--e2e-artifacts"), os.environ)
    file, line, _ = item.location
    attempt = artifacts.claim_attempt(runs, config.stash[_RUN], item.nodeid, file, (line or 0) + 1)
    item.stash[_FOLDER] = attempt.folder
    item.stash[_REASON] = ""
    if _SESSION in item.stash:
        del item.stash[_SESSION]
    item.stash.setdefault(_REPORTS, {}).clear()
    # How commands run: the suite's shell, unless the test's marker says otherwise.
    ini = item.config.getini
    settings: dict[str, Any] = {"shell": ini("e2e_shell"), "record": ini("e2e_record")}
    for marker in reversed(list(item.iter_markers("e2e"))):
        settings.update(marker.kwargs)
    if unknown := settings.keys() - _SETTINGS:
        known, named = (", ".join(sorted(names)) for names in (_SETTINGS, unknown))
        raise pytest.UsageError(f"mark e2e knows {known}, not {named}")
    session = item.stash[_SESSION] = sessions.E2eSession(attempt, **settings)
    # A test that cites its block in its docstring says so in its artifacts as well.
    session.cite_docstring(getattr(getattr(item, "function", None), "__doc__", None) or "")
    # Shows readers of the run that it goes on, until this process ends.
    if _ALIVE not in config.stash:
        config.stash[_ALIVE] = alive.hold(os.path.join(runs, config.stash[_RUN]))
        config.add_cleanup(config.stash[_ALIVE].close)
    yield session
    status = _status(item.stash[_REPORTS], session)
    keep = config.getoption("--e2e-keep")
    kept = keep == "always" or (keep == "failed" and status not in ("passed", "skipped"))
    item.stash[_HOW_TO_LOOK] = session.finish(status, keep=kept, reason=item.stash[_REASON])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and _FOLDER in item.stash:
        # Writes what pytest says of the failure beside the transcript, and remembers its first reason.
        from mngr_e2e.session.failure import reason_in, write_failure

        sections = [f"{title}:\n{text.rstrip()}" for title, text in report.sections if text.strip()]
        write_failure(
            item.stash[_FOLDER], str(report.when), "\n\n".join([report.longreprtext.rstrip(), *sections])
        )
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = reason_in(str(crash.message if crash else report.longreprtext.strip().rpartition("\n")[2]))
        item.stash[_REASON] = item.stash[_REASON] or reason
    session = item.stash.get(_SESSION, None)
    if session is not None:
        item.stash[_REPORTS][report.when] = report
        vars(report)["e2e_artifacts"] = str(session.artifacts)
        # Puts the transcript's end on a failure, and on the teardown how to enter what was kept.
        if report.failed and report.when == "call":
            lines = (session.artifacts / "transcript.txt").read_text(errors="replace").splitlines()
            report.sections.append(
                ("e2e transcript", "\n".join([*lines[-_TAIL_LINES:], f"({session.artifacts})"]))
            )
        if report.when == "teardown":
            if how := item.stash.get(_HOW_TO_LOOK, ""):
                report.sections.append((_KEPT, how))
            if report.failed:
                session.mark_error(item.stash[_REASON])
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says at the end what was left behind and how to look at it; the reports carry it across xdist's processes."""
    all_reports = [report for reports in list(terminalreporter.stats.values()) for report in reports]
    # One line with the run's folder and the command that shows it.
    folders = [report.e2e_artifacts for report in all_reports if hasattr(report, "e2e_artifacts")]
    has_failed = bool(terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"))
    verbosity = terminalreporter.verbosity
    shows_runs = verbosity > 0 or (verbosity == 0 and not terminalreporter.config.stash[_IS_NESTED])
    if folders and (has_failed or shows_runs):
        run = os.path.dirname(os.path.dirname(folders[0]))
        path = os.path.relpath(run, terminalreporter.config.invocation_params.dir)
        shown = run if path.startswith(os.pardir) else path
        terminalreporter.write_line(f"what the tests did: mngr e2e view {shlex.quote(shown)}")
    kept = [
        (report.nodeid, text)
        for report in all_reports
        for title, text in getattr(report, "sections", ())
        if title == _KEPT
    ]
    if kept:
        terminalreporter.section("e2e environments kept")
        for node_id, text in kept:
            terminalreporter.write_line(f"{node_id}\n{text}")


def _status(reports: dict[str, pytest.TestReport], session: "E2eSession") -> "Status":
    """How the test went, as far as it is known when its world ends."""
    setup, call = reports.get("setup"), reports.get("call")
    if (setup is not None and setup.skipped) or (call is not None and call.skipped):
        return "skipped"
    if call is None:
        return "error"
    if call.passed:
        return "passed"
    text = str(getattr(getattr(call.longrepr, "reprcrash", None), "message", ""))
    return "timeout" if session.timed_out or text.startswith("Failed: Timeout") else "failed"
