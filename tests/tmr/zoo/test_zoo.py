"""Every agent of the zoo ends where its README says, and nothing comes of what it tried."""

import os
import re
import stat
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from zlib import decompress

import pytest
from msgspec.structs import replace
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import browser, context, visit
from tests.support.needs import needs
from tests.support.world import LEAN_FLAGS, World
from tests.tmr.project import PYTHON

import mngr
import mngr_tmr.zoo
from mngr.actions.manager import Manager
from mngr_tmr.collect.collect import collect
from mngr_tmr.model.run import RunOptions, RunSpec, Secrets
from mngr_tmr.model.task import agent_of
from mngr_tmr.report.data.rows import ReportRow
from mngr_tmr.report.data.sections import SECTIONS
from mngr_tmr.report.report import WrittenReport, write_report
from mngr_tmr.run.execution import run_tasks
from mngr_tmr.run.integrate_run import integrate_run
from mngr_tmr.run.polling import agents_of
from mngr_tmr.run_folder.folder import RunFolder, make_folder, runs_folder
from mngr_tmr.zoo.make import CANARY, TOKEN, make_zoo
from mngr_view.template import TEMPLATE

__all__ = ["browser", "context"]
pytestmark = pytest.mark.slow

SECRET = "zoo-5f2c9d81a7e3"
README = Path(mngr_tmr.zoo.__file__).with_name("README.md")
CHUNK = re.compile(rb'<script type="application/octet-stream" data-chunk="[^"]*">([^<]*)</script>')
LEAKY = (
    "test_leaks",
    "test_commits_a_secret",
    "test_forges_its_end",
    "test_names_a_file_after_its_token",
    "test_names_a_branch_after_its_token",
)
HOSTILE = ("<script>document", "<img src=x", "onclick=alert")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


class Zoo:
    """One run of the whole zoo, integrated and reported."""

    def __init__(self, world: World) -> None:
        self.world, self.canary = world, world.folder / "canary"
        world.env.update(PATH=f"{PYTHON}:{world.env['PATH']}", GIT_CONFIG_GLOBAL="/dev/null")
        made = make_zoo(str(world.folder / "zoo"))
        self.repo = Path(made.repo)
        self.manager = Manager(cwd=made.repo, env=world.env)
        options = RunOptions("scripted", (made.play_arg,), slots=4, verifiers=1, timeout_s=60.0, grace_s=2.0)
        options = replace(options, idle_s=60.0, verify_runs=1, env_names=(TOKEN, CANARY))
        head = world.git("rev-parse", "HEAD", cwd=self.repo).strip()
        spec = RunSpec(
            "zoo", made.repo, head, time.time(), (), ("pytest", *LEAN_FLAGS), ("tests",), options=options
        )
        self.spec = replace(spec, tasks=collect(spec, manager=self.manager).tasks)
        self.folder: RunFolder = make_folder(runs_folder(made.repo), self.spec)
        self.reported = self._run()
        rows = [row for row in self.reported.model.rows if row.record]
        self.rows = {_name(row.task.node_id): row for row in rows}

    def _run(self) -> WrittenReport:
        env = {TOKEN: SECRET, CANARY: str(self.canary)}
        run_tasks(self.folder, manager=self.manager, env=env, tell=lambda line: None)
        integrate_run(self.folder, manager=self.manager, secrets=Secrets(env, {}))
        return write_report(self.folder, env={})

    def notes(self, name: str) -> str:
        return "; ".join(self.rows[name].notes)

    def path(self, row: ReportRow, *names: str) -> Path:
        return Path(self.folder.attempt(row.task.slug, 1), *names)


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    needs("tmux", "tmux", "-V")
    needs("the built page (make web)", "test", "-f", TEMPLATE)
    world = World(tmp_path_factory.mktemp("z"))
    try:
        yield Zoo(world)
    finally:
        world.end()


@pytest.mark.accept("Q4", "P4", "P5", "M12", "M15", "M17", "R5", "R11")
def test_each_row_is_where_the_readme_says(zoo: Zoo) -> None:
    told = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*?) \|", README.read_text(), re.M))
    found = {name: SECTIONS[row.section].title for name, row in zoo.rows.items()}
    why = {name: row.why for name, row in zoo.rows.items()}
    elsewhere = {name: zoo.rows[name].record for name in told if found.get(name) != told[name]}
    assert found == told, elsewhere
    assert why["test_hangs"] == "watch: timed out after 60 s"
    for name in ("test_commits_a_secret", "test_names_a_file_after_its_token"):
        assert "its commits hold the value of ZOO_TOKEN" in why[name]
    assert "it is not there any more" in why["test_deletes_tests"]
    assert "no longer collected" in why["test_deletes_others"]
    assert why["test_huge_result"] == "the result has more than 1000000 bytes"
    assert zoo.reported.exit_code == 3


@pytest.mark.accept("Q4", "P12", "K5")
def test_nothing_of_it_runs_on(zoo: Zoo) -> None:
    agents = agents_of("zoo", zoo.manager)
    assert len(agents) == len(zoo.spec.tasks)
    assert {agent.state for agent in agents} <= {mngr.AgentState.STOPPED, mngr.AgentState.DONE}
    left = {pid: seen.argv for pid, seen in zoo.world.processes().items() if b"tmux" not in seen.argv[0]}
    assert left == {}


@pytest.mark.accept("Q4", "Q5")
def test_what_it_configured_in_its_copy_is_run_by_nobody_else(zoo: Zoo) -> None:
    own = agent_of("zoo", zoo.rows["test_plants_hooks"].task.slug)
    ran = zoo.canary.read_text().splitlines() if zoo.canary.exists() else []
    assert [line for line in ran if not line.endswith(f" {own}")] == []
    planted = zoo.world.host_dir.glob("work/*/.git/hooks/filter.zoo.clean")
    assert len(list(planted)) == 1


@pytest.mark.accept("Q4", "Q5")
def test_the_runs_folder_holds_no_way_out_and_nothing_huge(zoo: Zoo) -> None:
    folder = Path(zoo.folder.path).resolve()
    for path in folder.rglob("*"):
        assert path.resolve().is_relative_to(folder), path
        assert stat.S_ISREG(path.stat().st_mode) or path.is_dir(), path
        assert path.stat().st_size <= 100_000_000, path
    for left_out in ("passwd", "up", "top", "artifacts/try-1", "pipe"):
        assert f"left out {left_out}: " in zoo.notes("test_links_out")
    assert "left out result.json: a link to /etc/passwd" in zoo.notes("test_links_its_result")
    assert "left out a-big-file: 3.0 GB" in zoo.notes("test_huge_outbox")
    assert os.path.getsize(zoo.folder.report) < 10_000_000


@pytest.mark.accept("Q4", "Q11")
def test_a_name_that_is_a_path_leads_nowhere(zoo: Zoo) -> None:
    """TH-C1: the folder of what an agent handed over has the name of its task."""
    assert zoo.path(zoo.rows["test_renames_itself"], "outbox", "pre-commit").is_file()
    assert not (zoo.repo / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.accept("Q4", "Q16")
def test_the_runs_folder_is_closed_to_others(zoo: Zoo) -> None:
    folder = Path(zoo.folder.path)
    open_ones = [path for path in (folder, *folder.rglob("*")) if path.lstat().st_mode & 0o077]
    assert [path for path in open_ones if not path.is_symlink()] == []


@pytest.mark.accept("Q4", "Q6", "Q13")
def test_a_secret_is_only_where_its_owner_put_it(zoo: Zoo) -> None:
    folder, host_dir = Path(zoo.folder.path), zoo.world.host_dir
    assert [path for path in folder.rglob("*") if _holds(path, SECRET)] == []
    assert all(SECRET not in line for line in zoo.reported.lines)
    leaky = {agent_of("zoo", row.task.slug) for name, row in zoo.rows.items() if name in LEAKY}
    leaky_ids = {agent.id for agent in agents_of("zoo", zoo.manager) if agent.name in leaky}
    for path in host_dir.rglob("*"):
        if _holds(path, SECRET) and not leaky_ids & {*path.parts} and "work" not in path.parts:
            assert path.name == "run.sh"
            assert path.stat().st_mode & 0o077 == 0
    leak = zoo.rows["test_leaks"]
    cast = zoo.path(leak, "recording.cast").read_text()
    assert cast.count(f"[hidden {TOKEN}]") >= 2
    assert "[hidden ZOO_TOKEN]" in zoo.path(leak, "conversation.jsonl").read_text()
    assert "ZOO_TOKEN=[hidden ZOO_TOKEN]" in zoo.path(leak, "outbox", "env.txt").read_text()
    assert zoo.path(leak, "outbox", "[hidden ZOO_TOKEN].txt").is_file()
    assert zoo.path(leak, "outbox", "[hidden ZOO_TOKEN]-2").is_dir()
    assert "left out pipe-[hidden ZOO_TOKEN]: " in zoo.notes("test_leaks")
    assert zoo.path(leak, "outbox", "env.gz").read_text().startswith("left out: it holds the value of ")
    integrated = zoo.world.git("log", "-p", "--format=%B", "main..tmr/zoo/integrated", cwd=zoo.repo)
    assert SECRET not in integrated


@pytest.mark.accept("Q4", "Q5", "V4")
def test_words_that_markup_and_terminals_obey_stay_words(zoo: Zoo) -> None:
    page = Path(zoo.folder.report).read_bytes()
    outside = CHUNK.sub(b"", page)
    for words in HOSTILE:
        assert words.encode() not in outside
    inside = b"".join(decompress(b64decode(chunk), wbits=31) for chunk in CHUNK.findall(page))
    assert b"onclick=alert" in inside
    for line in zoo.reported.lines:
        assert OBEYED.search(line) is None, line
    log = zoo.world.git("log", "--format=%B", "main..tmr/zoo/integrated", cwd=zoo.repo)
    for text in (log, Path(zoo.folder.pr).read_text(), Path(zoo.folder.junit).read_text()):
        assert OBEYED.search(text) is None


@pytest.mark.accept("Q4", "Q5", "V4")
def test_a_browser_obeys_none_of_it(zoo: Zoo, context: BrowserContext) -> None:
    seen = visit(context, Path(zoo.folder.report))
    for name in ("test_escapes", "test_links_out"):
        seen.page.locator(".row", has_text=name).first.click()
        expect(seen.heading).to_contain_text(name)
        expect(seen.page.locator(".evidence")).to_be_visible()
    assert seen.page.title() not in ("zoo", "1")
    assert [one for one in seen.complaints if "dialog" in one or "zoo.invalid" in one] == []
    assert [url for url in seen.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def _name(node_id: str) -> str:
    return node_id.rpartition("::")[2].partition("[")[0]


def _holds(path: Path, words: str) -> bool:
    if words in path.name or (path.is_symlink() and words in os.readlink(path)):
        return True
    return path.is_file() and not path.is_symlink() and words.encode() in path.read_bytes()
