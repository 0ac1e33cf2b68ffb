def test_it_speaks(e2e):
    e2e.write_tutorial_block("""
        # Say something.
        echo hello
    """)
    assert e2e.run("echo hello").stdout == "hello\n"


def test_it_can_be_silent(e2e):
    e2e.write_tutorial_block("""
        # Say nothing.
        echo
    """)
    assert e2e.run("echo").stdout == "\n"
