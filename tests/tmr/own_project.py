"""A user's project, their virtual environment, and working copies that are made ready as those of a run are."""

import hashlib
import json
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

from tests.support.needs import needs
from tests.support.world import LEAN, TEMPORARY
from tests.tmr.project import PYTHON

import mngr
from mngr.process import Completed, OnlyEnv, run
from mngr_tmr.copies.facts import PytestFacts, read_facts
from mngr_tmr.publish.helper import HelperConfig, helper_setup

THIRD_PARTY = Path(__file__).parents[2] / "build/third-party"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python")
HATCH = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
GREETER = (
    HATCH + '[project]\nname = "greeter"\nversion = "1"\n[project.scripts]\ngreet = "greeter:main"\n'
    '[tool.hatch.build.targets.wheel]\ndev-mode-dirs = ["src"]\n'
)


class OwnProject:
    """A repository whose path has a space, with a host dir, a home, and a virtual environment that has pytest."""

    def __init__(self, folder: Path, *, has_venv: bool = True) -> None:
        self.repo, self.host, self.home = folder / "their repo", folder / "h", folder / "home"
        self.venv = folder / "venv"
        for path in (self.repo, self.host, self.home / ".config/pip"):
            path.mkdir(parents=True)
        (self.home / ".config/pip/pip.conf").write_text(
            f"[global]\nno-index = true\nfind-links = {THIRD_PARTY}\n"
        )
        self.env = {
            "PATH": f"{self.venv}/bin:{os.environ['PATH']}",
            "HOME": str(self.home),
            "MNGR_HOST_DIR": str(self.host),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "LANG": "C.UTF-8",
            "PYTEST_ADDOPTS": LEAN["PYTEST_ADDOPTS"],
            **TEMPORARY,
        }
        if has_venv:
            make_user_venv(self.venv)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.com")
        self._copies = 0

    def git(self, *words: str) -> str:
        return run(["git", *words], cwd=str(self.repo), env=self.env, timeout_s=120).check("git").text.strip()

    def commit(self, **files: str) -> str:
        """Writes files, `__` in a name standing for `/` and `_dot_` for a dot, and commits all."""
        return self.commit_files(
            {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
        )

    def commit_files(self, files: dict[str, str]) -> str:
        for name, text in files.items():
            (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
            (self.repo / name).write_text(text)
        self.git("add", "--all", "--force")
        self.git("commit", "-q", "--allow-empty", "-m", "more")
        return self.git("rev-parse", "HEAD")

    def has(self, *wheels: str) -> None:
        """Puts packages in pure Python into the user's environment, as pip would."""
        for name in wheels:
            (wheel,) = THIRD_PARTY.glob(f"{name}-*.whl")
            (site,) = self.venv.glob("lib/python*/site-packages")
            zipfile.ZipFile(wheel).extractall(site)

    def install_editable(self, folder: str = "") -> None:
        """What a user has often done: `pip install -e .` in the virtual environment that they work in."""
        words = ("install", "-q", "--no-deps", "--no-build-isolation", "-e", str(self.repo / folder))
        pip = [*PIP, str(self.venv / "bin/python"), *words]
        run(pip, env=OnlyEnv(self.env), timeout_s=600).check("pip")

    def copy(self, commit: str = "HEAD", setup: str = "", **config: object) -> "WorkCopy":
        self._copies += 1
        return WorkCopy(self, self._copies, self.git("rev-parse", commit), setup, config)

    def hashes(self) -> dict[str, str]:
        """Everything in the user's virtual environment, file by file."""
        return {
            str(path): os.readlink(path)
            if path.is_symlink()
            else hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.venv.rglob("*"))
            if path.is_symlink() or path.is_file()
        }


class WorkCopy:
    """A clone at a commit with its environment; `made` is how its setup ended."""

    def __init__(
        self, own: OwnProject, number: int, commit: str, setup: str, config: dict[str, object]
    ) -> None:
        self.folder = own.host / f"work/copy {number}"
        self.state = own.host / f"agents/a{number}"
        self.state.mkdir(parents=True)
        run(["git", "clone", "-q", str(own.repo), str(self.folder)], env=own.env).check("clone")
        run(["git", "checkout", "-q", commit], cwd=str(self.folder), env=own.env).check("checkout")
        self.env = {
            **own.env,
            "PATH": f"{self.state}/bin:{own.env['PATH']}",
            "MNGR_AGENT_STATE_DIR": str(self.state),
            "MNGR_OUTBOX": str(self.state / "outbox"),
        }
        known = {"own_venv": True, "python": str(own.venv / "bin/python"), "repo": str(own.repo), **config}
        pytest = ("python3", "-m", "pytest")
        text = helper_setup(setup, HelperConfig(pytest=pytest, **known))  # type: ignore[arg-type]
        self.made = self.sh(text)

    def sh(self, script: str, stdin: bytes = b"") -> Completed:
        return run(
            ["sh", "-c", script], stdin=stdin, env=OnlyEnv(self.env), cwd=str(self.folder), timeout_s=600
        )

    def ok(self) -> "WorkCopy":
        assert self.made.code == 0, self.made.complaint
        return self

    def judge(self, *args: str) -> PytestFacts:
        """Runs pytest as the orchestrator does."""
        words = " ".join(f"'{word}'" for word in ("-q", "--no-header", *args))
        done = self.sh(f"mngr-result judge --timeout 300 -- {words}", json.dumps({}).encode())
        return read_facts(done.stdout)

    def outcomes(self, *args: str) -> dict[str, str]:
        """How each test's body ended; a test that was not reached is missing."""
        phases = [phase for phase in self.judge(*args).phases if phase.when == "call"]
        return {phase.node_id.rpartition("::")[2]: phase.outcome for phase in phases}


def make_user_venv(path: Path) -> None:
    """A virtual environment in which pytest and pip are found, and nothing else of the user's."""
    run([sys.executable, "-m", "venv", "--without-pip", str(path)], timeout_s=300).check("venv")
    (site,) = path.glob("lib/python*/site-packages")
    (lender,) = PYTHON.parent.glob("lib/python*/site-packages")
    (site / "tools.pth").write_text(f"{lender}\n{Path(mngr.__file__).parents[1]}\n")


def unpack(own: OwnProject, package: str) -> None:
    """The files of a source package, as they would be in its repository."""
    archive = THIRD_PARTY / f"{package}.tar.gz"
    needs("third-party projects (tools/third-party build/third-party)", "test", "-f", str(archive))
    folder = own.repo.with_name("unpacked")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    for path in (folder / package).iterdir():
        if path.name != "PKG-INFO" and not path.name.endswith(".egg-info"):
            shutil.move(path, own.repo / path.name)
    shutil.rmtree(folder)
