"""Tags, searching, more lists than one."""

from mngr_e2e import E2eSession, expect


def test_a_tag_chooses_notes(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # give notes a tag, and look at one tag only
        jot add --tag home fix the lamp
        jot list --tag home
    """)
    e2e.run("jot add write the report")
    e2e.run("jot add --tag home fix the lamp", comment="give notes a tag, and look at one tag only")
    expect(e2e.run("jot list --tag home").stdout).to_equal("  2 [ ] fix the lamp  #home\n")


def test_find_looks_at_every_note_whatever_its_case(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # find a word
        jot find lamp
    """)
    e2e.run("jot add Lamp oil && jot add bread && jot done 1")
    expect(e2e.run("jot find lamp", comment="find a word").stdout).to_equal("  1 [x] Lamp oil\n")


def test_find_nothing_fails_for_scripts(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # find a word
        jot find lamp
    """)
    result = e2e.run("jot find lamp || echo none")
    expect(result.stdout).to_equal("none\n")


def test_another_file_is_another_list(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # keep two lists apart
        JOT_FILE=work.json jot add write the report
    """)
    e2e.run("JOT_FILE=work.json jot add write the report", comment="keep two lists apart")
    expect(e2e.cwd / "work.json").to_contain("write the report")
    expect(e2e.run("jot list").stdout).to_be_empty()
