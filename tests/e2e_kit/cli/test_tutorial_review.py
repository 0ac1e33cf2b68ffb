"""`mngr tutorial review`, on a terminal and without one."""

from pathlib import Path

import pytest
from tests.cli.command import Mngr

TEXT = """#!/bin/sh

echo start

# Greeting
# draft: unreviewed
echo hello

# draft: unreviewed
# again
echo --loud hello

# Parting
# draft: unreviewed
echo goodbye | nosuchprogram-x
"""
AGAIN = "# again\necho --loud hello"


@pytest.fixture
def tutorial(mngr: Mngr) -> Path:
    path = mngr.world.repo / "tutorial.sh"
    path.write_text(TEXT)
    return path


def ids(mngr: Mngr) -> list[str]:
    return [draft["id"] for draft in mngr.ok("tutorial", "review", "--json").json["drafts"]]


@pytest.mark.accept("A5", "A8")
def test_list_shows_each_draft_with_its_findings(mngr: Mngr, tutorial: Path) -> None:
    said = mngr.ok("tutorial", "review", "--list").stdout
    assert said == mngr.ok("tutorial", "review").stdout
    assert "    # Greeting\n    echo hello\n" in said
    assert "    echo goodbye | nosuchprogram-x\n  ! no program nosuchprogram-x is installed here\n" in said
    assert "unreviewed" not in said
    drafts = mngr.ok("tutorial", "review", "--json").json["drafts"]
    assert [len(draft["findings"]) for draft in drafts] == [0, 0, 1]
    assert drafts[1]["text"] == AGAIN


@pytest.mark.accept("A5", "A7")
def test_drafts_are_kept_and_rejected_by_option(mngr: Mngr, tutorial: Path) -> None:
    first, second, third = ids(mngr)
    done = mngr.ok(
        "tutorial",
        "review",
        "--keep",
        first,
        "--reject",
        second,
        "--reject",
        third,
        "--reason",
        "too loud",
        "--json",
    )
    assert done.json["kept"] == [first]
    assert done.json["left"] == []
    assert tutorial.read_text() == "#!/bin/sh\n\necho start\n\n# Greeting\necho hello\n\n# Parting\n"
    groups = mngr.ok("tutorial", "signals", "--json").json["signals"]
    assert [(group["kind"], group["command"], group["what"], group["count"]) for group in groups] == [
        ("rejected", "echo", "too loud", 1),
        ("rejected", "nosuchprogram-x", "too loud", 1),
    ]
    assert groups[0]["texts"] == [AGAIN]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--reject", "all"), "why are they rejected?"),
        (("--keep", "b0000000000"), 'no draft "b0000000000"'),
        (("--keep", "all", "--reject", "all", "--reason", "x"), "both kept and rejected"),
    ],
)
def test_what_cannot_be_meant_changes_nothing(
    mngr: Mngr, tutorial: Path, words: tuple[str, ...], said: str
) -> None:
    done = mngr("tutorial", "review", *words)
    assert (done.code, said in done.stderr) == (2, True), done
    assert tutorial.read_text() == TEXT


@pytest.mark.accept("A5", "A7")
def test_on_a_terminal_one_key_decides_a_draft(mngr: Mngr, tutorial: Path) -> None:
    screen = mngr.terminal("tutorial", "review")
    screen.wait_for("1 of 3  tutorial.sh:5")
    screen.wait_for("[k]eep")
    screen.type("k")
    screen.wait_for("1 of 2  tutorial.sh:8")
    screen.type("r")
    screen.wait_for("why")
    screen.type("\r")
    screen.wait_for("a reason is needed")
    screen.type("r")
    screen.type("nobody does this\r")
    screen.wait_for("1 of 1  tutorial.sh:8")
    screen.type("x")
    screen.type("s")
    assert screen.end() == 0
    assert "1 left" in screen.shown
    assert tutorial.read_text() == TEXT.replace("# Greeting\n# draft: unreviewed", "# Greeting").replace(
        f"\n# draft: unreviewed\n{AGAIN}\n", ""
    )
    assert "nobody does this" in mngr.ok("tutorial", "signals").stdout


@pytest.mark.accept("A5")
def test_a_draft_is_edited_in_the_persons_editor(mngr: Mngr, tutorial: Path) -> None:
    editor = mngr.world.folder / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/hello/good morning/" "$1"\n')
    editor.chmod(0o755)
    broken = mngr.world.folder / "broken"
    broken.write_text('#!/bin/sh\necho "echo (" > "$1"\n')
    broken.chmod(0o755)
    screen = mngr.terminal("tutorial", "review", EDITOR=str(broken))
    screen.wait_for("uit?")
    screen.type("e")
    screen.wait_for("this cannot stand in a tutorial")
    screen.type("q")
    assert screen.end() == 0
    assert tutorial.read_text() == TEXT
    screen = mngr.terminal("tutorial", "review", EDITOR=str(editor))
    screen.wait_for("uit?")
    screen.type("e")
    screen.wait_for("1 of 2")
    screen.type("q")
    assert screen.end() == 0
    assert tutorial.read_text() == TEXT.replace("# draft: unreviewed\necho hello", "echo good morning", 1)


@pytest.mark.accept("A5")
def test_a_hostile_draft_cannot_move_the_terminal(mngr: Mngr, tutorial: Path) -> None:
    tutorial.write_bytes(b"# Gap\n# draft: unreviewed\necho \x1b]0;owned\x07\x1b[2J \xe2\x80\xae\xff\n")
    screen = mngr.terminal("tutorial", "review")
    screen.wait_for("uit?")
    screen.type("q")
    assert screen.end() == 0
    assert "\x1b]0;" not in screen.shown
    assert "\x1b[2J" not in screen.shown
    assert "\\x1b]0;owned\\x07\\x1b[2J \\u202e\\xff" in screen.shown
    assert "\x1b" not in mngr.ok("tutorial", "review", "--list").stdout


def test_without_drafts_there_is_nothing_to_do(mngr: Mngr, tutorial: Path) -> None:
    tutorial.write_text("echo start\n")
    assert mngr.ok("tutorial", "review").stdout == "no drafts to review\n"
    assert mngr("tutorial", "review", "nope.sh").code == 2


def test_keys_typed_ahead_are_not_lost_and_control_c_ends_it(mngr: Mngr, tutorial: Path) -> None:
    screen = mngr.terminal("tutorial", "review")
    screen.wait_for("uit?")
    screen.type("kkk")
    assert screen.end() == 0
    assert "draft" not in tutorial.read_text()
    tutorial.write_text(TEXT)
    screen = mngr.terminal("tutorial", "review")
    screen.wait_for("uit?")
    screen.type("\x03")
    assert screen.end() == 130
    assert tutorial.read_text() == TEXT
