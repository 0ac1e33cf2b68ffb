"""`mngr-result`, run as an agent runs it."""

import importlib
import io
import json
import os
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.world import LEAN
from tests.tmr.project import PYTHON

from mngr.process import Completed, run
from mngr_tmr.model.result import Result, read_claim
from mngr_tmr.publish.helper import HelperConfig, helper_program, helper_setup
from mngr_tmr.publish.schema import schema_text

TEST = "tests/test_app.py::test_greets"
CONFIG = HelperConfig(test=TEST, file="tests/test_app.py")
GOOD = {"test": TEST, "outcome": "unchanged", "passed_before": True, "passed_after": None, "summary": "fine"}


class Agent:
    """A working copy with the helper on its PATH, and the environment that mngr gives an agent."""

    def __init__(self, folder: Path, config: HelperConfig = CONFIG, setup: str = "") -> None:
        self.copy, self.state = folder / "work copy", folder / "state"
        self.outbox = self.state / "outbox"
        self.host = folder / "host"
        for path in (self.copy / "tests", self.outbox, self.host):
            path.mkdir(parents=True)
        self.env = {
            "PATH": f"{self.state}/bin:{PYTHON}:{os.environ['PATH']}",
            "MNGR_AGENT_STATE_DIR": str(self.state),
            "MNGR_OUTBOX": str(self.outbox),
            "MNGR_HOST_DIR": str(self.host),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "HOME": str(folder),
            **LEAN,
        }
        (self.copy / "app.py").write_text("def greet(): return 'hello'\n")
        (self.copy / "tests/test_app.py").write_text(
            "from app import greet\ndef test_greets(): assert greet() == 'hello'\ndef test_other(): assert 0\n"
        )
        (self.copy / "conftest.py").write_text("")
        self.sh("git init -q -b main; git config user.name A; git config user.email a@b; git add -A")
        self.commit("first")
        self.env["MNGR_BASE_COMMIT"] = self.sh("git rev-parse HEAD").text.strip()
        self.sh(helper_setup(setup, config)).check("setup")

    def sh(self, script: str, stdin: bytes = b"") -> Completed:
        return run(["sh", "-c", script], stdin=stdin, env=self.env, cwd=str(self.copy), timeout_s=120)

    def __call__(self, *words: str, stdin: bytes = b"") -> Completed:
        return run(["mngr-result", *words], stdin=stdin, env=self.env, cwd=str(self.copy), timeout_s=120)

    def commit(self, message: str, *paragraphs: str) -> str:
        words = [word for text in (message, *paragraphs) for word in ("-m", text)]
        run(["git", "commit", "-q", "--allow-empty", "-a", *words], env=self.env, cwd=str(self.copy)).check(
            "git"
        )
        return self.sh("git rev-parse HEAD").text.strip()

    @property
    def result(self) -> dict[str, object]:
        found = json.loads((self.outbox / "result.json").read_bytes())
        assert isinstance(found, dict)
        return found


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


@pytest.mark.accept("M4", "M10")
def test_a_result_is_published_whole_and_rings_the_bell(agent: Agent) -> None:
    done = agent("publish", "-", stdin=json.dumps(GOOD).encode())
    assert done.text == f"published: {TEST}, unchanged\n"
    claim = read_claim((agent.outbox / "result.json").read_bytes(), TEST)
    assert claim.problem == ""
    assert claim.result == Result(TEST, "unchanged", True, None, "fine")
    assert os.listdir(agent.outbox) == ["result.json"]
    assert (agent.host / "bell").exists()


@pytest.mark.accept("M4", "M12", "Q7")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outcome": "done"}, 'outcome: "done" is not one of blocked, failed, fixed, improved, unchanged'),
        ({"passed_after": "yes"}, 'passed_after: expected boolean or null, found "yes"'),
        ({"sumary": "x"}, "sumary: there is no such field; did you mean summary?"),
        ({"summary": None}, "summary: expected string, found null"),
        ({"test": "other"}, f'test: it must be "{TEST}"'),
        ({"schema": 2}, "schema: it must be 1"),
        ({"schema": True}, "schema: expected integer, found true"),
        ({"outcome": "blocked"}, "blocked: with outcome blocked it says stage, reason and needs"),
        ({"outcome": "blocked", "blocked": {"stage": "x"}}, "blocked.reason: it is missing"),
        ({"outcome": "fixed"}, "changes: with outcome fixed they name its commits"),
        (
            {"changes": [{"kind": "impl", "commits": [], "summary": ""}]},
            'changes[0].kind: "impl" is not one of docs, implementation, test, tutorial',
        ),
        (
            {"changes": [{"kind": "test", "commits": [1], "summary": "", "importance": 9}]},
            "changes[0].commits[0]: expected string, found 1",
        ),
        (
            {"escalations": [{"kind": "x", "title": "y", "locations": "z"}]},
            "escalations[0].locations: expected",
        ),
        ({"summary": "\ud800"}, "half of a surrogate pair"),
        ({"summary": "x" * 1_100_000}, "1000000 is the most"),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_what_may_stand_there(
    agent: Agent, change: dict[str, object], said: str
) -> None:
    agent("publish", "-", stdin=json.dumps(GOOD).encode()).check("the good one")
    done = agent("publish", "-", stdin=json.dumps({**GOOD, **change}).encode())
    assert done.code == 2
    assert said in done.complaint
    assert agent.result == GOOD
    assert os.listdir(agent.outbox) == ["result.json"]


@pytest.mark.accept("Q7")
@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', "[" * 100_000, "\xff"])
def test_what_is_no_result_is_refused_in_one_clear_error(agent: Agent, text: str) -> None:
    done = agent("publish", "-", stdin=text.encode("latin-1"))
    assert done.code == 2
    assert "Traceback" not in done.complaint
    assert done.complaint.startswith("mngr-result:")
    assert os.listdir(agent.outbox) == []


@pytest.mark.accept("M10")
def test_a_result_that_cannot_be_written_leaves_nothing_half(agent: Agent) -> None:
    limited = agent.sh(
        "ulimit -f 1; trap '' XFSZ; mngr-result publish -",
        stdin=json.dumps({**GOOD, "summary": "x" * 100_000}).encode(),
    )
    assert limited.code != 0
    assert os.listdir(agent.outbox) == []


@pytest.mark.accept("M5")
def test_write_makes_the_result_from_commits_and_tries(agent: Agent) -> None:
    agent("try", "as I found it").check("first try")
    (agent.copy / "app.py").write_text("def greet(): return 'HELLO'\n")
    first = agent.commit("Louder", "Kind: implementation\nImportance: 5\nReason: nobody heard it")
    assert agent("try", "louder").code == 1
    (agent.copy / "tests/test_app.py").write_text("def test_greets(): pass\n")
    second = agent.commit("Test it", "Kind: test")
    agent(
        *("write", "--outcome", "fixed", "--summary", "-", "--passed-after", "yes"),
        *("--escalate", "bug", "elsewhere", "see there"),
        stdin=b"# What I did\n",
    ).check("write")
    claim = read_claim((agent.outbox / "result.json").read_bytes(), TEST)
    assert claim.result is not None
    assert claim.problem == ""
    assert claim.result.summary == "# What I did\n"
    assert (claim.result.passed_before, claim.result.passed_after) == (True, True)
    assert [(c.kind, c.commits, c.summary, c.importance) for c in claim.result.changes] == [
        ("implementation", (first,), "Louder", 5),
        ("test", (second,), "Test it", 3),
    ]
    assert [(t.name, t.description, t.passed) for t in claim.result.attempts] == [
        ("try-1", "as I found it", True),
        ("try-2", "louder", False),
    ]
    assert claim.result.escalations[0].title == "elsewhere"


@pytest.mark.accept("M5")
@pytest.mark.parametrize("trailer", ["", "Kind: feature"])
def test_a_commit_that_does_not_say_its_kind_is_named(agent: Agent, trailer: str) -> None:
    agent.commit("Quietly", trailer or "no trailer here")
    done = agent("write", "--outcome", "fixed", "--summary", "x")
    assert done.code == 2
    assert "kind" in done.complaint
    assert os.listdir(agent.outbox) == []


@pytest.mark.accept("M7")
def test_blocked_is_an_answer_with_stage_reason_and_needs(agent: Agent) -> None:
    agent(
        "write", "--outcome", "blocked", "--summary", "x", "--blocked", "environment", "no net", "a net"
    ).check("")
    assert agent.result["blocked"] == {"stage": "environment", "reason": "no net", "needs": "a net"}


@pytest.mark.accept("M11")
def test_a_try_runs_the_one_test_and_shows_its_output(agent: Agent) -> None:
    done = agent("try", "once")
    assert done.code == 0
    assert "1 passed" in done.text
    assert "test_other" not in done.text
    assert done.text.endswith("try-1: passed\n")


def test_the_schema_is_told_from_the_records(agent: Agent) -> None:
    assert agent("schema").text.strip() == schema_text()
    for field in Result.__struct_fields__:
        assert f"- {field}: " in schema_text()


@pytest.mark.accept("M17")
def test_the_copys_own_code_is_recognised(agent: Agent) -> None:
    done = agent("check")
    assert done.code == 0, done
    assert f"import app: {agent.copy}/app.py, in this working copy" in done.text


@pytest.mark.accept("M17")
def test_code_from_elsewhere_is_named_and_has_its_own_exit_code(agent: Agent, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "app.py").write_text("def greet(): return 'hello'\n")
    (agent.copy / "conftest.py").unlink()
    agent.env["PYTHONPATH"] = str(elsewhere)
    for verb in ("check", "try"):
        done = agent(verb)
        assert done.code == 3, done
        assert f"import app comes from {elsewhere}/app.py, outside this working copy" in done.text


@pytest.mark.accept("M17")
def test_a_program_of_another_checkout_is_named(tmp_path: Path) -> None:
    programs, elsewhere = tmp_path / "programs", tmp_path / "elsewhere"
    config = HelperConfig(test=TEST, file="tests/test_app.py", programs=("greeter",), repo=str(elsewhere))
    agent = Agent(tmp_path, config)
    programs.mkdir()
    elsewhere.mkdir()
    (elsewhere / "app.py").write_text("")
    agent.env["PATH"] = f"{programs}:{agent.env['PATH']}"
    script = programs / "hello"
    script.write_text(f"#!{_python_that_imports(elsewhere, tmp_path)}\nimport app\n")
    script.chmod(0o755)
    done = agent("check")
    assert done.code == 3
    assert f"hello comes from {elsewhere}/app.py" in done.text
    script.unlink()
    (programs / "greeter").write_text("#!/bin/sh\n")
    (programs / "greeter").chmod(0o755)
    assert f"greeter comes from {programs}/greeter" in agent("check").text


def _python_that_imports(folder: Path, tmp_path: Path) -> Path:
    """An interpreter with an editable install of the folder: that is a path in a .pth file."""
    venv = tmp_path / "venv"
    run([sys.executable, "-m", "venv", "--without-pip", str(venv)], timeout_s=120).check("venv")
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "editable.pth").write_text(f"{folder}\n")
    return venv / "bin/python"


@pytest.mark.parametrize("setup", ["exit 7", "echo 'it''s' \"$(id -u)\" >said", "cat <<X >said\nX", ""])
def test_the_users_setup_runs_afterwards_as_it_is(tmp_path: Path, setup: str) -> None:
    state = tmp_path / "s"
    done = run(
        ["sh", "-c", helper_setup(setup, CONFIG)], env={"MNGR_AGENT_STATE_DIR": str(state)}, cwd=str(tmp_path)
    )
    alone = run(["sh", "-c", setup], cwd=str(tmp_path))
    assert (done.code, done.stdout) == (alone.code, alone.stdout)
    assert (state / "bin/mngr-result").read_bytes() == helper_program(CONFIG)
    assert len(helper_setup(setup, CONFIG)) < 70_000  # a shell takes 128 KB in one word


@pytest.mark.parametrize("test", ["a'b\"c$(id)`id`\\", "ünï ☃", "x\ny"])
def test_hostile_names_are_data(tmp_path: Path, test: str) -> None:
    agent = Agent(tmp_path, HelperConfig(test=test))
    agent("write", "--outcome", "unchanged", "--summary", "s").check("write")
    assert agent.result["test"] == test


def test_it_needs_nothing_newer_than_python_3_8(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(helper_program(CONFIG))) as archive:
        archive.extractall(tmp_path)
    judge = [str(Path(sys.executable).with_name("vermin")), "--no-tips", "--target=3.8-"]
    run([*judge, str(tmp_path)]).check("its features and imports")
    (tmp_path / "newer.py").write_text("import tomllib\n")
    assert run([*judge, str(tmp_path)]).code


texts = st.text(max_size=8)
maybe = st.one_of(st.none(), st.booleans())
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=5,
)
changes = st.fixed_dictionaries(
    {"kind": st.sampled_from(["test", "docs", "implementation", "tutorial", "x"]), "summary": texts},
    optional={"commits": st.lists(texts, max_size=2), "importance": st.integers(-1, 7), "reason": anything},
)
results = st.fixed_dictionaries(
    {
        "test": st.one_of(st.just(TEST), texts),
        "outcome": st.sampled_from(["fixed", "improved", "unchanged", "blocked", "failed", "done"]),
        "passed_before": maybe,
        "passed_after": st.one_of(maybe, anything),
        "summary": texts,
    },
    optional={
        "schema": st.one_of(st.just(1), st.integers()),
        "changes": st.lists(changes, max_size=2),
        "blocked": st.one_of(anything, st.fixed_dictionaries({"stage": texts, "reason": texts})),
        "escalations": st.lists(st.fixed_dictionaries({"kind": texts, "title": texts}), max_size=2),
        "attempts": anything,
        "more": anything,
    },
)


@pytest.fixture(scope="module")
def results_module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The program's module that checks results, loaded from the zip as on a host."""
    path = tmp_path_factory.mktemp("program") / "mngr-result"
    path.write_bytes(helper_program(CONFIG))
    kept = {
        name: sys.modules.pop(name) for name in tuple(sys.modules) if name.partition(".")[0] == "mngr_tmr"
    }
    sys.path.insert(0, str(path))
    try:
        module = importlib.import_module("mngr_tmr.publish.program.results")
    finally:
        sys.path.remove(str(path))
        for name in [name for name in sys.modules if name.partition(".")[0] == "mngr_tmr"]:
            del sys.modules[name]
        sys.modules.update(kept)
    return module


@pytest.mark.accept("M12", "Q7")
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(results, anything))
def test_what_the_helper_accepts_we_read_and_what_we_refuse_it_refuses(
    results_module: ModuleType, value: object
) -> None:
    schema = results_module.CONFIG["schema"]
    found = results_module.problems(value, schema) or results_module.contradictions(value)
    try:
        data = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, UnicodeEncodeError):
        return
    claim = read_claim(data, TEST)
    if not found:
        assert claim.result is not None, data
        assert claim.problem == ""
    elif claim.result is not None and not claim.problem:
        assert all("there is no such field" in one for one in found)


@pytest.mark.accept("M12", "Q7")
@given(st.one_of(st.binary(max_size=200), results.map(lambda one: json.dumps(one).encode())))
def test_any_bytes_are_a_result_or_a_problem_with_their_text(data: bytes) -> None:
    claim = read_claim(data, TEST)
    assert claim.result is not None or claim.problem
    assert claim.raw == data.decode("utf-8", "replace")
