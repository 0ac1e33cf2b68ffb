"""A tutorial and tests that cite it, written for one test."""

from pathlib import Path
from textwrap import indent

from mngr_e2e.tutorial.check import Report, check


class Desk:
    """A folder with `tutorial.sh` and `tests/e2e`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tutorial = folder / "tutorial.sh"
        self.tests = folder / "tests" / "e2e"
        self.tests.mkdir(parents=True)

    def write(self, tutorial: str, **files: str) -> "Desk":
        self.tutorial.write_text(tutorial)
        for name, source in files.items():
            (self.tests / f"{name}.py").write_text(source)
        return self

    def check(self) -> Report:
        return check(str(self.tutorial), [str(self.tests)])


def citing(name: str, block: str, run: str = "") -> str:
    """A test function that cites a block and runs a command."""
    body = f'e2e.write_tutorial_block(r"""\n{block}\n""")\ne2e.run({run!r})'
    return f"def test_{name}(e2e):\n{indent(body, '    ')}\n\n"
