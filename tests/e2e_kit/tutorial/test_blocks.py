"""Where a tutorial's blocks begin and end, what kind each is, and that nothing of the file is lost."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_e2e.tutorial.blocks import Block, block_id, read_blocks
from mngr_e2e.tutorial.syntax import syntax_problem

SIGNS = st.sampled_from(
    [
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "\t",
        "#",
        "##",
        "---",
        "# note:",
        "<<EOF",
        "<<-'E F'",
        "EOF",
        "E F",
        "<<",
        "\\",
    ]
    + ['"', "'", "$(", "$((", ")", "mngr list", "#!", "set -e", "\ufeff", "\x0c", "\u2028", "é"]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(SIGNS, max_size=40).map("".join))

WHOLE = """#!/usr/bin/env bash
set -euo pipefail

##########
# Basics #
##########

# see what there is
mngr --help


# Managing snapshots

# note: the next part needs a network

## Later
   \t
mngr create foo \\
  --type command
mngr list | grep foo  # there it is
"""


def kinds(text: str) -> list[str]:
    return [block.kind for block in read_blocks(text)]


def one(text: str) -> Block:
    (block,) = read_blocks(text)
    return block


@pytest.mark.accept("T2", "T4", "T6", "A1")
def test_every_kind_of_block_is_told_apart() -> None:
    blocks = read_blocks(WHOLE)
    assert [(block.kind, block.section, block.first_line, block.last_line) for block in blocks] == [
        ("preamble", "", 1, 2),
        ("banner", "Basics", 4, 6),
        ("command", "Basics", 8, 9),
        ("gap", "Basics", 12, 12),
        ("note", "Basics", 14, 14),
        ("banner", "Later", 16, 16),
        ("command", "Later", 18, 20),
    ]


@pytest.mark.accept("T3")
def test_comments_belong_to_the_block_and_commands_are_joined() -> None:
    block = read_blocks(WHOLE)[2]
    assert (block.comment, block.commands) == ("see what there is", ("mngr --help",))
    assert block.text == "# see what there is\nmngr --help"
    assert read_blocks(WHOLE)[6].commands == (
        "mngr create foo --type command",
        "mngr list | grep foo  # there it is",
    )


@pytest.mark.accept("T6")
@pytest.mark.parametrize(
    "banner", ["###", "# ===\n# A\n# ===", "# A\n# ---", "## A", "# --- A ---", "# A\n#####"]
)
def test_a_rule_or_two_signs_make_a_banner(banner: str) -> None:
    assert kinds(banner) == ["banner"]


@pytest.mark.parametrize("gap", ["# A", "#A", "# --force removes it", "# a == b", "# see note: below"])
def test_any_other_comment_is_a_gap(gap: str) -> None:
    assert kinds(gap) == ["gap"]


@pytest.mark.accept("T4")
def test_shell_options_before_all_else_are_preamble() -> None:
    assert kinds("#!/bin/bash\n\nset -e\nshopt -s nullglob\n\nmngr list\n\nset -x") == [
        "preamble",
        "preamble",
        "command",
        "command",
    ]


@pytest.mark.accept("T5")
def test_carriage_returns_and_blank_looking_lines_make_no_difference() -> None:
    plain = "# a\nmngr list\n\n\nmngr --help\n"
    assert read_blocks(plain.replace("\n", "\r\n")) == read_blocks(plain)
    assert read_blocks("\ufeff" + plain.replace("\n\n", "\n \t\n")) == read_blocks(plain)


@pytest.mark.accept("T5")
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("cat <<EOF", "EOF"),
        ("cat <<'EOF' > x", "EOF"),
        ('cat > x << "E F"', "E F"),
        ("cat <<-EOF", "\t\tEOF"),
        ("cat <<\\EOF", "EOF"),
        ("cat <<A - <<EOF", "A\n\nEOF"),
        ("mngr create \\\n  -m x <<EOF", "EOF"),
        ("x=$(cat <<EOF", "EOF\n)"),
    ],
)
def test_a_heredoc_with_an_empty_line_stays_whole(start: str, end: str) -> None:
    block = one(f"# c\n{start}\none\n\n# two\n{end}")
    assert (block.kind, block.problem, len(block.commands)) == ("command", "", 1)
    assert block.comment == "c"


@pytest.mark.accept("T5")
def test_an_unclosed_heredoc_is_reported_and_swallows_nothing() -> None:
    first, second, last = read_blocks("cat <<EOF\none\n\ntwo\n\nmngr list")
    assert first.problem == 'line 1: the heredoc "EOF" has no end'
    assert (second.commands, last.commands) == (("two",), ("mngr list",))


@pytest.mark.accept("T5")
def test_an_empty_line_inside_quotes_is_reported() -> None:
    first = read_blocks('mngr message foo -m "one\n\ntwo"')[0]
    assert first.problem == "line 1: a quote is still open where this block ends"


@pytest.mark.parametrize(
    "command",
    [
        'echo "a << b"',
        "echo $((1 << 2))",
        "cat <<< word",
        "echo it\\'s",
        "echo x # don't <<EOF",
        'echo "$(printf "%s" "it\'s")"',
        "echo $'it\\'s'",
        "echo ${#x} $#",
        "f() { echo; }",
    ],
)
def test_what_only_looks_like_a_heredoc_or_a_quote_is_neither(command: str) -> None:
    first, second = read_blocks(f"{command}\n\nEOF")
    assert (first.commands, first.problem, second.commands) == ((command,), "", ("EOF",))


def test_a_quote_over_several_lines_is_one_command_and_no_comment() -> None:
    block = one("mngr message foo -m 'one\n# two\nthree'")
    assert (block.commands, block.comment) == (("mngr message foo -m 'one\n# two\nthree'",), "")


@pytest.mark.accept("T7")
def test_editing_a_block_changes_its_id_and_no_other() -> None:
    before = [block.id for block in read_blocks(WHOLE)]
    after = [block.id for block in read_blocks("\n\n" + WHOLE.replace("mngr --help", "mngr  --help"))]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, False, *[True] * 4]


def test_an_id_does_not_depend_on_indentation() -> None:
    assert block_id("\n    # a\n      b\n    ") == block_id("# a\n  b") != block_id("# a\nb")


@pytest.mark.accept("T1")
def test_bash_names_the_line_that_is_not_shell() -> None:
    assert syntax_problem(WHOLE) == ""
    assert syntax_problem("if true; then\r\necho\r\nfi\r\n") == ""
    assert syntax_problem("echo\n\nif fi\n").startswith("line 3: syntax error")


@pytest.mark.accept("T1")
def test_asking_bash_runs_nothing(tmp_path: Path) -> None:
    assert syntax_problem(f"touch '{tmp_path}/ran'\n$(touch '{tmp_path}/ran')") == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.accept("Q7", "T2")
@given(TEXTS)
def test_whatever_the_text_its_lines_are_all_there(text: str) -> None:
    blocks = read_blocks(text)
    lines = [line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")]
    assert [line for block in blocks for line in block.lines if line.strip()] == [
        line for line in lines if line.strip()
    ]
    for block in blocks:
        assert tuple(lines[block.first_line - 1 : block.last_line]) == block.lines
        assert block.lines[0].strip()
        assert block.title is not None
