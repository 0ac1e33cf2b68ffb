"""A small world for the page: runs with tests of every status, recordings, a tutorial, and hostile ones."""

import json

from mngr_view.chunks import encode
from mngr_view.records import (
    Attempt,
    Cast,
    Detail,
    Index,
    Output,
    Run,
    ScreenText,
    Seek,
    ShownCommand,
    Status,
    Test,
    Tutorial,
    TutorialBlock,
)

T0 = 1_790_000_000.0
ESC = "\x1b"


class Sample:
    """Collects tests with their details; `index` and `chunks` are what the page is made of."""

    def __init__(self, title: str = "Acme command line", tutorial: Tutorial | None = None) -> None:
        self.title = title
        self.tutorial = tutorial
        self.tests: list[Test] = []
        self.chunks: dict[str, bytes] = {}

    def test(
        self,
        name: str,
        status: Status = "passed",
        *details: Detail,
        reason: str = "",
        blocks: tuple[str, ...] = (),
        file: str = "tests/e2e/test_first_steps.py",
    ) -> None:
        """Adds a row; each detail is an attempt, all but the last one failed."""
        number = len(self.tests)
        attempts = []
        for at, detail in enumerate(details or (one_command(),), start=1):
            key = f"t{number}/{at}"
            self.chunks[key] = encode(detail)
            is_last = at == max(1, len(details))
            attempts.append(Attempt(at, status if is_last else "failed", T0 + number, 0.8 + number / 7, key))
        self.tests.append(
            Test(f"{file}::{name}", name, file, status, 0.8 + number / 7, tuple(attempts), blocks, reason)
        )

    def recording(self, title: str, text: str, duration_s: float = 20.0) -> Cast:
        key = f"cast/{len(self.chunks)}"
        self.chunks[key] = encode(text)
        return Cast(title, T0, duration_s, 80, 24, key)

    def run(self, run_id: str = "r1", start: float = T0) -> Run:
        return Run(run_id, f"run {run_id}", start, tuple(self.tests), 84.2, tutorial=self.tutorial)

    def index(self) -> Index:
        return Index(self.title, T0 + 100, (self.run(),))


def one_command(text: str = "Usage: acme [OPTIONS]\n", **changes: object) -> Detail:
    return Detail(commands=(command("acme --help", text),), **changes)  # type: ignore[arg-type]


def command(
    line: str,
    out: str = "",
    err: str = "",
    code: int | None = 0,
    comment: str = "",
    seeks: tuple[Seek, ...] = (),
) -> ShownCommand:
    output = [Output("stdout", 0.01, out)] if out else []
    output += [Output("stderr", 0.02, err)] if err else []
    return ShownCommand(line, comment, "/home/ada/my repo", T0, 0.214, code, False, tuple(output), seeks)


def recorded(*events: tuple[float, str], cols: int = 80, rows: int = 24) -> str:
    """An asciicast of what was printed when."""
    header = {"version": 2, "width": cols, "height": rows}
    return "\n".join(json.dumps(part) for part in (header, *([at, "o", text] for at, text in events))) + "\n"


def counting(seconds: int = 20) -> str:
    """A recording whose screen says which second it is."""
    return recorded(
        *((float(at), f"{ESC}[2J{ESC}[H{ESC}[1;32msecond {at}{ESC}[0m\r\n") for at in range(seconds + 1))
    )


def shop() -> Sample:
    """What most tests look at: one of each status, the failing one with two attempts and two recordings."""
    sample = Sample(tutorial=tutorial())
    casts = (sample.recording("agent fix-login", counting()), sample.recording("editor", counting(8), 8.0))
    sample.test(
        "test_create_connects", "failed", _first_attempt(), _failing(casts), reason=REASON, blocks=("b2",)
    )
    sample.test("test_list_is_quick", "timeout", reason="no answer within 10 s", blocks=("b3",))
    sample.test("test_config_is_read", "error", reason="fixture 'home' not found")
    sample.test("test_stop_all", "running", Detail(commands=(command("acme stop --all", code=None),)))
    sample.test("test_windows_paths", "skipped", reason="needs Windows")
    sample.test("test_help_succeeds", blocks=("b1",))
    sample.test("test_help_of_create", blocks=("b1",))
    for name in ("add", "remove", "rename", "label", "export", "import", "sync", "clone"):
        sample.test(f"test_{name}_keeps_order", file="tests/e2e/test_items.py")
    return sample


REASON = "AssertionError: expected stdout to contain 'fix-login  RUNNING'"

_FAILURE = f"""    def test_create_connects(e2e: E2eSession) -> None:
        e2e.run("acme create fix-login")
        listed = e2e.run("acme list")
>       expect(listed.stdout).to_contain("fix-login  RUNNING")
E       {REASON}
E         command: acme list
E         exit code: 0

tests/e2e/test_first_steps.py:41: AssertionError
"""

_LISTED = (
    f"{ESC}[1mNAME        STATE    AGE{ESC}[0m\n"
    f"fix-login   {ESC}[33mWAITING{ESC}[0m  2 s\n"
    f"{ESC}[38;5;208mdocs{ESC}[0m        {ESC}[32mRUNNING{ESC}[0m  {ESC}[38;2;90;140;255m14 min{ESC}[0m\n"
    f"{ESC}[7m 2 agents {ESC}[0m {ESC}[4m1 waits for you{ESC}[0m\n"
)


def _first_attempt() -> Detail:
    return Detail(
        commands=(command("acme create fix-login", err="error: no space left on device\n", code=1),),
        citations=("# make an agent and look\nacme create fix-login\nacme list",),
        failure="E       OSError: no space left on device\n",
    )


def _failing(casts: tuple[Cast, ...]) -> Detail:
    build = "".join(f"[{at:3d}/240] compiling src/module_{at:03d}.c\n" for at in range(1, 241))
    commands = (
        command("git clone -q https://example.com/shop.git . && make", build, comment="a project to work on"),
        command(
            "acme create fix-login",
            "created fix-login\n",
            "warning: no editor found, using vi\n",
            comment="make an agent and look",
            seeks=(Seek(0, 12.0), Seek(1, 3.0)),
        ),
        command("acme list", _LISTED, seeks=(Seek(0, 15.0),)),
        command(
            "acme ask fix-login 'are you there?'",
            "",
            "error: it does not answer\n",
            3,
            seeks=(Seek(0, 17.0),),
        ),
    )
    return Detail(
        commands,
        citations=("# make an agent and look\nacme create fix-login\nacme list",),
        failure=_FAILURE,
        casts=casts,
        screens=(ScreenText("before the failure", _SCREEN),),
        files=("transcript.txt", "transcript.jsonl", "meta.json", "agent.cast", "editor.cast"),
    )


_SCREEN = (
    f"{ESC}[44;97m acme · fix-login {' ' * 44}{ESC}[0m\n"
    "\n  Which file is wrong?\n"
    f"  {ESC}[36m> src/login.py{ESC}[0m\n    src/session.py\n\n"
    f"{ESC}[2m  enter: choose   q: leave{ESC}[0m\n"
)


def tutorial() -> Tutorial:
    blocks = (
        TutorialBlock("b0", "preamble", "", 1, "#!/usr/bin/env bash\n# Read from top to bottom."),
        TutorialBlock("s1", "banner", "First steps", 4, "## First steps"),
        TutorialBlock(
            "b1",
            "command",
            "First steps",
            6,
            "# what can it do?\nacme --help",
            _ids("help_succeeds", "help_of_create"),
        ),
        TutorialBlock(
            "b2",
            "command",
            "First steps",
            9,
            "# make an agent and look\nacme create fix-login\nacme list",
            _ids("create_connects"),
        ),
        TutorialBlock(
            "b3",
            "command",
            "First steps",
            13,
            "# how are they?\nacme list --watch",
            _ids("list_is_quick", "list_of_none"),
        ),
        TutorialBlock("s2", "banner", "Sharing", 16, "## Sharing"),
        TutorialBlock(
            "b4", "command", "Sharing", 18, "# give it to someone else\nacme push fix-login --to ada@box"
        ),
        TutorialBlock("b5", "gap", "Sharing", 21, "# Managing snapshots"),
        TutorialBlock("b6", "note", "Sharing", 23, "# note: sharing needs a server that both can reach."),
    )
    return Tutorial("docs/tutorial.sh", blocks, {_ids("list_of_none")[0]: "passed"})


def _ids(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/e2e/test_first_steps.py::test_{name}" for name in names)
