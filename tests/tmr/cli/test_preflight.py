"""`mngr tmr run`, `plan` and `doctor` before anything is launched: each problem is a line with its fix."""

import os
import re
from pathlib import Path

import msgspec
import pytest
from tests.cli.command import Done, Mngr
from tests.support.model import Fault, Model
from tests.support.model.fixture import model
from tests.tmr.run.pipeline import Pipeline, pipeline

from mngr_tmr.run.polling import agents_of

__all__ = ["model", "pipeline"]

pytestmark = [pytest.mark.slow, pytest.mark.accept("M19")]

_KEY = "sk-ant-preflight-0123456789-abcdef"
_RUN = ("tmr", "run", "tests", "--name", "r1", "--type", "claude")
_KEYS = ("--env", "ANTHROPIC_API_KEY", "--env", "ANTHROPIC_BASE_URL")


class Desk:
    """A project with one test, a program called claude that nobody starts, and the variables of a login."""

    def __init__(self, pipeline: Pipeline, model: Model) -> None:
        self.pipeline, self.model = pipeline, model
        pipeline.project.commit("tests", tests__test_it="def test_it():\n    assert True\n")
        self.tools = pipeline.world.folder / "tools"
        self.tools.mkdir()
        (self.tools / "claude").touch(0o755)
        self.mngr = Mngr(pipeline.world)
        path = os.pathsep.join((str(self.tools), self.mngr.env["PATH"]))
        self.env = {"PATH": path, "ANTHROPIC_API_KEY": _KEY, "ANTHROPIC_BASE_URL": model.url}

    def __call__(self, *words: str, **env: str) -> Done:
        done = self.mngr(*words, cwd=None, **{**self.env, **env})
        assert _KEY not in done.stdout + done.stderr
        return done

    def is_untouched(self) -> bool:
        """Nothing was launched and no run was begun."""
        return not Path(self.pipeline.project.repo, ".mngr/tmr/r1").exists() and not agents_of(
            "r1", self.pipeline.manager
        )


@pytest.fixture
def desk(pipeline: Pipeline, model: Model) -> Desk:
    return Desk(pipeline, model)


@pytest.mark.accept("O16")
def test_a_run_that_the_policy_forbids_sends_nothing(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[policy.rules.ours]\nagents = ["codex", "command"]\n')
    done = desk(*_RUN, *_KEYS, "--no-preflight", MNGR_POLICY=str(file))
    assert (done.code, done.stdout) == (6, "")
    assert f'agent type "claude": refused by [policy.rules.ours] of {file}' in done.stderr
    assert desk.is_untouched()


def test_a_run_stops_before_anything_is_launched(desk: Desk) -> None:
    no_key = desk(*_RUN)
    assert (no_key.code, no_key.stdout) == (6, "")
    assert "missing  login of claude: no key and no login is given" in no_key.stderr
    assert (
        "fix: ANTHROPIC_API_KEY is set here; agents get what you name: --env ANTHROPIC_API_KEY"
        in no_key.stderr
    )
    assert "nothing was launched: 1 problem" in no_key.stderr
    assert desk.model.asked == []
    desk.model.refuses = Fault(401, message="invalid x-api-key")
    bad_key = desk(*_RUN, *_KEYS)
    assert (bad_key.code, "invalid x-api-key" in bad_key.stderr) == (6, True)
    desk.model.refuses = Fault(400, message="Your credit balance is too low to access the API.")
    (desk.tools / "claude").unlink()
    no_credit = desk(*_RUN, *_KEYS, PATH=desk.env["PATH"].replace(str(desk.tools), "/nowhere"))
    assert no_credit.code == 6
    assert "credit balance is too low" in no_credit.stderr
    assert desk.is_untouched()


@pytest.mark.accept("O2", "O3")
def test_plan_and_doctor_tell_the_same_and_go_on(desk: Desk) -> None:
    plan = desk("tmr", "plan", "tests")
    assert plan.code == 0
    assert "1 test at" in plan.stdout
    assert "tests/test_it.py::test_it  20k to 50k tokens, $" in plan.stdout
    assert "estimate: 20k to 50k tokens, $" in plan.stdout
    assert "missing  login of claude" in plan.stderr
    day = desk("tmr", "plan", "tests", "--daily-budget", "40usd", "--no-preflight", "--", "-k", "test_it")
    assert re.search(
        r"^\$40.00 a day: \d+ runs, up to \d+ if agents use little, each with 1 agent for 1 test$",
        day.stdout,
        re.M,
    )
    tokens = desk("tmr", "plan", "tests", "--daily-tokens", "30M", "--no-preflight")
    assert "30M tokens a day: 600 runs, up to 1000 if agents use little, each with 1 agent" in tokens.stdout
    wrong = desk("tmr", "plan", "tests", "--daily-tokens", "30usd", "--no-preflight")
    assert (wrong.code, "--daily-tokens takes tokens" in wrong.stderr) == (2, True)
    assert "missing" not in desk("tmr", "plan", "tests", "--no-preflight").stderr
    well = desk("tmr", "doctor", "tests", *_KEYS)
    assert well.code == 0, well
    assert [line.split()[0] for line in well.stdout.splitlines()] == ["ok"] * 4
    assert "ANTHROPIC_API_KEY is accepted" in well.stdout
    assert "tests: 1 test collected at" in well.stdout
    desk.pipeline.project.commit("broken", tests__test_it="import nowhere\n")
    desk.model.stop()
    ill = desk("tmr", "doctor", "tests", "--json", *_KEYS)
    assert ill.code == 1
    findings = {one["name"]: one for one in msgspec.json.decode(ill.stdout)["findings"]}
    assert (findings["login of claude"]["ok"], findings["login of claude"]["severity"]) == (False, "warning")
    assert "could not collect" in findings["tests"]["found"]
    no_pytest = desk(
        "-S", "tmr.pytest=/usr/bin/env no-such-pytest", "tmr", "doctor", "tests", "--type", "scripted"
    )
    assert no_pytest.code == 1
    assert "no pytest in the environment of the working copies" in no_pytest.stdout
