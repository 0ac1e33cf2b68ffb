from mngr_e2e import expect


def test_take_leaves_the_rest(pantry):
    pantry.write_tutorial_block("""
        # Take one bag of flour.
        pantry take flour 1
    """)
    pantry.run("""echo '{"flour": {"amount": 3, "price": 0.0}}' >pantry.json""", comment="three bags")
    expect(pantry.run("pantry take flour 1")).to_succeed()
    expect(pantry.run("pantry list").stdout).to_equal("flour 2\n")


def test_take_more_than_there_is_fails(pantry):
    pantry.write_tutorial_block("""
        # Take one bag of flour.
        pantry take flour 1
    """)
    pantry.run("""echo '{"flour": {"amount": 3, "price": 0.0}}' >pantry.json""", comment="three bags")
    result = pantry.run("pantry take flour 5")
    expect(result).to_have_exit_code(1)
    expect(result.stderr).to_contain("only 3 flour left")


def test_rename_keeps_the_amount(pantry):
    pantry.write_tutorial_block("""
        # Call it by its right name.
        pantry rename flour rye
    """)
    pantry.run("""echo '{"flour": {"amount": 3, "price": 0.0}}' >pantry.json""", comment="three bags")
    expect(pantry.run("pantry rename flour rye")).to_succeed()
    expect(pantry.run("pantry list").stdout).to_equal("rye 3\n")


def test_rename_refuses_a_name_that_is_taken(pantry):
    pantry.write_tutorial_block("""
        # Call it by its right name.
        pantry rename flour rye
    """)
    pantry.run(
        """echo '{"flour": {"amount": 3, "price": 0.0}, "rye": {"amount": 1, "price": 0.0}}' >pantry.json"""
    )
    result = pantry.run("pantry rename flour rye")
    expect(result).to_have_exit_code(1)
    expect(result.stderr).to_contain("there is rye already")
