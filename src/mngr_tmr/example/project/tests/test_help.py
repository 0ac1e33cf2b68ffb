from mngr_e2e import expect


def test_help_succeeds(pantry):
    pantry.write_tutorial_block("""
        # What it can do.
        pantry --help
    """)
    expect(pantry.run("pantry --help")).to_succeed()


def test_version_is_told(pantry):
    pantry.write_tutorial_block("""
        # Which pantry this is.
        pantry --version
    """)
    expect(pantry.run("pantry --version").stdout).to_match(r"^pantry \d+\.\d+$")
