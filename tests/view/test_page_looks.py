"""Light and dark, wide and narrow, with and without motion."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import Visit, page_file, soon, visit
from tests.support.page_sample import shop

FAILING = "#/run/r1/test/tests%2Fe2e%2Ftest_first_steps.py::test_create_connects"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    sample = shop()
    return page_file(tmp_path, sample.index(), sample.chunks)


def brightness(seen: Visit) -> float:
    """Of the page's ground, from 0 to 255."""
    colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return float(colour.removeprefix("rgb(").split(",")[0])


@pytest.mark.accept("U4")
def test_the_page_follows_the_machines_colours(file: Path, context: BrowserContext) -> None:
    seen = visit(context, file)
    assert soon(lambda: brightness(seen) > 200)
    seen.page.emulate_media(color_scheme="dark")
    assert soon(lambda: brightness(seen) < 50)


@pytest.mark.accept("U4")
def test_chosen_colours_win_and_are_remembered(file: Path, context: BrowserContext) -> None:
    seen = visit(context, file)
    button = seen.page.get_by_role("button", name="Colours")
    button.click()
    button.click()
    expect(button).to_contain_text("dark")
    assert soon(lambda: brightness(seen) < 50)
    seen.page.reload()
    expect(button).to_contain_text("dark")
    assert soon(lambda: brightness(seen) < 50)
    seen.page.keyboard.press("d")
    expect(button).to_contain_text("auto")
    assert soon(lambda: brightness(seen) > 200)


@pytest.mark.accept("U4")
def test_on_a_narrow_screen_list_and_detail_take_turns(file: Path, context: BrowserContext) -> None:
    seen = visit(context, file)
    seen.page.set_viewport_size({"width": 400, "height": 800})
    expect(seen.page.locator("main.detail")).to_be_hidden()
    seen.page.locator(".row").first.click()
    expect(seen.page.locator("nav.list")).to_be_hidden()
    expect(seen.screen).to_contain_text("second 10")
    assert soon(lambda: seen.page.evaluate("document.documentElement.scrollWidth") <= 400)
    assert soon(lambda: seen.page.locator("main.detail").evaluate("el => el.scrollWidth") <= 400)
    seen.page.locator("a.back").click()
    expect(seen.page.locator("nav.list")).to_be_visible()


@pytest.mark.accept("U4")
def test_nothing_moves_where_motion_is_unwanted(file: Path, context: BrowserContext) -> None:
    seen = visit(context, file, FAILING)
    sign = seen.page.locator(".turning").first
    expect(sign).to_have_css("animation-name", "none")
    seen.page.emulate_media(reduced_motion="no-preference")
    expect(sign).to_have_css("animation-name", "turn")


@pytest.mark.accept("U4")
def test_keyboard_focus_is_seen_and_places_have_names(file: Path, context: BrowserContext) -> None:
    seen = visit(context, file, FAILING)
    for role, name in [("navigation", "Tests"), ("main", "Detail"), ("search", ""), ("banner", "")]:
        expect(seen.page.get_by_role(role, name=name).first).to_be_visible()  # type: ignore[arg-type]
    seen.page.keyboard.press("Tab")
    expect(seen.page.locator(":focus")).to_have_css("outline-style", "solid")


def test_what_is_below_does_not_jump_when_a_recording_appears(file: Path, context: BrowserContext) -> None:
    context.add_init_script(
        "window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach("
        "entry => { if (!entry.hadRecentInput) window.shift += entry.value; }"
        ")).observe({type: 'layout-shift', buffered: true});"
    )
    seen = visit(context, file, FAILING)
    expect(seen.screen).to_contain_text("second 10")
    assert seen.page.evaluate("window.shift") < 0.1
