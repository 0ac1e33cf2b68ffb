"""Where a command works: its manager, its repository, its runs."""

import os

import click
from msgspec import Struct

import mngr
from mngr_lib.command_options import note
from mngr_tmr.cli.settings import known_environment
from mngr_tmr.run_folder.evidence import has_evidence
from mngr_tmr.run_folder.folder import RunFolder, find_folder, read_spec, runs_folder


class Place(Struct, frozen=True):
    manager: mngr.Manager
    repo: str
    runs: str

    def any_run(self, name: str) -> RunFolder:
        """The folder of a run, also of one whose evidence was deleted."""
        return find_folder(self.runs, name)

    def run(self, name: str) -> RunFolder:
        folder = self.any_run(name)
        if not has_evidence(folder):
            raise mngr.RefusedError(
                f'of run "{os.path.basename(folder.path)}" only the reports were kept',
                hint=f"see {folder.report}",
            )
        return folder

    def known_run(self, name: str) -> RunFolder:
        """The folder of a run, hiding those values of its variables that are known here and now."""
        folder = self.run(name)
        try:
            options = read_spec(folder).options
        except mngr.MngrError:
            return folder
        settings = self.manager.config.section("tmr")
        return folder.hiding(
            known_environment(settings, "env", options.env_names),
            known_environment(settings, "integrator_env", options.integrator_env_names),
        )


def find_place(context: click.Context, out: str | None = None) -> Place:
    """The repository we are in and its folder of runs; outside a repository an error."""
    manager = mngr.Manager(overrides=context.meta.get("overrides", ()))
    for warning in manager.warnings:
        note(f"warning: {warning}")
    repo = manager.config.repo_root
    if not repo:
        raise mngr.UsageError("this is no git repository", hint="a run starts from a commit: cd into one")
    out = out or str(manager.config.section("tmr").get("out", ""))
    return Place(manager, repo, runs_folder(repo, out))
