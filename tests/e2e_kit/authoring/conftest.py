"""A project in each test's own world."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e_kit.authoring.project import Project
from tests.support.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.end()


@pytest.fixture
def project(world: World, monkeypatch: pytest.MonkeyPatch) -> Project:
    bin_dir = world.folder / "bin"
    monkeypatch.setenv("PATH", f"{bin_dir}:{os.environ['PATH']}")
    world.env["PATH"] = os.environ["PATH"]
    return Project(world, bin_dir)
