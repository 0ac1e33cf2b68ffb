"""The source's structure stays within limits (tools/structure) and its words are plain (tools/words)."""

import ast
import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
# Each may be lowered, never raised.
MOST_LATE_IMPORTS = 40
MOST_SHARED_CLASS_NAMES = 10
MOST_USED_ONCE = 0.45


def tool(name: str) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "tools" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


STRUCTURE, WORDS = tool("structure"), tool("words")
TREES = list(STRUCTURE.modules())


@pytest.mark.accept("H1")
def test_few_imports_of_our_own_modules_are_late() -> None:
    late = [(path, line) for path, tree in TREES for line in STRUCTURE.late_imports(tree)]
    assert len(late) <= MOST_LATE_IMPORTS, late


@pytest.mark.accept("H5")
def test_few_class_names_occur_in_more_than_one_file() -> None:
    assert len(STRUCTURE.class_names(TREES)) <= MOST_SHARED_CLASS_NAMES


def test_private_functions_that_are_used_once_do_not_increase() -> None:
    uses = [count for _, tree in TREES for count in STRUCTURE.private_functions(tree).values()]
    assert uses.count(1) / len(uses) <= MOST_USED_ONCE


def test_what_is_counted_is_seen() -> None:
    tree = ast.parse("def _a():\n    import mngr.cli\n    _b()\ndef _b(): pass\n_a(); _a()\nclass C: pass\n")
    assert STRUCTURE.late_imports(tree) == {2}
    assert STRUCTURE.private_functions(tree) == {"_a": 2, "_b": 1}
    assert STRUCTURE.class_names([(Path("x"), tree), (Path("y"), tree)]) == {"C": {Path("x"), Path("y")}}


@pytest.mark.accept("H5")
def test_words_are_plain() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools/words"], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0)


@pytest.mark.accept("H5")
@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("docs/x.md", "the command that mends it", "mends"),
        ("src/x.py", '"""What nobody owns."""', "nobody"),
        ("src/x.py", "def look(said): ...", "said"),
        ("src/x.py", 'KEY = "elsewhere"', ""),
    ],
)
def test_private_words_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, found: str
) -> None:
    monkeypatch.setattr(WORDS, "ROOT", tmp_path)
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(text)
    findings = list(WORDS.findings(tmp_path / file))
    assert [f'"{found}"' in line for line in findings] == [True] * bool(found)
