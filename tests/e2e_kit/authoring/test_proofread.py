"""Commands and options that a program does not have are found, whatever prints its help."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.e2e_kit.authoring.project import Project

from mngr_e2e.authoring.interface.help_pages import read_help
from mngr_e2e.authoring.interface.programs import Programs, read_reference
from mngr_e2e.authoring.interface.proofread import Proof, Proofreader, program_under_test
from mngr_e2e.tutorial.blocks import read_blocks

ROOT = Path(__file__).parents[3]
CLICK = """Usage: tool [OPTIONS] COMMAND [ARGS]...

Options:
  -v, --verbose          Say more, see the other things.
  --[no-]colour          Colours.
  -o, --output FILE      Where to.
  --help                 Show this message and exit.

Commands:
  add     Add one.
  remove  Remove one (also: rm, del).
"""
COBRA = """A tool

Usage:
  tool [command]

Available Commands:
  build       Make it
  help        Help about any command

Flags:
      --config string   where
  -h, --help            help for tool
"""
GIT = """usage: git [-v | --version] [-C <path>] <command> [<args>]

start a working area (see also: git help tutorial)
   clone     Clone a repository into a new directory

work on the current change
   mv        Move or rename a file
"""
CARGO = """Rust's package manager

\x1b[1mUsage:\x1b[0m cargo [OPTIONS] [COMMAND]

\x1b[1mCommands:\x1b[0m
    build, b    Compile
    test, t     Run the tests
    ...         See all commands
"""


def proof(project: Project, command: str, *, reference: str = "", program: str = "notes") -> Proof:
    reader = Proofreader(Programs(str(project.root), reference), [program], ["make-coffee"])
    return reader.read(read_blocks(command)[0], "t.sh:1")


def wrong(project: Project, command: str, **more: str) -> list[tuple[str, str]]:
    return [(finding.command, finding.what) for finding in proof(project, command, **more).findings]


@pytest.mark.parametrize(
    ("text", "commands", "options"),
    [
        (CLICK, {"add", "remove", "rm", "del"}, {"-v", "--colour", "--no-colour", "--output"}),
        (COBRA, {"build", "help"}, {"--config", "-h"}),
        (GIT, {"clone", "mv"}, {"-C", "--version"}),
        (CARGO, {"build", "b", "test", "t"}, set()),
        ("usage: x [-h] [--mode {fast,slow}] {one,two} ...\n", {"one", "two"}, {"--mode"}),
        (
            "usage: x [-h] VERB ...\n\npositional arguments:\n  VERB\n    one (o)  The first.\n    two      More.\n",
            {"one", "o", "two"},
            {"-h"},
        ),
        ("usage: cp [-R] source target\n", set(), {"-R"}),
    ],
)
def test_help_is_read_whoever_wrote_it(text: str, commands: set[str], options: set[str]) -> None:
    read = read_help(text)
    assert read.commands == commands
    assert options <= read.options


@pytest.mark.accept("A8")
@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("notes add x --tag milk", []),
        ("notes add x --tag=milk | head -n 3 > out.txt 2>&1", []),
        ("notes list -n 3 && notes list -n3 && notes list --tag --number", []),
        ("for tag in a b; do notes list --tag $tag; done", []),
        ('x=$(notes list --tag "$y") make-coffee --strong', []),
        ("notes add -- --not-an-option", []),
        ("echo hello && cd /tmp && ./own-script --any", []),
        ("notes list --search milk", [("notes list", "--search")]),
        ("notes ad x", [("notes", "ad")]),
        ("notes add x; notes find x | cat", [("notes", "find")]),
        ("notes list -x", [("notes list", "-x")]),
        ("ntoes list", [("ntoes", "no such program")]),
        ("notes list --tag a \\\n  --sort date", [("notes list", "--sort")]),
        ('notes add "x', [("notes add", "a quote is still open where this block ends")]),
    ],
)
def test_what_the_program_does_not_have_is_found(
    project: Project, command: str, found: list[tuple[str, str]]
) -> None:
    assert wrong(project, command) == found


@pytest.mark.accept("A8")
def test_a_near_word_is_offered(project: Project) -> None:
    assert proof(project, "notes ad x").findings[0].problem == 'notes has no command "ad"; did you mean add?'
    assert proof(project, "notes list --tags x").findings[0].problem.endswith("did you mean --tag?")


@pytest.mark.accept("A8")
def test_a_program_that_nobody_knows_is_said_to_be_unchecked(project: Project) -> None:
    found = proof(project, "frobnicate --hard", program="frobnicate")
    assert found == Proof(notes=("not checked: nothing tells what frobnicate can do",))


# As click-default-group does: a word that is no command is the first argument of the default one.
DEFAULTING = """#!/bin/sh
case $1 in
--help) printf 'Usage: rows [OPTIONS] COMMAND [ARGS]...\\n\\nCommands:\\n  query*  Run SQL\\n  tables  List\\n' ;;
tables) printf 'Usage: rows tables [OPTIONS] PATH\\n\\nOptions:\\n  --counts\\n' ;;
*) printf 'Usage: rows query [OPTIONS] PATH SQL\\n\\nOptions:\\n  --csv\\n' ;;
esac
"""
# Says the same whatever it is given, as many programs that are written by hand.
BY_HAND = """#!/bin/sh
printf 'usage: rows [--csv] [FILE]\\n       rows [--csv] <command>\\n\\nCommands:\\n  tables  List\\n'
"""


@pytest.mark.accept("A8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            DEFAULTING,
            {
                'rows dogs.db "select 1" --csv': [],
                'rows dogs "select 1" --csv': [],
                'rows dogs.db "select 1" --counts': [("rows", "--counts")],
                "rows tables dogs.db --csv": [("rows tables", "--csv")],
            },
        ),
        (BY_HAND, {"rows dogs.db": [], "rows tables": []}),
    ],
)
def test_a_word_that_the_program_takes_is_no_unknown_command(
    project: Project, text: str, expected: dict[str, list[tuple[str, str]]]
) -> None:
    """`sqlite-utils dogs.db "select …"` was refused, and counted as something that people get wrong."""
    tool = project.world.folder / "bin" / "rows"
    tool.write_text(text)
    tool.chmod(0o755)
    assert {command: wrong(project, command, program="rows") for command in expected} == expected
    page = project.world.folder / "rows.txt"
    page.write_text(subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout)
    tool.unlink()
    for command, found in expected.items():
        # Only what the page tells is known, which is no reason for a false alarm.
        assert set(wrong(project, command, reference=str(page), program="rows")) <= set(found)


@pytest.mark.accept("A8")
def test_a_program_that_never_answers_is_not_waited_for_twice(project: Project) -> None:
    tool = project.world.folder / "bin" / "mute"
    tool.write_text("#!/bin/sh\nexit 3\n")
    tool.chmod(0o755)
    assert "not checked" in proof(project, "mute --hard", program="mute").notes[0]


@pytest.mark.accept("A3", "A8")
@pytest.mark.parametrize("folder", ["docs/reference", "docs/man"])
def test_without_the_program_its_reference_tells(project: Project, folder: str) -> None:
    os.environ["PATH"] = os.defpath  # set by monkeypatch, and restored by it: mngr itself is not to be found
    reference = str(ROOT / folder)
    assert wrong(project, "mngr snapshot create foo x", reference=reference, program="mngr") == []
    assert wrong(project, "mngr ls", reference=reference, program="mngr") == []
    assert wrong(project, "mngr create foo --keep-branch", reference=reference, program="mngr") == [
        ("mngr create", "--keep-branch")
    ]
    assert wrong(project, "mngr snapshot make foo", reference=reference, program="mngr") == [
        ("mngr snapshot", "make")
    ]


def test_a_reference_is_read_by_its_usage_lines() -> None:
    pages = {"a.md": "```\ntool one [OPTIONS] NAME\n```\n--big", "b.1": "tool two <x>\n-s", "c": "tool uno"}
    read = read_reference("tool", pages)
    assert read["tool",].commands == {"one", "two", "uno"}
    assert read["tool", "one"].options == {"--big"}


def test_a_tutorial_is_about_what_it_calls_most() -> None:
    blocks = read_blocks(
        "cd x\ncd y\necho 1\n\n./notes add\n\nnotes list | grep x\n\n# draft: unreviewed\ngit a\ngit b"
    )
    assert program_under_test(blocks) == "notes"
    assert program_under_test(read_blocks("# nothing")) == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cd x\ncat y | notes add --tag y z", "notes add"),
        ("notes add milk", "notes add"),
        ("notes --help add", "notes"),
        ("git commit -m x", "git"),
        ("cd x", "cd"),
        ("# only words", "only words"),
    ],
)
def test_a_block_is_about_a_command_of_the_program(project: Project, text: str, name: str) -> None:
    reader = Proofreader(Programs(str(project.root)), ["notes"])
    assert reader.command_of(read_blocks(text)[0]) == name
