"""A test that is wrong on purpose, to see what a failure looks like: pytest tests_broken, then mngr e2e view.

It drives the board among other commands, so that the page has to find the right second of the recording.
"""

from mngr_e2e import E2eSession, expect


def test_a_deleted_note_is_still_there(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # arrows move, space marks, a adds, d deletes, q leaves
        jot board
    """)
    e2e.run("jot add buy milk", comment="two notes to begin with")
    e2e.run("jot add water the plants")
    board = e2e.terminal("jot board", cols=70, rows=16, name="board")
    expect(board).to_show("jot: 2 to do, 0 done")
    board.wait_quiet(2, timeout_s=30)
    e2e.run("jot add call home", comment="another user adds a note meanwhile")
    board.keys("Down")
    expect(board).to_show("call home")
    board.wait_quiet(2, timeout_s=30)
    e2e.run("jot rm 1", comment="and now one is gone")
    board.keys("Up")
    expect(board).not_.to_show("buy milk")
    board.wait_quiet(2, timeout_s=30)
    e2e.run("jot list", comment="which is not what this test believes")
    expect(board).to_show("buy milk", timeout_s=1)
