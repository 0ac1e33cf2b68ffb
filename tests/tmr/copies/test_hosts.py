"""Copies on a host that shares no files with this machine."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from mngr_box.provider import BoxProvider
from tests.support.needs import needs
from tests.tmr.project import Project

from mngr_tmr.collect.collect import collect
from mngr_tmr.copies.copy import open_copy
from mngr_tmr.model.run import RunOptions
from mngr_tmr.verify.verify import verify

pytestmark = pytest.mark.slow


@pytest.fixture
def boxes(project: Project) -> Iterator[BoxProvider]:
    user = () if os.geteuid() == 0 else ("-U", "--map-root-user")
    needs("mount and process namespaces", "unshare", *user, "-m", "-p", "-f", "--mount-proc", "true")
    provider = BoxProvider(str(project.world.host_dir))
    project.manager = project.world.manager(box=provider)
    yield provider
    assert provider.hosts() == []


def vendor_pytest(project: Project) -> tuple[str, ...]:
    """Commits pytest itself: the host has a Python and nothing else that this environment has."""
    needs(
        "a Python outside this environment",
        "/usr/bin/python3",
        "-c",
        "import sys; assert sys.version_info > (3, 10)",
    )
    site = Path(pytest.__file__).parent.parent
    names = [path.name for path in site.glob("pluggy-*.dist-info")]
    for name in (*names, "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        target = project.repo / "vendor" / name
        shutil.copytree(site / name, target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(site / "py.py", project.repo / "vendor")
    (project.repo / "vendor/run.py").write_text("import pytest\nraise SystemExit(pytest.main())\n")
    return "/usr/bin/python3", "vendor/run.py"


@pytest.mark.accept("M15", "M17", "L4")
def test_tests_are_collected_and_verified_on_a_host_of_the_runs_kind(
    project: Project, boxes: BoxProvider, tmp_path: Path
) -> None:
    own = vendor_pytest(project)
    base = project.commit(
        conftest="",
        app="greeting = 'hello'\n",
        tests__test_app="""
            import os
            from app import greeting
            def test_greets():
                with open(os.environ["MNGR_OUTBOX"] + "/said", "w") as file:
                    file.write(greeting)
                assert greeting == "hello"
        """,
    )
    options = RunOptions(provider="box", verify_deadline_s=120.0, verify_runs=1)
    spec = msgspec.structs.replace(project.run("tests", options=options), pytest=own)
    collected = collect(spec, manager=project.manager)
    assert collected.wrong_code == ""
    spec = msgspec.structs.replace(spec, tasks=collected.tasks)
    tip = project.commit(app="greeting = 'bye'\n")
    project.world.git("reset", "-q", "--hard", base)
    found = verify(spec, spec.tasks[0], tip, artifacts=str(tmp_path / "home"), manager=project.manager)
    assert found.verdict == "failed", found
    assert [path.read_text() for path in (tmp_path / "home").glob("*/said")] == ["bye"]
    assert verify(spec, spec.tasks[0], base, manager=project.manager).verdict == "passed"


def test_a_deadline_holds_there_too(project: Project, boxes: BoxProvider) -> None:
    spec = project.run(options=RunOptions(provider="box"))
    with open_copy(spec, spec.base, manager=project.manager) as copy:
        ran = copy.command("echo before; sleep 1000", 3)
        assert (ran.timed_out, ran.output) == (True, "before\n")
        assert copy.command("echo after", 30).output == "after\n"
