"""Seeded changes of a project: an operator, a number, a word, a line, a file, a mode."""

import random
import re
from collections.abc import Callable
from pathlib import Path

_OPERATORS = (("+", "-"), ("==", "!="), ("<", ">="), (" and ", " or "), ("True", "False"), ("not ", ""))
_SKIPPED_NAMES = (".git", "__pycache__")


def files_of(repo: Path) -> list[Path]:
    paths = (path for path in sorted(repo.rglob("*")) if path.is_file())
    return [path for path in paths if not set(_SKIPPED_NAMES) & set(path.relative_to(repo).parts)]


def mutate(repo: Path, rng: random.Random) -> str:
    """Changes one thing in the checkout, and says what; a change that alters nothing is tried again elsewhere."""
    while True:
        path = rng.choice(files_of(repo))
        kind = rng.choice(_KINDS)
        if kind(path, rng):
            return f"{kind.__name__.strip('_')} {path.relative_to(repo)}"


def _edit(path: Path, change: Callable[[str], str]) -> bool:
    before = path.read_text()
    after = change(before)
    if after != before:
        path.write_text(after)
    return after != before


def _operator(path: Path, rng: random.Random) -> bool:
    old, new = rng.choice(_OPERATORS)
    places = [found.start() for found in re.finditer(re.escape(old), path.read_text())]
    at = rng.choice(places) if places else -1
    return at >= 0 and _edit(path, lambda text: text[:at] + new + text[at + len(old) :])


def _number(path: Path, rng: random.Random) -> bool:
    places = list(re.finditer(r"\d+", path.read_text()))
    if not places:
        return False
    at = rng.choice(places)
    return _edit(path, lambda text: text[: at.start()] + str(int(at[0]) + 1) + text[at.end() :])


def _word(path: Path, rng: random.Random) -> bool:
    places = list(re.finditer(r"[A-Za-z_]{3,}", path.read_text()))
    if not places:
        return False
    at = rng.choice(places)
    return _edit(path, lambda text: text[: at.start()] + at[0][::-1] + text[at.end() :])


def _no_line(path: Path, rng: random.Random) -> bool:
    lines = path.read_text().splitlines(keepends=True)
    if not lines:
        return False
    del lines[rng.randrange(len(lines))]
    return _edit(path, lambda _: "".join(lines))


def _empty(path: Path, _: random.Random) -> bool:
    return _edit(path, lambda _: "")


def _gone(path: Path, _: random.Random) -> bool:
    path.unlink()
    return True


def _renamed(path: Path, rng: random.Random) -> bool:
    path.rename(path.with_name(f"{path.stem}_{rng.randrange(1000)}{path.suffix}"))
    return True


def _beside(path: Path, rng: random.Random) -> bool:
    """A new file in the same folder, with a name that a program may look for."""
    name = rng.choice(
        ("json.py", "conftest.py", "pytest.ini", "new.txt", "test_new.py", "NEW.md", "late_1.py")
    )
    new = path.with_name(name)
    if new.exists():
        return False
    new.write_text({"pytest.ini": "[pytest]\naddopts = -x\n"}.get(name, "raise RuntimeError\n"))
    return True


def _mode(path: Path, _: random.Random) -> bool:
    path.chmod(path.stat().st_mode ^ 0o111)
    return True


_KINDS = (
    _operator,
    _operator,
    _number,
    _number,
    _word,
    _word,
    _no_line,
    _no_line,
    _empty,
    _gone,
    _renamed,
    _beside,
    _mode,
)
