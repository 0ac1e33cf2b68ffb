"""`mngr tutorial blocks|gaps|check`, run for real."""

import os
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.e2e_kit.tutorial.desk import citing

TUTORIAL = """#!/usr/bin/env bash

## Basics

# see what there is
mngr --help

mngr create foo

# Managing snapshots
"""
HELP = citing("help", "# see what there is\nmngr --help", "mngr --help")
CREATE = citing("create", "mngr create foo", "mngr create bar")


@pytest.fixture
def repo(mngr: Mngr) -> Path:
    folder = mngr.world.repo
    (folder / "tutorial.sh").write_text(TUTORIAL)
    (folder / "tests" / "e2e").mkdir(parents=True)
    (folder / "tests" / "e2e" / "test_a.py").write_text(HELP + CREATE)
    return folder


@pytest.mark.accept("T6")
def test_blocks_prints_id_kind_lines_and_section(mngr: Mngr, repo: Path) -> None:
    records = mngr.ok("tutorial", "blocks", "--json").json["blocks"]
    assert [(one["kind"], one["section"], one["first_line"], one["last_line"]) for one in records] == [
        ("preamble", "", 1, 1),
        ("banner", "Basics", 3, 3),
        ("command", "Basics", 5, 6),
        ("command", "Basics", 8, 8),
        ("gap", "Basics", 10, 10),
    ]
    said = mngr.ok("tutorial", "blocks").stdout
    assert f"{records[2]['id']}  command   tutorial.sh:5-6  mngr --help" in said
    assert "[Basics]" in said


@pytest.mark.accept("Y15")
def test_blocks_shows_the_tests_of_each_block_and_how_they_last_ended(mngr: Mngr, repo: Path) -> None:
    artifact = repo / ".mngr/e2e/run-1/test-help/attempt-1"
    artifact.mkdir(parents=True)
    (artifact / "meta.json").write_text('{"node_id": "tests/e2e/test_a.py::test_help", "status": "failed"}')
    said = mngr.ok("tutorial", "blocks", "--tests").stdout
    assert "    failed    tests/e2e/test_a.py::test_help\n" in said
    assert "    not run   tests/e2e/test_a.py::test_create\n" in said
    records = mngr.ok("tutorial", "check", "--json").json["blocks"]
    assert records[2]["tests"] == [
        {"node_id": "tests/e2e/test_a.py::test_help", "line": 2, "status": "failed"}
    ]
    assert records[3]["tests"][0]["status"] is None


@pytest.mark.accept("A1")
def test_gaps_lists_them_and_fails_when_asked(mngr: Mngr, repo: Path) -> None:
    assert mngr.ok("tutorial", "gaps").stdout == "tutorial.sh:10: Managing snapshots\n"
    assert mngr("tutorial", "gaps", "--fail").code == 1
    assert [gap["comment"] for gap in mngr.ok("tutorial", "gaps", "--json").json["gaps"]] == [
        "Managing snapshots"
    ]
    (repo / "tutorial.sh").write_text("mngr list\n")
    assert mngr.ok("tutorial", "gaps", "--fail").stdout == ""


@pytest.mark.accept("A9", "T6")
def test_fifty_examples_and_some_gaps_are_a_place_to_start(mngr: Mngr, repo: Path) -> None:
    examples = [f"# example {number}\nmngr create agent-{number}" for number in range(50)]
    gaps = [f"# Managing {thing}" for thing in ("snapshots", "hosts", "labels")]
    (repo / "tutorial.sh").write_text("\n\n".join(["#!/bin/sh", *examples, *gaps]) + "\n")
    assert len(mngr.ok("tutorial", "gaps").stdout.splitlines()) == 3
    record = mngr("tutorial", "check", "--json").json
    assert len(record["uncovered"]) == 50


@pytest.mark.accept("Y5")
def test_check_is_green_when_all_is_cited_and_red_when_not(mngr: Mngr, repo: Path) -> None:
    assert mngr.ok("tutorial", "check").stdout == "ok: 2 of 2 command blocks cited by 2 tests, 1 gap\n"
    assert mngr.ok("tutorial", "check", "--json").json["passed"] is True
    (repo / "tests/e2e/test_a.py").write_text(HELP)
    done = mngr("tutorial", "check")
    assert done.code == 1
    assert "tutorial.sh:8: no test cites this block" in done.stdout
    assert "mngr create foo\n" in done.stdout
    record = mngr("tutorial", "check", "--json").json
    assert record["uncovered"] == [block["id"] for block in record["blocks"] if block["first_line"] == 8]


@pytest.mark.accept("Y6", "Y7")
def test_check_marks_the_character_in_which_a_citation_is_stale(mngr: Mngr, repo: Path) -> None:
    (repo / "tutorial.sh").write_text(TUTORIAL.replace("create foo", "create fob"))
    done = mngr("tutorial", "check")
    assert done.code == 1
    assert done.stdout.splitlines()[1:] == [
        "tests/e2e/test_a.py:9: test_create cites what is no block of tutorial.sh",
        f"    nearest: tutorial.sh:8 ({mngr('tutorial', 'check', '--json').json['uncovered'][0]}); line 8:",
        "    tutorial  mngr create fob",
        "    citation  mngr create foo",
        "                            ^",
        "FAILED: 1 of 2 command blocks cited by 2 tests, 1 stale citation, 1 gap",
    ]


@pytest.mark.accept("Y14", "T7")
def test_warnings_fail_only_a_strict_check(mngr: Mngr, repo: Path) -> None:
    (repo / "tests/e2e/test_a.py").write_text(HELP + CREATE.replace("create bar", "create --help"))
    done = mngr.ok("tutorial", "check")
    assert "warning: tests/e2e/test_a.py:9: test_create runs only --help" in done.stdout
    assert mngr("tutorial", "check", "--strict").code == 1
    (repo / "tests/e2e/test_a.py").write_text(HELP + CREATE)
    assert mngr("tutorial", "check", "--strict").code == 0
    (repo / "tutorial.sh").write_text(f"{TUTORIAL}\nmngr create foo\n")
    assert "the same block at lines 8, 12: mngr create foo" in mngr.ok("tutorial", "check").stdout
    assert mngr("tutorial", "check", "--strict").code == 1


def test_paths_come_from_arguments_then_config_then_habit(mngr: Mngr, repo: Path) -> None:
    (repo / "docs").mkdir()
    (repo / "docs/guide.sh").write_text("mngr list\n")
    (repo / "checks").mkdir()
    (repo / "checks/test_l.py").write_text(citing("list", "mngr list", "mngr list"))
    assert mngr.ok("tutorial", "check", "docs/guide.sh", "checks").code == 0
    (repo / ".mngr").mkdir()
    (repo / ".mngr/settings.toml").write_text('[tutorial]\ntutorial = "docs/guide.sh"\ntests = ["checks"]\n')
    assert mngr.ok("tutorial", "check", "--json").json["tutorial"] == "docs/guide.sh"
    assert mngr("tutorial", "check", "--json", cwd=repo / "docs").json["tutorial"] == "guide.sh"
    assert mngr.ok("-S", "tutorial.tutorial=tutorial.sh", "tutorial", "gaps").stdout.startswith(
        "tutorial.sh:10"
    )


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('tuturial = "x"', 'did you mean "tutorial.tutorial"?'),
        ("tests = 1", "tutorial.tests a path or a list of paths"),
    ],
)
def test_a_wrong_key_is_named(mngr: Mngr, repo: Path, config: str, said: str) -> None:
    mngr.world.host_dir.mkdir()
    (mngr.world.host_dir / "config.toml").write_text(f"[tutorial]\n{config}\n")
    done = mngr("tutorial", "check")
    assert (done.code, said in done.stderr) == (2, True), done


def test_a_key_of_the_repository_that_nobody_trusted_is_named(mngr: Mngr, repo: Path) -> None:
    (repo / ".mngr").mkdir()
    (repo / ".mngr/settings.toml").write_text('[tutorial]\nagent = "x"\n')
    assert "mngr config trust" in mngr.ok("tutorial", "check").stderr


@pytest.mark.parametrize("words", [("nope.sh",), ("tutorial.sh", "nope"), ("tests",)])
@pytest.mark.parametrize("verb", ["check", "blocks"])
def test_a_missing_file_is_a_usage_error_with_a_hint(
    mngr: Mngr, repo: Path, verb: str, words: tuple[str]
) -> None:
    done = mngr("tutorial", verb, *words)
    assert (done.code, done.stdout) == (2, "")
    assert f"cannot read the {'tests' if words[-1] == 'nope' else 'tutorial'}" in done.stderr
    assert "hint: name both" in done.stderr


def test_hostile_names_and_text_reach_the_terminal_escaped(mngr: Mngr, repo: Path) -> None:
    (repo / "tutorial.sh").write_bytes(b"echo \x1b[31m\xff\n")
    (repo / "tests/e2e/test_a.py").write_text(citing("x", "echo \x1b[32m"))
    for verb in ("blocks", "check"):
        assert "\x1b" not in mngr("tutorial", verb).stdout
        assert mngr("tutorial", verb, "--json").json["blocks"][0]["lines"] == ["echo \x1b[31m\\xff"]


def test_help_shows_the_command_and_imports_nothing_of_it(mngr: Mngr, repo: Path) -> None:
    assert "  tutorial    blocks, gaps, check" in mngr.ok("--help").stdout
    assert mngr.ok("tutorial").stdout == mngr.ok("tutorial", "--help").stdout


ROWS = """#!/bin/sh
case $1 in
add) printf 'Usage: rows add [OPTIONS] TEXT\\n\\nOptions:\\n  --tag TEXT\\n' ;;
--help) printf 'Usage: rows [OPTIONS] COMMAND [ARGS]...\\n\\nCommands:\\n  add  Write\\n  list  Read\\n' ;;
list) exit 3 ;;
*) echo "Error: No such command '$1'." >&2; exit 2 ;;
esac
"""


@pytest.mark.accept("Y11")
def test_check_notices_what_the_program_no_longer_has(mngr: Mngr, repo: Path, tmp_path: Path) -> None:
    """Only `draft` did. What nothing tells of, such as the options of `list` here, is not judged."""
    lines = [
        "rows add x --tag a",
        "rows add x --colour red",
        "rows list --all",
        "rows remove x",
        "seldom --not-ours",
    ]
    (repo / "tutorial.sh").write_text("\n\n".join(lines) + "\n")
    (repo / "tests/e2e/test_a.py").write_text(
        "".join(citing(f"t{number}", line, line) for number, line in enumerate(lines))
    )
    unknown = mngr.ok("tutorial", "check", "--strict", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    assert "warning" not in unknown.stdout
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/rows").write_text(ROWS)
    (tmp_path / "bin/rows").chmod(0o755)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    checked = mngr.ok("tutorial", "check", PATH=path)
    assert [line for line in checked.stdout.splitlines() if line.startswith("warning")] == [
        "warning: tutorial.sh:3: rows add has no option --colour; see: rows add --help",
        'warning: tutorial.sh:7: rows has no command "remove"; see: rows --help',
    ]
    assert mngr("tutorial", "check", "--strict", PATH=path).code == 1
    assert len(mngr("tutorial", "check", "--json", PATH=path).json["outdated"]) == 2
    (repo / "docs/reference").mkdir(parents=True)
    page = (
        "```\nrows add [OPTIONS] TEXT\n```\n--tag --colour\n```\nrows list\n```\n```\nrows remove NAME\n```\n"
    )
    (repo / "docs/reference/rows.md").write_text(page)
    assert "warning" not in mngr.ok("tutorial", "check", PATH=path).stdout
