"""A run whose agents put canaries into every string they can influence: none gets into its files or onto a terminal."""

import gzip
import io
import os
import random
import re
import zipfile
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from zlib import decompress

import msgspec
import pytest
from tests.cli.command import Mngr
from tests.support.needs import needs
from tests.support.world import World
from tests.tmr.canary import SPELLINGS, holds

from mngr_view.template import TEMPLATE

pytestmark = [pytest.mark.slow, pytest.mark.accept("Q13", "Q6")]

SEEDS = [int(word) for word in os.environ.get("MNGR_CANARY_SEEDS", "1").split()]
CHUNK = re.compile(rb'<script type="application/octet-stream" data-chunk="[^"]*">([^<]*)</script>')

# Every script is one agent. `say(text)` gives the next spelling of a canary, `name()` one that can name a file.
AGENTS = {
    "test_words": """
        for number in range(30):
            print(say(), flush=True)
        for number in range(6):
            file(os.path.join(OUTBOX, f"{number}-{name()}", f"{name()}.txt"), say())
            file(os.path.join(OUTBOX, "artifacts", f"try-{number}", f"{name()}.log"), say())
        file(os.path.join(OUTBOX, "env.txt"), "\\n".join(f"{key}={value}" for key, value in os.environ.items()))
        result(
            "unchanged",
            summary=say(),
            escalations=[{"kind": say(), "title": say(), "detail": say(), "locations": [say(), name()]}],
            attempts=[{"name": "try-1", "description": say(), "passed": True}],
        )
    """,
    "test_commit": """
        place = random.Random(SEED).choice(["name", "message", "author", "link", "file", "header"])
        if place == "link":
            os.symlink(name(), "link")
        else:
            shutil.copy("file.txt", name() if place == "name" else "copy.txt")
        if place == "file":
            file("copy.txt", say())
        git("add", "-A")
        git("commit", "-q", "--author", f"{name() if place == 'author' else 'a'} <a@b>",
            "-m", say() if place == "message" else "more", "-m", "Kind: test")
        if place == "header":
            headers, _, words = git("cat-file", "commit", "HEAD").partition("\\n\\n")
            text = f"{headers}\\ngpgsig -----BEGIN\\n {name()}\\n -----END\\n\\n{words}"
            made = subprocess.run(["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
                                  input=text, text=True, capture_output=True, check=True).stdout.strip()
            git("reset", "-q", "--soft", made)
        result("improved", summary="More.", changes=[change("test")])
    """,
    "test_branch": """
        git("checkout", "-q", "-b", re.sub("[^0-9A-Za-z-]", "", KEY))
        git("tag", "-a", "-m", say(), re.sub("[^0-9A-Za-z-]", "", KEY) + "-tag")
        file("docs.md", "fine")
        git("add", "-A")
        git("commit", "-q", "-m", "docs", "-m", "Kind: docs")
        result("improved", summary=say(), changes=[{**change("docs"), "summary": say(), "reason": say()}])
    """,
    "test_signal": """
        path = os.path.join(os.environ["MNGR_AGENT_STATE_DIR"], "exit.json")
        forge = '\'{"pid": %d, "exit_code": null, "signal": "%s", "at": 1}\'' % (os.getppid(), KEY)
        script = f"for n in 1 2 3 4 5 6 7 8 9; do sleep 0.3; echo {forge} >{path}; done"
        subprocess.Popen(["sh", "-c", script], start_new_session=True)
        events = os.path.join(os.path.dirname(path), "events.jsonl")
        with open(events) as file_:
            event = json.loads(file_.readlines()[-1])
        with open(events, "a") as file_:
            file_.write(json.dumps({**event, "kind": "labelled", "data": {"labels": {name(): name()}}}) + "\\n")
        os.kill(os.getppid(), 9)
    """,
    "test_left_out": """
        for value in (TOKEN, KEY):
            os.mkfifo(os.path.join(OUTBOX, f"pipe-{value}"))
            os.symlink(f"/{value}", os.path.join(OUTBOX, f"link-{value}"))
            for folder in (value, f"[hidden {'TOKEN' if value == TOKEN else 'KEY'}]"):
                file(os.path.join(OUTBOX, f"x-{folder}", "one"), value)
        result("unchanged", summary="Nothing.")
    """,
    "test_added": """
        file("tests/test_more.py", '''
            import os
            import pytest
            @pytest.mark.parametrize("value", [os.environ["KEY"], os.environ["TOKEN"]])
            def test_more(value): pass
        ''')
        git("add", "-A")
        git("commit", "-q", "-m", "a test", "-m", "Kind: test")
        result("improved", summary="A test.", changes=[change("test")])
    """,
    "test_prints": """
        told = "print(os.environ); assert not os.environ['TOKEN']"
        file("tests/test_it.py", open("tests/test_it.py").read().replace(
            "def test_prints():", "def test_prints():\\n    import os; " + told))
        git("add", "-A")
        git("commit", "-q", "-m", "a test", "-m", "Kind: test")
        result("improved", summary="It prints.", changes=[change("test")])
    """,
    "test_malformed": """
        file(os.path.join(OUTBOX, "result.json"), '{"schema": 1, ' + say() + name() + "}")
    """,
}

SECTIONS = {
    "test_words": "clean",
    "test_commit": "infrastructure",
    "test_branch": "disputed",
    "test_signal": "infrastructure",
    "test_left_out": "clean",
    "test_added": "other",
    "test_prints": "regressed",
    "test_malformed": "malformed",
}
ADDED = ["tests/test_more.py::test_more[[hidden KEY]]", "tests/test_more.py::test_more[[hidden TOKEN]]"]

PRELUDE = """
import json, os, random, re, shutil, subprocess, sys
SEED, NAME, SPELT, TOKEN, KEY = json.loads({facts!r})
OUTBOX = os.environ["MNGR_OUTBOX"]
spelt, named = iter(SPELT * 9), iter([TOKEN, KEY] * 99)

def say():
    return next(spelt)

def name():
    return next(named)

def file(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    import textwrap
    with open(path, "w", errors="surrogateescape") as out:
        out.write(textwrap.dedent(text))

def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.strip()

def change(kind):
    return {{"kind": kind, "commits": [git("rev-parse", "HEAD")], "summary": "It."}}

def result(outcome, **fields):
    whole = {{"schema": 1, "test": f"tests/test_it.py::{{NAME}}", "outcome": outcome, "passed_before": True,
             "passed_after": True, **fields}}
    with open(os.path.join(OUTBOX, "result.new"), "w") as out:
        json.dump(whole, out)
    os.replace(os.path.join(OUTBOX, "result.new"), os.path.join(OUTBOX, "result.json"))

"""


class Aviary:
    """One run with all of them, through the real command."""

    def __init__(self, world: World, seed: int) -> None:
        randomly = random.Random(seed)
        self.key = f"kEy{randomly.getrandbits(64):016x}"
        self.token = f"""tok-{randomly.getrandbits(32):08x}-"é'\\&%20 <end>"""
        self.world, self.repo, self.mngr = world, world.repo, Mngr(world)
        world.env["GIT_CONFIG_GLOBAL"] = "/dev/null"
        tests = self.repo / "tests" / "test_it.py"
        tests.parent.mkdir()
        tests.write_text("".join(f"def {name}():\n    assert True\n\n" for name in AGENTS))
        world.git("add", "-A")
        world.git("commit", "-q", "-m", "tests")
        self.base = world.git("rev-parse", "HEAD").strip()
        plays = world.folder / "plays"
        plays.mkdir()
        for name, body in AGENTS.items():
            spelt = [spell(value) for spell in SPELLINGS.values() for value in (self.token, self.key)]
            randomly.shuffle(spelt)
            facts = msgspec.json.encode([seed, name, [_storable(one) for one in spelt], self.token, self.key])
            (plays / f"{name}.py").write_text(PRELUDE.format(facts=facts.decode()) + dedent(body))
            step = {"run": f"python3 {plays / name}.py"}
            (plays / f"{name}.json").write_bytes(msgspec.json.encode([step]))
        options = ("--type", "scripted", "--arg", f"{plays}/{{test}}.json", "--transfer", "worktree")
        self.said = [self._mngr("run", "tests", "--name", "r1", *options, "--slots", "4", "--timeout", "60s")]
        self.folder = self.repo / ".mngr" / "tmr" / "r1"

    def later(self) -> None:
        """What commands say and write that were never told the values."""
        for words in (
            ("status",),
            ("status", "--json"),
            ("report",),
            ("report", "--json"),
            ("runs", "--json"),
        ):
            done = self.mngr("tmr", *words)
            self.said.append(done.stdout + done.stderr)

    def _mngr(self, *words: str) -> str:
        done = self.mngr(
            "tmr", *words, "--env", "TOKEN", "--env", "KEY", TOKEN=self.token, KEY=self.key,
            MNGR__TMR__VERIFY_RUNS="1", MNGR__TMR__GRACE="2s",
        )  # fmt: skip
        return done.stdout + done.stderr

    def texts(self) -> Iterator[tuple[str, str]]:
        """All that was written, by what it is: names, contents, what is compressed in them, output, commits."""
        yield from (("output", text) for text in self.said)
        for path in self.folder.rglob("*"):
            yield "name", path.name
            if path.is_symlink():
                yield f"link {path}", os.readlink(path)
            elif path.is_file():
                for data in _contents(path.read_bytes()):
                    yield str(path), data.decode(errors="replace")
        branch = f"{self.base}..tmr/r1/integrated"
        yield "integrated", self.world.git("log", "-p", "--format=raw", branch)


def _contents(data: bytes) -> Iterable[bytes]:
    """The data, what is compressed in it, and the texts of what is JSON."""
    yield data
    for chunk in CHUNK.findall(data):
        yield from _contents(decompress(b64decode(chunk), wbits=31))
    for document in (data, *data.splitlines()):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            yield "\n".join(_strings(msgspec.json.decode(document))).encode(errors="replace")
    if data[:2] == b"\x1f\x8b":
        yield gzip.decompress(data)
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from map(archive.read, archive.namelist())


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in (
        (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _strings(one)


def _storable(text: str) -> str:
    return text.encode(errors="surrogateescape").decode(errors="replace")


@pytest.fixture(params=SEEDS)
def aviary(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Aviary]:
    needs("tmux", "tmux", "-V")
    needs("the built page (make web)", "test", "-f", TEMPLATE)
    world = World(tmp_path)
    try:
        yield Aviary(world, request.param)
    finally:
        world.end()


def test_no_canary_is_in_any_file_of_a_run_or_on_a_terminal(aviary: Aviary) -> None:
    """TH-H5: journal, notes, errors, summary, JUnit, page, PR text, file names, commits, terminal."""
    aviary.later()
    leaks = [
        f"{what}: {spelling}"
        for what, text in aviary.texts()
        for value in (aviary.token, aviary.key)
        for spelling in holds(text, value)
    ]
    assert leaks == []
    summary = msgspec.json.decode((aviary.folder / "summary.json").read_bytes())
    rows = {row["test"].rpartition("::")[2]: row for row in summary["rows"]}
    assert {name: rows[name]["section"] for name in AGENTS} == SECTIONS
    assert [row["test"] for row in summary["rows"] if row.get("added_by")] == ADDED
    assert "[hidden KEY]" in (aviary.folder / "pr.md").read_text()
