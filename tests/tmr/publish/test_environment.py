"""The environment of a working copy: whose packages it has, whose code, and what it leaves as it was."""

import os
import subprocess
import threading
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.tmr.own_project import GREETER, OwnProject, WorkCopy

pytestmark = pytest.mark.accept("M18")

GREET = "def greet(): return 'hello'\ndef main(): print(greet())\n"
TEST = """\
import subprocess, greeter
def test_greets(): assert greeter.greet() == "hello"
def test_program(): assert subprocess.run(["greet"], stdout=-1).stdout == b"hello\\n"
"""
PASSED = {"test_greets": "passed", "test_program": "passed"}
FILES = {"pyproject.toml": GREETER, "src/greeter/__init__.py": GREET, "tests/test_greeter.py": TEST}


@pytest.fixture
def own(tmp_path: Path) -> OwnProject:
    return OwnProject(tmp_path)


def _said(copy: WorkCopy) -> str:
    return copy.made.complaint


def test_it_is_the_copys_own_and_shares_the_users_packages(own: OwnProject) -> None:
    """Programs of the user, pip and pytest among them, run in it as well."""
    own.commit_files(FILES)
    before = own.hashes()
    first, second = own.copy().ok(), own.copy().ok()
    places = "import sys, pytest, greeter; print(sys.prefix, pytest.__file__, greeter.__file__, sep='\\n')"
    prefix, shared, code = second.sh(f'python3 -c "{places}"').check("python").text.splitlines()
    assert Path(prefix) == second.state
    assert not Path(shared).is_relative_to(own.host)
    assert Path(code).is_relative_to(second.folder)
    assert second.sh("pip --version").text.split(" from ")[1].startswith(str(Path(shared).parents[1]))
    assert second.sh("pytest -q tests").code == 0
    assert second.outcomes() == PASSED
    size = sum(os.lstat(path).st_size for path in second.state.rglob("*") if path.is_file())
    assert size < 1_000_000
    assert first.sh("git status --porcelain --ignored").text == ""
    assert own.hashes() == before
    metadata = (
        "from importlib.metadata import distribution as d; print(d('greeter').read_text('direct_url.json'))"
    )
    assert str(second.folder).replace(" ", "%20") in second.sh(f'python3 -c "{metadata}"').text


def test_a_setup_installs_into_the_copys_environment_and_may_change_no_other(own: OwnProject) -> None:
    own.commit_files(FILES)
    before = own.hashes()
    wheel = "pip install -q editables"
    copy = own.copy(setup=f'{wheel} && echo "$VIRTUAL_ENV" >said').ok()
    assert (copy.folder / "said").read_text() == f"{copy.state}\n"
    assert list(copy.state.glob("lib/*/site-packages/editables/__init__.py"))
    assert own.hashes() == before
    (site,) = own.venv.glob("lib/python*/site-packages")
    changed = own.copy(setup=f"touch '{site}/thing.pth'; trap 'exit 0' EXIT")
    assert changed.made.code == 1
    assert f"the setup changed an environment that is not its working copy's: {site}/thing.pth" in _said(
        changed
    )
    (site / "thing.pth").unlink()
    assert own.copy(setup="exit 7").made.code == 7


def test_without_an_own_environment_a_setup_sees_none_at_all(own: OwnProject) -> None:
    own.commit_files(FILES)
    before = own.hashes()
    own.env["VIRTUAL_ENV"] = str(own.venv)
    setup = (
        'echo "$PATH ${VIRTUAL_ENV-none} $PIP_REQUIRE_VIRTUALENV" >said; pip install -q editables || exit 5'
    )
    copy = own.copy(setup=setup, own_venv=False)
    assert (copy.folder / "said").read_text().endswith(" none 1\n")
    assert f"{own.venv}/bin" not in (copy.folder / "said").read_text()
    assert copy.made.code == 5
    assert not (copy.state / "pyvenv.cfg").exists()
    assert own.hashes() == before


def test_without_a_network_what_pyproject_says_is_enough(own: OwnProject) -> None:
    (own.home / ".config/pip/pip.conf").write_text("[global]\nno-index = true\n")
    built = GREETER.replace("hatchling.build", "no_such_backend").replace('"hatchling"', '"no-such-backend"')
    own.commit_files(
        {**FILES, "pyproject.toml": built + '[project.entry-points.pytest11]\ngreeter = "greeter"\n'}
    )
    assert own.copy().ok().outcomes() == PASSED
    own.commit_files({"pyproject.toml": built.replace('version = "1"', 'dynamic = ["version"]')})
    refused = own.copy()
    assert refused.made.code == 1
    assert "No matching distribution found for no-such-backend" in _said(refused)
    assert "--no-own-venv" in _said(refused)
    assert "Traceback" not in _said(refused)
    # With a setup of their own it is theirs to do.
    assert own.copy(setup="true").ok().sh("python3 -c 'import pytest'").code == 0


def test_a_project_that_does_not_build_is_one_clear_line(own: OwnProject) -> None:
    own.has("setuptools", "wheel")
    own.commit_files({**FILES, "pyproject.toml": "", "setup.py": "raise ValueError('libfoo is missing')\n"})
    broken = own.copy()
    assert broken.made.code == 1
    assert len(_said(broken).splitlines()) == 1
    assert "ValueError: libfoo is missing" in _said(broken)
    assert own.copy(own_venv=False).made.code == 0
    # What only says that it is a project, and not how it is built, does not have to be.
    unbuilt = '[project]\nname = "app"\nversion = "1"\n'
    own.git("rm", "-q", "setup.py")
    own.commit_files({"pyproject.toml": unbuilt, "a/__init__.py": "", "b/__init__.py": ""})
    assert own.copy().ok().sh("python3 -c 'import a, b'").code == 0


def test_two_setups_at_once_build_once(own: OwnProject) -> None:
    own.has("setuptools", "wheel")
    setup = """\
import os, sys
from setuptools import setup
open(os.environ["HOME"] + "/builds", "a").write(" ".join(sys.argv))
points = {"console_scripts": ["greet=greeter:main"]}
setup(name="greeter", package_dir={"": "src"}, packages=["greeter"], entry_points=points)
"""
    own.commit_files({**FILES, "pyproject.toml": "", "setup.py": setup})
    copies: list[WorkCopy] = []
    threads = [threading.Thread(target=lambda: copies.append(own.copy())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for copy in (*copies, own.copy()):
        assert copy.ok().sh("greet").text == "hello\n"
    assert (own.home / "builds").read_text().count("editable_wheel") == 1


def test_other_packages_of_the_same_repository_are_the_copys_too(own: OwnProject) -> None:
    """A monorepo whose packages the user has installed, one as a path and one by an import hook; and a namespace."""
    own.has("setuptools", "wheel")
    other = "from setuptools import setup; setup(name='other', packages=['other'])\n"
    test = "import greeter, other, spaces.one\ndef test_all(): assert (greeter.greet(), other.X) == ('hello', 1)\n"
    parts = {f"parts/greeter/{name}": text for name, text in FILES.items() if "tests" not in name}
    files = {"parts/other/setup.py": other, "parts/other/other/__init__.py": "X = 1\n"}
    spaces = {"parts/greeter/src/spaces/one/__init__.py": "", "parts/greeter/tests/test_all.py": test}
    own.commit_files({**parts, **files, **spaces})
    own.install_editable("parts/greeter")
    own.install_editable("parts/other")
    before = own.hashes()
    copy = own.copy(folder="parts/greeter").ok()
    assert copy.outcomes() == {"test_all": "passed"}
    places = copy.sh("python3 -c 'import greeter, other; print(greeter.__file__, other.__file__)'").text
    assert str(own.repo) not in places
    (copy.folder / "parts/other/other/__init__.py").write_text("X = 2\n")
    assert copy.outcomes() == {"test_all": "failed"}
    assert own.hashes() == before


def test_code_that_finds_itself_in_odd_ways_is_the_copys_own(own: OwnProject) -> None:
    """A conftest that changes sys.path, a program that starts itself again, a package that is installed for good."""
    again = "import os, sys\ndef greet(): return 'hello'\ndef main():\n"
    again += "    if 'AGAIN' in os.environ: print(greet())\n"
    again += "    else: os.execvpe('greet', ['greet'], {**os.environ, 'AGAIN': '1'})\n"
    conftest = "import sys, pathlib; sys.path.insert(0, str(pathlib.Path(__file__).parent / 'lib'))\n"
    helper = "from helper import X\n" + TEST
    files = {"src/greeter/__init__.py": again, "conftest.py": conftest, "lib/helper.py": "X = 1\n"}
    own.commit_files({**FILES, **files, "tests/test_greeter.py": helper})
    (site,) = own.venv.glob("lib/python*/site-packages")
    (site / "greeter").mkdir()
    (site / "greeter/__init__.py").write_text("def greet(): return 'old'\ndef main(): print(greet())\n")
    assert own.copy().ok().outcomes() == PASSED


def test_what_the_users_python_lacks_is_installed_once_for_all_copies(own: OwnProject) -> None:
    wanted = GREETER.replace('version = "1"\n', 'version = "1"\ndependencies = ["editables", "pytest<8"]\n')
    own.commit_files({**FILES, "pyproject.toml": wanted})
    for copy in (own.copy().ok(), own.copy().ok()):
        place = Path(copy.sh("python3 -c 'import editables; print(editables.__file__)'").text)
        assert place.is_relative_to(own.host / "cache")
        # Another pytest than the project names is the user's choice.
        assert copy.outcomes() == PASSED
    assert not list(own.venv.rglob("editables"))


def test_a_full_disk_is_said_and_leaves_the_users_environment_alone(own: OwnProject) -> None:
    needs("root, for a small tmpfs", "sh", "-c", "[ $(id -u) = 0 ]")
    own.commit_files(FILES)
    before = own.hashes()
    disk = own.host / "agents"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(disk)]
    subprocess.run(mount, check=True)
    try:
        full = own.copy()
        assert full.made.code == 1
        assert "No space left on device" in _said(full)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert own.hashes() == before
