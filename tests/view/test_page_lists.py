"""Finding a test: order, filter, search, keys, addresses."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import Visit, page_file, visit
from tests.support.page_sample import T0, Sample, one_command, shop

from mngr_view.records import Index, Run

FAILING = "tests/e2e/test_first_steps.py::test_create_connects"


@pytest.fixture
def seen(tmp_path: Path, context: BrowserContext) -> Visit:
    sample = shop()
    return visit(context, page_file(tmp_path, sample.index(), sample.chunks))


@pytest.mark.accept("V3")
def test_failing_tests_come_first_and_one_run_shows_its_tests_at_once(seen: Visit) -> None:
    expect(seen.page.locator(".row")).to_have_count(15)
    first = [
        ("test_create_connects", "failed"),
        ("test_config_is_read", "error"),
        ("test_list_is_quick", "timeout"),
        ("test_stop_all", "running"),
        ("test_windows_paths", "skipped"),
        ("test_help_succeeds", "passed"),
    ]
    for at, (name, status) in enumerate(first):
        expect(seen.names.nth(at)).to_have_text(name)
        expect(seen.page.locator(".row svg.mark").nth(at)).to_have_attribute("aria-label", status)


@pytest.mark.accept("V3")
def test_a_status_leaves_only_its_tests(seen: Visit) -> None:
    seen.page.get_by_role("button", name="skipped").click()
    expect(seen.names).to_have_text(["test_windows_paths"])
    seen.page.get_by_role("button", name="timeout").click()
    expect(seen.names).to_have_text(["test_list_is_quick", "test_windows_paths"])
    seen.page.keyboard.press("Escape")
    expect(seen.page.locator(".row")).to_have_count(15)


@pytest.mark.accept("V3")
def test_from_runs_to_tests_to_detail_and_back(tmp_path: Path, context: BrowserContext) -> None:
    sample = shop()
    old, new = sample.run("monday", T0), sample.run("tuesday", T0 + 86_400)
    file = page_file(tmp_path, Index("Acme", T0, (old, new)), sample.chunks)
    seen = visit(context, file)
    rows = seen.page.locator(".run")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("run tuesday")
    rows.last.click()
    expect(seen.page.locator(".overview")).to_contain_text("3 failing")
    seen.page.locator(".row", has_text="test_create_connects").click()
    expect(seen.heading).to_contain_text("test_create_connects")
    seen.arrive(f"#/run/monday/test/{FAILING}")
    seen.page.go_back()
    expect(seen.page.locator(".overview")).to_be_visible()
    seen.page.go_back()
    expect(rows).to_have_count(2)


@pytest.mark.accept("U4")
def test_keys_walk_through_tests(seen: Visit) -> None:
    press = seen.page.keyboard.press
    press("j")
    expect(seen.heading).to_contain_text("test_create_connects")
    press("n")
    expect(seen.heading).to_contain_text("test_config_is_read")
    press("n")
    press("j")
    expect(seen.heading).to_contain_text("test_stop_all")
    press("p")
    expect(seen.heading).to_contain_text("test_list_is_quick")
    press("k")
    press("k")
    expect(seen.heading).to_contain_text("test_create_connects")
    press("1")
    expect(seen.page.locator(".entry")).to_have_count(1)
    press("2")
    expect(seen.page.locator(".entry")).to_have_count(4)
    press("o")
    expect(seen.page.locator("main.detail")).to_be_focused()
    press("Escape")
    expect(seen.page.locator(".overview")).to_be_visible()


@pytest.mark.accept("U4")
def test_keys_are_explained_and_the_explanation_closes(seen: Visit) -> None:
    seen.page.keyboard.press("?")
    expect(seen.page.get_by_role("dialog")).to_contain_text("next and previous failing test")
    seen.page.keyboard.press("Escape")
    expect(seen.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.accept("U4")
def test_search_finds_names_and_what_was_printed_and_shows_the_line(seen: Visit) -> None:
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("KEEPS_ORDER")
    expect(seen.page.locator(".row")).to_have_count(8)
    seen.page.get_by_role("searchbox").fill("no space left")
    expect(seen.page.locator(".row")).to_have_count(1)
    expect(seen.page.locator(".found")).to_have_text("error: no space left on device")
    expect(seen.page.locator(".found mark")).to_have_text("no space left")
    seen.page.keyboard.press("Enter")
    expect(seen.page.locator(".entry[aria-current]")).to_contain_text("no space left on device")
    seen.arrive(f"#/run/r1/test/{FAILING}/attempt/1/command/1")


@pytest.mark.accept("U4")
def test_search_looks_behind_colours_and_takes_expressions(seen: Visit) -> None:
    box = seen.page.get_by_role("searchbox")
    box.fill("docs        RUNNING")
    expect(seen.page.locator(".row")).to_have_count(1)
    box.fill("/compiling .*_(199|200)\\.c/")
    expect(seen.page.locator(".found mark")).to_have_text("compiling src/module_199.c")
    box.fill("/(/")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(seen.page.locator(".row")).to_have_count(15)
    box.fill("nobody says this")
    expect(seen.page.locator(".nothing")).to_have_text("No test matches.")


@pytest.mark.accept("U4", "S8")
def test_a_thousand_tests_are_all_searched(tmp_path: Path, context: BrowserContext) -> None:
    sample = Sample()
    for at in range(1000):
        sample.test(f"test_{at}", "passed", one_command(f"hello {at}\n" + "filler\n" * 50))
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks))
    expect(seen.page.locator(".row")).to_have_count(1000)
    seen.page.get_by_role("searchbox").fill("hello 99")
    expect(seen.page.locator(".row")).to_have_count(11)
    expect(seen.page.locator(".found").last).to_have_text("hello 999")


@pytest.mark.accept("U4")
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("#/run/nobody", "no run “nobody”"),
        ("#/run/r1/test/nobody", "no test “nobody”"),
        (f"#/run/r1/test/{FAILING.replace('/', '%2F')}/attempt/2/command/99", "no command 99"),
        ("#/run/r1/tutorial/nobody", "no block “nobody”"),
        ("#/%E0%A4%A/x", "3 failing"),
        ("#/run", "3 failing"),
    ],
)
def test_an_address_that_leads_nowhere_is_told_kindly(
    tmp_path: Path, context: BrowserContext, place: str, said: str
) -> None:
    sample = shop()
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks), place)
    expect(seen.page.locator("body")).to_contain_text(said)
    assert seen.complaints == []


@pytest.mark.accept("V3")
def test_a_run_without_tests_says_so(tmp_path: Path, context: BrowserContext) -> None:
    seen = visit(context, page_file(tmp_path, Index("Acme", T0, (Run("r", "empty", T0, ()),)), {}))
    expect(seen.page.locator("body")).to_contain_text("No tests yet.")
    seen = visit(context, page_file(tmp_path, Index("Acme", T0, ()), {}))
    expect(seen.page.locator("body")).to_contain_text("No runs here.")
