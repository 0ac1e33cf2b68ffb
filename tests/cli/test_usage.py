"""`mngr usage`: tokens and cost, grouped, from records that the agents' programs left."""

import json
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.support.world import World

pytestmark = pytest.mark.accept("K1", "O1")

NOW = time.time()
DAY_S = 86400


def today(days_ago: int = 0) -> str:
    return datetime.fromtimestamp(NOW - days_ago * DAY_S).date().isoformat()


def record(world: World, name: str, *answers: tuple[int, float, str]) -> None:
    """Writes what a Claude Code would have: so many output tokens, then, by that model."""
    spec = next(
        path for path in Path(world.paths.agents).glob("*/agent.json") if f'"{name}"' in path.read_text()
    )
    path = spec.parent / "claude/projects/p/s.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for number, (tokens, at, model) in enumerate(answers):
            usage = {"input_tokens": 1000, "output_tokens": tokens}
            message = {"id": f"m{number}", "model": model, "usage": usage, "content": []}
            stamp = datetime.fromtimestamp(at).astimezone().isoformat()
            line = {"type": "assistant", "timestamp": stamp, "message": message}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mngr]:
    """A world whose agents have worked; tests leave it as it is."""
    world = World(tmp_path_factory.mktemp("paid"))
    try:
        yield with_agents_that_worked(Mngr(world), world)
    finally:
        world.end()


def with_agents_that_worked(mngr: Mngr, world: World) -> Mngr:
    """Two agents that worked today and three days ago, and one that never costs anything."""
    programs = world.folder / "bin"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\nexec sleep 1000\n")
    (programs / "claude").chmod(0o755)
    mngr.env["PATH"] = f"{programs}:{mngr.env['PATH']}"
    common = ("--no-connect", "--transfer", "none")
    mngr.ok("create", "foo", "claude", *common, "--label", "task=docs", "--project", "p1")
    mngr.ok("create", "bar", "claude-headless", *common, "--label", "task=tests", "--project", "p2")
    mngr.ok("create", "free", *common, "--", "sleep", "1000")
    opus = "claude-opus-4-8"
    record(world, "foo", (1000, NOW, opus), (3000, NOW - 3 * DAY_S, opus))
    record(world, "bar", (200, NOW, opus), (50, NOW, "a-new-model"))
    return mngr


def test_agents_are_told_with_their_sum(paid: Mngr) -> None:
    told = paid.ok("usage").stdout.splitlines()
    assert told[0].split() == ["AGENT", "TURNS", "INPUT", "OUTPUT", "CACHE", "READ", "CACHE", "WRITE", "COST"]
    assert told[1].split() == ["foo", "2", "2,000", "4,000", "0", "0", "$0.1100"]
    assert told[2].split() == ["bar", "2", "2,000", "250", "0", "0", "$0.0100", "+", "a-new-model"]
    assert told[3].split()[:4] == ["total", "4", "4,000", "4,250"]
    assert len(told) == 4


def test_json_has_everything(paid: Mngr) -> None:
    document = paid.ok("usage", "--json").json
    assert (document["schema"], document["by"], len(document["prices_as_of"])) == (1, "agent", 10)
    assert document["total"]["cost_usd"] == pytest.approx(0.12)
    assert document["total"]["unpriced"] == ["a-new-model"]
    assert [spent["group"] for spent in document["usage"]] == ["foo", "bar"]


@pytest.mark.parametrize(
    ("way", "groups"),
    [
        ("project", {"p1": 4000, "p2": 250}),
        ("label", {"task=docs": 4000, "task=tests": 250}),
        ("label:task", {"docs": 4000, "tests": 250}),
        ("label:owner", {"(none)": 4250}),
        ("day", {today(): 1250, today(3): 3000}),
        ("model", {"claude-opus-4-8": 4200, "a-new-model": 50}),
        ("host", {"local": 4250}),
    ],
)
def test_groups(paid: Mngr, way: str, groups: dict[str, int]) -> None:
    lines = paid.ok("usage", "--by", way, "--format", "jsonl").lines
    assert {line["group"]: line["output_tokens"] for line in lines} == groups


def test_since_a_moment(paid: Mngr) -> None:
    for moment in ("1d", today(1)):
        assert paid.ok("usage", "--since", moment, "--json").json["total"]["output_tokens"] == 1250


def test_some_agents_only(paid: Mngr) -> None:
    assert paid.ok("usage", "bar", "--format", "{group} {output_tokens}").stdout == "bar 250\n"
    assert paid.ok("usage", "--label", "task=docs", "--format", "{group}").stdout == "foo\n"
    assert paid.ok("usage", "-", "--format", "{group}", stdin="foo\n").stdout == "foo\n"


def test_own_prices_win(paid: Mngr) -> None:
    own = ("-S", "prices.a-new-model={input=0, output=1000}")
    total = paid.ok("usage", "bar", *own, "--json").json["total"]
    assert total["cost_usd"] == pytest.approx(0.01 + 0.05)
    assert total["unpriced"] == []


def test_nothing_used_is_said(mngr: Mngr) -> None:
    done = mngr.ok("usage")
    assert (done.stdout, "No agent has used" in done.stderr) == ("", True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--by", "lable"), 2, '"label"'),
        (("--since", "yesterweek"), 2, "2026-11-01"),
        (("nobody",), 4, "nobody"),
        (("-S", "prices.x={input=1}"), 2, "million tokens"),
    ],
)
def test_what_cannot_be_meant_is_named(mngr: Mngr, words: tuple[str, ...], code: int, said: str) -> None:
    done = mngr("usage", *words)
    assert done.code == code
    assert said in done.stderr


def test_list_reads_no_session_file(mngr: Mngr, world: World) -> None:
    """A pipe in its place would hold up whoever reads it."""
    with_agents_that_worked(mngr, world)
    for path in Path(world.paths.agents).glob("*/claude/projects/p/s.jsonl"):
        path.unlink()
        os.mkfifo(path)
    assert len(mngr.ok("list", "--json").json["agents"]) == 3
