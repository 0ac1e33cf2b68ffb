"""A world whose config sends connecting to `mngr-e2e-connect`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.support.growing_cast import shown_so_far
from tests.support.needs import needs
from tests.support.world import World

from mngr_e2e.recorder.cast import ParsedCast, read_cast
from mngr_e2e.recorder.stop import stop_recorders

CONFIG = "[commands.create]\nconnect_command = '''{}'''\n"


class Studio(Mngr):
    """`mngr` of one test, with the artifacts directory that the kit would give it."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.artifacts = world.folder / "arti facts"
        self.casts = self.artifacts / "casts"
        self.env["MNGR_E2E_ARTIFACTS"] = str(self.artifacts)
        self.connect_with("mngr-e2e-connect")

    def connect_with(self, command: str) -> None:
        self.world.host_dir.mkdir(exist_ok=True)
        (self.world.host_dir / "config.toml").write_text(CONFIG.format(command))

    def without_asciinema(self) -> None:
        """Leaves every program on the PATH but asciinema."""
        programs = self.world.folder / "programs"
        programs.mkdir()
        for folder in reversed(self.env["PATH"].split(":")):
            for name in os.listdir(folder) if os.path.isdir(folder) else ():
                (programs / name).unlink(missing_ok=True)
                (programs / name).symlink_to(Path(folder) / name)
        (programs / "asciinema").unlink(missing_ok=True)
        self.env["PATH"] = str(programs)

    def instead_of_asciinema(self, script: str) -> None:
        """Puts a program of this name first on the PATH."""
        folder = self.world.folder / "first"
        folder.mkdir()
        (folder / "asciinema").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "asciinema").chmod(0o755)
        self.env["PATH"] = f"{folder}:{self.env['PATH']}"

    def agent(self, name: str, line: str) -> str:
        """Creates an agent without a terminal and returns what was said on stderr."""
        return self.ok("create", name, "--", "sh", "-c", f"{line}; exec sleep 1000").stderr

    def cast(self, name: str) -> ParsedCast:
        return read_cast(self.casts / name)

    def shown(self, name: str) -> str:
        return shown_so_far(self.casts / name)

    def recorders(self) -> list[int]:
        """Processes that have this test's casts in their command line."""
        mark, found = os.fsencode(self.casts), []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if mark in Path(f"/proc/{pid}/cmdline").read_bytes() and int(pid) != os.getpid():
                    found.append(int(pid))
            except OSError:
                continue
        return found


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    world = World(tmp_path)
    made = Studio(world)
    yield made
    stop_recorders(made.artifacts)
    world.end()
    assert made.recorders() == []


@pytest.fixture(params=["asciinema", "built-in"])
def either(request: pytest.FixtureRequest, studio: Studio) -> Studio:
    """The studio with each of the two recorders."""
    if request.param == "built-in":
        studio.without_asciinema()
    else:
        needs("asciinema", "asciinema", "--version")
    return studio
