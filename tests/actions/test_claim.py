"""Names: one owner each, also when eight processes take over the name of an agent that is gone."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.tmux.stage import path_without

from mngr.actions.claim import drop_names, take_name
from mngr.store.paths import HostPaths

ROUNDS = int(os.environ.get("MNGR_TEST_ROUNDS", "5"))
CLAIMERS = 8
GONE = "agent-" + "f" * 32
SHELLS = [("dash", True), ("dash", False), ("busybox sh", False), ("bash", False)]

pytestmark = pytest.mark.accept("Q15")


def _rounds(folder: Path, shell: str, beside: tuple[str, ...] = (), **options: Any) -> list[list[str]]:
    """Lets eight processes claim the name of an agent that is gone, so many times, with other programs beside them.

    For each round: how many of the claims succeeded, and whose the name is afterwards.
    """
    paths = HostPaths(str(folder))
    ids = [f"agent-{number:032x}" for number in range(1, CLAIMERS + 1)]
    programs = [f"{take_name(paths, 'foo', agent_id)}\necho won >>won\n" for agent_id in ids]
    for number, program in enumerate((*programs, *beside)):
        # Each waits for the file that lets all of them go at once.
        (folder / f"{number}.sh").write_text(f"until [ -e go ]; do :; done\n{program}\n")
    start = f"for f in *.sh; do {shell} $f 2>>errors & done"
    program = f"""
mkdir -p names {" ".join(f"agents/{agent_id}" for agent_id in ids)}
round=0
while [ "$round" -lt {ROUNDS} ]; do
  round=$((round + 1))
  rm -f go won; : >won
  echo {GONE} >names/foo.new && mv -f names/foo.new names/foo
  {start}
  : >go
  wait
  echo "$(wc -l <won) $(cat names/foo)"
done
"""
    run = subprocess.run(
        ["sh"], input=program, text=True, cwd=folder, capture_output=True, timeout=300, check=True, **options
    )
    return [line.split() for line in run.stdout.splitlines()]


@pytest.mark.parametrize(("shell", "has_flock"), SHELLS)
def test_a_stale_name_gets_one_owner_of_eight_claims(tmp_path: Path, shell: str, has_flock: bool) -> None:
    """A stale name file gave two owners in 21 of 60 rounds."""
    env = dict(os.environ)
    if not has_flock:
        env["PATH"] = path_without(tmp_path / "bin", "flock")
    rounds = _rounds(tmp_path, shell, env=env)
    assert [won for won, _ in rounds] == ["1"] * ROUNDS, (tmp_path / "errors").read_text()
    assert GONE not in [owner for _, owner in rounds]


def test_who_gives_the_name_of_a_gone_agent_back_leaves_its_new_owner_alone(tmp_path: Path) -> None:
    drop = drop_names(HostPaths(str(tmp_path)), {GONE: "foo"})
    rounds = _rounds(tmp_path, "sh", beside=(drop,) * 4)
    assert [len(line) for line in rounds] == [2] * ROUNDS
    assert [won for won, _ in rounds] == ["1"] * ROUNDS
