"""One file, no network, small, and readable at once."""

import random
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import page_file, visit
from tests.support.page_sample import ESC, Sample, command, recorded, shop

from mngr_view.records import Detail, Seek


@pytest.mark.accept("U4", "V4", "S8")
def test_a_whole_visit_asks_for_nothing_but_the_file_itself(tmp_path: Path, context: BrowserContext) -> None:
    context.set_offline(True)
    sample = shop()
    file = page_file(tmp_path, sample.index(), sample.chunks)
    seen = visit(context, file)
    seen.page.keyboard.press("j")
    seen.page.get_by_role("button", name="▶ 0:12").click()
    expect(seen.screen).to_contain_text("second 12")
    seen.page.get_by_role("searchbox").fill("no space left")
    expect(seen.page.locator(".found")).to_have_count(1)
    seen.page.get_by_role("searchbox").fill("")
    seen.page.get_by_role("link", name="Tutorial", exact=True).click()
    expect(seen.page.locator(".block").first).to_be_visible()
    asked = [url for url in seen.requests if not url.startswith("data:")]
    assert asked == [file.as_uri()]
    assert seen.complaints == []


@pytest.mark.slow
@pytest.mark.accept("S8")
def test_a_thousand_recorded_tests_fit_in_a_file_that_opens(tmp_path: Path, context: BrowserContext) -> None:
    sample, dice = Sample(), random.Random(7)
    raw = 0
    for at in range(1000):
        cast, output = _cast(dice), _output(dice)
        raw += len(cast.encode()) + len(output.encode())
        detail = Detail(
            (command(f"acme run {at}", output, seeks=(Seek(0, 2.0),)),),
            casts=(sample.recording("agent", cast),),
        )
        sample.test(f"test_{at}", "failed" if at % 40 == 0 else "passed", detail)
    file = page_file(tmp_path, sample.index(), sample.chunks)
    assert file.stat().st_size <= 0.4 * raw
    seen = visit(context, file)
    expect(seen.page.locator(".row")).to_have_count(1000)
    seen.page.keyboard.press("j")
    seen.page.get_by_role("button", name="▶ 0:02").click()
    expect(seen.screen).to_contain_text("step")
    assert [url for url in seen.requests if not url.startswith("data:")] == [file.as_uri()]


_WORDS = "reading writing waiting file agent branch test passed failed commit merge tree".split()


def _output(dice: random.Random) -> str:
    return "".join(f"{dice.random():.6f} {' '.join(dice.choices(_WORDS, k=8))}\n" for _ in range(600))


def _cast(dice: random.Random) -> str:
    events = []
    for at in range(600):
        line = f"{ESC}[{dice.randrange(1, 24)};1H{ESC}[3{at % 8}mstep {at} {' '.join(dice.choices(_WORDS, k=12))}"
        events.append((at / 10 + dice.random() / 100, f"{line}{ESC}[0m{ESC}[K"))
    return recorded(*events)
