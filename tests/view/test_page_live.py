"""The same page while tests run: it follows along without losing anyone's place."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import APIResponse, BrowserContext, Route, expect
from tests.support.browser import Visit, soon, visit
from tests.support.page_sample import T0, Sample, command, counting, one_command

from mngr_view.chunks import encode
from mngr_view.records import Detail, Index, Seek

PROGRAM = Path(__file__).with_name("page_server.py")
RUNNING = "#/run/r1/test/tests%2Fe2e%2Ftest_first_steps.py::test_slow"


class Live:
    """A server of a sample that a test can change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sample = Sample()
        self.cast = self.sample.recording("agent", counting())
        self.sample.test("test_slow", "running", self.detail(1))
        self.sample.test("test_quick", "passed")
        self.publish()
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder)], stdout=subprocess.PIPE, start_new_session=True
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().decode().strip()

    def detail(self, commands: int) -> Detail:
        lines = [
            command(f"acme step {at}", f"did {at}\n", seeks=(Seek(0, 12.0),)) for at in range(1, commands + 1)
        ]
        return Detail(tuple(lines), casts=(self.cast,))

    def publish(self) -> None:
        for key, data in self.sample.chunks.items():
            (self.folder / key.replace("/", "-")).write_bytes(data)
        run = replace(self.sample.run(), is_running=True)
        (self.folder / "new").write_bytes(encode(Index("Acme", T0, (run,), is_live=True)))
        os.replace(self.folder / "new", self.folder / "index")

    def go_on(self, commands: int) -> None:
        """The running test gets further."""
        self.sample.chunks["t0/1"] = encode(self.detail(commands))
        self.publish()

    def stop(self) -> None:
        assert self.process.stdout
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(90)
        self.process.stdout.close()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    server = Live(tmp_path)
    yield server
    server.stop()


def followed(live: Live, context: BrowserContext, place: str = "") -> Visit:
    seen = visit(context, live.url, place)
    expect(seen.page.locator(".connection")).to_have_text("live")
    return seen


@pytest.mark.accept("V7")
def test_new_tests_and_statuses_appear_by_themselves(live: Live, context: BrowserContext) -> None:
    seen = followed(live, context)
    expect(seen.page.locator(".row")).to_have_count(2)
    live.sample.test("test_new", "failed", one_command("it broke\n"))
    live.publish()
    expect(seen.names).to_have_text(["test_new", "test_slow", "test_quick"])
    seen.page.locator(".row", has_text="test_new").click()
    expect(seen.page.locator(".entry")).to_contain_text("it broke")


@pytest.mark.accept("V7")
def test_a_running_test_grows_under_the_eyes_until_it_ends(live: Live, context: BrowserContext) -> None:
    seen = followed(live, context, RUNNING)
    expect(seen.page.locator(".entry")).to_have_count(1)
    live.go_on(commands=3)
    expect(seen.page.locator(".entry")).to_have_count(3)
    test = live.sample.tests[0]
    ended = tuple(replace(attempt, status="passed") for attempt in test.attempts)
    live.sample.tests[0] = replace(test, status="passed", attempts=ended)
    live.go_on(commands=4)
    expect(seen.page.locator(".entry")).to_have_count(4)
    expect(seen.page.locator(".heading .outcome")).to_have_text("passed")


@pytest.mark.accept("V7")
def test_a_change_leaves_choice_search_scroll_and_recording_alone(
    live: Live, context: BrowserContext
) -> None:
    for at in range(60):
        live.sample.test(f"test_more_{at}")
    live.publish()
    seen = followed(live, context, RUNNING)
    seen.page.get_by_role("button", name="▶ 0:12").first.click()
    expect(seen.screen).to_contain_text("second 12")
    seen.page.get_by_role("searchbox").fill("test_")
    seen.page.locator("nav.list").evaluate("el => { el.scrollTop = 400 }")
    seen.page.locator(".ap-wrapper").evaluate("el => { el.dataset.mine = 'yes' }")
    live.sample.test("test_new", "failed")
    live.go_on(commands=2)
    expect(seen.page.locator(".entry")).to_have_count(2)
    expect(seen.page.locator(".row")).to_have_count(63)
    expect(seen.page.get_by_role("searchbox")).to_have_value("test_")
    expect(seen.screen).to_contain_text("second 12")
    expect(seen.page.locator(".ap-wrapper")).to_have_attribute("data-mine", "yes")
    assert seen.page.locator("nav.list").evaluate("el => el.scrollTop") >= 400
    expect(seen.heading).to_contain_text("test_slow")


@pytest.mark.accept("V7")
def test_search_sees_what_a_running_test_said_since(live: Live, context: BrowserContext) -> None:
    seen = followed(live, context)
    seen.page.get_by_role("searchbox").fill("did 2")
    expect(seen.page.locator(".nothing")).to_be_visible()
    live.go_on(commands=2)
    expect(seen.page.locator(".found")).to_have_text("did 2")


@pytest.mark.accept("V7")
def test_an_ended_test_is_shown_even_if_something_changes_while_it_is_read(
    live: Live, context: BrowserContext
) -> None:
    live.sample.test("test_ended", "failed", one_command("it broke\n"))
    live.publish()
    held: list[Route] = []
    context.route("**/data/t2/1", lambda route: route.continue_() if held else held.append(route))
    seen = followed(live, context, RUNNING.replace("test_slow", "test_ended"))
    assert soon(lambda: seen.heading.is_visible() and len(held) == 1)
    live.sample.test("test_new", "failed")
    live.publish()
    expect(seen.names).to_have_count(4)
    held[0].continue_()
    expect(seen.page.locator(".entry")).to_contain_text("it broke")


@pytest.mark.accept("V7")
def test_a_late_answer_does_not_hide_what_came_since(live: Live, context: BrowserContext) -> None:
    asked: list[Route] = []
    answers: list[APIResponse] = []

    def hold_first(route: Route) -> None:
        asked.append(route)
        if len(asked) == 1:
            answers.append(route.fetch())
        else:
            route.continue_()

    context.route("**/data/t0/1", hold_first)
    seen = followed(live, context, RUNNING)
    assert soon(lambda: seen.heading.is_visible() and len(answers) == 1)
    live.go_on(commands=3)
    expect(seen.page.locator(".entry")).to_have_count(3)
    late = asked[0]
    with seen.page.expect_request_finished(lambda request: request == late.request):
        late.fulfill(response=answers[0])
    seen.page.get_by_role("searchbox").fill("did 3")
    expect(seen.page.locator(".found")).to_have_text("did 3")
    expect(seen.page.locator(".entry")).to_have_count(3)


@pytest.mark.accept("V7")
def test_a_lost_connection_is_told_and_found_again(live: Live, context: BrowserContext) -> None:
    context.route("**/events", lambda route: route.abort())
    seen = visit(context, live.url)
    expect(seen.page.locator(".connection")).to_contain_text("connection lost")
    expect(seen.page.locator(".row")).to_have_count(2)
    live.sample.test("test_new", "failed")
    live.publish()
    context.unroute("**/events")
    expect(seen.page.locator(".connection")).to_have_text("live")
    expect(seen.page.locator(".row")).to_have_count(3)


@pytest.mark.accept("V7")
def test_the_page_stays_when_its_server_is_gone(live: Live, context: BrowserContext) -> None:
    seen = followed(live, context)
    expect(seen.page.locator(".row")).to_have_count(2)
    live.stop()
    expect(seen.page.locator(".connection")).to_contain_text("connection lost")
    expect(seen.page.locator(".row")).to_have_count(2)
    seen.page.locator(".row", has_text="test_quick").click()
    expect(seen.page.locator(".warning")).to_contain_text("cannot be shown")


@pytest.mark.accept("V7", "V4", "Q6")
def test_the_live_page_asks_only_its_own_server(live: Live, context: BrowserContext) -> None:
    seen = followed(live, context, RUNNING)
    seen.page.get_by_role("button", name="▶ 0:12").click()
    expect(seen.screen).to_contain_text("second 12")
    asked = {url for url in seen.requests if not url.startswith("data:")}
    assert all(url.startswith(live.url) for url in asked), asked
    assert seen.complaints == []
