"""What a run cost, what that was good for, what is left to look at, and what changed it, in the page."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import page_file, visit
from tests.support.pipeline_sample import pipeline

from mngr_view.records import Balance


@pytest.mark.accept("O2", "O5")
def test_cost_worth_and_what_to_look_at_fit_one_screen(tmp_path: Path, context: BrowserContext) -> None:
    sample = pipeline()
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks))
    page, balance = seen.page, seen.page.get_by_label("Cost and worth", exact=True)
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(balance).to_be_in_viewport(ratio=1)
    dollars, tokens = balance.locator(".meter").all()
    expect(dollars).to_have_text("$1.25 of $4.00$0.60 set asideexpected $0.90 to $2.10")
    expect(dollars.locator(".scale")).to_have_attribute(
        "aria-label",
        "dollars: $1.25 of $4.00, $0.60 set aside; expected $0.90 to $2.10; estimated from 12 past tasks",
    )
    expect(tokens).to_have_class("meter over")
    used, scale = dollars.locator(".used").bounding_box(), dollars.locator(".scale").bounding_box()
    assert used
    assert scale
    assert used["width"] == pytest.approx(scale["width"] * 1.25 / 4, rel=0.05)
    titles = ["What it cost", "What it was worth", "What to look at", "Without an agent"]
    expect(balance.locator("h3")).to_have_text(titles)
    balance.locator(".left-out summary").click()
    expect(balance.locator(".links")).to_contain_text("test_total")
    balance.get_by_role("link", name="1 agent was wrong").click()
    expect(page).to_have_url(re.compile("#/run/night/section/disputed$"))
    page.keyboard.press("l")
    expect(page.get_by_label("Changes of the run").locator("li")).to_have_text(
        ["0:30 slots 4 \u2192 2, set by ann", "1:30 nothing more is launched: 5 agents failed alike"]
    )
    mark, track = page.locator(".moment").first.bounding_box(), page.locator(".axis .track").bounding_box()
    assert mark
    assert track
    assert mark["x"] - track["x"] == pytest.approx(track["width"] * 30 / 300, abs=4)


def test_a_run_that_has_nothing_of_it_shows_no_empty_panel(tmp_path: Path, context: BrowserContext) -> None:
    sample = pipeline()
    (run,) = sample.index().runs
    bare = replace(run, balance=Balance(), marks=())
    index = replace(sample.index(), runs=(bare,))
    seen = visit(context, page_file(tmp_path, index, sample.chunks))
    expect(seen.page.locator(".causes")).to_be_visible()
    expect(seen.page.locator(".balance")).to_have_count(0)
    seen.page.keyboard.press("l")
    expect(seen.page.locator(".axis")).to_be_visible()
    expect(seen.page.locator(".moment, .moments")).to_have_count(0)
