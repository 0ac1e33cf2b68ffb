"""The board is a full-screen program: tmux runs it, keys go in, the screen is looked at, all of it is recorded."""

from mngr_e2e import E2eSession, expect


def test_the_board_adds_marks_and_deletes(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # arrows move, space marks, a adds, d deletes, q leaves
        jot board
    """)
    e2e.run("jot add buy milk && jot add water the plants")
    board = e2e.terminal("jot board", cols=70, rows=16, name="board")
    expect(board).to_show("jot: 2 to do, 0 done")
    board.keys("Down", "Space")
    expect(board).to_show("[x] water the plants")
    board.keys("a")
    board.type("call home\n")
    expect(board).to_show("[ ] call home")
    board.keys("Up", "Up", "d")
    expect(board).not_.to_show("buy milk")
    board.screen("one is gone")
    board.keys("q")
    expect(board).to_have_ended(0)
    left = expect(e2e.run("jot list --all --json").stdout).to_be_json()
    left.to_have("[0].done", True)
    left.to_have("[1].text", "call home")


def test_the_board_follows_the_list_of_another_command(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # arrows move, space marks, a adds, d deletes, q leaves
        jot board
    """)
    board = e2e.terminal("jot board", cols=60, rows=10)
    expect(board).to_show("nothing to do")
    e2e.run("jot add from outside")
    board.keys("Down")
    expect(board).to_show("[ ] from outside")


def test_the_board_scrolls_in_a_small_window(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # arrows move, space marks, a adds, d deletes, q leaves
        jot board
    """)
    e2e.run("seq 30 | sed 's/^/note /' | jot add -")
    board = e2e.terminal("jot board", cols=40, rows=10)
    expect(board).to_show("note 6")
    expect(board).not_.to_show("note 7")
    board.keys(*["Down"] * 29)
    expect(board).to_show("note 30")
    expect(board).not_.to_show("note 6")


def test_without_a_terminal_the_board_says_what_to_do(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # arrows move, space marks, a adds, d deletes, q leaves
        jot board
    """)
    result = e2e.run("jot board")
    expect(result).to_have_exit_code(1)
    expect(result.stderr).to_contain("hint: for scripts there is: jot list --json")
