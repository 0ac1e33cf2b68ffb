"""Lanes of agents, and a thousand rows of everything."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import Visit, page_file, soon, visit
from tests.support.pipeline_sample import PipelineSample, pipeline

from mngr_view.records import Cause, Detail, Lane, LaneSpan, Work

KINDS = ["queue", "launch", "work", "pull", "stop", "verify"]


@pytest.fixture
def seen(tmp_path: Path, context: BrowserContext) -> Visit:
    sample = pipeline()
    return visit(context, page_file(tmp_path, sample.index(), sample.chunks), "#/run/night/timeline")


def test_a_lane_tells_an_agents_life_in_colours_that_the_legend_explains(seen: Visit) -> None:
    lanes = seen.page.locator(".lane")
    expect(lanes).to_have_count(9)
    spans = lanes.first.locator("i")
    assert [span.get_attribute("class") for span in spans.all()] == KINDS
    legend = seen.page.get_by_label("Colours", exact=True).locator("li")
    assert [item.get_attribute("class") for item in legend.locator("i").all()] == [*KINDS, "integrate"]
    ground = "el => getComputedStyle(el).backgroundColor"
    grounds = [span.evaluate(ground) for span in spans.all()]
    assert len(set(grounds)) == 6
    assert grounds == [item.evaluate(ground) for item in legend.locator("i").all()[:6]]
    assert (spans.nth(2).get_attribute("title") or "").startswith("at work 18.0 s, 0:07 \u2013 0:25")
    expect(legend.nth(2)).to_contain_text("at work 2 min 42 s")
    queue, work = spans.first.bounding_box(), spans.nth(2).bounding_box()
    assert queue
    assert work
    assert work["width"] == pytest.approx(queue["width"] * 18 / 5, rel=0.1)
    expect(seen.page.locator(".tick")).to_have_text(["0:00", "1:00", "2:00", "3:00", "4:00", "5:00"])
    expect(seen.page.locator(".axis")).to_contain_text("up to 9 agents at once")


@pytest.mark.accept("O5")
def test_slots_and_the_integration_have_lanes_that_name_their_steps_and_one_leads_to_the_branch(
    tmp_path: Path, context: BrowserContext
) -> None:
    sample = pipeline()
    (run,) = sample.index().runs
    start = run.start
    steps = (
        LaneSpan("merging", start + 60, start + 62),
        LaneSpan("gate suite, 12 tests", start + 62, start + 92),
    )
    slots = (
        LaneSpan("4 slots", start, start + 60),
        LaneSpan("3 slots: a limit was met", start + 60, start + 92),
    )
    run = replace(run, lanes=(*run.lanes, Lane("", slots, "slots"), Lane("", steps, "integration")))
    index = replace(sample.index(), runs=(run,))
    seen = visit(context, page_file(tmp_path, index, sample.chunks), "#/run/night/timeline")
    lane = seen.page.locator(".lane").last
    expect(lane).to_contain_text("integration")
    assert [span.get_attribute("class") for span in lane.locator("i").all()] == ["integrate", "integrate"]
    assert (lane.locator("i").last.get_attribute("title") or "").startswith("gate suite, 12 tests 30.0 s")
    numbers = seen.page.locator(".lane").nth(-2).locator("i")
    assert [span.get_attribute("class") for span in numbers.all()] == ["other", "other"]
    assert (numbers.last.get_attribute("title") or "").startswith("3 slots: a limit was met 32.0 s")
    expect(seen.page.locator(".legend")).to_contain_text("9 agents")
    expect(seen.page.get_by_label("Colours", exact=True).locator("li").last).to_contain_text("32.0 s")
    lane.click()
    expect(seen.page.get_by_label("Commits")).to_be_visible()


@pytest.mark.accept("V3")
def test_a_lane_leads_to_its_row_and_filters_narrow_the_lanes(seen: Visit) -> None:
    seen.page.get_by_role("button", name="failed").click()
    expect(seen.page.locator(".lane")).to_have_count(1)
    seen.page.keyboard.press("Escape")
    seen.page.get_by_role("searchbox").fill("export")
    expect(seen.page.locator(".lane")).to_have_count(1)
    seen.page.locator(".lane").click()
    expect(seen.heading).to_contain_text("test_export")


@pytest.mark.accept("U4", "J2", "S8")
def test_a_thousand_rows_are_all_there_and_only_those_in_sight_are_drawn(
    tmp_path: Path, context: BrowserContext
) -> None:
    sample = PipelineSample()
    work = Work("unchanged", "passed", "passed")
    for at in range(1000):
        section = "disputed" if at % 5 == 0 else "clean"
        sample.row(f"number_{at}", section, "passed", work, ("agent", "agent", Detail(())))
    ids = tuple(test.id for test in sample.tests)
    sample.rest["causes"] = tuple(Cause(f"c{at}", f"it broke {at}", "test", ids) for at in range(30))
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks))
    page = seen.page
    expect(page.locator(".row")).to_have_count(1000)
    expect(page.locator(".headline")).to_contain_text("1,000 failures, 30 causes")
    expect(page.locator(".cause")).to_have_count(12)
    expect(page.locator(".report .table li")).to_have_count(45)
    page.get_by_role("button", name="show 795 more").click()
    expect(page.locator(".report .table li")).to_have_count(840)
    page.locator(".cause summary").first.click()
    expect(page.locator(".links li")).to_have_count(13)
    page.keyboard.press("l")
    expect(page.locator(".timeline")).to_have_class("timeline flat")
    page.get_by_role("button", name="with names").click()
    drawn = page.locator(".lane")
    expect(drawn.first).to_contain_text("number_0")
    assert soon(lambda: 30 < drawn.count() < 120)
    page.locator(".lanes").evaluate("el => { el.scrollTop = el.scrollHeight }")
    expect(drawn.last).to_contain_text("number_999")
    assert soon(lambda: drawn.count() < 120)
    drawn.last.click()
    expect(seen.heading).to_contain_text("test_number_999")
    expect(page.locator(".row [aria-current]")).to_be_in_viewport()
