"""The numbers of a run once more, from git and plain pytest: nothing of the pipeline takes part."""

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import msgspec

from mngr import process
from mngr.process import OnlyEnv
from mngr.testing.waiting import PATIENCE_S

_TAGS = {"failure": "failed", "error": "error", "skipped": "skipped"}


class Recount:
    """A repository with an integrated branch, and the files that a run wrote about it."""

    def __init__(self, repo: str, run: str, scratch: Path, env: Mapping[str, str]) -> None:
        self._repo, self._scratch, self._env = repo, scratch, env
        self.folder = Path(repo, ".mngr/tmr", run)
        self.branch = f"tmr/{run}/integrated"
        self.summary = self._json("summary.json")
        self.integration = self._json("integration.json")
        self.pr = (self.folder / "pr.md").read_text()
        self.junit = xml.parse(self.folder / "junit.xml").getroot()
        self.rows = {row["test"]: row for row in self.summary["rows"]}
        tip, base = self.git("rev-parse", self.branch).strip(), self.summary["base"]
        assert self.integration["tip"] == tip
        self.base, self.tip = self.outcomes(base), self.outcomes(tip)
        self.fixes = self.git("rev-list", "--reverse", f"{base}..{tip}").split()[1:]

    def git(self, *words: str, cwd: str = "") -> str:
        return process.run(["git", *words], cwd=cwd or self._repo).check("git").text

    def outcomes(self, commit: str, *tests: str) -> dict[str, str]:
        """What pytest says of the tests at a commit, by node id."""
        return self._pytest(self._checkout(commit), tests)

    def without(self, fix: str) -> dict[str, str]:
        """What pytest says of all tests on the branch when a commit is reverted."""
        place = self._checkout(self.branch)
        self.git(*("-c", "user.name=x", "-c", "user.email=x@x"), "revert", "--no-edit", fix, cwd=str(place))
        return self._pytest(place, ())

    def agent_outcomes(self) -> dict[str, str]:
        """Each test at the tip of its own agent's branch, where that is not the base; not of agents that were lost."""
        return {
            test: self.outcomes(row["commit"], test).get(test, "missing")
            for test, row in self.rows.items()
            if row["section"] not in ("infrastructure", "added") and row["commit"] != self.summary["base"]
        }

    def _checkout(self, commit: str) -> Path:
        place = self._scratch / f"copy-{len(list(self._scratch.iterdir()))}"
        self.git("clone", "-q", "--shared", "--no-checkout", self._repo, str(place))
        self.git("checkout", "-q", "--detach", self.git("rev-parse", commit).strip(), cwd=str(place))
        return place

    def _pytest(self, place: Path, tests: Iterable[str]) -> dict[str, str]:
        words = (
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--junitxml=told.xml",
            *(tests or ("tests",)),
        )
        done = process.run(
            [sys.executable, *words], timeout_s=2 * PATIENCE_S, env=OnlyEnv(self._env), cwd=str(place)
        )
        assert done.code in (0, 1), done
        return {
            f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}": _outcome(case)
            for case in xml.parse(place / "told.xml").iter("testcase")
        }

    def _json(self, name: str) -> Any:
        return msgspec.json.decode((self.folder / name).read_bytes())


def _outcome(case: xml.Element) -> str:
    return next((_TAGS[child.tag] for child in case if child.tag in _TAGS), "passed")


def check_table(seen: Recount) -> None:
    """integration.json and the rows of summary.json have every test, as pytest has it, at all three commits."""
    table = {row["test"]: row for row in seen.integration["measured"]}
    assert table.keys() == seen.tip.keys() == seen.rows.keys()
    assert {test: row["tip"]["outcome"] for test, row in table.items()} == seen.tip
    base = {test: row["base"]["outcome"] for test, row in table.items() if not row["is_added"]}
    assert base == seen.base
    assert {test for test, row in table.items() if row["is_added"]} == seen.tip.keys() - seen.base.keys()
    agents = seen.agent_outcomes()
    assert {test: table[test]["agent"]["outcome"] for test in agents} == agents
    assert {test: seen.rows[test]["after"] for test in agents} == agents
    assert {test: seen.rows[test]["before"] for test in seen.base} == seen.base
    for test, row in table.items():
        assert seen.rows[test]["measured"]["tip"]["outcome"] == row["tip"]["outcome"]
        assert bool(row["tip"]["reason"]) == (row["tip"]["outcome"] != "passed"), row


def check_counts(seen: Recount) -> None:
    """The headline, its counts, the gates, the causes and JUnit's totals."""
    failing = {test for test, outcome in seen.tip.items() if outcome in ("failed", "error")}
    before = {test for test, outcome in seen.base.items() if outcome in ("failed", "error")}
    fixed = before - failing
    assert failing <= before, "the words below are for this case"
    words = f"{len(seen.tip) - len(failing)} pass, {len(failing)} fail (all failed before)"
    branch = seen.summary["branch"]
    assert branch["headline"] == f"on the branch: {words}"
    assert branch["counts"] == {
        "passed": len(seen.tip) - len(failing),
        "failed": len(failing),
        "failed_before": len(failing),
        "flaky": 0,
        "skipped": 0,
        "not_run": 0,
        "fixed": len(fixed),
    }
    gates = {gate["name"]: gate for gate in branch["gates"]}
    assert (gates["suite"]["passed"], gates["suite"]["detail"]) == (False, words)
    causes = seen.summary["causes"]
    tests = [test for cause in causes for test in cause["tests"]]
    assert len(tests) == len(set(tests)) == seen.summary["failures"] >= len(causes)
    assert set(tests) >= before
    assert {test for cause in causes for test in cause["fixed"]} == fixed
    errors = {test for test, row in seen.rows.items() if row["section"] in ("blocked", "infrastructure")}
    (suite,) = seen.junit
    assert int(suite.get("tests", "")) == len(seen.tip)
    assert int(suite.get("errors", "")) == len(errors)
    assert int(suite.get("failures", "")) == len(failing - errors)


def check_fixes(seen: Recount) -> None:
    """What each fix is needed for and whose it is: the branch is tried without it, its trailers are counted."""
    passing = {test for test, outcome in seen.tip.items() if outcome == "passed"}
    taken: set[str] = set()
    causes = {cause["fix"]: set(cause["tests"]) for cause in seen.summary["causes"] if cause["fix"]}
    assert [fix["commit"] for fix in seen.summary["branch"]["fixes"]] == seen.fixes
    for fix in seen.summary["branch"]["fixes"]:
        without = seen.without(fix["commit"])
        needed = {test for test in passing if without.get(test) != "passed"}
        assert set(fix["needed_by"]) == needed
        made_for = seen.git(
            "log", "-1", "--format=%(trailers:key=Tmr-Task,valueonly)", fix["commit"]
        ).split()[1::2]
        red = [test for test in made_for if seen.base[test] != "passed"]
        told = re.match(r"(\d+) tests? needs? it; (\d+) agents? made it, (\S+)", fix["reason"])
        assert told is not None, fix["reason"]
        assert (int(told[1]), int(told[2])) == (len(needed), len(made_for))
        assert told[3] == ("its" if len(made_for) == 1 else str(len(red)))
        mine = {test for test in needed - taken if seen.base.get(test, "passed") != "passed"}
        assert causes[fix["commit"]] == mine, "a cause has the tests of its own fix and no others"
        taken |= needed


def check_pr(seen: Recount) -> None:
    """pr.md: every number in it."""
    failing = {test for test, outcome in seen.tip.items() if outcome != "passed"}
    before = {test for test, outcome in seen.base.items() if outcome != "passed"}
    collected = len(seen.base)
    assert f": {collected} tests, an agent for each." in seen.pr
    assert f"- {seen.summary['branch']['headline']}\n" in seen.pr
    assert f"- {len(before - failing)} tests that failed before pass now\n" in seen.pr
    assert f"- {len(seen.fixes)} implementation fixes, each its own commit" in seen.pr
    assert seen.pr.count(": failed (failed at the base)") == len(failing)
    for fix in seen.summary["branch"]["fixes"]:
        assert (
            f"tests that fail without it: {', '.join(f'`{test}`' for test in fix['needed_by'])}\n" in seen.pr
        )
        assert f"`{fix['reason'][:40]}" in seen.pr
    (numbers,) = re.findall(
        r"of (\d+) tasks: (\d+) integrated, (\d+) not merged, (\d+) failed, (\d+) without", seen.pr
    )
    assert int(numbers[0]) == collected == sum(map(int, numbers[1:]))
    log = seen.git(
        "log", "--format=%(trailers:key=Tmr-Task,valueonly)", f"{seen.summary['base']}..{seen.branch}"
    )
    assert int(numbers[1]) == len({line for line in log.splitlines() if line})
    assert "green" not in seen.pr


def check_page(seen: Recount, run: Any) -> None:
    """The page's data: one row per test with its status on the branch, and the same counts."""
    assert run["headline"] == seen.summary["branch"]["headline"]
    assert {test["id"]: test["status"] for test in run["tests"]} == seen.tip
    table = {row["test"]: row["tip"]["outcome"] for row in run["measured"]}
    assert table == seen.tip
    told = {test["id"]: test["work"]["on_branch"] for test in run["tests"]}
    assert told == seen.tip
    assert sorted(test for section in run["sections"] for test in section["tests"]) == sorted(seen.tip)
    named = {fact["label"]: fact["value"] for fact in run["facts"]}
    assert named["tests"].startswith(f"{len(seen.base)} tests: ")
    assert named["gate suite"] == seen.summary["branch"]["headline"].removeprefix("on the branch: ")
    same = ("id", "tests", "fixed", "fix")
    assert [[cause[key] for key in same] for cause in run["causes"]] == [
        [cause[key] for key in same] for cause in seen.summary["causes"]
    ]
    assert [commit["id"] for commit in run["commits"]][1:] == seen.fixes
    needed = {fix["commit"]: fix["needed_by"] for fix in seen.summary["branch"]["fixes"]}
    assert {commit["id"]: commit["needed_by"] for commit in run["commits"] if commit["rank"]} == needed
