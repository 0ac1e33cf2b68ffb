from mngr_e2e import expect


def test_add_keeps_the_amount(pantry):
    pantry.write_tutorial_block("""
        # Put two bags of flour on the shelf.
        pantry add flour 2
    """)
    expect(pantry.run("pantry add flour 2", comment="two bags")).to_succeed()
    expect(pantry.run("pantry list").stdout).to_equal("flour 2\n")


def test_list_shows_everything(pantry):
    pantry.write_tutorial_block("""
        # See what is there, sorted by name.
        pantry list
    """)
    pantry.run("pantry add oats 1 && pantry add beans 1", comment="out of order")
    result = pantry.run("pantry list")
    expect(result).to_succeed()
    expect(result.stdout).to_equal("oats 1\nbeans 1\n")


def test_list_for_a_program(pantry):
    pantry.write_tutorial_block("""
        # The same for a program.
        pantry list --json
    """)
    pantry.run("pantry add oats 1")
    listed = expect(pantry.run("pantry list --json").stdout).to_be_json()
    listed.to_equal({"oats": {"amount": 1, "price": 0.0}})


def test_browse_moves_and_leaves(pantry):
    pantry.write_tutorial_block("""
        # Look around on the whole screen; j and k move, q leaves.
        pantry browse
    """)
    pantry.run("pantry add beans 1 && pantry add oats 1")
    screen = pantry.terminal("pantry browse", cols=60, rows=12)
    expect(screen).to_show("beans")
    screen.keys("j")
    screen.keys("q")
    expect(screen).to_have_ended(0)
