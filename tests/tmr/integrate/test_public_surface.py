"""New commands, options and names are seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_tmr.integrate.evidence.public_surface import new_surface

OLD = "p.add_argument('--old')"
pytestmark = pytest.mark.accept("R18")


@pytest.mark.parametrize(
    ("path", "before", "after", "found"),
    [
        (
            "a.py",
            "p.add_argument('--old')",
            "p.add_argument('--old')\np.add_argument('--new', '-n')",
            {"option --new", "option -n"},
        ),
        ("a.py", "", "sub.add_parser('rename')", {"command rename"}),
        ("a.py", "", "@click.command()\ndef show(): pass", {"command show"}),
        (
            "a.py",
            "",
            "@cli.command('show-all')\n@click.option('--deep')\ndef show(): pass",
            {"command show-all", "option --deep"},
        ),
        ("a.py", "", "@click.argument('name')\ndef show(name): pass", {"argument name"}),
        (
            "pkg/__init__.py",
            "",
            "from pkg.a import b, _c\ndef d(): pass\n__all__ = ['e']",
            {"name b", "name d", "name e"},
        ),
        ("pkg/a.py", "", "def d(): pass", set()),
        ("pyproject.toml", "[project]\n", "[project.scripts]\napp = 'app:main'\n", {"command app"}),
        ("tool.sh", "case $1 in --old) ;; esac", "case $1 in --old|--new) ;; esac", {"option --new"}),
        ("notes.txt", "", "--new", set()),
        ("a.py", OLD, "", set()),
    ],
)
def test_what_is_offered_anew_is_named(path: str, before: str, after: str, found: set[str]) -> None:
    assert set(new_surface(path, before.encode(), after.encode())) == found


@given(st.sampled_from(["a.py", "pyproject.toml", "x/__init__.py", "a.sh"]), st.binary())
def test_any_bytes_can_be_looked_at(path: str, data: bytes) -> None:
    new_surface(path, b"", data)
