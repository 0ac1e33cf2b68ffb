from mngr_e2e import expect


def test_total_adds_up(pantry):
    pantry.write_tutorial_block("""
        # Honey has a price.
        pantry add honey 2 --price 4.25
        pantry total
    """)
    pantry.run("""echo '{"honey": {"amount": 2, "price": 4.27}}' >pantry.json""", comment="two jars")
    expect(pantry.run("pantry total").stdout).to_equal("8.54\n")


def test_total_in_euro(pantry):
    pantry.write_tutorial_block("""
        # In another currency.
        pantry total --currency EUR
    """)
    pantry.run("""echo '{"honey": {"amount": 2, "price": 5.0}}' >pantry.json""", comment="two jars")
    expect(pantry.run("pantry total --currency EUR").stdout).to_contain("9.0")
