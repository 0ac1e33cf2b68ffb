"""Whatever agents wrote stays text, in every place that shows it."""

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import page_file, visit
from tests.support.page_sample import ESC, T0, recorded

from mngr_view import records
from mngr_view.chunks import encode
from mngr_view.records import (
    Attempt,
    BranchCommit,
    Cast,
    Cause,
    ConversationTurn,
    Detail,
    Index,
    LabeledFact,
    Lane,
    LaneSpan,
    Matter,
    MergedAs,
    Patch,
    Recipe,
    Run,
    Section,
    Text,
    WeakenedCheck,
    WitnessResults,
    Work,
    WorkChange,
    WorkCommit,
)

EVIL = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
    "<svg onload=window.hacked=3><style>*{display:none}</style><!--"
    "[click](javascript:window.hacked=4) **<b class=evil>** `<img src=y>`"
)
_ELEMENTS = (
    "el => el.querySelectorAll('img, iframe, object, embed, form, style, script, link, base, b.evil').length"
)
_LINKS = (
    "el => [...el.querySelectorAll('a')].map(a => a.getAttribute('href'))"
    ".filter(href => !href.startsWith('#/')).length"
)
_DIFF = (
    f"diff --git a/{EVIL} b/x\n--- a/x\n+++ b/{EVIL}\n@@ -1 +1 @@\n-{EVIL}\n+{ESC}[8mhidden{ESC}[0m {EVIL}\n"
)


def hostile() -> tuple[Index, dict[str, bytes]]:
    """Every text of every record is an attack, every number an unlikely one."""
    fact = LabeledFact(EVIL, "javascript:window.hacked=5", "bad")
    recipe = Recipe(EVIL, EVIL)
    work = Work(
        EVIL,
        EVIL,
        f"{EVIL} not",
        EVIL,
        EVIL,
        f"# {EVIL}\n- {EVIL}\n```\n{EVIL}\n```\n{ESC}[31m\u202e",
        (WorkChange(EVIL, (EVIL,), EVIL, 10**9, EVIL),),
        (WorkCommit(EVIL, EVIL, EVIL, f"{EVIL} too", (EVIL,), EVIL),),
        (MergedAs(EVIL, EVIL, 1, EVIL),),
        EVIL,
        EVIL,
        EVIL,
        EVIL,
        (0, 99, -1),
        (fact,),
        (recipe,),
        (EVIL,),
    )
    attempt = Attempt(1, "failed", T0, 1.0, "one", EVIL, "agent")
    test = records.Test(EVIL, EVIL, EVIL, "failed", 1.0, (attempt,), (), EVIL, EVIL, work)
    commit = BranchCommit(
        EVIL,
        EVIL,
        "commit/evil",
        1,
        EVIL,
        (EVIL, "gone"),
        (EVIL,),
        (EVIL,),
        WitnessResults(),
        (WeakenedCheck(EVIL, EVIL, EVIL, EVIL, EVIL),),
        (EVIL,),
        (recipe,),
    )
    run = Run(
        EVIL,
        EVIL,
        T0,
        (test,),
        1.0,
        kind="pipeline",
        facts=(LabeledFact("state", EVIL), fact, LabeledFact("pull request", f"https://x/{EVIL}")),
        causes=(Cause(EVIL, EVIL, EVIL, (EVIL, "gone"), (EVIL,), EVIL, EVIL, f"E  {EVIL}"),),
        sections=(Section(EVIL, EVIL, EVIL, (EVIL, EVIL, "gone"), True),),
        matters=(Matter(EVIL, EVIL, (EVIL,), (EVIL,), (EVIL,)),),
        lanes=(Lane(EVIL, (LaneSpan(EVIL, T0, T0 + 1), LaneSpan("work", -1e300, 1e300))), Lane("gone", ())),
        commits=(commit,),
        recipes=(recipe,),
    )
    detail = Detail(
        (),
        casts=(Cast(EVIL, T0, 2.0, 80, 24, "cast", EVIL),),
        conversation=(
            ConversationTurn(EVIL, EVIL, T0 + 1),
            ConversationTurn("tool", f"{ESC}]0;{EVIL}\x07{EVIL}", 1e300),
        ),
        texts=(Text(EVIL, EVIL, EVIL),),
    )
    chunks = {
        "one": encode(detail),
        "cast": encode(recorded((0.5, EVIL))),
        "commit/evil": encode(Patch(_DIFF, EVIL)),
    }
    return Index(EVIL, T0, (run,)), chunks


@pytest.mark.accept("Q5", "V4", "J5")
def test_hostile_agents_do_nothing_anywhere(tmp_path: Path, context: BrowserContext) -> None:
    index, chunks = hostile()
    file = page_file(tmp_path, index, chunks)
    seen = visit(context, file)
    page, app = seen.page, seen.page.locator("#app")
    page.locator(".cause summary").first.click()
    page.locator(".matter summary").click()
    expect(page.locator(".complaint")).to_contain_text(EVIL)
    expect(page.locator(".matter .words")).to_have_text(EVIL)
    expect(page.locator(".report .section .name bdi")).to_have_text(EVIL)
    assert app.evaluate(_ELEMENTS) == 0
    assert app.evaluate(_LINKS) == 0
    page.keyboard.press("j")
    expect(page.locator(".prose pre")).to_have_text(EVIL)
    expect(page.locator(".prose")).to_contain_text("\u241b[31m\ufffd")
    expect(page.locator(".turn .words").first).to_have_text(EVIL)
    expect(page.locator(".turn .words").last).to_contain_text("\u241b]0;")
    page.locator(".text summary").click()
    expect(page.locator(".text pre")).to_have_text(EVIL)
    assert app.evaluate(_ELEMENTS) == 0
    assert app.evaluate(_LINKS) == 0
    page.keyboard.press("b")
    page.get_by_role("button", name="Show diff").click()
    expect(page.locator(".change.removed")).to_have_text(f"-{EVIL}")
    expect(page.locator(".change.added")).to_contain_text("\u241b[8mhidden\u241b[0m")
    expect(page.locator(".diff figcaption code")).to_have_text(EVIL)
    assert app.evaluate(_ELEMENTS) == 0
    page.keyboard.press("l")
    expect(page.locator(".lane")).to_have_count(2)
    assert app.evaluate(_ELEMENTS) == 0
    assert page.evaluate("window.hacked") is None
    assert seen.complaints == []


@pytest.mark.accept("Q5")
@pytest.mark.parametrize("place", ["causes", "section", "matter", "branch", "timeline", "test"])
def test_hostile_addresses_of_a_pipeline_do_nothing(
    tmp_path: Path, context: BrowserContext, place: str
) -> None:
    index, chunks = hostile()
    address = f"#/run/{quote(EVIL, safe='')}/{place}/{quote('<b class=evil>__proto__', safe='')}"
    seen = visit(context, page_file(tmp_path, index, chunks), address)
    expect(seen.page.locator("main, .message").first).to_be_visible()
    assert seen.page.evaluate("window.hacked") is None
    assert seen.page.locator("#app").evaluate(_ELEMENTS) == 0
    assert seen.complaints == []
