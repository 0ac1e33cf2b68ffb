"""JSON, pipes and files: jot among other programs."""

from mngr_e2e import E2eSession, eventually, expect


def test_json_has_every_field(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # JSON for scripts
        jot list --json
    """)
    e2e.run("jot add --tag shop 'milk \"and\" honey'")
    found = expect(e2e.run("jot list --json", comment="JSON for scripts").stdout).to_be_json()
    found.to_equal([{"id": 1, "text": 'milk "and" honey', "tag": "shop", "done": False}])
    found.to_have("[0].tag", "shop")


def test_lines_of_stdin_become_notes(e2e: E2eSession) -> None:
    e2e.write_tutorial_block(r"""
        # one note for each line
        printf 'eggs\nbread\n' | jot add -
    """)
    result = e2e.run(r"printf 'eggs\nbread\n' | jot add -", comment="one note for each line")
    expect(result.stdout).to_equal("added 1: eggs\nadded 2: bread\n")
    expect(e2e.run("jot add - </dev/null").stdout).to_be_empty()


def test_export_writes_markdown(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the list as Markdown
        jot export TODO.md
    """)
    e2e.run("jot add one && jot add two && jot done 1")
    expect(e2e.run("jot export TODO.md", comment="the list as Markdown")).to_succeed()
    expect(e2e.cwd / "TODO.md").to_contain("- [x] one\n- [ ] two\n")


def test_export_to_a_folder_that_is_not_there_says_so(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the list as Markdown
        jot export TODO.md
    """)
    result = e2e.run("jot export no/such/TODO.md")
    expect(result).to_have_exit_code(1)
    expect(result.stderr).to_equal("error: no/such/TODO.md: No such file or directory\n")


def test_mirror_follows_every_change(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # keep that file up to date while you work
        jot mirror TODO.md &
    """)
    e2e.run("jot mirror TODO.md >mirror.log 2>&1 &", comment="keep that file up to date while you work")
    e2e.run("jot add one")
    eventually(lambda: expect(e2e.cwd / "TODO.md").to_contain("- [ ] one"))
    e2e.run("jot done 1")
    eventually(lambda: expect(e2e.cwd / "TODO.md").to_contain("- [x] one"))
    expect(e2e.cwd / "mirror.log").not_.to_contain("error")
