"""What pytest says when a run is over."""

import os

import pytest

from mngr_e2e.session.alive import is_alive

SUITE = """
    def test_it(e2e):
        e2e.run("echo hi")
        assert {passes}

    def test_without():
        pass
"""


@pytest.fixture(autouse=True)
def _no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith(("MNGR_", "PYTEST_ADDOPTS")):
            monkeypatch.delenv(name)


def run(pytester: pytest.Pytester, passes: bool, *options: str) -> list[str]:
    """The lines that tell how to look."""
    pytester.makepyfile(SUITE.format(passes=passes))
    ran = pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)
    return [line for line in ran.outlines if "mngr e2e view" in line]


@pytest.mark.accept("V2")
@pytest.mark.parametrize("options", [(), ("-q",), ("-n", "1")], ids=["plain", "quiet", "xdist"])
def test_after_a_failure_it_names_the_run_and_how_to_look_at_it(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    said = run(pytester, False, "--e2e-run", "my run", *options)
    assert said == ["what the tests did: mngr e2e view '.mngr/e2e/my run'"]


@pytest.mark.accept("V2")
def test_after_success_it_says_so_too(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that a test started and a quiet one say nothing, unless more was asked for."""
    assert run(pytester, True) == []
    assert len(run(pytester, True, "-v")) == 1
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    assert run(pytester, True, "--e2e-run", "a") == ["what the tests did: mngr e2e view .mngr/e2e/a"]
    assert run(pytester, True, "-q") == []


def test_a_suite_without_the_fixture_hears_nothing(pytester: pytest.Pytester) -> None:
    assert run(pytester, False, "-v", "-k", "test_without") == []


def test_a_place_elsewhere_is_named_in_full(
    pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("place")
    said = run(pytester, False, "--e2e-run", "a", "--e2e-artifacts", str(place))
    assert said == [f"what the tests did: mngr e2e view {place}/a"]


@pytest.mark.accept("V7")
def test_a_run_is_alive_until_it_is_over(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        from mngr_e2e.session.alive import is_alive

        def test_it(e2e):
            assert is_alive(str(e2e.artifacts.parent.parent))
    """)
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "--e2e-run", "a").assert_outcomes(passed=1)
    run_folder = pytester.path / ".mngr/e2e/a"
    assert run_folder.is_dir()
    assert not is_alive(str(run_folder))
