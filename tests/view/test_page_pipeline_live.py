"""A pipeline's page while it runs: counts and sections move, and nobody loses their place."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import visit
from tests.support.page_sample import T0
from tests.support.pipeline_sample import PipelineSample

from mngr_view.chunks import encode
from mngr_view.records import Cause, ConversationTurn, Detail, Index, LabeledFact, Work

PROGRAM = Path(__file__).with_name("page_server.py")
WORKING = Work(facts=(LabeledFact("agent", "tmr-night-busy"),))


class Live:
    """A server of a run that a test can move on."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sample = folder, PipelineSample()
        self.sample.row("busy", "running", "running", WORKING, ("agent", "agent", Detail(())))
        for at in range(60):
            self.sample.row(f"wait_{at}", "queued", "not run", Work())
        self.publish()
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder)], stdout=subprocess.PIPE, start_new_session=True
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().decode().strip()

    def publish(self) -> None:
        for key, data in self.sample.chunks.items():
            (self.folder / key.replace("/", "-")).write_bytes(data)
        run = replace(self.sample.run(), is_running=True, facts=(LabeledFact("state", "running"),))
        (self.folder / "new").write_bytes(encode(Index("night", T0, (run,), is_live=True)))
        os.replace(self.folder / "new", self.folder / "index")

    def end(self, name: str, section: str) -> None:
        """The check of a test is done."""
        for at, test in enumerate(self.sample.tests):
            if test.name == f"test_{name}":
                work = Work("fixed", "passed", "failed", summary="It passes now.")
                attempts = tuple(replace(one, status="failed") for one in test.attempts)
                self.sample.tests[at] = replace(
                    test, section=section, status="failed", work=work, attempts=attempts
                )

    def stop(self) -> None:
        assert self.process.stdout
        self.process.send_signal(signal.SIGINT)
        self.process.wait(90)
        self.process.stdout.close()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    server = Live(tmp_path)
    yield server
    server.stop()


@pytest.mark.accept("J3", "J4", "V7")
def test_rows_move_between_sections_and_what_is_open_stays_open(live: Live, context: BrowserContext) -> None:
    first = Cause("c1", "it broke", "test", (live.sample.tests[0].id,))
    live.sample.rest["causes"] = (first,)
    live.publish()
    seen = visit(context, live.url)
    page = seen.page
    expect(page.locator(".group")).to_have_text(["Running 1", "Waiting 60"])
    page.locator(".cause summary").click()
    expect(page.locator(".cause .links li")).to_have_count(1)
    page.get_by_role("button", name="show 55 more").click()
    waiting = page.get_by_label("Waiting", exact=True).locator(".table li")
    expect(waiting).to_have_count(60)
    page.locator("main.detail").evaluate("el => { el.scrollTop = 300 }")
    live.end("busy", "disputed")
    other = Cause("c0", "something else broke", "test", (live.sample.tests[1].id,))
    live.sample.rest["causes"] = (other, first)
    live.publish()
    expect(page.locator(".group")).to_have_text(["Agent was wrong 1", "Waiting 60"])
    expect(page.locator(".headline")).to_contain_text("2 failures, 2 causes")
    expect(page.locator(".cause", has_text="it broke").locator(".links li")).to_have_count(1)
    expect(page.locator(".cause", has_text="something else").locator(".links")).to_have_count(0)
    expect(waiting).to_have_count(60)
    assert page.locator("main.detail").evaluate("el => el.scrollTop") >= 300
    assert seen.complaints == []


@pytest.mark.accept("J3", "V7", "M15")
def test_an_open_row_gets_its_verdict_and_conversation_by_itself(live: Live, context: BrowserContext) -> None:
    seen = visit(context, live.url)
    page = seen.page
    page.keyboard.press("j")
    expect(seen.heading).to_contain_text("test_busy")
    expect(page.locator(".conversation")).to_contain_text("fetched when the agent is done")
    live.sample.chunks["p0/1"] = encode(
        Detail((), conversation=(ConversationTurn("agent", "I am done.", T0),))
    )
    live.end("busy", "disputed")
    live.publish()
    expect(page.get_by_role("table", name="Claim and check")).to_have_class("verdicts disagree")
    expect(page.locator(".turn")).to_contain_text("I am done.")
    expect(seen.heading).to_contain_text("test_busy")
    page.keyboard.press("l")
    lanes = page.locator(".lane")
    expect(lanes).to_have_count(1)
    live.sample.tests.pop()
    live.sample.row("late", "running", "running", WORKING, ("agent", "agent", Detail(())))
    live.publish()
    expect(lanes).to_have_count(2)
