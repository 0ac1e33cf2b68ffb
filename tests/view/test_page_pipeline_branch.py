"""The integrated branch: every commit with its reason, its witness, its tests and its difference."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect
from tests.support.browser import Visit, page_file, visit
from tests.support.pipeline_sample import FIX, SECOND, pipeline

from mngr_view.chunks import encode
from mngr_view.records import Patch


@pytest.fixture
def seen(tmp_path: Path, context: BrowserContext) -> Visit:
    sample = pipeline()
    return visit(context, page_file(tmp_path, sample.index(), sample.chunks), "#/run/night/branch")


def commit(seen: Visit, title: str) -> Locator:
    return seen.page.get_by_role("article", name=title)


@pytest.mark.accept("R16", "R17", "R18", "J4")
def test_a_commit_shows_why_it_is_there_and_what_speaks_for_and_against_it(seen: Visit) -> None:
    titles = ["tests and docs", "Take from the shelf", "Print JSON"]
    expect(seen.page.locator(".commit h3")).to_have_text(titles)
    fix = commit(seen, "Take from the shelf")
    expect(fix.locator("header .rank")).to_have_text("1")
    for words in ("2 tests need it", "shop/shelf.py", f"git revert --no-edit {FIX[:12]}"):
        expect(fix).to_contain_text(words)
    expect(fix.locator(".flags li")).to_have_text("new public surface: --force")
    witness = fix.get_by_role("table", name="Witness")
    expect(witness.locator("tbody td")).to_have_text(["fails", "passes", "fails", "\u2013"])
    expect(fix.locator(".links li")).to_have_text(
        ["test_take", "test_givefails without it"], use_inner_text=True
    )
    weaker = commit(seen, "tests and docs").locator(".weakenings li")
    expect(weaker).to_contain_text("test deleted in test_old")
    expect(weaker.locator(".before")).to_have_text("assert total == 3")
    expect(weaker.locator(".after")).to_have_text("assert total")
    gone = commit(seen, "Print JSON")
    expect(gone.locator(".witness")).to_have_count(0)
    expect(gone.locator(".absent")).to_contain_text("test_gone")


@pytest.mark.accept("M20", "J4")
def test_every_test_is_told_at_the_base_at_its_agents_commit_and_on_the_branch(seen: Visit) -> None:
    table = seen.page.locator("table.measured")
    rows = table.locator("tbody tr")
    cells = ["failed", "\u2013", "cannot tell"], ["failed", "passed", "passed"]
    for number, (name, words) in enumerate(zip(("test_list", "test_take"), cells, strict=True)):
        expect(rows.nth(number).locator("th")).to_have_text(name)
        expect(rows.nth(number).locator("td")).to_have_text(words)
    expect(rows.first.locator("td").last).to_have_attribute("title", "no")
    rows.first.get_by_role("link").click()
    expect(seen.heading).to_contain_text("test_list")


@pytest.mark.accept("Q5", "J5")
def test_the_difference_is_read_on_demand_and_hides_nothing(seen: Visit) -> None:
    fix = commit(seen, "Take from the shelf")
    expect(seen.page.locator(".diff")).to_have_count(0)
    fix.get_by_role("button", name="Show diff").click()
    files = fix.locator(".diff figure")
    captions = ["shop/shelf.py +1 \u22122", "docs/new.md +1 \u22120"]
    expect(files.locator("figcaption")).to_have_text(captions, use_inner_text=True)
    lines = files.first.locator(".change")
    kinds = [(line.get_attribute("class") or "").split()[-1] for line in lines.all()]
    assert kinds == ["hunk", "same", "removed", "removed", "added"]
    assert [line.get_attribute("data-number") for line in lines.all()] == [None, "10", "11", "12", "11"]
    colours = {kind: files.first.locator(f".{kind}").last.evaluate(_GROUND) for kind in ("added", "removed")}
    assert len({*colours.values(), "rgba(0, 0, 0, 0)"}) == 3
    expect(files.last.locator(".added").last).to_have_text("+# New\ufffd")
    expect(files.last.locator(".about")).to_have_text("new file mode 100644")
    expect(fix.locator(".diff .note")).to_have_text("the first 100 of 200 characters")
    fix.get_by_role("button", name="Hide diff").click()
    expect(seen.page.locator(".diff")).to_have_count(0)


_GROUND = "el => getComputedStyle(el).backgroundColor"


def test_a_long_difference_is_folded_and_a_missing_one_says_so(
    tmp_path: Path, context: BrowserContext
) -> None:
    sample = pipeline()
    body = "".join(f"+line {at}\n" for at in range(1000))
    text = f"diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,1000 @@\n{body}"
    sample.chunks[f"commit/{FIX}"] = encode(Patch(text))
    sample.chunks.pop(f"commit/{SECOND}")
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks), "#/run/night/branch")
    fix = commit(seen, "Take from the shelf")
    fix.get_by_role("button", name="Show diff").click()
    expect(fix.locator(".change")).to_have_count(300)
    fix.get_by_role("button", name="show 701 more lines").click()
    expect(fix.locator(".change")).to_have_count(1001)
    other = commit(seen, "Print JSON")
    other.get_by_role("button", name="Show diff").click()
    expect(other.locator(".warning")).to_contain_text("cannot be shown")


@pytest.mark.accept("V3")
def test_the_outline_leads_to_commits_and_commits_to_tests(seen: Visit) -> None:
    outline = seen.page.get_by_role("navigation", name="Commits")
    outline.get_by_role("link", name="Print JSON").click()
    seen.arrive(f"#/run/night/branch/{SECOND}")
    expect(commit(seen, "Print JSON")).to_be_in_viewport()
    expect(outline.locator("[aria-current]")).to_contain_text("Print JSON")
    commit(seen, "Take from the shelf").get_by_role("link", name="test_take").click()
    expect(seen.heading).to_contain_text("test_take")
