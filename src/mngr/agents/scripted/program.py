"""A stand-in for a coding agent: follows a playbook on its terminal, takes messages, leaves evidence.

    python3 program.py [PLAYBOOK]

One file for any host: Python 3.8, standard library only. mngr copies it into the agent's directory. A
playbook is a JSON list of steps, described in `VERBS`. When it is over the program waits for messages, as a
coding agent does; started again it goes on after the last finished step.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from typing import Any, NamedTuple, NoReturn

USAGE = 64
TITLE = "mngr-scripted"
KINDS = ("implementation", "test", "docs", "tutorial")
DEFAULT_PLAYBOOK: list[Any] = [
    {"repeat": "forever", "steps": [{"end_turn": True}, {"say": "You said: {message}"}]}
]
PASTE_START, PASTE_END = b"\x1b[200~", b"\x1b[201~"
KEY = re.compile(rb"\x1b(?:\[[0-9;?]*[@-~]|O.|.)?|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+", re.DOTALL)
OUTPUT_LIMIT = 64 * 1024
# Coding agents count the seconds of a tool on their screens; only one that hangs shows nothing new.
STILL_RUNNING_S = 5.0
SHOWN = 2000

# verb: (what its value must be, what may stand beside it). {message} and {commit} are filled in, in any text.
VERBS: dict[str, tuple[tuple[type, ...], tuple[str, ...]]] = {
    "say": ((str,), ()),
    "sleep": ((int, float), ()),
    "edit": ((str,), ("text", "append", "replace")),
    "delete": ((str,), ()),
    "run": ((str,), ("allow_fail",)),  # a failing command ends the program unless allowed
    "commit": ((str,), ("kind", "allow_fail")),
    "ask": ((str,), ()),  # waits for a message, and says that it needs one
    "permission": ((str,), ()),
    "wait_message": ((bool,), ()),  # waits for a message without saying so
    "end_turn": ((bool,), ()),  # says that its turn is over, then waits for a message
    "api_error": (
        (str,),
        ("message",),
    ),  # the same after an error of the model: "billing_error", "rate_limit", …
    "result": ((dict,), ()),
    "write_outbox": ((str,), ("text",)),
    "exit": ((int,), ()),
    "crash": ((int, str), ()),  # a signal: 9, "KILL", "SIGKILL"
    "hang": ((bool,), ()),  # reads nothing, prints nothing, forever
    "flood": ((int,), ()),
    "ignore_term": ((bool,), ()),
    "spawn": ((str,), ()),  # "child", or "detached": its own session, no parent
    "repeat": ((int, str), ("steps",)),  # a number, or "forever"
    "if_failed": ((list,), ()),  # when the last run or commit failed
    "usage": ((dict,), ()),
}


class Op(NamedTuple):
    """A step in a flat program; `jump` is where repeat, again and if_failed may go."""

    verb: str
    step: dict[str, Any]
    jump: int = 0


class BadPlaybookError(Exception):
    pass


def compile_steps(steps: Any, where: str = "step", at: int = 0) -> list[Op]:
    """Steps as a flat program that starts at index `at`, checked whole before anything is done."""
    if not isinstance(steps, list):
        raise BadPlaybookError(f"{where}: expected a list of steps, found {json.dumps(steps)[:80]}")
    ops: list[Op] = []
    for number, step in enumerate(steps, 1):
        here = f"{where} {number}"
        verb = check_step(step, here)
        start = at + len(ops)
        if verb == "repeat":
            inner = compile_steps(step.get("steps"), here + ", step", start + 1)
            ops += [Op(verb, step, start + len(inner) + 2), *inner, Op("again", step, start)]
        elif verb == "if_failed":
            inner = compile_steps(step[verb], here + ", step", start + 1)
            ops += [Op(verb, step, start + len(inner) + 1), *inner]
        else:
            ops.append(Op(verb, step))
    return ops


def check_step(step: Any, where: str) -> str:
    found = [verb for verb in VERBS if isinstance(step, dict) and verb in step]
    shown = json.dumps(step)[:120]
    if len(found) != 1:
        raise BadPlaybookError("{}: no such step: {} (known: {})".format(where, shown, ", ".join(VERBS)))
    types, beside = VERBS[found[0]]
    value = step[found[0]]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise BadPlaybookError(f"{where}: {found[0]} cannot be {json.dumps(value)[:80]}")
    strange = set(step) - {found[0], *beside}
    if strange:
        raise BadPlaybookError(
            "{}: {} has no {}: {}".format(where, found[0], ", ".join(sorted(strange)), shown)
        )
    wrong = wrong_beside(step)
    if wrong:
        raise BadPlaybookError(f"{where}: {wrong}: {shown}")
    return found[0]


def wrong_beside(step: dict[str, Any]) -> str:
    if step.get("kind", "test") not in KINDS:
        return "a commit's kind is one of " + ", ".join(KINDS)
    if isinstance(step.get("repeat"), str) and step["repeat"] != "forever":
        return 'repeat is a number or "forever"'
    if step.get("spawn", "child") not in ("child", "detached"):
        return 'spawn is "child" or "detached"'
    pair = step.get("replace", ["", ""])
    texts = [step.get("text", ""), step.get("append", ""), *(pair if isinstance(pair, list) else [None])]
    if len(texts) != 4 or not all(isinstance(text, str) for text in texts):
        return "text and append are texts, replace is [old, new]"
    return "" if isinstance(step.get("message", ""), str) else "message is a text"


class Inbox:
    """Typed bytes in, messages out. A paste is taken as it is; Enter outside a paste submits."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.typed = bytearray()
        self._rest = b""
        self._pasting = False

    def feed(self, data: bytes) -> None:
        data, self._rest = self._rest + data, b""
        while data:
            data = self._paste(data) if self._pasting else self._key(data)

    def _paste(self, data: bytes) -> bytes:
        text, end, rest = data.partition(PASTE_END)
        if end:
            self.typed += text
            self._pasting = False
            return rest
        kept = next((n for n in range(len(PASTE_END) - 1, 0, -1) if data.endswith(PASTE_END[:n])), 0)
        self.typed += data[: len(data) - kept]
        self._rest = data[len(data) - kept :]
        return b""

    def _key(self, data: bytes) -> bytes:
        if data.startswith(PASTE_START):
            self._pasting = True
            return data[len(PASTE_START) :]
        if PASTE_START.startswith(data):
            self._rest = data
            return b""
        found = KEY.match(data)
        assert found
        key = found.group()
        if key == b"\r":
            if self.typed:
                self.messages.append(bytes(self.typed))
            self.typed.clear()
        elif key == b"\x03":
            raise KeyboardInterrupt
        elif key in (b"\x7f", b"\x08"):
            del self.typed[-1:]
        elif key == b"\x15":
            self.typed.clear()
        elif key[0] >= 0x20 or key in (b"\n", b"\t"):
            self.typed += key
        return data[len(key) :]


class TerminalDisplay:
    """The terminal: keys come one by one, pastes are marked, and it is left as it was found."""

    def __init__(self) -> None:
        self._plain = bool(os.environ.get("NO_COLOR"))
        self._before: list[Any] | None = None

    def open(self) -> None:
        if not os.isatty(0):
            return
        self._before = termios.tcgetattr(0)
        # The title comes after the switch: when it is seen in tmux, pastes will be marked.
        self.write(b"\x1b[?2004h\x1b]2;%s\x1b\\" % TITLE.encode())
        mode = termios.tcgetattr(0)
        mode[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INLCR | termios.IGNCR)
        mode[0] &= ~(termios.INPCK | termios.ISTRIP | termios.IXON | termios.IXOFF | termios.PARMRK)
        mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        termios.tcsetattr(0, termios.TCSANOW, mode)

    def close(self) -> None:
        if self._before is not None:
            self.write(b"\x1b[?2004l")
            termios.tcsetattr(0, termios.TCSANOW, self._before)
            self._before = None

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]

    def show(self, sign: str, text: str, colour: int) -> None:
        mark = sign if self._plain else f"\x1b[{colour}m{sign}\x1b[0m"
        body = harmless(text).replace("\n", "\n  ")
        self.write(f"\r\x1b[K{mark} {body}\n".encode("utf-8", "replace"))

    def prompt(self, typed: bytes) -> None:
        line = harmless(typed.decode("utf-8", "replace").split("\n")[-1])[-100:]
        self.write(b"\r\x1b[K> " + line.encode("utf-8", "replace"))


def harmless(text: str) -> str:
    return "".join(char if char.isprintable() or char in "\n\t" else "·" for char in text)


class StateFiles:
    """What the agent leaves behind in its state directory."""

    def __init__(self) -> None:
        self.dir = os.environ["MNGR_AGENT_STATE_DIR"]
        self.outbox = os.environ.get("MNGR_OUTBOX") or os.path.join(self.dir, "outbox")

    def event(self, kind: str, **data: Any) -> None:
        self._append("events.jsonl", {"at": time.time(), "kind": kind, "data": data})
        self.ring()

    def turn(self, role: str, text: str) -> None:
        self._append("conversation.jsonl", {"role": role, "text": text, "at": time.time()})

    def ring(self) -> None:
        host_dir = os.environ.get("MNGR_HOST_DIR")
        if host_dir:
            self.replace(os.path.join(host_dir, "bell"), f"{os.getpid()} {time.time()}\n")

    def load(self, name: str) -> dict[str, Any]:
        try:
            with open(os.path.join(self.dir, name), encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def replace(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.new.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.replace(temporary, path)

    def _append(self, name: str, record: dict[str, Any]) -> None:
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        fd = os.open(os.path.join(self.dir, name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(fd, line)
        finally:
            os.close(fd)


class Player:
    """Does one step after the other, and hears what is typed meanwhile."""

    def __init__(self, ops: list[Op], screen: TerminalDisplay, records: StateFiles) -> None:
        self._ops, self._screen, self._records = ops, screen, records
        self._inbox = Inbox()
        self._announced = 0
        saved = records.load("progress.json")
        self._next = int(saved.get("next", 0))
        self._loops: dict[str, int] = saved.get("loops", {})
        self._last_code = int(saved.get("last_code", 0))
        self._message = str(saved.get("message", ""))

    def play(self) -> NoReturn:
        while self._next < len(self._ops):
            op = self._ops[self._next]
            if op.verb in ("exit", "crash"):
                self._save(self._next + 1)
            after: int | None = getattr(self, "_" + op.verb)(op)
            self._save(self._next + 1 if after is None else after)
        while True:
            self._end_turn(Op("end_turn", {}))
            self._answer("(the playbook is over)")

    def _save(self, following: int) -> None:
        self._next = following
        state = {
            "next": following,
            "loops": self._loops,
            "last_code": self._last_code,
            "message": self._message,
        }
        self._records.replace(os.path.join(self._records.dir, "progress.json"), json.dumps(state))

    def _say(self, op: Op) -> None:
        self._answer(self._fill(op.step["say"]))

    def _answer(self, text: str) -> None:
        self._screen.show("●", text, 36)
        self._records.turn("agent", text)

    def _sleep(self, op: Op) -> None:
        deadline = time.monotonic() + op.step["sleep"]
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._listen([], left)
            self._announce()

    def _edit(self, op: Op) -> None:
        path, step = op.step["edit"], op.step
        self._screen.show("✎", path, 33)
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        if "replace" in step:
            old, new = map(self._fill, step["replace"])
            with open(path, encoding="utf-8") as file:
                before = file.read()
            if old not in before:
                self._fail(f"{path} does not hold {old!r}")
            text, mode = before.replace(old, new, 1), "w"
        elif "append" in step:
            text, mode = self._fill(step["append"]), "a"
        else:
            text, mode = self._fill(step.get("text", "")), "w"
        with open(path, mode, encoding="utf-8") as file:
            file.write(text)
        self._records.turn("tool", "edit " + path)

    def _delete(self, op: Op) -> None:
        self._screen.show("✎", "delete " + op.step["delete"], 33)
        os.unlink(op.step["delete"])
        self._records.turn("tool", "delete " + op.step["delete"])

    def _run(self, op: Op) -> None:
        self._do(["sh", "-c", self._fill(op.step["run"])], op.step["run"], op)

    def _commit(self, op: Op) -> None:
        kind = op.step.get("kind")
        script = 'git add -A && if git config user.email >/dev/null; then git commit -q "$@"; else ' + (
            'git -c user.name=scripted -c user.email=scripted@localhost commit -q "$@"; fi'
        )
        trailer = ["-m", "Kind: " + kind] if kind else []
        message = self._fill(op.step["commit"])
        self._do(["sh", "-c", script, "sh", "-m", message, *trailer], f"git commit -m {message!r}", op)

    def _do(self, argv: list[str], shown: str, op: Op) -> None:
        self._screen.show("$", shown, 32)
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert child.stdout
        pipe, output = child.stdout.fileno(), b""
        shown_at = began_at = time.monotonic()
        while True:
            ended = child.poll() is not None
            readable = self._listen([pipe], 0 if ended else 0.5)
            self._announce()
            data = os.read(pipe, 65536) if readable else b""
            if not data and not ended and time.monotonic() - shown_at >= STILL_RUNNING_S:
                self._screen.write(b"\n" if output[-1:] not in b"\n" else b"")
                self._screen.show("…", f"running for {time.monotonic() - began_at:.0f} s", 2)
                shown_at = time.monotonic()
            if not data and (ended or readable):
                break
            self._screen.write(data)
            shown_at = time.monotonic() if data else shown_at
            output = (output + data)[-OUTPUT_LIMIT:]
        self._last_code = child.wait()
        child.stdout.close()
        self._records.turn("tool", "$ {}\n{}".format(shown, output.decode("utf-8", "replace")))
        if self._last_code:
            self._screen.show("✗", f"exit code {self._last_code}", 31)
            if not op.step.get("allow_fail"):
                self._fail("a step failed: " + shown)

    def _ask(self, op: Op) -> None:
        self._question(op.step["ask"], "input")

    def _permission(self, op: Op) -> None:
        self._question(op.step["permission"], "permission")

    def _question(self, text: str, reason: str) -> None:
        self._answer(self._fill(text))
        self._records.event("needs_input", reason=reason)
        self._take()

    def _wait_message(self, _op: Op) -> None:
        self._take()

    def _end_turn(self, _op: Op) -> None:
        self._records.event("turn_ended")
        self._take()

    def _api_error(self, op: Op) -> None:
        text = self._fill(op.step.get("message", ""))
        self._screen.show("!", text or op.step["api_error"], 31)
        self._records.event("api_error", error=op.step["api_error"], message=text)
        self._records.event("turn_ended", reason="api_error")
        self._take()

    def _result(self, op: Op) -> None:
        text = json.dumps(self._fill_all(op.step["result"]), indent=2)
        self._records.replace(os.path.join(self._records.outbox, "result.json"), text + "\n")
        self._records.ring()
        self._screen.show("✓", "result.json", 32)

    def _write_outbox(self, op: Op) -> None:
        name = op.step["write_outbox"]
        self._records.replace(os.path.join(self._records.outbox, name), self._fill(op.step.get("text", "")))
        self._screen.show("✓", name, 32)

    def _exit(self, op: Op) -> NoReturn:
        sys.exit(op.step["exit"])

    def _crash(self, op: Op) -> None:
        end_by(signal_number(op.step["crash"]), self._screen)

    def _hang(self, _op: Op) -> None:
        while True:
            signal.pause()

    def _flood(self, op: Op) -> None:
        left, line = op.step["flood"], b"flood " * 13 + b"\n"
        while left > 0:
            self._screen.write(line[:left])
            left -= len(line)

    def _ignore_term(self, _op: Op) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def _spawn(self, op: Op) -> None:
        if op.step["spawn"] == "detached":
            if os.fork():
                os.wait()
                return
            os.setsid()
        null = subprocess.DEVNULL
        subprocess.Popen(["sleep", "86400"], stdin=null, stdout=null, stderr=null)
        if op.step["spawn"] == "detached":
            os._exit(0)

    def _repeat(self, op: Op) -> int | None:
        count = op.step["repeat"]
        self._loops[str(self._next)] = count if isinstance(count, int) else -1
        return op.jump if count == 0 else None

    def _again(self, op: Op) -> int | None:
        left = self._loops.get(str(op.jump), 1)
        self._loops[str(op.jump)] = left - 1 if left > 0 else left
        return None if left == 1 else op.jump + 1

    def _if_failed(self, op: Op) -> int | None:
        return None if self._last_code else op.jump

    def _usage(self, op: Op) -> None:
        total = self._records.load("usage.json")
        for name, value in op.step["usage"].items():
            total[name] = value if isinstance(value, str) else total.get(name, 0) + value
        self._records.replace(os.path.join(self._records.dir, "usage.json"), json.dumps(total))

    def _take(self) -> None:
        """Waits for a message and takes it; the event is the evidence that it was submitted."""
        self._screen.prompt(bytes(self._inbox.typed))
        while not self._inbox.messages:
            self._listen([], None)
            self._screen.prompt(bytes(self._inbox.typed))
        message = self._inbox.messages.pop(0)
        self._announced = max(0, self._announced - 1)
        self._message = message.decode("utf-8", "replace")
        more = f"… ({len(message)} bytes)" if len(self._message) > SHOWN else ""
        self._screen.show(">", self._message[:SHOWN] + more, 35)
        self._records.turn("user", self._message)
        self._records.event("prompt_submitted", **fingerprint(message))

    def _announce(self) -> None:
        """Tells of messages that arrived while it is busy."""
        for message in self._inbox.messages[self._announced :]:
            self._records.event("prompt_queued", **fingerprint(message))
        self._announced = len(self._inbox.messages)

    def _listen(self, others: list[int], timeout: float | None) -> list[int]:
        """Hears the terminal for at most `timeout`; returns which of `others` can be read."""
        ready = select.select([0, *others], [], [], timeout)[0]
        if 0 in ready:
            data = os.read(0, 65536)
            if not data:
                sys.exit(1)
            self._inbox.feed(data)
        return [fd for fd in ready if fd != 0]

    def _fill(self, text: str) -> str:
        text = text.replace("{message}", self._message)
        if "{commit}" in text:
            found = subprocess.run(
                ["git", "rev-parse", "HEAD"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
            )
            text = text.replace("{commit}", found.stdout.decode().strip())
        return text

    def _fill_all(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._fill(value)
        if isinstance(value, list):
            return [self._fill_all(item) for item in value]
        if isinstance(value, dict):
            return {key: self._fill_all(item) for key, item in value.items()}
        return value

    def _fail(self, text: str) -> NoReturn:
        self._screen.show("✗", text, 31)
        sys.exit(1)


def fingerprint(message: bytes) -> dict[str, Any]:
    return {"bytes": len(message), "sha256": hashlib.sha256(message).hexdigest()}


def signal_number(signal_word: int | str) -> int:
    """9, "9", "KILL" and "SIGKILL" alike."""
    text = str(signal_word).upper()
    return int(text) if text.isdigit() else signal.Signals["SIG" + text.replace("SIG", "", 1)]


def end_by(number: int, screen: TerminalDisplay) -> NoReturn:
    """Ends by a signal's own default, with the terminal as it was."""
    screen.close()
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    time.sleep(5)
    os._exit(128 + number)


def main(argv: list[str]) -> int:
    screen = TerminalDisplay()
    try:
        playbook = DEFAULT_PLAYBOOK
        if argv:
            with open(argv[0], encoding="utf-8") as file:
                playbook = json.load(file)
        ops = compile_steps(playbook)
    except (OSError, ValueError, BadPlaybookError) as error:
        screen.show("✗", f"playbook: {error}", 31)
        return USAGE
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda received, _frame: end_by(received, screen))
    screen.open()
    try:
        Player(ops, screen, StateFiles()).play()
    except KeyboardInterrupt:
        end_by(signal.SIGINT, screen)
    except OSError as error:
        screen.show("✗", str(error), 31)
        return 1
    finally:
        screen.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
