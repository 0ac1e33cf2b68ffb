"""A hint names the known word that is nearest."""

from mngr_lib.suggest import did_you_mean, nearest


def test_a_near_word_is_named_in_the_form_that_is_asked_for() -> None:
    assert did_you_mean("lits", ["list", "stop"]) == 'did you mean "list"?'
    assert did_you_mean("lits", ["list", "stop"], form="mngr {}", else_hint="x") == "did you mean mngr list?"


def test_without_a_near_word_the_hint_is_the_callers_or_all_words() -> None:
    assert did_you_mean("zzz", ["stop", "list"], else_hint="see: mngr --help") == "see: mngr --help"
    assert did_you_mean("zzz", ["stop", "list"]) == "known: list, stop"
    assert did_you_mean("zzz", []) == ""


def test_a_cutoff_says_how_near_is_near() -> None:
    assert nearest("labls", ["labels"], cutoff=0.85) == "labels"
    assert nearest("lab", ["labels"], cutoff=0.85) is None
