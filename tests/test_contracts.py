"""Rooms import one way, and the check that says so can fail."""

import re
import shutil
import tomllib
from operator import itemgetter
from pathlib import Path

import grimp
import pytest

from mngr.process import Completed, run

ROOT = Path(__file__).parent.parent
LINT = Path(shutil.which("lint-imports") or ROOT / ".venv/bin/lint-imports")


def lint(root: Path) -> Completed:
    env = {"PYTHONPATH": str(root / "src")}
    return run(
        [str(LINT), "--no-cache", "--config", str(root / "pyproject.toml")],
        cwd=str(root),
        env=env,
        timeout_s=120,
    )


def test_rooms_import_one_way() -> None:
    done = lint(ROOT)
    assert done.code == 0, done.text


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "static"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def plant(root: Path, importer: str, imported: str) -> None:
    path = root / "src" / importer.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    with file.open("a") as lines:
        lines.write(f"\nimport {imported}\n")


def modules(layer: str) -> list[str]:
    return [name.strip() for name in re.split(r"[|:]", layer)]


def test_a_bad_import_breaks_each_contract(copied: Path) -> None:
    """The lowest layer imports the highest one, or its neighbour; a source imports what is forbidden to it."""
    for contract in CONTRACTS:
        if contract["type"] == "forbidden":
            plant(copied, contract["source_modules"][0], contract["forbidden_modules"][0])
            continue
        (container,) = contract["containers"]
        lowest = modules(contract["layers"][-1])[-1]
        plant(copied, f"{container}.{lowest}", f"{container}.{modules(contract['layers'][0])[0]}")
    done = lint(copied)
    assert done.code != 0
    assert {name: f"{name} BROKEN" in done.text for name in map(itemgetter("name"), CONTRACTS)} == {
        contract["name"]: True for contract in CONTRACTS
    }


def test_a_module_in_no_layer_is_seen_in_every_package(copied: Path) -> None:
    packages = sorted(path.parent.name for path in (ROOT / "src").glob("*/__init__.py"))
    layered = {container for contract in CONTRACTS for container in contract.get("containers", ())}
    assert set(packages) <= layered
    assert all(contract["exhaustive"] for contract in CONTRACTS if contract["type"] == "layers")
    for container in layered:
        (copied / "src" / container.replace(".", "/") / "attic.py").write_text("")
    done = lint(copied)
    assert done.code != 0
    assert [container for container in layered if f"{container}.attic" not in done.text] == []


def test_files_import_each_other_in_no_circle_late_imports_included() -> None:
    packages = [path.parent.name for path in (ROOT / "src").glob("*/__init__.py")]
    graph = grimp.build_graph(*packages, cache_dir=None)
    above = {module: graph.find_upstream_modules(module) for module in graph.modules}
    circles = {
        frozenset({module, *(other for other in above[module] if module in above[other])})
        for module in graph.modules
    }
    assert {circle for circle in circles if len(circle) > 1} == set()


@pytest.mark.accept("S1")
def test_only_the_command_line_imports_click() -> None:
    offenders = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src/mngr").rglob("*.py")
        if "cli" not in path.relative_to(ROOT).parts and "import click" in path.read_text()
    ]
    assert offenders == []


def test_no_room_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "common", "helpers", "base", "misc"}
    found = {path.stem for path in (ROOT / "src/mngr").rglob("*.py")} & empty
    assert found == set()
