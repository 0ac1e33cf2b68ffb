"""Recordings: the right second in one click, and words where nothing can be played."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, expect
from tests.support.browser import PATIENCE_MS, Visit, page_file, soon, visit
from tests.support.page_sample import Sample, command, counting, recorded, shop

from mngr_view.records import Detail, Seek

FAILING = "#/run/r1/test/tests%2Fe2e%2Ftest_first_steps.py::test_create_connects"
PLAY = "M1,0 L11,6 L1,12 Z"


@pytest.fixture
def seen(tmp_path: Path, context: BrowserContext) -> Visit:
    sample = shop()
    return visit(context, page_file(tmp_path, sample.index(), sample.chunks), FAILING)


def with_recording(tmp_path: Path, context: BrowserContext, text: str, second: float = 1.0) -> Visit:
    sample = Sample()
    cast = sample.recording("agent", text)
    sample.test("test_it", "failed", Detail((command("acme", seeks=(Seek(0, second),)),), casts=(cast,)))
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks))
    seen.page.keyboard.press("j")
    expect(seen.page.locator(".entry")).to_be_visible()
    return seen


@pytest.mark.accept("V6", "V1")
def test_two_clicks_lead_to_the_second_of_a_failing_tests_recording(
    tmp_path: Path, context: BrowserContext
) -> None:
    sample = shop()
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks))
    seen.page.locator(".row", has_text="test_create_connects").click()
    seen.page.get_by_role("button", name="▶ 0:12").click()
    expect(seen.screen).to_contain_text("second 12")
    expect(seen.page.locator(".at")).to_have_text("0:12 $ acme create fix-login")
    expect(seen.page.locator(".ap-player")).to_be_in_viewport()
    assert seen.complaints == []


@pytest.mark.accept("V6")
def test_a_program_on_a_terminal_has_no_end_and_leads_to_its_recordings_start(
    tmp_path: Path, context: BrowserContext
) -> None:
    sample = Sample()
    cast = sample.recording("notes", counting())
    started = replace(command("notes watch", code=None, seeks=(Seek(0, 0.0),)), terminal="1-notes")
    sample.test("test_it", "passed", Detail((started,), casts=(cast,)))
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks))
    seen.page.keyboard.press("j")
    expect(seen.page.locator(".entry .exit")).to_have_text("on a terminal")
    seen.page.get_by_role("button", name="▶ 0:00").click()
    expect(seen.screen).to_contain_text("second 0")


@pytest.mark.accept("V6")
def test_each_command_leads_to_its_own_recording_and_second(seen: Visit) -> None:
    seen.page.get_by_role("button", name="▶ 0:17").click()
    expect(seen.screen).to_contain_text("second 17")
    seen.page.get_by_role("button", name="▶ 0:03").click()
    expect(seen.page.get_by_role("tab", name="editor")).to_have_attribute("aria-selected", "true")
    expect(seen.screen).to_contain_text("second 3")
    seen.page.get_by_role("button", name="▶ 0:15").click()
    expect(seen.page.get_by_role("tab", name="agent fix-login")).to_have_attribute("aria-selected", "true")
    expect(seen.screen).to_contain_text("second 15")
    expect(seen.page.locator(".ap-player")).to_have_count(1)


@pytest.mark.accept("V6")
@pytest.mark.parametrize("second", [4.0, 9.0, 15.0])
def test_the_screen_of_a_second_has_all_that_was_printed_before(
    tmp_path: Path, context: BrowserContext, second: float
) -> None:
    text = recorded(*((float(at), f"line {at}.\r\n") for at in range(21)))
    seen = with_recording(tmp_path, context, text, second)
    expect(seen.screen).to_contain_text("line 10.")
    seen.page.get_by_role("button", name="▶").click()
    expect(seen.page.locator(".ap-time-elapsed")).to_have_text(f"00:{second:02.0f}")
    lines = [f"line {at}." for at in range(int(second) + 1)]
    expect(seen.screen.locator(".ap-line")).to_contain_text(lines)
    assert soon(lambda: seen.screen.inner_text().split() == " ".join(lines).split())


@pytest.mark.accept("V6")
def test_where_motion_is_welcome_it_plays_on_from_there(tmp_path: Path, browser: Browser) -> None:
    with browser.new_context(reduced_motion="no-preference") as lively:
        lively.set_default_timeout(PATIENCE_MS)
        seen = with_recording(tmp_path, lively, counting(700), second=600.0)
        seen.page.get_by_role("button", name="▶ 10:00").click()
        expect(seen.screen).to_contain_text(re.compile(r"second 6(0[2-9]|[1-9]\d)"))


@pytest.mark.accept("U4")
def test_a_frame_is_on_the_screen_before_anything_is_pressed(seen: Visit) -> None:
    expect(seen.screen).to_contain_text("second 10")


@pytest.mark.accept("U4")
def test_space_plays_and_pauses(seen: Visit) -> None:
    seen.page.get_by_role("button", name="▶ 0:12").click()
    expect(seen.screen).to_contain_text("second 12")
    seen.page.locator("main.detail").focus()
    seen.page.keyboard.press("Space")
    expect(seen.screen).to_contain_text(re.compile(r"second 1[3-9]"))
    seen.page.keyboard.press("Space")
    sign = seen.page.locator(".ap-playback-button path").first
    expect(sign).to_have_attribute("d", PLAY)
    seen.page.keyboard.press("Space")
    expect(sign).not_to_have_attribute("d", PLAY)


@pytest.mark.accept("V6")
def test_a_recording_of_the_third_version_plays(tmp_path: Path, context: BrowserContext) -> None:
    header = {"version": 3, "term": {"cols": 60, "rows": 10}, "idle_time_limit": 1}
    events = [[2.0, "o", "first\r\n"], [5.0, "o", "second\r\n"], [5.0, "o", "third\r\n"], [1.0, "x", "0"]]
    text = "\n".join(json.dumps(part) for part in (header, *events))
    seen = with_recording(tmp_path, context, text, second=8.0)
    seen.page.get_by_role("button", name="▶ 0:08").click()
    expect(seen.page.locator(".ap-time-elapsed")).to_have_text("00:08")
    expect(seen.screen).to_contain_text("second")
    expect(seen.screen).not_to_contain_text("third")


@pytest.mark.accept("V6", "F14")
def test_a_recording_that_was_cut_off_still_plays(tmp_path: Path, context: BrowserContext) -> None:
    text = counting(5) + 'garbage\n[6.0, "o"\n[null]\n[7.0, "o", "half a li'
    seen = with_recording(tmp_path, context, text, second=4.0)
    seen.page.get_by_role("button", name="▶ 0:04").click()
    expect(seen.screen).to_contain_text("second 4")


@pytest.mark.accept("Q5", "V4")
def test_a_recording_cannot_ask_for_a_terminal_of_any_size(tmp_path: Path, context: BrowserContext) -> None:
    text = recorded((0.5, "hello\r\n"), cols=10_000_000, rows=10_000_000)
    text += '[0.7, "r", "99999999x99999999"]\n[0.8, "o", "still here"]\n'
    seen = with_recording(tmp_path, context, text)
    seen.page.get_by_role("button", name="▶ 0:01").click()
    expect(seen.screen).to_contain_text("still here")
    size = (
        "el => ['cols', 'rows'].map(name => Number(getComputedStyle(el).getPropertyValue(`--term-${name}`)))"
    )
    cols, rows = seen.page.locator(".ap-term").evaluate(size)
    assert 0 < cols <= 500
    assert 0 < rows <= 250


@pytest.mark.parametrize("text", ["", "null", "not a recording", '{"version": 2}\n'])
def test_what_is_no_recording_is_named_and_shown_as_text(
    tmp_path: Path, context: BrowserContext, text: str
) -> None:
    seen = with_recording(tmp_path, context, text)
    expect(seen.page.locator(".unplayable .warning")).to_contain_text("cannot be played here")
    expect(seen.page.locator(".transcript")).to_be_visible()


@pytest.mark.accept("V2")
def test_where_the_player_cannot_start_the_recordings_text_is_offered(
    tmp_path: Path, context: BrowserContext
) -> None:
    sample = shop()
    file = page_file(tmp_path, sample.index(), sample.chunks)
    policy = " 'wasm-unsafe-eval'"
    assert policy in file.read_text()
    file.write_text(file.read_text().replace(policy, "", 1))
    seen = visit(context, file, FAILING)
    expect(seen.page.locator(".unplayable .warning")).to_contain_text("cannot be played here")
    seen.page.get_by_text("What was printed").click()
    expect(seen.page.locator(".unplayable .terminal")).to_contain_text("second 3")


@pytest.mark.accept("V1")
def test_players_that_were_left_are_gone(tmp_path: Path, context: BrowserContext) -> None:
    context.add_init_script(
        "window.watching = 0; const {observe, disconnect} = ResizeObserver.prototype;"
        "ResizeObserver.prototype.observe = function (...all) { watching++; observe.apply(this, all) };"
        "ResizeObserver.prototype.disconnect = function () { watching--; disconnect.apply(this) };"
    )
    sample = shop()
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks), FAILING)
    expect(seen.screen).to_contain_text("second 10")
    assert soon(lambda: seen.page.evaluate("watching") == 1)
    for _ in range(5):
        seen.page.keyboard.press("j")
        expect(seen.heading).to_contain_text("test_config_is_read")
        seen.page.keyboard.press("k")
        expect(seen.screen).to_contain_text("second 10")
    assert soon(lambda: seen.page.evaluate("watching") == 1)
