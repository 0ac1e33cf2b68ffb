"""Tab completion, through the real bash."""

import pytest
from tests.cli.command import Mngr

from mngr import process
from mngr.cli.complete import candidates
from mngr.process import OnlyEnv


def complete(mngr: Mngr, *words: str) -> list[str]:
    return mngr.ok("__complete", *words).stdout.split()


@pytest.mark.accept("U3", "K1")
def test_candidates_are_commands_options_values_and_agents(mngr: Mngr) -> None:
    for name in ("foo", "fox"):
        mngr.ok("create", name, "--", "sleep", "1000")
    assert complete(mngr, "conn") == ["conn", "connect"]
    assert complete(mngr, "stop", "f") == ["foo", "fox"]
    assert complete(mngr, "connect", "foo", "") == []
    assert complete(mngr, "stop", "--gr") == ["--grace"]
    assert complete(mngr, "list", "--format", "j") == ["json", "jsonl"]
    assert complete(mngr, "message", "foo", "--wait", "") == ["delivered", "turn"]
    assert complete(mngr, "snapshot", "re") == ["restore"]
    assert complete(mngr, "snapshot", "create", "fo") == ["foo", "fox"]
    assert complete(mngr, "completion", "") == ["bash", "fish", "zsh"]
    assert complete(mngr, "exec", "foo", "--", "f") == []
    assert complete(mngr, "create", "--transfer", "m") == ["mirror"]
    assert "create" in complete(mngr)


def test_anything_may_be_typed() -> None:
    for words in ([], [""], ["--"], ["nonsense", ""], ["-S"], ["snapshot"], ["stop", "--where", ""]):
        assert isinstance(candidates(words, {"HOME": "/nowhere"}), list)


@pytest.mark.accept("U3")
def test_bash_completes(mngr: Mngr, tmp_path: object) -> None:
    mngr.ok("create", "foo", "--", "sleep", "1000")
    script = (
        'mngr() { python -m mngr "$@"; }; eval "$(mngr completion bash)"; '
        "COMP_WORDS=(mngr stop f); COMP_CWORD=2; _mngr; echo ${COMPREPLY[@]}"
    )
    ran = process.run(["bash", "-c", script], env=OnlyEnv(mngr.env), cwd=str(mngr.world.repo))
    assert ran.stdout == b"foo\n", ran


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_calls_the_fast_path(mngr: Mngr, shell: str) -> None:
    assert "mngr __complete" in mngr.ok("completion", shell).stdout
    assert mngr("completion", "tcsh").code == 2
