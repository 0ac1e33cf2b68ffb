"""A terminal program that looks like Claude Code and behaves badly, by a seed; it keeps a ledger of what it took.

    HOSTILE_SEED=7 python3 hostile.py

It is slow to show a paste, swallows Enter, is busy and queues, covers its prompt with dialogs that eat what is
typed, speaks through its hooks late or not at all, and now and then puts a text it took back into its prompt. The
ledger `taken.jsonl` has every text it took, and what should never have happened to it. Standard library only.
"""

import json
import os
import queue
import random
import re
import select
import subprocess
import termios
import threading
import time
import tty
from collections.abc import Callable

PROMPT = "\u276f\u00a0"
RULE = "\u2500" * 60
PASTE_START, PASTE_END = b"\x1b[200~", b"\x1b[201~"
QUESTION = (
    " Bash command\n\n   make trouble\n\n Do you want to proceed?\n \u276f 1. Yes\n   2. No\n\n Esc to cancel"
)
NOTICE = " A new version is here, with a screen nobody has seen before.\n\n [ Continue ]"


class Hooks:
    """Tells what happened through the agent's own hook lines, one after the other, as late as asked."""

    def __init__(self, state_dir: str, session: str) -> None:
        self._script, self._session = f"{state_dir}/claude/hook.sh", session
        self._todo: queue.SimpleQueue[tuple[str, dict[str, str], float]] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def tell(self, word: str, *, delay_s: float = 0, **payload: str) -> None:
        self._todo.put((word, payload, delay_s))

    def _work(self) -> None:
        while True:
            word, payload, delay_s = self._todo.get()
            time.sleep(delay_s)
            told = json.dumps(
                {"transcript_path": self._session, **payload}, separators=(",", ":"), ensure_ascii=False
            )
            subprocess.run(["sh", self._script, word], input=told.encode(), check=False)


class Program:
    def __init__(self, seed: int, state_dir: str) -> None:
        self.random = random.Random(seed)
        self.state_dir = state_dir
        self.session = f"{state_dir}/claude/projects/h/s.jsonl"
        os.makedirs(os.path.dirname(self.session), exist_ok=True)
        self.hooks = Hooks(state_dir, self.session)
        self.text, self.cursor_first, self.cover = "", False, ""
        self.busy_until, self.enters_to_swallow = 0.0, 0
        self.queued: list[str] = []
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.pasting: bytearray | None = None

    def run(self) -> None:
        os.write(1, b"\x1b[?2004h")
        self.hooks.tell("session", source="startup", delay_s=0.2)
        self.draw()
        rest = b""
        while True:
            wait = min([at for at, _ in self.later] + [self.busy_until or 9e9, time.monotonic() + 1])
            if select.select([0], [], [], max(0.0, wait - time.monotonic()))[0]:
                data = os.read(0, 65536)
                if not data:
                    return
                rest = self.read(rest + data)
            self.tick()

    def after(self, delay_s: float, action: Callable[[], None]) -> None:
        self.later.append((time.monotonic() + delay_s, action))

    def tick(self) -> None:
        now = time.monotonic()
        due = [action for at, action in self.later if at <= now]
        self.later = [(at, action) for at, action in self.later if at > now]
        for action in due:
            action()
        if self.busy_until and now >= self.busy_until:
            self.busy_until = 0.0
            self.hooks.tell("stop")
            self.record({"type": "assistant", "stop_reason": "end_turn"})
            if self.queued:
                self.begin(self.queued.pop(0), is_hooked=self.random.random() < 0.5)
        if due:
            self.draw()

    def read(self, data: bytes) -> bytes:
        while data:
            if self.pasting is not None:
                text, end, data = data.partition(PASTE_END)
                kept = 0 if end else next((n for n in range(5, 0, -1) if text.endswith(PASTE_END[:n])), 0)
                self.pasting += text[: len(text) - kept]
                if not end:
                    return text[len(text) - kept :]
                pasted, self.pasting = self.pasting.decode("utf-8", "replace"), None
                self.paste(pasted)
            elif data.startswith(PASTE_START):
                self.pasting, data = bytearray(), data[len(PASTE_START) :]
            elif PASTE_START.startswith(data):
                return data
            else:
                self.key(data[:1])
                data = data[1:]
        return b""

    def paste(self, text: str) -> None:
        if self.cover:
            self.note("eaten", text)
            return
        self.enters_to_swallow = self.random.choice((0, 0, 0, 1))
        self.after(self.random.choice((0.0, 0.02, 0.1, 0.5)), lambda: self.insert(text))

    def insert(self, text: str) -> None:
        if self.cover:
            self.note("eaten", text)
            return
        self.text, self.cursor_first = self.text + text, False

    def key(self, key: bytes) -> None:
        if self.cover:
            self.note("key", repr(key))
            if key == b"\r":
                self.cover = ""
        elif key == b"\r":
            self.enter()
        elif (key == b"\x15" and not self.cursor_first) or (key == b"\x0b" and self.cursor_first):
            self.text = ""
        elif key >= b" ":
            self.text += key.decode("latin-1")
        self.draw()

    def enter(self) -> None:
        if self.enters_to_swallow:
            self.enters_to_swallow -= 1
        elif self.text.strip():
            text, self.text = self.text.rstrip() if len(self.text) <= 800 else self.text, ""
            if self.busy_until:
                self.queued.append(text)
                self.record({"type": "queue-operation", "operation": "enqueue", "content": text})
            else:
                self.begin(text, is_hooked=True)
                if self.random.random() < 0.05:
                    self.text, self.cursor_first = text, True
            self.note("taken", text)

    def begin(self, text: str, *, is_hooked: bool) -> None:
        """Takes a turn: what follows it may cover the prompt."""
        self.record({"type": "user", "message": {"content": text}})
        if is_hooked and self.random.random() > 0.005:
            self.hooks.tell("prompt", prompt=text, delay_s=self.random.choice((0, 0, 0.05, 0.3)))
        self.busy_until = time.monotonic() + self.random.choice((0.01, 0.05, 0.3, 1.0))
        whim = self.random.random()
        if whim < 0.04:
            self.hooks.tell("permission", tool_name="Bash")
            self.after(
                self.random.choice((0.05, 0.15)), lambda: self.show(QUESTION, self.random.choice((0.3, 1.0)))
            )
        elif whim < 0.05:
            self.after(0.05, lambda: self.show(NOTICE, self.random.choice((0.5, 2.0, 7.0))))

    def show(self, cover: str, for_s: float) -> None:
        self.cover = cover
        self.busy_until = time.monotonic() + for_s + 0.1 if cover == QUESTION else self.busy_until
        self.after(for_s, self.uncover)

    def uncover(self) -> None:
        if self.cover == QUESTION:
            self.hooks.tell("tool")
        self.cover = ""

    def record(self, entry: dict[str, object]) -> None:
        with open(self.session, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry, separators=(",", ":")) + "\n")

    def note(self, what: str, text: str) -> None:
        with open(f"{self.state_dir}/taken.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "text": text}) + "\n")

    def draw(self) -> None:
        body = self.cover or self.prompt()
        sign = "\u2733" if not self.busy_until or self.cover else "\u2810"
        lines = f"\x1b]2;{sign} Claude Code\x07\x1b[H\x1b[2J\u276f an earlier prompt\n\n{RULE}\n{body}\n"
        os.write(1, lines.replace("\n", "\r\n").encode())

    def prompt(self) -> str:
        hint = "\x1b[7mP\x1b[0;2mress up to edit queued messages\x1b[0m" if self.queued else "\x1b[7m \x1b[0m"
        shown = self.text if len(self.text) <= 800 else f"[Pasted text #1 +{self.text.count(chr(10))} lines]"
        shown = re.sub(r"\n", "\n  ", shown)
        if shown and self.cursor_first:
            shown = f"\x1b[7m{shown[0]}\x1b[0m{shown[1:]}"
        elif shown:
            shown += "\x1b[7m \x1b[0m"
        return f"{PROMPT}{shown or hint}\n{RULE}\n  ? for shortcuts"


def main() -> None:
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        Program(int(os.environ.get("HOSTILE_SEED", "1")), os.environ["MNGR_AGENT_STATE_DIR"]).run()
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)


if __name__ == "__main__":
    main()
