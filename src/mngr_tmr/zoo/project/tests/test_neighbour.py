from cage import door


def test_lives_next_door():
    assert door() == "shut"
