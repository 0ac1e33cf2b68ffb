"""Whatever agents and hosts wrote reaches a terminal as text: every verb, over agents whose records are hostile."""

import io
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.cli.command import Mngr
from tests.e2e_kit.view.desk import T0
from tests.e2e_kit.view.desk import RunDesk as KitDesk
from tests.support.world import World
from tests.tmr.report.desk import RunDesk, escalation, result

from mngr.cli.app import run
from mngr.cli.commands import COMMANDS
from mngr.cli.complete import completed
from mngr_lib.safe_text import one_line, safe_lines
from mngr_tmr.report.out.progress import Progress

CONTROL = (
    "\x1b]52;c;ZXZpbA==\x07\x1b]0;evil\x07\x1b[38;5;99m\x9b2J\x7f\x08\r\x85\u202e\u2066\u200b\u2028\U000e0041"
)
EVIL = f"x{CONTROL}\nerror: forged\nhint: forged\nwarning: forged"
_SPACES = "\n\t\xa0\u3000"


class Shown(NamedTuple):
    """What a command wrote."""

    code: int
    out: str
    err: str


class Cli:
    """Runs commands in this process, in a world of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, *words: str) -> Shown:
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            try:
                code = run(list(words))
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
        for stream in (out, err):
            stream.flush()
        return Shown(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


class Agents(NamedTuple):
    """Ids of agents: of one whose name, labels and screen are hostile, of one whose record is, and of a talker."""

    loud: str
    forged: str
    talker: str


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World(tmp_path)
    for name, value in {**made.env, "EDITOR": "true", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    for name in ("TMUX", "COLUMNS", "MNGR_AGENT_NAME", "MNGR_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(made.repo)
    yield made
    made.end()


@pytest.fixture
def cli(place: World, monkeypatch: pytest.MonkeyPatch) -> Cli:
    assert place.repo.exists()
    return Cli(monkeypatch)


@pytest.fixture
def agents(place: World, cli: Cli) -> Agents:
    say = "printf '\\033]0;evil\\007\\033[38;5;99mplain\\033[0m\\n\\302\\2332J'; sleep 600"
    made = [
        cli("create", "loud", "--label", f"k={EVIL}", "--", "sh", "-c", say),
        cli("create", "forged", "--", "sleep", "600"),
        cli("create", "talker", "scripted", "--transfer", "none"),
    ]
    assert [shown.code for shown in made] == [0, 0, 0], made
    listed = msgspec.json.decode(cli("list", "--json").out)["agents"]
    found = Agents(**{agent["name"]: agent["id"] for agent in listed})
    log(place, found.loud, "labelled", labels={"k": EVIL, EVIL: EVIL})
    log(place, found.loud, EVIL, why=EVIL)
    forge(place, found)
    return found


def log(place: World, agent_id: str, kind: str, **data: Any) -> None:
    """Adds an event to an agent's log, as its host would."""
    with open(f"{place.paths.agent(agent_id).dir}/events.jsonl", "ab") as file:
        file.write(msgspec.json.encode({"at": 1_790_000_000.0, "kind": kind, "data": data}) + b"\n")


def forge(place: World, agents: Agents) -> None:
    """Writes what a host may claim: texts with control characters in every field that is a text."""
    own = place.paths.agent(agents.forged)
    spec = msgspec.json.decode(Path(own.dir, "agent.json").read_bytes())
    texts = {"branch": EVIL, "project": EVIL, "labels": {"k": EVIL}, "base_commit": EVIL}
    Path(own.dir, "agent.json").write_bytes(msgspec.json.encode({**spec, **texts}))
    log(place, agents.forged, "renamed", name=EVIL)
    Path(own.exit).write_bytes(msgspec.json.encode({"exit_code": None, "signal": EVIL}))
    Path(own.screen).write_text(EVIL)
    turns = [{"role": role, "text": EVIL} for role in ("user", "agent", EVIL)]
    Path(place.paths.agent(agents.talker).dir, "conversation.jsonl").write_bytes(
        b"".join(msgspec.json.encode(turn) + b"\n" for turn in turns)
    )


def assert_harmless(shown: Shown, words: tuple[str, ...]) -> None:
    for text in (shown.out, shown.err):
        bad = {char for char in text if not char.isprintable() and char not in _SPACES}
        assert not bad, (words, bad, text)
    # A screen and a turn are texts of many lines, and stdout is theirs.
    is_text = words[0] == "capture" or "{text}" in words[-1]
    for text in (shown.err,) if is_text else (shown.out, shown.err):
        assert not re.search(r"^(error|hint|warning): forged", text, re.MULTILINE), (words, text)
    assert "Traceback" not in shown.err, (words, shown.err)


def calls(agents: Agents) -> dict[str, list[tuple[str, ...]]]:
    """What is run of every verb, those that change least first."""
    loud, forged, talker = agents
    fields = "name,labels,branch,work_dir,why,signal,labels.k"
    template = "{name}\\t{labels}\\t{labels.k}\\t{branch}\\t{work_dir}\\t{why}\\t{signal}\\t{host.why}"
    both = [(one,) for one in (loud, forged)]
    return {
        "list": [
            *((), ("--explain",), ("--hosts",), ("--schema",), ("--fields", fields), ("--format", template)),
            *(
                (EVIL,),
                ("--where", f"name={EVIL}"),
                ("--sort", EVIL),
                ("--label", f"k={EVIL}"),
                ("--strict",),
            ),
        ],
        "events": [*both, (loud, forged), (loud, "--format", "{kind}\\t{data}")],
        "capture": [*both, (loud, forged), (loud, "--full"), (loud, "--format", "{screen}"), (EVIL,)],
        "transcript": [*both, (talker,), (talker, loud), (talker, "--format", "{role}\\t{text}")],
        "diff": [*both, (loud, "--stat"), (loud, "--", EVIL), (loud, "--format", "{text}"), (EVIL,)],
        "usage": [(), ("--by", "agent"), ("--since", EVIL)],
        "doctor": [()],
        "gc": [("--dry-run",)],
        "help": [(), (EVIL,)],
        "config": [("list",), ("get", EVIL), ("explain", EVIL), ("set", EVIL, EVIL), ("path",)],
        "plugin": [("list",)],
        "completion": [("bash",)],
        "connect": [(), *both],
        "wait": [*((*one, "--until", "stopped", "--timeout", "0.01") for one in both), (EVIL,)],
        "exec": [*((*one, "--", "true") for one in both), (loud, forged, "--", "false"), (EVIL, "--", EVIL)],
        "message": [*((*one, "-m", "hello") for one in both)],
        "pull": [
            *both,
            *((*one, "--outbox", "--to", "out") for one in both),
            (loud, "--files", EVIL, "--to", "out"),
        ],
        "push": [*both, (loud, "--ref", EVIL), (loud, "--files", EVIL)],
        "snapshot": [
            *(("create", *one, "--dry-run") for one in both),
            *(
                ("create", loud, EVIL),
                ("list",),
                ("list", forged),
                ("restore", EVIL),
                ("destroy", EVIL, "-y"),
            ),
        ],
        "label": [
            *((*one, "a=b", "--dry-run") for one in both),
            *((*one, "a=b") for one in both),
            (EVIL, "a=b"),
        ],
        "rename": [*((*one, "new", "--dry-run") for one in both), (loud, EVIL)],
        "clone": [(loud, "copy", "--dry-run"), (forged, "copy", "--dry-run"), (forged, "copy"), (loud, EVIL)],
        "migrate": [(loud, "@nowhere.ssh"), (forged, "@nowhere.ssh", "--dry-run"), (loud, EVIL)],
        "create": [("-n", EVIL), (EVIL, "--", "true"), ("new", EVIL), ("new", "--dry-run", "--", EVIL)],
        "stop": [*((*one, "--dry-run") for one in both), *both],
        "start": [*both],
        "cleanup": [
            ("--idle", "0s", "--dry-run"),
            ("--idle", "0s"),
            ("--where", f"name={EVIL}", "--stop", "-y"),
        ],
        "destroy": [
            *both,
            *((*one, "--dry-run") for one in both),
            *((*one, "-y") for one in both),
            (talker, "-y"),
        ],
    }


@pytest.mark.accept("Q5", "Q13")
def test_no_verb_lets_control_characters_or_lines_of_an_agent_through(
    cli: Cli, place: World, agents: Agents
) -> None:
    """TH-M5. In JSON, also in a pipe, they are escapes, and it is the same JSON."""
    for verb, *more in (
        ("list",),
        ("events", agents.loud),
        ("transcript", agents.talker),
        ("label", agents.loud, "z=1"),
    ):
        for form in ("json", "jsonl"):
            shown = cli(verb, *more, "--format", form)
            assert_harmless(shown, (verb, form))
            assert [msgspec.json.decode(line) for line in shown.out.splitlines()]
    listed = msgspec.json.decode(cli("list", "--json").out)["agents"]
    labels = next(agent["labels"] for agent in listed if agent["id"] == agents.loud)
    assert labels.get("k", EVIL) == EVIL
    table = calls(agents)
    assert set(table) == set(COMMANDS)
    for verb, many in table.items():
        for words in many:
            assert_harmless(cli(verb, *words), (verb, *words))
        if verb == "stop":  # of one that has ended, its host tells how, and its last screen
            forge(place, agents)
            for words in (("list",), ("capture", agents.forged), ("wait", agents.forged, "--until", "done")):
                assert_harmless(cli(*words), words)


@pytest.mark.accept("Q5", "Q13")
def test_on_a_terminal_only_our_own_escape_sequences_arrive(place: World, agents: Agents) -> None:
    """TH-M5: tables, the live table, the menu of connect, JSON, errors, and the names a shell completes."""
    mngr = Mngr(place)
    ours = re.compile(r"\x1b\[(?:[0-9]{1,2}m|H|2J)|\r\n")
    for words, until, keys in (
        (("list",), "", ""),
        (("list", "--json"), "", ""),
        (("list", "--watch"), "Ctrl-C ends this", "\x03"),
        (("label", agents.loud, "x=1"), "", ""),
        (("label", EVIL, "x=1"), "", ""),
        (("connect",), "Number or name", "nobody\n"),
        (("capture", agents.loud, "--ansi"), "", ""),
    ):
        terminal = mngr.terminal(*words)
        if until:
            terminal.wait_for(until)
            terminal.type(keys)
        terminal.end()
        # Of the colors of a screen, which --ansi asks for, the hostile one is one.
        shown = terminal.shown.replace("\x1b[38;5;99m", "" if "--ansi" in words else "\x1b[38;5;99m")
        left = ours.sub("\n", shown)
        assert left == safe_lines(left), (words, shown)
        assert not re.search(r"^(error|hint|warning): forged", left, re.MULTILINE), (words, left)
    Path(place.paths.names, f"z{CONTROL}\nforged").write_text("x")
    found = completed(["stop", ""]).splitlines()
    assert {"loud", "forged", "talker"} <= set(found)
    assert all(line.isprintable() and "evil" not in line for line in found)


@pytest.mark.accept("Q5")
def test_words_of_the_command_line_are_shown_safely_too(cli: Cli) -> None:
    """TH-M5: a script may have them from an agent."""
    assert_harmless(cli(EVIL), (EVIL,))
    assert_harmless(cli("list", f"--{EVIL}"), ("list", EVIL))
    assert_harmless(cli("tmr", EVIL), ("tmr", EVIL))
    assert_harmless(cli("e2e", "view", EVIL, "--html", "-"), ("e2e", EVIL))


@pytest.mark.accept("Q5", "Q13")
def test_runs_of_the_pipeline_and_of_tests_are_told_safely(cli: Cli, place: World) -> None:
    """TH-M5."""
    desk = RunDesk(place.repo, "a", "b")
    desk.failed("a", message=EVIL)
    desk.ended("b", result("b", summary=EVIL, escalations=(escalation(EVIL, detail=EVIL),)))
    KitDesk(place.repo / ".mngr/e2e", f"n{CONTROL}").attempt("tests/test_a.py::test_a", "failed", start=T0)
    for words in (("tmr", "status"), ("tmr", "runs"), ("tmr", "status", "--json"), ("e2e", "runs")):
        shown = cli(*words)
        assert shown.code == 0
        assert_harmless(shown, words)
    out = io.StringIO()
    Progress(out=out).say(EVIL)
    assert out.getvalue() == f"{one_line(EVIL)}\n"
