"""Whatever tests, programs and terminals said stays text: nothing runs, nothing is added to the page."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import Visit, page_file, soon, visit
from tests.support.page_sample import ESC, T0, command, recorded

from mngr_view import records
from mngr_view.chunks import encode
from mngr_view.records import Attempt, Cast, Detail, Index, Run, ScreenText, Seek, Tutorial, TutorialBlock

EVIL = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
    "<svg onload=window.hacked=3><style>*{display:none}</style><!--<script>"
    "\"'`${window.hacked=4}{{window.hacked=5}}</title></textarea>&lt;b&gt;javascript:window.hacked=6"
)
_ELEMENTS = (
    "el => el.querySelectorAll('img, iframe, object, embed, form, style, script, link, base, b.evil').length"
)


def hostile() -> tuple[Index, dict[str, bytes]]:
    """Every text of every record is an attack."""
    block = TutorialBlock(EVIL, "command", EVIL, 1, EVIL, (EVIL, f"{EVIL} never ran"))
    cast = Cast(EVIL, T0, 2.0, 80, 24, "cast", EVIL)
    detail = Detail(
        (
            command(EVIL, EVIL, EVIL, 1, EVIL, (Seek(0, 1.0), Seek(7, 1e300))),
            command(
                f"{ESC}[31m{EVIL}",
                f"{ESC}[1;31m{ESC}]8;;javascript:window.hacked=7{ESC}\\{EVIL}{ESC}]8;;{ESC}\\",
            ),
        ),
        citations=(EVIL, "<b class=evil>"),
        failure=f"E  {EVIL}\n> {EVIL}",
        casts=(cast,),
        screens=(ScreenText(EVIL, EVIL),),
        files=(EVIL, "../../etc/passwd"),
        notes=(EVIL,),
    )
    attempts = (
        Attempt(1, "failed", T0, 1.0, "one", EVIL),
        Attempt(2, "failed", -1e300, 1e300, "one", EVIL),
    )
    test = records.Test(EVIL, EVIL, EVIL, "failed", 1.0, attempts, (EVIL,), EVIL)
    run = Run(
        EVIL,
        EVIL,
        T0,
        (test,),
        1.0,
        tutorial=Tutorial(EVIL, (block,), {"__proto__": "passed"}),
        warnings=(EVIL,),
    )
    chunks = {"one": encode(detail), "cast": encode(recorded((0.5, EVIL), (1.0, f"{ESC}]0;{EVIL}\x07")))}
    return Index(EVIL, T0, (run, Run("other", EVIL, T0, ()))), chunks


@pytest.mark.accept("V4", "Q5")
def test_hostile_text_is_shown_as_it_is_and_does_nothing(tmp_path: Path, context: BrowserContext) -> None:
    index, chunks = hostile()
    seen = visit(context, page_file(tmp_path, index, chunks))
    page, app = seen.page, seen.page.locator("#app")
    expect(page.locator(".run strong").first).to_have_text(EVIL)
    page.locator(".run", has_text="1").first.click()
    expect(page.locator(".overview .warning")).to_have_text(EVIL)
    page.locator(".row a").click()
    expect(page.locator(".entry .stderr").first).to_have_text(EVIL)
    expect(page.locator(".entry .stdout .bold")).to_have_text(EVIL)
    expect(page.locator(".failure .complaint")).to_contain_text(EVIL)
    expect(page.locator(".screens .line")).to_have_text(EVIL)
    expect(page.locator(".files li").first).to_have_text(EVIL)
    page.get_by_role("button", name="▶ 0:01").click()
    expect(seen.screen).to_contain_text("window.hacked=1")
    assert app.evaluate(_ELEMENTS) == 0
    page.get_by_role("searchbox").fill("window.hacked=3")
    expect(page.locator(".row .found mark")).to_have_text("window.hacked=3")
    page.get_by_role("searchbox").fill("")
    page.get_by_role("link", name="Tutorial", exact=True).click()
    expect(page.locator(".block .shell")).to_have_text(EVIL)
    expect(page.locator(".block .cited li")).to_have_count(2)
    assert app.evaluate(_ELEMENTS) == 0
    assert page.evaluate("window.hacked") is None
    expect(page).to_have_title(re.compile(f"^{re.escape(EVIL[:20])}"))
    assert len(page.locator("html > *").all()) == 2
    assert seen.complaints == []


@pytest.mark.accept("V4", "Q5")
@pytest.mark.parametrize(
    "place", [f"#{EVIL}", f"#/run/{EVIL}", "#/run/__proto__/test/constructor", "#/run/other/test/<b>"]
)
def test_hostile_addresses_do_nothing(tmp_path: Path, context: BrowserContext, place: str) -> None:
    index, chunks = hostile()
    seen = visit(context, page_file(tmp_path, index, chunks), place)
    expect(seen.page.locator("header.top")).to_be_visible()
    assert seen.page.evaluate("window.hacked") is None
    assert seen.page.locator("#app").evaluate(_ELEMENTS) == 0
    assert seen.complaints == []


@pytest.mark.accept("V4", "Q5")
def test_the_policy_stops_what_would_still_get_in(tmp_path: Path, context: BrowserContext) -> None:
    index, chunks = hostile()
    seen = visit(context, page_file(tmp_path, index, chunks))
    seen.page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'window.hacked = 8';
            document.body.append(script);
            const picture = document.createElement('img');
            picture.src = 'http://127.0.0.1:9/x.png';
            document.body.append(picture);
        }"""
    )
    refused = seen.page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"
    assert seen.page.evaluate("window.hacked") is None
    assert soon(lambda: refusals(seen) >= 3)


def refusals(seen: Visit) -> int:
    """How often the browser has said that the policy forbids something; asking lets it say more."""
    seen.page.evaluate("0")
    return sum("Content Security Policy" in complaint for complaint in seen.complaints)
