"""The bundled example on three machines: the provider is the only difference."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sshd import Machine, Machines, machines
from tests.tmr.test_example import EXPECTED, Loop

import mngr as package

__all__ = ["machines"]

pytestmark = pytest.mark.slow

_PACKAGES = "pytest _pytest pluggy iniconfig packaging pygments click msgspec jinja2 markupsafe".split()
_OURS = "mngr mngr_e2e mngr_view mngr_tmr".split()


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
    """What `pip install` would bring, and the playbooks; the machine has no way out to fetch them."""
    root = machines.folder / "providers/box" / machine.name / "root"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = root / f"root/.local/lib/{version}/site-packages"
    site = Path(pytest.__file__).parent.parent
    ignore = shutil.ignore_patterns("__pycache__")
    for name in _PACKAGES:
        shutil.copytree(site / name, library / name, ignore=ignore)
    for name in ("pytest", "pluggy", "mngr_agents"):
        for info in site.glob(f"{name}-*.dist-info"):
            shutil.copytree(info, library / info.name)
    shutil.copy(site / "py.py", library)
    for name in _OURS:
        shutil.copytree(Path(package.__file__).parent.parent / name, library / name, ignore=ignore)
    shutil.copytree(loop.plays, root / str(loop.plays).lstrip("/"))


@pytest.mark.accept("L1", "L2", "L5", "P9")
def test_the_pipeline_runs_unchanged_on_three_machines(loop: Loop, machines: Machines) -> None:
    done = loop.run("--provider", "ssh", "--integrator", "mechanical")
    assert done.code == 3, done
    sections = loop.sections()
    totals = {sections.pop("test_total_adds_up"), sections.pop("test_total_in_euro")}
    assert sections == EXPECTED
    assert totals == {"implementation", "set_aside"}
    log = loop.git("log", "--reverse", "--format=%s", "main..tmr/r1/integrated").splitlines()
    assert log[1:3] == ["Take from the shelf, not from the wish", "Store the amount that was asked for"]
    assert loop.mngr("list", "--running", "--format", "{name}").stdout == ""
    assert all(machine.run("ls -d /root/.mngr").text for machine in machines.machines.values())
