"""The bundled example on three machines, in containers and at Modal: the provider is the only difference."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.support.docker import Engine, engine
from tests.support.modal.service import Service, modal
from tests.support.sshd import Machine, Machines, machines
from tests.tmr.test_example import EXPECTED, Loop

import mngr as package

__all__ = ["engine", "machines", "modal"]

pytestmark = pytest.mark.slow

_PACKAGES = "pytest _pytest pluggy iniconfig packaging pygments click msgspec jinja2 markupsafe".split()
_OURS = "mngr_lib mngr mngr_e2e mngr_view mngr_tmr".split()
_LIBRARY = f"/root/.local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
# Slow in earnest, such as a download: whoever starts from the first host has it already.
_SETUP = (
    "[ -e /root/tool ] || cat /proc/sys/kernel/random/uuid >/root/tool; "
    'mkdir -p "$MNGR_OUTBOX"; cp /root/tool "$MNGR_OUTBOX"'
)


# None of these agents hangs or ends without a result: however slow the machine is, they are not given up.
_PATIENT = ("-S", "tmr.silence=15m", "-S", "tmr.grace=60s")
_WORDS = ("--integrator", "mechanical", "--setup", _SETUP)
_FEW = ("-k", "add_keeps or help_succeeds or unknown_verb")
_ENDS = {
    name: EXPECTED[name]
    for name in (
        "test_add_keeps_the_amount",
        "test_help_succeeds",
        "test_an_unknown_verb_fails",
    )
}


@pytest.fixture
def loop(tmp_path: Path, machines: Machines) -> Iterator[Loop]:
    made = Loop(tmp_path)
    for name in ("one", "two", "three"):
        _install(machines.add(name), machines, made)
    lines = ["[providers.ssh]", f'config = "{machines.config}"']
    lines += [f"[providers.ssh.hosts.{name}]" for name in machines.machines]
    made.world.host_dir.mkdir(exist_ok=True)
    (made.world.host_dir / "config.toml").write_text("\n".join(lines) + "\n")
    machines.provider(made.world.host_dir)  # so that its sockets are removed
    yield made
    made.world.end()


def _install(machine: Machine, machines: Machines, loop: Loop) -> None:
    """What a machine has after `pip install`, and the playbooks; it has no way out to fetch them."""
    root = machines.folder / "providers/box" / machine.name / "root"
    _fill(root / _LIBRARY.lstrip("/"))
    shutil.copytree(loop.plays, root / str(loop.plays).lstrip("/"))


def _fill(library: Path) -> None:
    """What `pip install` would bring, compiled files included."""
    site = Path(pytest.__file__).parent.parent
    for name in _PACKAGES:
        shutil.copytree(site / name, library / name)
    for name in ("pytest", "pluggy", "mngr_agents"):
        for info in site.glob(f"{name}-*.dist-info"):
            shutil.copytree(info, library / info.name)
    shutil.copy(site / "py.py", library)
    for name in _OURS:
        shutil.copytree(Path(package.__file__).parent.parent / name, library / name)


@pytest.mark.accept("L1", "L2", "L5", "P9")
def test_the_pipeline_runs_unchanged_on_three_machines(loop: Loop, machines: Machines) -> None:
    done = loop.run("--provider", "ssh", *_WORDS, settings=_PATIENT, pytest_flags=_FEW)
    assert done.code == 8, done
    assert loop.sections() == _ENDS
    assert loop.mngr("list", "--running", "--format", "{name}").stdout == ""
    assert all(machine.run("ls -d /root/.mngr").text for machine in machines.machines.values())


def _tools(loop: Loop) -> set[str]:
    """The number that the setup of a host made, of the hosts of all agents."""
    found = list(Path(loop.example.repo).glob(".mngr/tmr/r1/tasks/*/attempt-1/outbox/tool"))
    assert len(found) == 2
    return {file.read_text() for file in found}


class Yard:
    """The example's loop, with containers of its own namespace for its agents."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.loop, self.engine, self.namespace = Loop(folder), engine, f"t{os.urandom(4).hex()}"
        _fill(folder / "library")
        plays = self.loop.plays
        mounts = ["-v", f"{folder}/library:{_LIBRARY}:ro", "-v", f"{plays}:{plays}:ro"]
        settings = {**engine.settings(self.namespace), "run_args": mounts}
        lines = [f"{key} = {msgspec.json.encode(value).decode()}" for key, value in settings.items()]
        self.loop.world.host_dir.mkdir(exist_ok=True)
        (self.loop.world.host_dir / "config.toml").write_text("\n".join(["[providers.docker]", *lines, ""]))

    @property
    def containers(self) -> list[str]:
        return self.engine.containers(self.namespace)

    @property
    def kept(self) -> list[str]:
        """The images of its snapshots."""
        mine = f"label=mngr.snapshots={self.namespace}"
        return self.engine.docker("images", "-q", "--filter", mine).check("docker images").text.split()


@pytest.fixture
def yard(tmp_path: Path, engine: Engine) -> Iterator[Yard]:
    made = Yard(tmp_path, engine)
    yield made
    engine.clear(made.namespace)
    made.loop.world.end()


@pytest.mark.accept("L1", "L2", "P9", "K11", "E2")
def test_the_pipeline_runs_unchanged_in_containers_and_sets_up_one(yard: Yard) -> None:
    done = yard.loop.run("--provider", "docker", *_WORDS, settings=_PATIENT, pytest_flags=_FEW)
    assert done.code == 8, done
    assert yard.loop.sections() == _ENDS
    assert "at most 6 hosts at once" in done.stderr
    assert yard.containers == [], "a host ends when its work is home"
    assert len(_tools(yard.loop)) == 1, "all start from the host that was set up first"
    assert yard.kept
    assert yard.loop.mngr("tmr", "delete", "r1", "--yes").code == 0
    assert (yard.containers, yard.kept) == ([], [])


@pytest.mark.accept("L1", "L2", "P9", "K13", "E2", "O18")
def test_the_pipeline_runs_unchanged_at_modal_and_sets_up_one(tmp_path: Path, modal: Service) -> None:
    loop, app, image = Loop(tmp_path), f"t{os.urandom(4).hex()}", tmp_path / "image"
    _fill(image / _LIBRARY.lstrip("/"))
    shutil.copytree(loop.plays, image / str(loop.plays).lstrip("/"))
    modal.yard.registry["pantry:1"] = image
    loop.env.update(modal.env)
    loop.world.host_dir.mkdir(exist_ok=True)
    settings = f'[providers.modal]\napp = "{app}"\nimage = "pantry:1"\n'
    (loop.world.host_dir / "config.toml").write_text(settings)
    try:
        done = loop.run("--provider", "modal", *_WORDS, settings=_PATIENT, pytest_flags=_FEW)
        assert done.code == 8, done
        assert loop.sections() == _ENDS, done
        assert modal.running(app) == [], "a host ends when its work is home"
        assert len(_tools(loop)) == 1, "all start from the host that was set up first"
        assert "; snapshot tmr-r1-" in loop.mngr("tmr", "runs", "--sizes").stdout
        done = loop.mngr("tmr", "delete", "--older-than", "0s", "--keep-reports", "--yes")
        assert ", snapshot tmr-r1-" in done.stdout, done
        assert modal.left(app) == []
    finally:
        for sandbox in modal.running(app):
            modal.end(sandbox)
        loop.world.end()
