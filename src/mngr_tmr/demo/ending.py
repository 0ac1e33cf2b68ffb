"""The last words of a demo: what became of every test, the branch, the page, and what to try next."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable

from mngr_tmr.demo.setup import DemoSetup
from mngr_tmr.report.data.counts import count_line, plural
from mngr_tmr.report.data.sections import NAMES, SECTIONS
from mngr_tmr.report.out.budget_lines import budget_end
from mngr_tmr.report.out.terminal import branch_log, printable
from mngr_tmr.report.report import WrittenReport


def ending(stage: DemoSetup, reported: WrittenReport, *, is_kept: bool) -> Iterable[str]:
    """Lines that are safe to print; makes the link to the page where that is kept."""
    model = reported.model
    if model.headline:
        yield model.headline
    yield count_line(model)
    if end := budget_end(model.spec, model.now.spent):
        yield end
    for name in NAMES:
        for row in model.section(name):
            test = row.task.node_id.rpartition("::")[2]
            yield printable(f"  {SECTIONS[name].title.lower():<26}{test}")
    if (one := model.integration) is None:
        return
    log = branch_log(model)
    yield ""
    yield f"branch {one.branch}, {plural(len(log), 'commit')} (git log --oneline):"
    yield from (f"  {printable(line)}" for line in log)
    if not is_kept:
        return
    yield ""
    if reported.page:
        # The link is a name for the newest page that does not change from run to run.
        new = f"{stage.page}.new"
        if os.path.lexists(new):
            os.unlink(new)
        os.symlink(os.path.relpath(reported.page, stage.folder), new)
        os.replace(new, stage.page)
        yield f"page: {stage.page}"
    else:
        yield from (line for line in reported.lines if line.startswith("no page"))
    yield from _next(stage, one.branch)


def _next(stage: DemoSetup, branch: str) -> Iterable[str]:
    yield "try next:"
    own = os.path.dirname(sys.executable)
    # For someone who started it by its path or by `make demo`.
    if not shutil.which("mngr") and os.path.exists(os.path.join(own, "mngr")):
        yield f"  {'have mngr':<16}PATH={shlex.quote(own)}:$PATH"
    rows = (
        ("go there", f"cd {shlex.quote(os.path.relpath(stage.example.repo))}"),
        ("serve the page", "mngr tmr report --serve"),
        ("review", f"git log --reverse -p main..{branch}"),
        ("merge", f"git merge {branch}"),
        ("without a fix", f"git switch {branch} && git revert --no-edit HEAD"),
        ("a real agent", "mngr tmr run tests --type claude -- -k add_keeps"),
    )
    yield from (f"  {word:<16}{words}" for word, words in rows)
