"""Tests and their citations are found by reading source, whatever the source holds."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_e2e.tutorial.citations import Case, TestSources, load_tests, read_tests
from mngr_e2e.tutorial.literals import HOLE

WORDS = st.sampled_from(
    [
        "def test_a(e2e):\n",
        "async def test_b(e2e):\n",
        "class TestC:\n",
        " ",
        "    ",
        "\n",
        "e2e.",
        "run",
        "(",
        ")",
    ]
    + [
        "write_tutorial_block",
        '"""',
        "'",
        '"x"',
        "f'{x}'",
        "Tutorial block:",
        "Scope:",
        "\\",
        "\0",
        "if x:",
        "+",
    ]
)
SOURCES = st.one_of(
    st.binary(max_size=200),
    st.lists(WORDS, max_size=30).map(lambda words: "".join(words).encode()),
    st.text(max_size=100).map(lambda text: b"# coding: " + text.encode(errors="replace")),
)


def read(source: str) -> TestSources:
    return read_tests(dedent(source), "t.py")


def only(source: str) -> Case:
    found = read(source)
    assert found.unreadable == ()
    (case,) = found.cases
    return case


def texts(source: str) -> list[str]:
    return [citation.text for citation in only(source).citations]


@pytest.mark.accept("Y8")
def test_functions_methods_async_and_nested_classes_are_seen() -> None:
    found = read("""
        def test_a(e2e): e2e.write_tutorial_block("a")
        async def test_b(e2e): e2e.write_tutorial_block("b")
        class TestC:
            def test_d(self, e2e): e2e.write_tutorial_block("d")
            class TestE:
                async def test_f(self, session): session.write_tutorial_block("f")
        class Flows(unittest.TestCase):
            def test_g(self): self.e2e.write_tutorial_block("g")
        if True:
            try:
                def test_h(e2e): e2e.write_tutorial_block("h")
            finally:
                pass
    """)
    assert [(case.node_id, case.citations[0].text) for case in found.cases] == [
        ("t.py::test_a", "a"),
        ("t.py::test_b", "b"),
        ("t.py::TestC::test_d", "d"),
        ("t.py::TestC::TestE::test_f", "f"),
        ("t.py::Flows::test_g", "g"),
        ("t.py::test_h", "h"),
    ]


@pytest.mark.accept("Y8")
def test_a_citation_that_pytest_would_never_collect_covers_nothing_and_is_reported() -> None:
    found = read("""
        def cite(e2e): e2e.write_tutorial_block("a")
        class Tour:
            def test_b(self, e2e): e2e.write_tutorial_block("b")
    """)
    assert found.cases == ()
    assert [(one.line, "outside a test" in one.problem) for one in found.unreadable] == [(2, True), (4, True)]


@pytest.mark.accept("Y3", "Y8")
@pytest.mark.parametrize(
    "argument",
    [
        '"""\n            # a\n            b\n        """',
        '"# a\\n" "b"',
        '"# a\\n" + "b"',
        'textwrap.dedent("""\n            # a\n            b""")',
        'text="# a\\nb"',
    ],
)
def test_a_citation_may_be_written_in_several_ways(argument: str) -> None:
    assert texts(f"def test_a(e2e):\n    e2e.write_tutorial_block({argument})") == ["# a\nb"]


@pytest.mark.parametrize("argument", ["BLOCK", "f'{x}'", "", "1", "'a', 'b'", "'  '", "*x", "'a' % x"])
def test_a_citation_that_is_no_literal_is_reported(argument: str) -> None:
    found = read(f"def test_a(e2e):\n    e2e.write_tutorial_block({argument})")
    assert [one.line for one in found.unreadable] == [2]
    assert found.cases[0].citations == ()


@pytest.mark.accept("Y16")
def test_a_docstring_cites_between_its_two_marks() -> None:
    case = only('''
        def test_a(e2e):
            r"""Lists agents.

            Tutorial block:
                # see them
                mngr list \\
                  --json

            Scope: nobody is there.

            Tutorial block: mngr --help
            Scope: words
            """
    ''')
    assert [(one.line, one.text, one.form) for one in case.citations] == [
        (5, "# see them\nmngr list \\\n  --json", "docstring"),
        (12, "mngr --help", "docstring"),
    ]


@pytest.mark.accept("Y16")
def test_a_docstring_without_scope_is_reported() -> None:
    found = read('def test_a():\n    """Tutorial block:\n    mngr list\n    """')
    assert [(one.line, one.problem) for one in found.unreadable] == [
        (2, '"Tutorial block:" without a "Scope:" after it')
    ]


@pytest.mark.accept("Y14")
def test_runs_come_with_holes_and_from_the_files_own_helpers() -> None:
    case = only("""
        def make(e2e): e2e.run("mngr create a")
        @pytest.fixture
        def agent(e2e): make(e2e)
        def test_a(e2e, agent):
            e2e.run(f"mngr stop {name} -f", comment="x")
            e2e.run(command)
            subprocess.run(["mngr", "list", x])
    """)
    assert case.runs == (f"mngr stop {HOLE} -f", None, f"mngr list {HOLE}", "mngr create a")


@pytest.mark.accept("Y11")
def test_files_are_read_and_never_imported(tmp_path: Path) -> None:
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    (tmp_path / "deep" / "test_a.py").write_text("raise SystemExit(9)\ndef test_a(): pass\n")
    (tmp_path / "deep" / "b_test.py").write_text("def test_b(): pass\n")
    (tmp_path / "deep" / "helper.py").write_text("def test_no(): pass\n")
    (tmp_path / "deep" / ".hidden" / "test_c.py").write_text("def test_c(): pass\n")
    found = load_tests([str(tmp_path), str(tmp_path / "deep")])
    assert [case.node_id.rpartition("::")[2] for case in found.cases] == ["test_b", "test_a"]


@pytest.mark.parametrize(
    "source",
    [b"def test_a(:", b"\0", b"# coding: nonsense\n", b"\xff\xfe", b"(" * 500, b"x = " + b"-" * 20000 + b"1"],
)
def test_a_file_that_is_not_python_is_a_finding(source: bytes) -> None:
    found = read_tests(source, "t.py")
    assert [one.path for one in found.unreadable] == ["t.py"]


def test_odd_escapes_warn_nobody() -> None:
    assert texts('def test_a(e2e):\n    e2e.write_tutorial_block("a\\d")') == ["a\\d"]


@pytest.mark.accept("Q7")
@given(SOURCES)
def test_whatever_the_bytes_reading_ends_in_tests_or_findings(source: bytes) -> None:
    found = read_tests(source, "t.py")
    try:
        ast.parse(source)
    except Exception:
        assert found.unreadable


@pytest.mark.accept("Y3")
def test_a_constant_of_the_module_can_be_cited() -> None:
    source = """
    from textwrap import dedent
    BLOCK = '''
        # write
        jot add
    '''
    MORE: str = "# read\\n" + "jot list"
    def test_a(e2e):
        e2e.write_tutorial_block(BLOCK)
        e2e.write_tutorial_block(dedent(MORE))
    """
    assert texts(source) == ["# write\njot add", "# read\njot list"]


@pytest.mark.accept("Y6")
@pytest.mark.parametrize(
    "source",
    [
        "from blocks import BLOCK\n{test}",
        "BLOCK = 'a'\nBLOCK = 'b'\n{test}",
        "BLOCK = 'a'\nif x:\n    BLOCK = 'b'\n{test}",
        "BLOCK = make()\n{test}",
        "BLOCK = 'a'\nBLOCK += 'b'\n{test}",
        "BLOCK = 'a'\ndef test_a(e2e, BLOCK):\n    e2e.write_tutorial_block(BLOCK)\n",
        "BLOCK = 'a'\ndef test_a(e2e):\n    BLOCK = 'b'\n    e2e.write_tutorial_block(BLOCK)\n",
        "BLOCK = 'a'\ndef test_a(e2e):\n    for BLOCK in 'ab':\n        e2e.write_tutorial_block(BLOCK)\n",
    ],
)
def test_a_name_that_only_a_run_would_know_is_said_with_its_place(source: str) -> None:
    test = "def test_a(e2e):\n    e2e.write_tutorial_block(BLOCK)\n"
    text = source.format(test=test)
    (found,) = read(text).unreadable
    assert "e2e.write_tutorial_block(BLOCK)" in found.problem
    assert (found.path, "write_tutorial_block" in text.split("\n")[found.line - 1]) == ("t.py", True)
