"""Integrator agents: made with create, driven by playbooks, judged like everybody else."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.world import World
from tests.tmr.integrate.scene import Scene, Untried, Work

import mngr
from mngr_tmr.integrate.agent.conflict_agents import conflict_prompt
from mngr_tmr.integrate.agent.integrator import integrate_by_agent, integrator_job
from mngr_tmr.integrate.branch.conflict import Conflict
from mngr_tmr.integrate.reduce import reduce
from mngr_tmr.integrate.split.candidates import select_candidates
from mngr_tmr.integrate.trust import AgentTrust
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.verdict import TestRun

pytestmark = pytest.mark.slow
APP = "".join(f"line {number}\n" for number in range(1, 21))

INTEGRATE = """
set -e
base=$(git rev-parse HEAD)
git show "$MNGR_BASE_COMMIT:tmr/tasks.txt" >../tasks.$$
while read -r slug commit test; do
  git diff --binary "$base" "$commit" -- tests | git apply --index --allow-empty
done <../tasks.$$
git commit -q -m "All tests" -m "$(sed 's/^\\([^ ]*\\).*/Tmr-Task: \\1/' ../tasks.$$)"
while read -r slug commit test; do
  git diff --binary "$base" "$commit" -- ':!tests' >../patch.$$
  [ -s ../patch.$$ ] || continue
  git apply --3way ../patch.$$ || { printf 'ours\\n' >app.py; git add app.py; }
  git diff --cached --quiet || git commit -q -m "Fix for $slug" -m "Tmr-Task: $slug"
done <../tasks.$$
rm ../tasks.$$ ../patch.$$
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    assert mngr.list_agents(manager=world.manager()).agents == ()
    world.end()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    folder = tmp_path / "scene"
    folder.mkdir()
    return Scene(folder, {"app.py": APP, "other.py": "x = 1\n", "tests/test_a.py": "def test_a(): pass\n"})


def play(scene: Scene, *steps: dict[str, Any], transfer: str = "mirror") -> None:
    """The integrator does this."""
    playbook = scene.repo.parent / "playbook.json"
    playbook.write_text(json.dumps([{"wait_message": True}, *steps, {"exit": 0}]))
    scene.options = replace(
        scene.options,
        integrator_type="scripted",
        integrator_args=(str(playbook),),
        timeout_s=240.0,
        transfer=transfer,
    )


def by_integrator(
    scene: Scene, world: World, runner: Untried | None = None, before: Integration | None = None
) -> Integration:
    scene.options = replace(scene.options, integrator="agent")
    manager = mngr.Manager(cwd=str(scene.repo), env=world.env)
    runner = runner or Untried(scene)
    return reduce(scene.run, scene.records, runner=runner, before=before, manager=manager)


def commands(prompt: str) -> list[dict[str, Any]]:
    """The shell blocks of a prompt, as steps."""
    return [{"run": block} for block in re.findall(r"```sh\n(.*?)```", prompt, re.DOTALL)]


@pytest.mark.accept("R1", "R2", "R3", "R4", "R5", "R8", "P9")
@pytest.mark.parametrize("transfer", ["mirror", "worktree"])
def test_one_agent_gets_all_results_and_builds_the_branch(scene: Scene, world: World, transfer: str) -> None:
    fix = {"app.py": APP.replace("line 3\n", "three\n")}
    first = scene.agent("test_a.py::test_a", Work("three", fix))
    twin = scene.agent("test_b.py::test_b", Work("also three", fix))
    other = scene.agent(
        "test_c.py::test_c", Work("y", {"other.py": "y = 1\n", "tests/test_c.py": "def test_c(): pass\n"})
    )
    rival = scene.agent("test_d.py::test_d", Work("drei", {"app.py": APP.replace("line 3\n", "drei\n")}))
    blocked = scene.agent("test_e.py::test_e", Work("bad", {"other.py": "z = 1\n"}), after="failed")
    play(scene, {"run": INTEGRATE}, transfer=transfer)
    done = by_integrator(scene, world)
    assert done.notes == ()
    assert scene.git("rev-list", "--merges", f"{scene.base}..{done.branch}") == ""
    assert scene.paths(done.squashed) == {"tests/test_c.py"}
    assert [fix.title for fix in done.fixes] == [
        f"Fix for {record.task.slug}" for record in (first, other, rival)
    ]
    assert set(done.fixes[0].tasks) >= {first.task.slug, twin.task.slug}
    kinds = {
        slug: [a.kind for a in done.accounts if a.task == slug]
        for slug in (r.task.slug for r in scene.records)
    }
    assert kinds[first.task.slug] == ["separate"]
    assert kinds[twin.task.slug] == ["merged_into"]
    assert kinds[other.task.slug] == ["squashed", "separate"]
    assert kinds[rival.task.slug] == ["separate"]
    assert kinds[blocked.task.slug] == ["excluded"]
    assert scene.show(done.tip, "app.py") == "ours\n"
    scene.git("branch", "-D", done.branch)
    play(scene, {"crash": "KILL"}, transfer=transfer)
    assert by_integrator(scene, world, before=done) == done


@pytest.mark.accept("R1", "R8")
def test_what_the_agent_leaves_out_is_named(scene: Scene, world: World) -> None:
    taken = scene.agent("test_a.py::test_a", Work("y", {"other.py": "y = 1\n"}))
    left = scene.agent("test_b.py::test_b", Work("three", {"app.py": APP.replace("line 3\n", "three\n")}))
    play(scene, *commands(integrator_job(scene.run, select_candidates(scene.records).candidates).prompt))
    done = by_integrator(scene, world)
    assert done.notes == ()
    assert [fix.tasks for fix in done.fixes] == [(taken.task.slug,)]
    assert done.fixes[0].title == "Greet people without a name"
    account = next(account for account in done.accounts if account.task == left.task.slug)
    assert (account.kind, account.why) == ("excluded", "the integrator left it out")


class Breakable(Untried):
    """A world in which every test needs other.py as it was."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._scene = scene

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        outcome = "passed" if self._scene.show(commit, "other.py") == "x = 1\n" else "failed"
        return tuple(replace(run, outcome=outcome) for run in super().run_tests(commit, node_ids))


@pytest.mark.accept("R1", "R10")
def test_a_commit_of_the_agent_that_breaks_a_test_is_dropped(scene: Scene, world: World) -> None:
    scene.agent(
        "test_a.py::test_a", Work("three", {"app.py": APP.replace("line 3\n", "three\n")}), before="passed"
    )
    bad = scene.agent("test_b.py::test_b", Work("y", {"other.py": "y = 1\n"}), before="passed")
    play(scene, {"run": "git cherry-pick " + " ".join(record.commit for record in scene.records)})
    done = by_integrator(scene, world, Breakable(scene))
    assert done.notes == ()
    assert [fix.title for fix in done.fixes] == ["three"]
    account = next(account for account in done.accounts if account.task == bad.task.slug)
    assert account.kind == "excluded"
    assert "dropped at the gate" in account.why


@pytest.mark.accept("R11")
def test_an_agent_that_fails_loses_nothing(scene: Scene, world: World) -> None:
    scene.agent("test_a.py::test_a", Work("y", {"other.py": "y = 1\n"}))
    play(scene, {"say": "I do not know"})
    done = by_integrator(scene, world)
    assert [fix.title for fix in done.fixes] == ["y"]
    assert "the integrator agent gave no branch (it committed nothing)" in done.notes[0]


def automatic(scene: Scene, world: World, before: Integration | None = None) -> Integration:
    manager = mngr.Manager(cwd=str(scene.repo), env=world.env)
    return reduce(scene.run, scene.records, runner=Untried(scene), before=before, manager=manager)


@pytest.mark.accept("R1")
def test_without_a_conflict_no_agent_is_made(scene: Scene, world: World) -> None:
    scene.agent("test_a.py::test_a", Work("y", {"other.py": "y = 1\n"}))
    scene.options = replace(scene.options, integrator_type="no such type")
    assert [fix.title for fix in automatic(scene, world).fixes] == ["y"]


@pytest.mark.accept("R1", "R5")
def test_mechanical_uses_no_agent_even_for_a_conflict(scene: Scene, world: World) -> None:
    scene.agent(
        "test_a.py::test_a", Work("mine", {"app.py": APP.replace("line 3\n", "mine\n")}), importance=5
    )
    scene.agent("test_b.py::test_b", Work("yours", {"app.py": APP.replace("line 3\n", "yours\n")}))
    play(scene, {"edit": "app.py", "text": "ours\n"}, {"commit": "ours"})
    scene.options = replace(scene.options, integrator="mechanical")
    done = automatic(scene, world)
    assert [fix.title for fix in done.fixes] == ["mine"]
    assert done.conflicts[0]["resolved_by"] == ""


@pytest.mark.accept("R1", "R5", "R11")
def test_an_agent_settles_one_conflict_and_is_not_needed_again(scene: Scene, world: World) -> None:
    scene.agent(
        "test_a.py::test_a", Work("mine", {"app.py": APP.replace("line 3\n", "mine\n")}), importance=5
    )
    scene.agent("test_b.py::test_b", Work("yours", {"app.py": APP.replace("line 3\n", "yours\n")}))
    record = dict(scene.integrate().conflicts[0])
    conflict = Conflict(change=record.pop("unit"), **record)
    look, commit = commands(conflict_prompt(conflict))
    both = APP.replace("line 3\n", "mine\nyours\n")
    play(scene, look, {"edit": "app.py", "text": both}, commit)
    done = automatic(scene, world)
    assert scene.show(done.tip, "app.py") == both
    assert [fix.title for fix in done.fixes] == ["mine", "yours"]
    assert done.conflicts[0]["resolved_by"] == "agent"
    assert done.fixes[1].depends_on == (done.fixes[0].commit,)
    scene.git("branch", "-D", done.branch)
    play(scene, {"crash": "KILL"})
    assert automatic(scene, world, before=done) == done


@pytest.mark.accept("R5")
def test_an_agent_that_cannot_settle_a_conflict_leaves_it_set_aside(scene: Scene, world: World) -> None:
    scene.agent(
        "test_a.py::test_a", Work("mine", {"app.py": APP.replace("line 3\n", "mine\n")}), importance=5
    )
    scene.agent("test_b.py::test_b", Work("yours", {"app.py": APP.replace("line 3\n", "yours\n")}))
    play(scene, {"crash": "KILL"})
    done = automatic(scene, world)
    assert [fix.title for fix in done.fixes] == ["mine"]
    assert "no agent could resolve it" in done.conflicts[0]["messages"]


@pytest.mark.accept("R12", "Q6")
@pytest.mark.parametrize("push", [False, True])
def test_an_agent_sees_the_token_only_when_it_is_to_push(scene: Scene, world: World, push: bool) -> None:
    scene.agent("test_a.py::test_a", Work("y", {"other.py": "y = 1\n"}))
    names = "env | sed -n 's/^\\(GH_TOKEN\\|EXTRA\\)=.*/\\1/p' | sort >seen.txt"
    play(scene, {"run": f"{names}; git add seen.txt; git commit -q -m seen"})
    scene.options = replace(scene.options, integrator_env_names=("GH_TOKEN", "EXTRA"), push=push)
    manager = mngr.Manager(cwd=str(scene.repo), env=world.env)
    env = {"GH_TOKEN": "canary", "EXTRA": "1", "OTHER": "2"}
    done = integrate_by_agent(
        scene.run, scene.records, runner=Untried(scene), trust=AgentTrust(env), manager=manager
    )
    assert scene.show(done.tip, "seen.txt").split() == (["EXTRA", "GH_TOKEN"] if push else ["EXTRA"])
