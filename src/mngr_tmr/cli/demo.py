"""`mngr demo`."""

import os
import shlex
import signal
import sys
from typing import Any

import click

import mngr
from mngr_lib.command_options import with_common_options
from mngr_tmr import stages
from mngr_tmr.cli.draft import collect_spec
from mngr_tmr.cli.finish import INTERRUPTED
from mngr_tmr.cli.output import progress_of
from mngr_tmr.cli.places import Place
from mngr_tmr.demo.ending import ending
from mngr_tmr.demo.setup import DemoSetup, set_up_demo, user_packages
from mngr_tmr.model.run import RunSpec, Secrets
from mngr_tmr.report.out.budget_lines import budget_lines
from mngr_tmr.report.out.estimate_lines import total_lines
from mngr_tmr.report.out.progress import Progress
from mngr_tmr.report.report import WrittenReport
from mngr_tmr.run_folder.folder import runs_folder
from mngr_tmr.run_folder.redact import NOTHING_TO_HIDE
from mngr_tmr.stages import Pipeline, PipelineRequest, walk

_SLOTS = 6
# One of the agents hangs. It is among the first, so that others work while its silence is being counted.
_SILENCE = "25s"
# Scripted agents say that they use a little of it.
_BUDGET = {"budget": "3Mtok", "agent_rate": "200ktok", "meter": "5s"}
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
    with set_up_demo(folder, keep=not no_keep) as demo:
        manager = mngr.Manager(cwd=demo.example.repo, overrides=context.meta.get("overrides", ()))
        place = Place(manager, demo.example.repo, runs_folder(demo.example.repo))
        spec, _ = collect_spec(place, ("tests",), _settings(demo))
        repo, host_dir = demo.example.repo, shlex.quote(demo.host_dir)
        progress.say(
            f"{repo}: a program, its tutorial and {len(spec.tasks)} tests, with faults of many kinds"
        )
        progress.say(f"an agent for each test, {_SLOTS} at once; to see them at work, in another terminal:")
        progress.say(f"    MNGR_HOST_DIR={host_dir} mngr list --watch")
        estimate = total_lines(spec, spec.estimate) if spec.estimate else ()
        for line in (*estimate, *budget_lines(spec)):
            progress.say(line)
        written = _run(place, spec, progress)
        for line in ending(demo, written, is_kept=not no_keep) if written else ():
            click.echo(line)
    if written is None:
        progress.say("nothing of the demo runs any more")
    return 0 if written else INTERRUPTED


def _run(place: Place, spec: RunSpec, progress: Progress) -> WrittenReport | None:
    """Walks the stages after `collect`, as `mngr tmr run` does; None when it was interrupted."""
    secrets, tell = Secrets(tests=user_packages()), _AbortOnInterrupt(progress)
    request = PipelineRequest(
        manager=place.manager,
        runs=place.runs,
        secrets=secrets,
        redactor=NOTHING_TO_HIDE,
        tell=tell,
        observe=progress,
    )
    try:
        pipeline = walk(Pipeline(request, spec), stages.prepare, stages.integrate)
    except mngr.MngrError:
        if not tell.is_interrupted:
            raise
    progress.close()
    return None if tell.is_interrupted else walk(pipeline, stages.report).written


class _AbortOnInterrupt:
    """Interrupts the run again as soon as it says that it was interrupted, so that its agents are stopped."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self.is_interrupted = progress, False

    def __call__(self, _: str) -> None:
        if not self.is_interrupted:
            self.is_interrupted = True
            self._progress.say("interrupted: stopping the agents")
            signal.raise_signal(signal.SIGINT)


def _settings(demo: DemoSetup) -> dict[str, Any]:
    """What would stand on the command line of `mngr tmr run`, and in its config."""
    settle = os.path.join(demo.example.plays, "settle.json")
    return {
        "name": demo.run,
        "base": demo.base,
        "type": "scripted",
        "args": [demo.example.play_arg],
        "slots": _SLOTS,
        **_BUDGET,
        "silence": _SILENCE,
        "grace": "1s",
        "verify_runs": 1,
        "pytest": _PYTEST,
        "integrator_type": "scripted",
        "integrator_args": [settle],
        "env": user_packages(),
        "runs_all": True,
    }


with_common_options(command)
