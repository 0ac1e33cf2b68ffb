"""Where a command works: its manager, its repository, its runs."""

import click
from msgspec import Struct

import mngr
from mngr_tmr.run.folder import RunFolder, find_folder, runs_folder


class Place(Struct, frozen=True):
    manager: mngr.Manager
    repo: str
    runs: str

    def run(self, name: str) -> RunFolder:
        return find_folder(self.runs, name)


def find_place(context: click.Context, out: str | None = None) -> Place:
    """The repository we are in and its folder of runs; elsewhere is an error that says so."""
    manager = mngr.Manager(overrides=context.meta.get("overrides", ()))
    for note in manager.warnings:
        click.echo(f"warning: {note}", err=True)
    repo = manager.config.repo_root
    if not repo:
        raise mngr.UsageError("this is no git repository", hint="a run starts from a commit: cd into one")
    out = out or str(manager.config.section("tmr").get("out", ""))
    return Place(manager, repo, runs_folder(repo, out))
