"""The reduce step of a run on the disk: its records in, `integration.json`, `pr.md` and the branch out."""

import os
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

import mngr
from mngr_tmr.integrate.gates.copy_runner import CopyRunner
from mngr_tmr.integrate.gates.runner import ProgressRunner
from mngr_tmr.integrate.publish.pull_request import pr_text
from mngr_tmr.integrate.publish.push import find_token, publish
from mngr_tmr.integrate.reduce import reduce
from mngr_tmr.integrate.trust import AgentTrust
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.run import RunOptions, RunSpec, Secrets
from mngr_tmr.run_folder.folder import RunFolder, read_json
from mngr_tmr.run_folder.records import Records
from mngr_tmr.run_folder.redact import Redactor, no_values_in_errors


def integrate_run(
    folder: RunFolder,
    *,
    manager: mngr.Manager,
    secrets: Secrets,
    options: RunOptions | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Integration:
    """Integrates what a run has; again at any time, from what is stored, with the same branch as the answer.

    `options` are used instead of the run's own, which are those that it was last resumed with.
    `tell` is called with each step when it begins.

    With `push`, the branch goes to the remote and becomes a pull request; what keeps it from that is a note.
    """
    folder = folder.hiding(secrets.tests, secrets.integrator)
    with no_values_in_errors(folder.redactor):
        return _integrate(folder, manager, secrets, options, tell)


def _integrate(
    folder: RunFolder,
    manager: mngr.Manager,
    secrets: Secrets,
    options: RunOptions | None,
    tell: Callable[[str], None],
) -> Integration:
    records, clean = Records(folder), folder.redactor
    spec, tasks = replace(records.spec, options=options or records.state.options), records.tasks()
    before = read_json(folder.integration, Integration) if os.path.exists(folder.integration) else None
    with CopyRunner(spec, env=secrets.tests, manager=manager, tell=tell) as runner:
        integration = reduce(
            spec,
            tasks,
            runner=ProgressRunner(runner, tell),
            before=before,
            trust=AgentTrust(secrets.integrator, partial(_check, spec, clean)),
            manager=manager,
        )
    integration = clean.record(integration)
    text = clean.text(pr_text(spec, tuple(map(clean.record, tasks)), integration))
    folder.writer.write_json(folder.integration, integration)
    folder.writer.write(folder.pr, text.encode())
    if spec.options.push:
        tell("pushing the branch")
        integration = publish(spec.repo, integration, text, find_token(secrets.integrator))
        folder.writer.write_json(folder.integration, integration)
    return clean.record(integration)


def _check(spec: RunSpec, redactor: Redactor, base: str, tip: str) -> None:
    """Refuses commits that hold a value, whatever made them, before they get onto the branch."""
    names = redactor.names_in_commits(spec.repo, base, tip)
    if names:
        raise mngr.RefusedError(
            f"the integrated commits hold the value of {', '.join(names)} and are not used",
            hint="see the report for what each task changed",
        )
