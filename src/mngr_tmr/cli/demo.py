"""`mngr demo`."""

import os
import shlex
import signal
import sys
from collections.abc import Iterable
from typing import Any

import click

import mngr
from mngr_lib.command_options import with_common_options
from mngr_tmr.cli.finish import INTERRUPTED
from mngr_tmr.cli.output import progress_of
from mngr_tmr.cli.places import Place
from mngr_tmr.cli.run import make_spec
from mngr_tmr.demo.ending import ending
from mngr_tmr.demo.setup import Stage, set_up_demo, user_packages
from mngr_tmr.model.run import RunSpec, Secrets
from mngr_tmr.report.out.progress import Progress
from mngr_tmr.report.report import WrittenReport, write_report
from mngr_tmr.report.reporter import Reporter
from mngr_tmr.run.integrate_run import integrate_run
from mngr_tmr.run.start import run_tasks
from mngr_tmr.run_folder.folder import RunFolder, make_folder, runs_folder

_SLOTS = 6
# One of the agents hangs. It is among the first, so that others work while its silence is being counted.
_SILENCE = "25s"
# Whatever plugins of pytest a newcomer has, they would slow every test down, and some would be in the way.
_PYTEST = (sys.executable, "-m", "pytest", "--disable-plugin-autoload", "-p", "mngr_e2e.plugin")


@click.command("demo", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--dir",
    "folder",
    metavar="DIR",
    default="mngr-demo",
    show_default=True,
    help="Where the repository, its run and the page stay.",
)
@click.option("--no-keep", is_flag=True, help="Remove at the end what it made there.")
@click.pass_context
def command(context: click.Context, folder: str, no_keep: bool) -> int:
    """The whole loop on a bundled example: an agent per test, each verified, one branch and one page back.

    A small program comes with a tutorial and tests that cite it. Scripted agents take the place of coding agents, so
    it needs no account, no key and no network. They find a bug, a wrong test, a weak test and something that blocks
    them; two fix the same thing, two get in each other's way, one lies, one hangs, one is killed. It takes about a
    minute. Afterwards, and after Ctrl-C, no agent, tmux server or temporary file is left; a second run in the same
    folder starts from the same commit again.

    \b
    mngr demo
    mngr demo --dir /tmp/try --no-keep
    """
    progress = progress_of("human")
    with set_up_demo(folder, keep=not no_keep) as stage:
        manager = mngr.Manager(cwd=stage.example.repo, overrides=context.meta.get("overrides", ()))
        place = Place(manager, stage.example.repo, _runs(stage))
        spec, _why = make_spec(place, ("tests",), _said(stage))
        for line in _beginning(stage, spec):
            progress.say(line)
        reported = _run(make_folder(place.runs, spec), place.manager, progress)
        for line in ending(stage, reported, is_kept=not no_keep) if reported else ():
            click.echo(line)
    if reported is None:
        progress.say("nothing of the demo runs any more")
    return 0 if reported else INTERRUPTED


def _run(folder: RunFolder, manager: mngr.Manager, progress: Progress) -> WrittenReport | None:
    """Runs, integrates and reports, as `mngr tmr run` does; None when it was interrupted."""
    secrets, tell = Secrets(tests=user_packages()), _Impatience(progress)
    try:
        with Reporter(folder, observe=progress) as observe:
            run_tasks(
                folder,
                manager=manager,
                env=secrets.tests,
                observe=observe,
                tell=tell,
                integrate=lambda step: integrate_run(folder, manager=manager, secrets=secrets, tell=step),
            )
    except mngr.MngrError:
        if not tell.has_heard:
            raise
    progress.close()
    return None if tell.has_heard else write_report(folder)


class _Impatience:
    """Hears what a run says when it is interrupted, and interrupts it again: its agents are not worth waiting for."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self.has_heard = progress, False

    def __call__(self, _: str) -> None:
        if not self.has_heard:
            self.has_heard = True
            self._progress.say("interrupted: stopping the agents")
            signal.raise_signal(signal.SIGINT)


def _runs(stage: Stage) -> str:
    return runs_folder(stage.example.repo)


def _said(stage: Stage) -> dict[str, Any]:
    """What would stand on the command line of `mngr tmr run`, and in its config."""
    settle = os.path.join(stage.example.plays, "settle.json")
    return {
        "name": stage.run,
        "base": stage.base,
        "type": "scripted",
        "args": [stage.example.play_arg],
        "slots": _SLOTS,
        "silence": _SILENCE,
        "grace": "1s",
        "verify_runs": 1,
        "pytest": _PYTEST,
        "integrator_type": "scripted",
        "integrator_args": [settle],
        "env": user_packages(),
    }


def _beginning(stage: Stage, spec: RunSpec) -> Iterable[str]:
    yield f"{stage.example.repo}: a program, its tutorial and {len(spec.tasks)} tests, with faults of many kinds"
    yield f"an agent for each test, {_SLOTS} at once; to see them at work, in another terminal:"
    yield f"    MNGR_HOST_DIR={shlex.quote(stage.host_dir)} mngr list --watch"


with_common_options(command)
