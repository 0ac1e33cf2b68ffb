"""`mngr tmr run` and `resume` with a budget: real agents, of which one ignores that it shall finish."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.command import Done, Mngr
from tests.tmr.run.pipeline import UNCHANGED, Pipeline, pipeline

from mngr_tmr.engine.journal import read_journal
from mngr_tmr.history.spending import used_since, used_today
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentsMetered, FinishRequest, WorkPulled
from mngr_tmr.model.money import Used

__all__ = ["pipeline"]


def spends(usd: float) -> dict[str, Any]:
    return {"usage": {"output_tokens": 1000, "cost_usd": usd}}


class Desk:
    """A suite of three tests whose agents use what their playbooks say."""

    def __init__(self, pipeline: Pipeline, **plays: list[dict[str, Any]]) -> None:
        self.pipeline, self._mngr = pipeline, Mngr(pipeline.world)
        pipeline.spec(plays)

    def __call__(self, *words: str) -> Done:
        settings = ("tmr.meter=0.3s", "tmr.grace=1s", "tmr.context_tokens=[1000, 2000]", "tmr.verify_runs=1")
        flags = [word for setting in settings for word in ("-S", setting)]
        return self._mngr(*flags, "tmr", *words)

    def run(self, *words: str) -> Done:
        plays = os.path.join(self.pipeline.plays, "{test}.json")
        asked = ("--name", "r1", "--type", "scripted", "--slots", "1", "--arg", plays, "--no-own-venv")
        return self("run", "tests", *asked, *words)

    @property
    def folder(self) -> Path:
        return Path(self.pipeline.project.repo, ".mngr/tmr/r1")

    def rows(self) -> dict[str, Any]:
        summary = msgspec.json.decode((self.folder / "summary.json").read_bytes())
        return {row["test"].rpartition("::")[2]: row for row in summary["rows"]}

    def launches(self) -> list[str]:
        entries = read_journal(str(self.folder / "journal.jsonl"))
        return [entry.task for entry in entries if (entry.step, entry.kind) == ("launch", "intended")]


@pytest.mark.slow
@pytest.mark.accept("O4")
def test_one_agent_is_stopped_at_the_budget_one_is_not_run_and_more_budget_goes_on(
    pipeline: Pipeline,
) -> None:
    stubborn: list[dict[str, Any]] = [
        {"wait_message": True},
        {"edit": "half.txt", "text": "half\n"},
        {"run": "git add half.txt"},
        spends(0.9),
        {"wait_message": True},
        {"say": "I was told: {message}"},
        {"hang": True},
    ]
    desk = Desk(pipeline, test_a=[spends(0.1), UNCHANGED], test_b=stubborn, test_c=[spends(0.2), UNCHANGED])
    done = desk.run("--budget", "0.5usd")
    assert done.code == 3, done
    first = done.stderr.partition("launch")[0]
    assert "budget: $0.50; at most $" in first
    assert "no model with a known price is named: tokens without a price count at $" in first
    assert "1 test was not run: mngr tmr resume r1 --budget MORE" in done.stderr
    rows = desk.rows()
    assert rows["test_a"]["section"] == "clean"
    assert rows["test_b"]["section"] == "infrastructure"
    assert rows["test_b"]["why"] == (
        "watch: the budget of $0.50 is used up; it was asked to finish and did not"
    )
    assert rows["test_c"]["section"] == "not_run"
    assert rows["test_c"]["why"].startswith("budget: it may use $0.")
    assert "budget: $1.00 of $0.50 used, $0.50 more than it" in done.stdout
    assert "half.txt" in pipeline.world.git("show", "--stat", "--format=", rows["test_b"]["branch"])
    told = (desk.folder / rows["test_b"]["artifacts"] / "conversation.jsonl").read_text()
    assert "I was told: The budget of $0.50 is used up. Begin nothing new and finish now" in told
    entries = read_journal(str(desk.folder / "journal.jsonl"))
    assert sum(isinstance(entry.fact, FinishRequest) for entry in entries) == 1
    assert used_today(str(desk.folder.parent), entries[-1].at) == Used(2000, 1.0)

    again = desk("resume", "r1", "--budget", "2usd")
    assert "budget: 0.5usd → 2usd" in again.stderr
    assert "budget: $2.00; at most $" in again.stderr
    assert desk.rows()["test_c"]["section"] == "clean", again
    assert sorted(desk.launches()) == sorted(set(desk.launches())), "paid twice"
    assert "budget: $1.20 of $2.00 used" in again.stdout


@pytest.mark.accept("O4")
@pytest.mark.parametrize(
    ("flag", "text", "words"),
    [
        ("--budget", "25", 'budget "25" has no unit: dollars or tokens?'),
        ("--budget", "25eur", 'budget cannot be "25eur"'),
        ("--agent-budget", "-1usd", 'agent budget cannot be "-1usd"'),
    ],
)
def test_a_wrong_amount_is_an_error_that_names_the_units(
    pipeline: Pipeline, flag: str, text: str, words: str
) -> None:
    done = Desk(pipeline).run(f"{flag}={text}")
    assert (done.code, words in done.stderr) == (2, True), done
    assert "25usd, 1.50usd, 3Mtok" in done.stderr


def test_only_what_was_used_since_then_counts() -> None:
    def pulled(at: float, task: str, tokens: int) -> Entry:
        return Entry(at, "pull", "done", task, 1, fact=WorkPulled(used=Used(tokens, tokens / 10)))

    entries = [
        Entry(1, "meter", "done", fact=AgentsMetered({"a": Used(10, 1.0), "b": Used(5, 0.5)})),
        pulled(2, "b", 7),
        Entry(11, "meter", "done", fact=AgentsMetered({"a": Used(30, 3.0)})),
        pulled(12, "a", 40),
        Entry(13, "launch", "intended", "b", 2),
        pulled(14, "c", 3),
        Entry(15, "pull", "done", "b", 2, fact=WorkPulled(used=Used(2, 0.2))),
    ]
    assert used_since(entries, 10) == Used(35, pytest.approx(3.5))  # type: ignore[arg-type]
    assert used_since(entries, 0).tokens == 52
