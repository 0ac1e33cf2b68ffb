"""Adding, listing, marking: what the tutorial shows, and what happens when it goes wrong."""

import pytest

from mngr_e2e import E2eSession, expect


def test_help_names_every_verb(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # see what jot can do
        jot --help
    """)
    result = e2e.run("jot --help", comment="see what jot can do")
    expect(result).to_succeed()
    for verb in "add list find done undo rm export mirror board".split():
        expect(result.stdout).to_match(rf"^ +{verb} ")


def test_add_says_the_number_and_keeps_the_note(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # add a note; its words need no quotes
        jot add buy milk
    """)
    result = e2e.run("jot add buy milk", comment="add a note; its words need no quotes")
    expect(result.stdout).to_equal("added 1: buy milk\n")
    expect(e2e.home / ".jot.json").to_contain("buy milk")


def test_add_without_words_is_a_wrong_call(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # add a note; its words need no quotes
        jot add buy milk
    """)
    result = e2e.run("jot add")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain("the following arguments are required: words")
    expect(e2e.home / ".jot.json").not_.to_exist()


def test_list_shows_what_is_to_do(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what is there to do?
        jot list
    """)
    expect(e2e.run("jot list").stdout).to_be_empty()
    e2e.run("jot add one && jot add two && jot done 1")
    result = e2e.run("jot list", comment="what is there to do?")
    expect(result.stdout).to_equal("  2 [ ] two\n")


def test_list_refuses_a_file_that_holds_no_notes(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what is there to do?
        jot list
    """)
    (e2e.home / ".jot.json").write_text("not mine")
    result = e2e.run("jot list")
    expect(result).to_have_exit_code(1)
    expect(result.stderr).to_match(r"^error: .*\.jot\.json holds no notes$")
    expect(result.stderr).to_contain("hint: move it away")


def test_done_takes_a_note_off_the_list(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a note is done by its number
        jot add water the plants
        jot done 1
    """)
    e2e.run("jot add water the plants", comment="a note is done by its number")
    expect(e2e.run("jot done 1").stdout).to_equal("done: water the plants\n")
    expect(e2e.run("jot list").stdout).to_be_empty()


def test_done_with_a_wrong_number_says_which_there_are(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a note is done by its number
        jot add water the plants
        jot done 1
    """)
    e2e.run("jot add water the plants")
    result = e2e.run("jot done 7")
    expect(result).to_fail()
    expect(result.stderr).to_equal("error: no note 7\nhint: numbers: 1\n")


def test_undo_brings_a_note_back(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # it was not done after all
        jot done 1
        jot undo 1
    """)
    e2e.run("jot add call home")
    e2e.run("jot done 1", comment="it was not done after all")
    expect(e2e.run("jot undo 1")).to_succeed()
    expect(e2e.run("jot list").stdout).to_contain("call home")


def test_list_all_shows_what_is_done_too(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what is done is still there
        jot list --all
    """)
    e2e.run("jot add one && jot add two && jot done 1")
    result = e2e.run("jot list --all", comment="what is done is still there")
    expect(result.stdout).to_contain_lines("  1 [x] one", "  2 [ ] two")


def test_rm_removes_one_note_and_numbers_stay(e2e: E2eSession) -> None:
    """Removing is permanent.

    Tutorial block:
        # throw a note away
        jot rm 1
    Scope: the other notes keep their numbers.
    """
    e2e.run("jot add one && jot add two")
    expect(e2e.run("jot rm 1", comment="throw a note away")).to_succeed()
    expect(e2e.run("jot list").stdout).to_equal("  2 [ ] two\n")
    expect(e2e.run("jot rm 1")).to_have_exit_code(1)


@pytest.mark.parametrize("writers", [8])
def test_notes_added_at_once_are_all_kept(e2e: E2eSession, writers: int) -> None:
    e2e.write_tutorial_block("""
        # add a note; its words need no quotes
        jot add buy milk
    """)
    e2e.run(f"for n in $(seq {writers}); do jot add note $n & done; wait")
    expect(e2e.run("jot list --json").stdout).to_be_json().to_have_length(writers)
