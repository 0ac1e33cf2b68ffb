"""Does the steps of a playbook."""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import Any, NoReturn

from mngr.agents.scripted.program.playbook import Op
from mngr.agents.scripted.program.state_files import StateFiles
from mngr.agents.scripted.program.terminal import Inbox, TerminalDisplay

OUTPUT_LIMIT = 64 * 1024
# Coding agents count the seconds of a tool on their screens; only one that hangs shows nothing new.
STILL_RUNNING_S = 5.0
SHOWN = 2000


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
