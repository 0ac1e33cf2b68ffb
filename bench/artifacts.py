"""Artifacts of made-up test runs, the same every time: about 40 KB of transcripts and 138 KB of recordings a test."""

import json
import os
import random
from collections.abc import Iterator
from glob import glob

from mngr_e2e.session.artifacts import Meta, Status, slug, write_meta
from mngr_e2e.session.transcript import CommandRecord, Piece, Transcript

TRANSCRIPT_BYTES = 40_000
CAST_BYTES = 138_000
T0 = 1_790_000_000.0
_HERE = os.path.dirname(os.path.abspath(__file__))
_STATUSES: tuple[Status, ...] = ("passed",) * 17 + ("failed", "skipped", "timeout")
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def make_run(artifacts: str, tests: int) -> str:
    """Writes one run with so many tests and returns its folder."""
    words = _words()
    for number in range(tests):
        chance = random.Random(number)
        node_id = f"tests/e2e/test_{words[number % 97]}.py::test_{'_'.join(chance.sample(words, 3))}_{number}"
        folder = os.path.join(artifacts, f"run-{tests}", slug(node_id), "attempt-1")
        os.makedirs(os.path.join(folder, "casts"))
        start = T0 + number
        meta = Meta(node_id, f"run-{tests}", 1, chance.choice(_STATUSES), start, chance.uniform(1, 90))
        write_meta(folder, meta)
        _write_transcript(folder, chance, words, start)
        _write_cast(folder, chance, words, start)
    return os.path.join(artifacts, f"run-{tests}")


def size_of(folder: str) -> int:
    """All bytes below a folder."""
    found = os.walk(folder)
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in found for name in names)


def _words() -> list[str]:
    """The words of this project's own pages: text as people and programs write it."""
    found: set[str] = set()
    for path in glob(os.path.join(_HERE, "..", "docs", "reference", "*.md")):
        with open(path) as file:
            found.update(word for word in file.read().split() if word.isalpha())
    return sorted(found)


def _write_transcript(folder: str, chance: random.Random, words: list[str], start: float) -> None:
    transcript = Transcript(folder)
    text_file, json_file = (os.path.join(folder, f"transcript.{kind}") for kind in ("txt", "jsonl"))
    now = start
    while os.path.getsize(text_file) + os.path.getsize(json_file) < TRANSCRIPT_BYTES:
        lines = list(_log_lines(chance, words, chance.randint(3, 60)))
        command, comment = f"mngr {' '.join(chance.sample(words, 3))}", " ".join(chance.sample(words, 8))
        took = chance.uniform(0.05, 3)
        pieces = tuple(
            Piece(chance.choice(("stdout", "stdout", "stderr")), took * at / len(lines), text=line)
            for at, line in enumerate(lines)
        )
        transcript.begin(command, comment)
        transcript.end(
            CommandRecord(
                now, took, "/home/user/repo", command, comment, chance.choice((0, 0, 1)), False, pieces
            )
        )
        with open(text_file, "a") as file:
            file.write("".join(f"  {line}" for line in lines) + "? 0\n")
        now += took
    transcript.close()


def _log_lines(chance: random.Random, words: list[str], count: int) -> Iterator[str]:
    for _ in range(count):
        said = " ".join(chance.choices(words, k=chance.randint(3, 12)))
        mark = chance.choice(("\x1b[32mINFO\x1b[0m", "\x1b[33mWARN\x1b[0m", "DEBUG"))
        facts = f"agent-{chance.getrandbits(48):012x} {chance.uniform(0, 900):.1f} ms"
        yield f"2026-10-{chance.randint(1, 28):02} 12:{chance.randint(0, 59):02} {mark} {said} {facts}\n"


def _write_cast(folder: str, chance: random.Random, words: list[str], start: float) -> None:
    """A coding agent at work: words stream in, a spinner counts, lines change, now and then the whole screen does."""
    header = {"version": 2, "width": 120, "height": 32, "timestamp": int(start), "title": "agent"}
    lines, size, now, tokens = [json.dumps(header)], 0, 0.0, 0
    while size < CAST_BYTES:
        now += chance.expovariate(8)
        tokens += chance.randint(1, 90)
        line = json.dumps([round(now, 6), "o", _frame(chance, words, now, tokens)], ensure_ascii=False)
        lines.append(line)
        size += len(line.encode()) + 1
    with open(os.path.join(folder, "casts", "1-agent.cast"), "w") as file:
        file.write("\n".join(lines) + "\n")


def _frame(chance: random.Random, words: list[str], now: float, tokens: int) -> str:
    kind = chance.random()
    if kind < 0.5:
        counters = f"{words[tokens % len(words)]}… ({now:.0f}s · {tokens} tokens)"
        return f"\x1b[31;1H\x1b[2K\x1b[38;5;174m{chance.choice(_SPINNER)}\x1b[39m {counters}"
    if kind < 0.9:
        return " ".join(chance.choices(words, k=chance.randint(1, 6))) + chance.choice(
            (" ", "\r\n", "\x1b[K")
        )
    if kind < 0.98:
        row, colour = chance.randint(1, 30), chance.choice(("32m+", "31m-"))
        return f"\x1b[{row};3H\x1b[{colour} {' '.join(chance.choices(words, k=9))}\x1b[0m\x1b[K"
    rows = (" ".join(chance.choices(words, k=12))[:118] for _ in range(28))
    return "\x1b[H\x1b[2J" + "\r\n".join(rows)
