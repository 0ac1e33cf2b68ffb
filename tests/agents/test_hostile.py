"""A thousand messages to a terminal program that does its worst: no receipt is wrong, and nothing is taken twice."""

import collections
import json
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support import hostile

from mngr.agents.claude.observe import observe
from mngr.agents.claude.text import readings
from mngr.agents.claude.type import ClaudeType
from mngr.agents.custom import CustomType
from mngr.errors import RefusedError
from mngr.hosts.local import LocalHost
from mngr.model.message import Delivery
from mngr.process import wait_until
from mngr.testing.agents import Running, running
from mngr.tmux.server import tmux

pytestmark = pytest.mark.accept("K8")

SENDERS, EACH = 20, 50
REFUSED = (
    "escape \x1b[31m red",
    "paste ends \x1b[201~ here",
    "interrupt \x03",
    "nul \x00",
    "carriage\rreturn",
)


@contextmanager
def bad_program(host: LocalHost, seed: int) -> Iterator[tuple[CustomType, Running]]:
    programs = Path(host.dir) / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / "claude").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{hostile.__file__}"\n')
    (programs / "claude").chmod(0o755)
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "HOSTILE_SEED": str(seed)}
    kind = CustomType("hostile", ClaudeType(), (), env)
    with running(kind, host, ()) as agent:
        yield kind, agent


def ledger(agent: Running) -> dict[str, collections.Counter[str]]:
    """What the program says happened to texts: taken, eaten; and keys that hit a dialog."""
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    path = Path(agent.pane.agent.dir) / "taken.jsonl"
    for line in path.read_text().splitlines() if path.exists() else ():
        entry = json.loads(line)
        found[entry["what"]][entry["text"]] += 1
    return found


def texts(seed: int, count: int) -> Iterator[str]:
    choose = random.Random(seed)
    for number in range(count):
        name = f"[{seed}.{number}]"
        yield choose.choice(
            (
                f"{name} plain",
                f"{name} ünï → 🦊 $(no) 'quotes' \"and\" `ticks`",
                f"{name} two\nlines",
                f"{name} " + "many\nlines " * 30,
                f"{name} " + "long " * 200 + "end",
                f"{name} " + "x" * 65_000 if number % 25 == 0 else f"{name} short",
                f"{name} {choose.choice(REFUSED)}" if number % 5 == 0 else f"{name} 1",
            )
        )


class Sender(threading.Thread):
    """Sends to one bad program, with a person who looks around in copy mode."""

    def __init__(self, host: LocalHost, seed: int, count: int) -> None:
        super().__init__()
        self.host, self.seed, self.count = host, seed, count
        self.receipts: dict[str, Delivery | None] = {}
        self.ledger: dict[str, collections.Counter[str]] = {}
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with bad_program(self.host, self.seed) as (kind, agent):
                for text in texts(self.seed, self.count):
                    self.send(kind, agent, text)
                self.settle(agent)
        except BaseException as error:
            self.error = error

    def send(self, kind: CustomType, agent: Running, text: str) -> None:
        if len(self.receipts) % 7 == 3:
            self.host.run(tmux(agent.pane.paths, "copy-mode", "-t", agent.pane.target))
        try:
            self.receipts[text] = kind.send(agent.pane, text.encode()).status
        except RefusedError:
            self.receipts[text] = None
        if self.receipts[text] is Delivery.BLOCKED:
            wait_until(lambda: is_free(agent), 20, every_s=0.2)

    def settle(self, agent: Running) -> None:
        """What is on its way has arrived when all that it accepted is there and the ledger stays as it is."""
        lines, changed_at = -1, 0.0

        def is_still() -> bool:
            nonlocal lines, changed_at
            self.ledger = ledger(agent)
            before, lines = lines, sum(counter.total() for counter in self.ledger.values())
            changed_at = changed_at if lines == before else time.monotonic()
            return time.monotonic() - changed_at > (2 if not wrong(self) else 30)

        wait_until(is_still, 120, every_s=0.2)


def is_free(agent: Running) -> bool:
    seen = observe(agent.pane)
    return seen.is_settled and not seen.asks


def wrong(sender: Sender) -> list[str]:
    """Every receipt that does not say what the program's own ledger says."""
    found = []
    for text, status in sender.receipts.items():
        taken = sum(sender.ledger["taken"][reading] for reading in readings(text))
        right = {
            Delivery.DELIVERED: taken == 1,
            Delivery.QUEUED: taken == 1,
            Delivery.BLOCKED: taken == 0 and not sender.ledger["eaten"][text],
            Delivery.UNKNOWN: taken <= 1,
            None: taken == 0,
        }[status]
        if not right:
            found.append(f"{text[:40]!r}: {status}, taken {taken} times")
    return found


@pytest.mark.slow
def test_a_thousand_messages_get_no_wrong_receipt(host: LocalHost) -> None:
    senders = [Sender(host, seed, EACH) for seed in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert [sender.error for sender in senders] == [None] * SENDERS
    assert sum(len(sender.receipts) for sender in senders) == SENDERS * EACH == 1000
    assert [mistake for sender in senders for mistake in wrong(sender)] == []
    assert [sender.ledger["key"] for sender in senders if sender.ledger["key"]] == [], "typed into a dialog"
    counts = collections.Counter(status for sender in senders for status in sender.receipts.values())
    assert counts[Delivery.DELIVERED] + counts[Delivery.QUEUED] > 800, counts
    assert counts[Delivery.UNKNOWN] < 50, counts


def test_a_few_messages_get_no_wrong_receipt(host: LocalHost) -> None:
    sender = Sender(host, 42, 6)
    sender.run()
    assert (sender.error, wrong(sender)) == (None, [])
