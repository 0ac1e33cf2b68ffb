from mngr_e2e import expect


def test_export_writes_a_file(pantry):
    pantry.write_tutorial_block("""
        # Write the shelf into a file that a spreadsheet reads.
        pantry export shelf.csv
    """)
    pantry.run("pantry add oats 1")
    expect(pantry.run("pantry export shelf.csv")).to_succeed()
    expect(pantry.cwd / "shelf.csv").to_exist()


def test_import_reads_it_back(pantry):
    pantry.write_tutorial_block("""
        # And read it back.
        pantry import shelf.csv
    """)
    pantry.run("echo 'oats,3,0.0' >shelf.csv")
    expect(pantry.run("pantry import shelf.csv")).to_succeed()
    expect(pantry.run("pantry list").stdout).to_equal("oats 3\n")


def test_sync_reaches_the_server(pantry):
    pantry.write_tutorial_block("""
        # Send it to the kitchen's server.
        pantry sync
    """)
    pantry.run("pantry add oats 1")
    expect(pantry.run("pantry sync")).to_succeed()
