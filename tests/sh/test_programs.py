"""Shell programs are files that parse in every shell, with exit codes from one table."""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mngr import process
from mngr.sh.codes import NUMBERS, Exit
from mngr.sh.program import assignments, encode, load, program

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
PROGRAMS = sorted(file for file in (SRC / "mngr").rglob("*.sh"))
_SHELL = re.compile(
    r"(?:^|[;{ ])(?:then|else|fi|done|esac|do)(?:[ ;]|$)"
    r"|\$[{(A-Za-z_0-9@?!#$*]"
    r"|^ *(?:exit|export|trap|set|cd|mkdir|printf|echo|rm|mv|exec|until|while|for|if|case) "
    r"|\|\||&&|\[ -|[0-9]?>&[0-9]"
)


def long_shell_strings(source: str) -> Iterator[int]:
    """Lines of string expressions outside docstrings with at least 5 lines, of which most look like shell."""
    tree = ast.parse(source)
    expressions = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in inner or id(node) in expressions:
            continue
        text = _text(node)
        if text is None or not isinstance(node, ast.expr):
            continue
        inner |= {id(child) for child in ast.walk(node)}
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) >= 5 and 2 * sum(bool(_SHELL.search(line)) for line in lines) >= len(lines):
            yield node.lineno


def _text(node: ast.AST) -> str | None:
    """The text of a string expression, joined ones included; a value inside it is a word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value) or "value" for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return None if left is None and right is None else (left or "value") + (right or "value")
    return None


@pytest.mark.accept("H3")
def test_no_shell_program_is_a_string_in_python() -> None:
    found: dict[str, int] = {}
    for file in sorted(SRC.rglob("*.py")):
        count = len(list(long_shell_strings(file.read_text())))
        if count:
            found[str(file.relative_to(SRC))] = count
    assert found == {}


@pytest.mark.accept("H3")
def test_a_shell_program_in_python_is_found() -> None:
    lines = ['if [ -e "$1" ]; then', "  echo there", "else", "  exit 7", "fi"]
    for quoted in (f"'''{chr(10).join(lines)}'''", " ".join(repr(f"{line}\n") for line in lines)):
        assert list(long_shell_strings(f"x = 1\ny = {quoted}")) == [2]
    assert list(long_shell_strings("a = " + " + ".join(repr(f"{line}\n") for line in lines))) == [1]
    assert list(long_shell_strings(f"a = {chr(10).join(lines[:4])!r}")) == []
    assert list(long_shell_strings("def f():\n    '''" + "\n".join(lines) + "'''")) == []


def test_programs_parse_in_every_shell_as_they_are_sent() -> None:
    assert PROGRAMS
    for shell in (["dash"], ["busybox", "sh"], ["bash", "--posix"]):
        assert shutil.which(shell[0]), f"{shell[0]} is missing: make setup"
        for file in PROGRAMS:
            text = load(str(file.with_suffix("")))
            done = process.run([*shell, "-n"], stdin=text.encode())
            assert (done.code, done.stderr) == (0, b""), f"{shell} {file}"


@pytest.mark.accept("H3")
def test_shell_files_are_clean() -> None:
    done = process.run([str(ROOT / "tools/lint-shell")], timeout_s=120)
    assert done.code == 0, done.text + done.complaint


def test_exit_codes_are_named_in_one_table() -> None:
    texts = "".join(file.read_text() for file in SRC.rglob("*.sh"))
    python = "".join(file.read_text() for file in SRC.rglob("*.py"))
    python = re.sub(r"(exit|at=) ?\{Exit\.([A-Z_]+)\}", r"$EXIT_\2", python)
    numbers = list(NUMBERS.values())
    assert len(numbers) == len(set(numbers))
    assert set(re.findall(r"\$EXIT_([A-Z_]+)", texts)) <= NUMBERS.keys(), "a name that has no number"
    assert {name for name in NUMBERS if f"$EXIT_{name}" not in texts + python} == set(), "never used"
    # 130 is what every shell ends with after Ctrl-C.
    bare = re.findall(r"\bexit (?!130\b)(?:[2-9]|1[0-9])[0-9]*\b.*", texts)
    assert bare == [], "a code that the table does not have"


def test_each_exit_code_says_what_it_means() -> None:
    tree = ast.parse((SRC / "mngr/sh/codes.py").read_text())
    (table,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    pairs = list(zip(table.body[1::2], table.body[2::2], strict=True))
    assert len(pairs) == len(NUMBERS)
    for assigned, meaning in pairs:
        assert isinstance(assigned, ast.Assign)
        assert isinstance(meaning, ast.Expr)


def test_a_program_is_sent_with_its_libraries_and_without_comments() -> None:
    text = load("sh/probe")
    assert text.count("mngr_look() {") == 1
    assert text.index("mngr_look() {") < text.index('mngr_look "$1"')
    assert not [line for line in text.splitlines() if not line or line[0] in "# "]


def test_values_reach_a_program_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "show.sh").write_text('# prints\n# uses: look\n  printf %s "$THE_VALUE"\nexit $EXIT_IDLE\n')
    value = "a'b\"c$(exit 3)`d`\\\n;\udcff"
    for shell in (["dash"], ["busybox", "sh"], ["bash", "--posix"]):
        done = process.run(shell, stdin=encode(program(str(tmp_path / "show"), the_value=value)))
        assert (done.code, done.stdout) == (Exit.IDLE, encode(value))
    assert assignments(a=1) == "A='1'\n"


def test_every_shell_file_is_in_the_wheel() -> None:
    """Hatchling ships each file of a package that git does not ignore."""
    ignored = process.run(["git", "check-ignore", *map(str, PROGRAMS)], cwd=str(ROOT))
    assert ignored.stdout == b""
