"""The reduce step of a run on the disk: its records in, `integration.json`, `pr.md` and the branch out."""

import os
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

import mngr
from mngr_tmr.integrate.copy_runner import CopyRunner
from mngr_tmr.integrate.pr import pr_text
from mngr_tmr.integrate.push import find_token, publish
from mngr_tmr.integrate.reduce import reduce
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.run import Knobs
from mngr_tmr.run.folder import RunFolder, read_json, write_file, write_json
from mngr_tmr.run.records import Records
from mngr_tmr.run.redact import make_redactor


class Secrets(Struct, frozen=True):
    """Values that are never written down: for the tests, and for the integrator alone."""

    tests: Mapping[str, str] = {}
    integrator: Mapping[str, str] = {}


def integrate_run(
    folder: RunFolder, *, manager: mngr.Manager, secrets: Secrets, knobs: Knobs | None = None
) -> Integration:
    """Integrates what a run has; again at any time, from what is stored, with the same branch as the answer.

    With `push`, the branch goes to the remote and becomes a pull request; what keeps it from that is a note.
    """
    records = Records(folder)
    spec, tasks = replace(records.spec, knobs=knobs or records.spec.knobs), records.tasks()
    before = read_json(folder.integration, Integration) if os.path.exists(folder.integration) else None
    with CopyRunner(spec, env=secrets.tests, manager=manager) as runner:
        integration = reduce(
            spec, tasks, runner=runner, before=before, env=secrets.integrator, manager=manager
        )
    values = {**secrets.tests, **secrets.integrator}
    integration = make_redactor(values, spec.repo, spec.base).record(integration)
    text = pr_text(spec, tasks, integration)
    write_json(folder.integration, integration)
    write_file(folder.pr, text.encode())
    if spec.knobs.push:
        integration = publish(spec.repo, integration, text, find_token(secrets.integrator))
        write_json(folder.integration, integration)
    return integration
