"""What a test holds in its hand."""

import pytest

from mngr_e2e import E2eSession, expect
from mngr_e2e.session.artifacts import read_meta


@pytest.mark.accept("F1")
def test_commands_run_in_the_repository_with_what_the_call_adds(session: E2eSession) -> None:
    (session.cwd / "sub").mkdir()
    assert session.run("pwd").stdout == f"{session.cwd}\n"
    assert session.run("pwd", cwd="sub").stdout == f"{session.cwd}/sub\n"
    assert session.run("echo $A$B", env={"A": "1"}).stdout == "1\n"
    session.env["B"] = "2"
    assert session.run("echo $A$B").stdout == "2\n"
    assert session.run("cat", stdin="in").stdout == "in"


@pytest.mark.accept("F8")
@pytest.mark.parametrize("name", ["timeout", "timeout_s"])
def test_a_timeout_is_called_as_in_subprocess_or_by_its_unit(session: E2eSession, name: str) -> None:
    result = session.run("sleep 60", **{name: 0.2})  # type: ignore[arg-type]
    assert (result.exit_code, result.timed_out) == (124, True)


def test_two_timeouts_of_one_command_are_refused(session: E2eSession) -> None:
    with pytest.raises(TypeError, match="give one of them"):
        session.run("true", timeout=1, timeout_s=1)


@pytest.mark.accept("F8")
def test_text_that_is_not_utf8_is_shown_with_replacements(session: E2eSession) -> None:
    assert session.run("printf 'a\\377b'").stdout == "a\ufffdb"


@pytest.mark.accept("Y4")
def test_blocks_are_dedented_stripped_and_saved(session: E2eSession) -> None:
    session.write_tutorial_block("""
        # one
          mngr list
    """)
    session.write_tutorial_block("mngr stop")
    assert (session.artifacts / "tutorial_block.txt").read_text() == "# one\n  mngr list\n\nmngr stop\n"
    session.finish("passed")
    assert read_meta(str(session.artifacts)).blocks == ("# one\n  mngr list", "mngr stop")


@pytest.mark.accept("F7")
def test_an_exception_in_the_middle_of_a_command_leaves_what_it_said(
    session: E2eSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mngr_e2e.session.runner._Listener._wait_for_exit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        session.run("printf said; exec >&- 2>&-; sleep 300")
    text = (session.artifacts / "transcript.txt").read_text()
    assert text.endswith("  said\n\\ no newline\n")
    expect(session.artifacts / "transcript.jsonl").to_contain('"exit_code":null')
