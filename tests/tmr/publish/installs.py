"""A small project, a copy of it, and the ways in which installers leave it in an environment."""

import os
import shutil
import sys
from pathlib import Path
from textwrap import dedent

from tests.tmr.project import PYTHON

from mngr.process import Completed, run
from mngr_tmr.copies.facts import PytestFacts, read_facts
from mngr_tmr.publish.helper import HelperConfig, helper_setup

CODE = "def main():\n    print('hello')\n"
BLACK_BOX = """
    import subprocess
    def test_greets():
        assert subprocess.run({argv}, stdout=-1, check=True).stdout == b"hello\\n"
"""
TEST = "tests/test_greet.py::test_greets"
_WRAPPER = (
    "#!{python}\nimport sys\nfrom greeter import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
)
_DEVELOPED = """\
#!{python}
# EASY-INSTALL-DEV-SCRIPT: 'greeter','greet'
__requires__ = 'greeter'
__file__ = '{folder}/bin/greet'
with open(__file__) as f:
    exec(compile(f.read(), __file__, 'exec'))
"""
_FINDER = """\
import sys
from importlib.machinery import PathFinder
MAPPING: dict[str, str] = {mapping!r}
class _EditableFinder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return PathFinder.find_spec(name, [MAPPING[name].rpartition("/")[0]])
def install():
    sys.meta_path.append(_EditableFinder)
"""


class Environment:
    """A virtualenv that has pytest; `install` leaves the project in it as one of the installers does."""

    def __init__(self, template: Path, prefix: Path) -> None:
        shutil.copytree(template, prefix, symlinks=True, dirs_exist_ok=True)
        self.prefix, self.bin = prefix, prefix / "bin"
        (self.site,) = prefix.glob("lib/python*/site-packages")

    def install(self, how: str, folder: Path) -> None:
        getattr(self, how)(folder)

    def hatch(self, folder: Path) -> None:
        """Poetry and pdm leave the same, and call the .pth file otherwise."""
        (self.site / "_greeter.pth").write_text(f"{folder}\n")
        self._distribution(folder, "_greeter.pth", wrapped=True)

    def flit(self, folder: Path) -> None:
        (self.site / "greeter").symlink_to(folder / "greeter")
        self._distribution(folder, "greeter", wrapped=True)

    def setuptools(self, folder: Path) -> None:
        """`scripts=` of a setup.py: the wheel holds a copy of the script, the code is found by a mapping."""
        hook = "__editable___greeter_1_finder"
        (self.site / f"{hook}.py").write_text(_FINDER.format(mapping={"greeter": f"{folder}/greeter"}))
        (self.site / "__editable__.greeter-1.pth").write_text(f"import {hook}; {hook}.install()")
        self._program((folder / "bin/greet").read_text().replace("#!python", f"#!{self.bin}/python"))
        compiled = f"__pycache__/{hook}.cpython-311.pyc"
        files = (f"{hook}.py", compiled, "__editable__.greeter-1.pth", "../../../bin/greet")
        self._distribution(folder, *files, wrapped=False)

    def develop(self, folder: Path) -> None:
        (self.site / "easy-install.pth").write_text(f"{folder}\n")
        (self.site / "greeter.egg-link").write_text(f"{folder}\n.")
        info = folder / "greeter.egg-info"
        info.mkdir()
        (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: greeter\nVersion: 1\n")
        (info / "top_level.txt").write_text("greeter\n")
        self._program(_DEVELOPED.format(python=self.bin / "python", folder=folder))

    def regular(self, folder: Path) -> None:
        shutil.copytree(folder / "greeter", self.site / "greeter")
        self._distribution(folder, "greeter/__init__.py", wrapped=True)

    def _distribution(self, folder: Path, *files: str, wrapped: bool) -> None:
        info = self.site / "greeter-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greeter\nVersion: 1\n")
        (info / "direct_url.json").write_text(
            f'{{"url": "file://{folder}", "dir_info": {{"editable": true}}}}'
        )
        if wrapped:
            (info / "entry_points.txt").write_text("[console_scripts]\ngreet = greeter:main\n")
            self._program(_WRAPPER.format(python=self.bin / "python"))
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))

    def _program(self, text: str) -> None:
        executable(self.bin / "greet", text)


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Checkouts:
    """The user's checkout and a working copy of it; `judge` runs the copy's tests as the orchestrator does."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.folder, self.template = folder, template
        self.checkout, self.copy, self.state = folder / "checkout", folder / "copy", folder / "state"
        self.checkout.mkdir()
        self.path = f"{PYTHON}:{os.environ['PATH']}"
        self.programs: tuple[str, ...] = ()
        self.env: dict[str, str] = {}
        self.pytest: tuple[str, ...] = (sys.executable, "-m", "pytest")

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            executable(self.checkout / name, dedent(text))

    def environment(self, prefix: Path) -> Environment:
        made = Environment(self.template, prefix)
        self.path = f"{made.bin}:{self.path}"
        self.pytest = (str(made.bin / "python"), "-m", "pytest")
        return made

    def make_copy(self) -> None:
        """Commits the checkout and clones it; the helper is written as for every working copy."""
        self.sh("git init -q -b main && git add -A && git commit -qm first", self.checkout)
        self.sh(f"git clone -q {self.checkout} {self.copy}", self.folder)
        config = HelperConfig(
            test=TEST,
            file="tests/test_greet.py",
            pytest=self.pytest,
            programs=self.programs,
            repo=str(self.checkout),
        )
        self.state.mkdir(exist_ok=True)
        self.sh(helper_setup("", config), self.copy)

    def sh(self, script: str, cwd: Path) -> Completed:
        return self._run(["sh", "-c", script], cwd).check(script[:100])

    def judge(self, *args: str) -> PytestFacts:
        """What the tests of the copy were seen to run; they must pass."""
        done = self._run(["mngr-result", "judge", "--", *args], self.copy, b'{"run": ""}')
        facts = read_facts(done.stdout)
        assert facts.has_ended, done
        assert {phase.outcome for phase in facts.phases} == {"passed"}, done
        return facts

    def helper(self, *words: str) -> Completed:
        return self._run(["mngr-result", *words], self.copy)

    def _run(self, argv: list[str], cwd: Path, stdin: bytes = b"") -> Completed:
        env = {
            "PATH": f"{self.state}/bin:{self.path}",
            "MNGR_AGENT_STATE_DIR": str(self.state),
            "HOME": str(self.folder),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **self.env,
            **{f"GIT_{who}_{what}": "n@x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        return run(argv, stdin=stdin, env=env, cwd=str(cwd), timeout_s=300)


def make_template(prefix: Path) -> Path:
    """A virtualenv that borrows pytest from the one that runs this; nothing of ours is installed in it."""
    run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], timeout_s=300).check("venv")
    (site,) = prefix.glob("lib/python*/site-packages")
    lent = [path for path in sys.path if path.endswith("site-packages")]
    (site / "tools.pth").write_text("\n".join(lent) + "\n")
    return prefix
