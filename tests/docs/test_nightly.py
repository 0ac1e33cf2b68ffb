"""The workflow that users copy: read as GitHub reads it, and its own commands run in a repository with tests."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from tests.cli.command import Done
from tests.docs.blocks import ROOT
from tests.docs.reader import Reader, reader, tested, with_a_stand_in

__all__ = ["reader", "tested"]

pytestmark = pytest.mark.accept("U6")

WAITING = "steps.review.outputs.waiting == ''"


@pytest.fixture(scope="module")
def workflow() -> Any:
    return yaml.safe_load((ROOT / "examples/nightly.yml").read_text())


def steps(workflow: Any) -> dict[str, Any]:
    return {step["name"]: step for step in workflow["jobs"]["agents"]["steps"]}


def test_it_is_scheduled_never_overlaps_and_does_nothing_while_a_result_waits(workflow: Any) -> None:
    assert workflow[True]["schedule"], "YAML reads the key `on` as a boolean"
    assert workflow["concurrency"] == {"group": "mngr-nightly", "cancel-in-progress": False}
    found = steps(workflow)
    review = found.pop("Is a result still unreviewed?")
    assert review["id"] == "review"
    assert all(WAITING in step["if"] for step in found.values())
    assert found["Keep the page"]["if"].startswith("always()")


def test_the_pushing_token_is_for_the_integrator_alone(workflow: Any) -> None:
    run = steps(workflow)["Run"]["run"]
    assert "--integrator-env GH_TOKEN" in run
    assert "--env GH_TOKEN" not in run.replace("--integrator-env GH_TOKEN", "")
    assert steps(workflow)["Check out"]["with"]["persist-credentials"] is False


class Runner:
    """Runs the shell of a step, as GitHub does: -e, with files for what it hands on and says."""

    def __init__(self, reader: Reader, workflow: Any) -> None:
        self.reader, self.steps = reader, steps(workflow)
        self.output, self.summary = reader.world.folder / "output", reader.world.folder / "summary"
        plain = {key: value for key, value in workflow["jobs"]["agents"]["env"].items() if "${{" not in value}
        reader.env |= {
            **plain,
            "RUN": "nightly-1",
            "TYPE": "scripted",
            "GH_TOKEN": "none",
            "ANTHROPIC_API_KEY": "none",
        }
        reader.env |= {"GITHUB_OUTPUT": str(self.output), "GITHUB_STEP_SUMMARY": str(self.summary)}

    def __call__(self, name: str) -> Done:
        play = self.reader.world.folder / "play.json"
        script = self.steps[name]["run"].replace("--arg=--dangerously-skip-permissions", f"--arg={play}")
        return self.reader.sh(f"set -e\n{script}")


@pytest.mark.parametrize("waiting", ["", "https://example.com/pull/7"])
def test_an_open_result_is_named_and_handed_on(reader: Reader, workflow: Any, waiting: str) -> None:
    """The forge's own program is played; whether there is an open pull request is all that it says."""
    runner = Runner(reader, workflow)
    programs = reader.world.folder / "bin"
    programs.mkdir()
    (programs / "gh").write_text(f'#!/bin/sh\n[ "$1 $2" = "pr list" ] && echo "{waiting}"\n')
    (programs / "gh").chmod(0o755)
    reader.env["PATH"] = f"{programs}:{reader.env['PATH']}"
    assert runner("Is a result still unreviewed?").code == 0
    assert runner.output.read_text() == f"waiting={waiting}\n"
    assert runner.summary.exists() == bool(waiting)


@pytest.mark.slow
def test_its_run_leaves_what_it_uploads(tested: Reader, workflow: Any) -> None:
    runner = Runner(tested, workflow)
    done = runner("Run")
    assert done.code == 0, done
    assert "2 already passing" in runner.summary.read_text()
    patterns = runner.steps["Keep the page"]["with"]["path"].split()
    assert [pattern for pattern in patterns if not [*tested.world.repo.glob(pattern)]] == []
    assert not any(part.startswith(".") for pattern in patterns for part in Path(pattern).parts), (
        "hidden files are not uploaded"
    )


@pytest.mark.slow
@pytest.mark.accept("O13")
def test_the_line_for_cron_runs_once_and_says_how_it_ended(tested: Reader) -> None:
    (line,) = (
        line for line in (ROOT / "docs/nightly.md").read_text().splitlines() if line.startswith("git pull")
    )
    pull, _, nightly = with_a_stand_in(line).partition("; ")
    assert pull == "git pull -q --ff-only"
    done = tested.ok(nightly)
    (said,) = done.stdout.splitlines()
    assert re.match(r"nightly: nightly-\d{8} finished: .*2 pass.*; exit code 0; /.*/report\.html$", said), (
        said
    )
    assert "2 tests at" in done.stderr
    assert "one is due every 20h" in tested.ok(nightly).stdout
