"""The bundled example with real Claude Codes, from end to end; only the model behind them follows a script."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.agents.offline import KEY, claude_env
from tests.cli.command import Done, Mngr
from tests.support.model import Fault, Model, Reply, Tokens, ToolCall
from tests.support.model.fixture import model
from tests.support.needs import needs
from tests.support.world import World
from tests.view.desk import chunks_of

from mngr import process
from mngr.process import OnlyEnv
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.example.make import Example, commit_all, make_example
from mngr_tmr.model.money import tokens
from mngr_view.template import TEMPLATE

__all__ = ["model"]

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14", "Z4")]

_DOCUMENT = Path(__file__).parents[2] / "docs/pipeline.md"
_UNATTENDED = ("--arg", "--dangerously-skip-permissions")
_MODEL = ("--arg", "--model", "--arg", "claude-opus-4-8")
_TOKENS = Tokens(input=1000, output=200, cache_read=10_000, cache_write=400)
_COST_USD = (1000 * 5 + 200 * 25 + 10_000 * 0.5 + 400 * 6.25) / 1e6
_BLOCKED = "test_sync_reaches_the_server"
_CANARY = {"run": "printenv ANTHROPIC_API_KEY"}
_TESTS = {
    "test_total_adds_up": "tests/test_money.py",
    "test_total_in_euro": "tests/test_money.py",
    "test_help_succeeds": "tests/test_help.py",
    _BLOCKED: "tests/test_elsewhere.py",
}


class Loop:
    """The example's repository, and a model that plays the example's playbooks to every Claude Code that asks."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.world, self.model = World(folder), model
        self.example: Example = make_example(str(folder / "pantry"))
        claude = claude_env(model, self.world.home)
        self.world.env |= {"PATH": claude["PATH"]}
        self.env = {**claude, **Mngr(self.world).env}
        self.replies: dict[str, list[Reply]] = {}
        for test, file in _TESTS.items():
            steps = [_CANARY, *self.play(test)] if test == _BLOCKED else self.play(test)
            self.replies[test] = played(steps)
            model.add(*self.replies[test], match=f"{file}::{test}")
        model.add(*played(self.play("settle")), match="You settle one conflict")

    def play(self, name: str) -> list[dict[str, Any]]:
        play: list[dict[str, Any]] = msgspec.json.decode(
            Path(self.example.plays, f"{name}.json").read_bytes()
        )
        return play

    @property
    def run_folder(self) -> Path:
        return Path(self.example.repo, ".mngr/tmr/r1")

    def run(self, *words: str, pytest_flags: tuple[str, ...], settings: tuple[str, ...] = ()) -> Done:
        return self.mngr(
            *("-S", "tmr.verify_runs=1", "-S", "tmr.grace=90s", *settings),
            *("tmr", "run", "tests", "--name", "r1", "--type", "claude", "--slots", "2"),
            *(*_keys("--env"), "--integrator", "mechanical", *_MODEL, *words, "--", *pytest_flags),
        )

    def mngr(self, *words: str) -> Done:
        ran = process.run(
            [sys.executable, "-m", "mngr", *words],
            timeout_s=3 * PATIENCE_S,
            env=OnlyEnv(self.env),
            cwd=self.example.repo,
        )
        return Done(ran.code, ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace"))

    def git(self, *words: str) -> str:
        return process.run(["git", *words], cwd=self.example.repo).check("git").text

    def rows(self) -> dict[str, Any]:
        """The rows of summary.json, by the test's name."""
        summary = msgspec.json.decode((self.run_folder / "summary.json").read_bytes())
        return {row["test"].rpartition("::")[2]: row for row in summary["rows"]}

    def claudes(self) -> list[bytes]:
        """Processes of this world that are a Claude Code."""
        lines = [b" ".join(seen.argv) for seen in self.world.processes().values()]
        return [line for line in lines if b"claude" in line]

    def page(self) -> dict[str, Any]:
        return chunks_of((self.run_folder / "report.html").read_bytes())


def _keys(option: str) -> tuple[str, ...]:
    """The variables that a Claude Code needs here, by name."""
    return option, "ANTHROPIC_API_KEY", option, "ANTHROPIC_BASE_URL"


def played(play: list[dict[str, Any]]) -> list[Reply]:
    """A playbook as a model says it: a tool call per step, and a last word that ends the turn."""
    replies, text = [], ""
    for step in play:
        if "usage" in step:  # a coding agent keeps its own records
            continue
        if "say" in step:
            text = step["say"]
            continue
        for call in _calls(step):
            replies.append(Reply(text, (call,), _TOKENS))
            text = ""
    return [*replies, Reply("That is all.", tokens=_TOKENS)]


def _calls(step: dict[str, Any]) -> Iterator[ToolCall]:
    command = f"git commit -qam '{step['commit']}'" if "commit" in step else step.get("run")
    if command:
        yield ToolCall("Bash", {"command": command, "description": "as the playbook says"})
        return
    old, new = step["replace"]
    yield ToolCall("Read", {"file_path": step["edit"]})
    yield ToolCall("Edit", {"file_path": step["edit"], "old_string": old, "new_string": new})


@pytest.fixture
def loop(tmp_path: Path, model: Model) -> Iterator[Loop]:
    needs("the built page (make web)", "test", "-f", TEMPLATE)
    made = Loop(tmp_path, model)
    yield made
    made.world.end()


@pytest.mark.accept("R5", "J5", "O1", "O2", "Q6")
def test_four_claude_codes_fix_improve_are_blocked_and_conflict(loop: Loop) -> None:
    """Of two fixes that exclude each other one is taken: that is the fix, the other is the conflict."""
    head = loop.git("rev-parse", "HEAD")
    done = loop.run(*_UNATTENDED, pytest_flags=("-k", "total or help_succeeds or unknown_verb or sync"))
    assert done.code == 8, done
    rows = loop.rows()
    assert {test: row["section"] for test, row in rows.items()} == {
        "test_total_adds_up": "implementation",
        "test_help_succeeds": "other",
        "test_an_unknown_verb_fails": "added",
        "test_sync_reaches_the_server": "blocked",
        "test_total_in_euro": "set_aside",
    }
    assert "conflict with" in rows["test_total_in_euro"]["why"]
    log = loop.git("log", "--reverse", "--format=%s", "main..tmr/r1/integrated").splitlines()
    assert log == ["tests, docs: what 1 task changed", "Give totals with two digits"]
    assert (loop.git("rev-parse", "HEAD"), loop.git("status", "--porcelain")) == (head, "")
    assert sorted(prompt.count("mngr-result check") for prompt in loop.model.prompts) == [1] * 4

    check_conversations(loop)
    check_costs(loop)
    check_estimate(loop, done)
    check_secrets(loop, done)
    assert loop.mngr("list", "--running", "--format", "{name}").stdout == ""
    assert loop.claudes() == []
    assert os.listdir(loop.world.home) == []


def check_conversations(loop: Loop) -> None:
    """Each agent's own words and tools are in its folder and in the page, beside a recording of its terminal."""
    page = loop.page()
    tests = {row["id"].rpartition("::")[2]: row for row in page["index"]["runs"][0]["tests"]}
    for test, replies in loop.replies.items():
        (agent,) = (one for one in tests[test]["attempts"] if one["kind"] == "agent")
        detail = page[agent["chunk"]]
        said = [turn["text"] for turn in detail["conversation"]]
        assert test in said[0]
        assert said[-1] == "That is all."
        assert [text for text in said if text.startswith("Bash: ")] == [
            f"Bash: {call.input['command']}"
            for reply in replies
            for call in reply.calls
            if call.name == "Bash"
        ]
        (cast,) = detail["casts"]
        assert "mngr-result" in page[cast["chunk"]]
        assert cast["duration_s"] > 0


def check_costs(loop: Loop) -> None:
    """Tokens and money are those of the model's answers, in the agent's folder, its row and the page."""
    (run,) = loop.page()["index"]["runs"]
    facts = {test["id"].rpartition("::")[2]: test["work"].get("facts", ()) for test in run["tests"]}
    for test, replies in loop.replies.items():
        row = loop.rows()[test]
        used = msgspec.json.decode((loop.run_folder / row["artifacts"] / "usage.json").read_bytes())
        assert used == row["usage"]
        assert (used["turns"], used["input_tokens"]) == (len(replies), 1000 * len(replies))
        assert used["cost_usd"] == pytest.approx(_COST_USD * len(replies))
        assert told(facts[test], "cost") == f"${_COST_USD * len(replies):.2f}"
    answers = sum(map(len, loop.replies.values()))
    assert told(run["facts"], "cost") == f"${_COST_USD * answers:.2f}"
    assert told(run["facts"], "tokens") == f"{11_600 * answers:,}"


def check_estimate(loop: Loop, done: Done) -> None:
    """Said before the first launch, and beside what was used after it; every task had the prior."""
    assert "estimate: 80k to 200k tokens, $0.40 to $1.00 at 2 slots" in done.stderr
    assert "without a past run: 20k to 50k tokens an agent; input price of claude-opus-4-8" in done.stderr
    answers = sum(map(len, loop.replies.values()))
    used = f"used {tokens(11_600 * answers)} tokens, ${_COST_USD * answers:.2f}, "
    assert used in done.stdout
    assert "; the estimate was 80k to 200k tokens, $0.40 to $1.00: within it" in done.stdout
    assert "estimates so far: 4 of 4 tasks of 1 run used no more" in done.stdout
    summary = msgspec.json.decode((loop.run_folder / "summary.json").read_bytes())
    assert summary["calibration"] == {"inside": 4, "tasks": 4, "runs": 1}
    assert all(row["estimate"]["source"] == "prior" for row in summary["rows"] if row.get("task"))


def told(facts: list[dict[str, str]], name: str) -> str:
    return next(fact["value"] for fact in facts if fact["label"] == name)


def check_secrets(loop: Loop, done: Done) -> None:
    """The key reached the program, one agent even printed it, and nothing that came home holds it."""
    assert {asked.headers.get("x-api-key") for asked in loop.model.asked} == {KEY}
    assert any(KEY in str(asked.body) for asked in loop.model.asked), "the canary was never printed"
    files = [path for path in loop.run_folder.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert any(b"[hidden ANTHROPIC_API_KEY]" in path.read_bytes() for path in files)
    assert KEY not in str(loop.page())
    assert KEY not in loop.git("log", "--all", "-p")
    assert KEY not in done.stdout + done.stderr


@pytest.mark.accept("R5")
def test_a_conflict_can_be_settled_by_one_more_claude_code(loop: Loop) -> None:
    settles = ("--integrator", "auto", *_keys("--integrator-env"))
    done = loop.run(*_UNATTENDED, *settles, pytest_flags=("-k", "total"))
    assert done.code == 8, done
    assert {row["section"] for row in loop.rows().values()} == {"implementation"}
    assert 'f"{worth * RATES[currency]:.2f}"' in loop.git("show", "tmr/r1/integrated:pantry/money.py")
    assert len(loop.model.prompts) == 3
    assert loop.claudes() == []


@pytest.mark.accept("M19")
def test_what_no_retry_changes_ends_each_claude_code_at_once_with_the_models_words(loop: Loop) -> None:
    """A key that was withdrawn after the preflight, no credit any more, a model that is gone; nobody is nudged."""
    refusals = {
        "test_total_adds_up": Fault(401, message="invalid x-api-key"),
        "test_total_in_euro": Fault(400, message="Your credit balance is too low to access the API."),
        "test_help_succeeds": Fault(404, message="model: claude-opus-4-8"),
    }
    for test, fault in refusals.items():
        loop.model.add(Reply("", faults=(fault,) * 20), match=f"{_TESTS[test]}::{test}")
    done = loop.run(
        *_UNATTENDED, settings=("-S", "tmr.idle=10m"), pytest_flags=("-k", "total or help_succeeds")
    )
    assert done.code == 1, done
    rows = loop.rows()
    assert {row["section"] for row in rows.values()} == {"infrastructure"}
    assert rows["test_total_adds_up"]["why"] == (
        "watch: authentication failed: Invalid API key · Fix external API key"
    )
    assert rows["test_total_in_euro"]["why"] == "watch: billing: Credit balance is too low"
    assert rows["test_help_succeeds"]["why"].startswith("watch: model not found: There's an issue with the")
    assert len(set(loop.model.prompts)) == 3
    assert loop.claudes() == []


@pytest.mark.accept("O4")
def test_a_budget_holds_and_a_raised_one_goes_on_without_paying_twice(loop: Loop) -> None:
    """One Claude Code works for ever and ignores that it shall finish; another one is not launched."""
    turn = Tokens(input=1000, output=200, cache_read=80_000, cache_write=400)
    work = ToolCall(
        "Bash", {"command": "echo half >half.txt; git add half.txt; sleep 1", "description": "more"}
    )
    endless = [Reply("", (work,), turn)] * 60
    loop.model.add(*endless, match=f"{_TESTS['test_help_succeeds']}::test_help_succeeds")
    limits = ("meter=1s", "grace=3s", "context_tokens=[1000, 20000]", "agent_rate=6Mtok")
    settings = tuple(word for limit in limits for word in ("-S", f"tmr.{limit}"))
    done = loop.run(
        *_UNATTENDED,
        *("--budget", "0.4usd", "--slots", "1"),
        settings=settings,
        pytest_flags=("-k", "adds_up or help_succeeds or sync"),
    )
    assert done.code == 3, done
    (more,) = re.findall(r"budget: \$0.40; at most \$([0-9.]+) more may be used", done.stderr)
    rows = loop.rows()
    used = sum(row["usage"].get("cost_usd", 0.0) for row in rows.values() if "usage" in row)
    assert 0.4 < used <= 0.4 + float(more)
    assert rows[_BLOCKED]["section"] == "blocked"
    stopped = rows["test_help_succeeds"]
    assert stopped["why"] == "watch: the budget of $0.40 is used up; it was asked to finish and did not"
    assert "half.txt" in loop.git("show", "--stat", "--format=", stopped["branch"])
    assert any("Begin nothing new and finish now" in str(asked.body) for asked in loop.model.asked)
    assert rows["test_total_adds_up"]["section"] == "not_run"
    assert rows["test_total_adds_up"]["why"].startswith("budget: it may use $")
    assert loop.claudes() == []
    answers = len(loop.model.asked)
    again = loop.mngr(*settings, "tmr", "resume", "r1", "--budget", "9usd")
    assert loop.rows()["test_total_adds_up"]["section"] == "implementation", again
    assert not any(_BLOCKED in str(one.body) for one in loop.model.asked[answers:]), "paid twice"


def test_one_that_asks_for_permission_becomes_a_row_and_can_be_tried_again_unattended(loop: Loop) -> None:
    done = loop.run(settings=("-S", "tmr.idle=5s"), pytest_flags=("-k", "sync"))
    assert done.code == 1, done
    row = loop.rows()[_BLOCKED]
    assert row["section"] == "infrastructure"
    assert row["why"].endswith("it asks for permission and got no answer")
    assert not any(KEY in str(asked.body) for asked in loop.model.asked), "it did what it asked for"
    assert loop.claudes() == []
    again = loop.mngr("tmr", "resume", "r1", "--retry", *_UNATTENDED)
    assert again.code == 8, again
    assert loop.rows()[_BLOCKED]["section"] == "blocked"


def test_what_the_project_allows_is_not_asked_for(loop: Loop) -> None:
    rules = Path(loop.example.repo, ".claude/settings.json")
    rules.parent.mkdir()
    rules.write_text(re.findall(r"^```json\n(.*?)```", _DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)[0])
    commit_all(loop.example.repo, "What agents may do here")
    done = loop.run(settings=("-S", "tmr.idle=30s"), pytest_flags=("-k", "adds_up"))
    assert done.code == 8, done
    assert loop.rows()["test_total_adds_up"]["section"] == "implementation"
