"""One attempt of a test: everything that is needed to understand it."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import Visit, page_file, visit
from tests.support.page_sample import ESC, REASON, Sample, command, one_command, shop

from mngr_view.records import Detail, Output, Stream

FAILING = "#/run/r1/test/tests%2Fe2e%2Ftest_first_steps.py::test_create_connects"


@pytest.fixture
def seen(tmp_path: Path, context: BrowserContext) -> Visit:
    sample = shop()
    return visit(context, page_file(tmp_path, sample.index(), sample.chunks), FAILING)


def shown(tmp_path: Path, context: BrowserContext, detail: Detail) -> Visit:
    sample = Sample()
    sample.test("test_it", "failed", detail)
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks))
    seen.page.keyboard.press("j")
    expect(seen.page.locator(".entry").first).to_be_visible()
    return seen


@pytest.mark.accept("V1", "V2")
def test_a_failure_is_explained_with_transcript_and_recording_side_by_side(seen: Visit) -> None:
    page = seen.page
    expect(page.locator(".heading .reason")).to_have_text(REASON)
    expect(page.locator(".failure .complaint").first).to_contain_text(REASON)
    expect(page.locator(".citations")).to_contain_text("acme create fix-login")
    expect(page.locator(".entry")).to_have_count(4)
    expect(page.locator(".files")).to_contain_text("agent.cast")
    expect(page.locator(".screens")).to_contain_text("Which file is wrong?")
    expect(page.locator(".ap-player")).to_be_visible()
    transcript, player = page.locator(".transcript").bounding_box(), page.locator(".ap-player").bounding_box()
    assert transcript
    assert player
    assert player["x"] >= transcript["x"] + transcript["width"]
    assert player["y"] < 900


@pytest.mark.accept("V5")
def test_comment_command_output_complaint_and_exit_code_look_different(seen: Visit) -> None:
    entry = seen.page.locator(".entry").nth(1)
    looks = {}
    for kind in ("comment", "command", "stdout", "stderr", "exit"):
        line = entry.locator(f".line.{kind}")
        expect(line).to_have_count(1)
        looks[kind] = line.evaluate(
            "el => [getComputedStyle(el, '::before').content, getComputedStyle(el).color,"
            " getComputedStyle(el).fontWeight, getComputedStyle(el).fontStyle].join(' ')"
        )
    assert len(set(looks.values())) == 5
    assert [looks[kind].split()[0] for kind in looks] == ['"#"', '"$"', "none", '"!"', '"?"']
    expect(seen.page.locator(".entry").nth(3).locator(".exit")).to_contain_text("exit 3")


@pytest.mark.accept("V5")
def test_colours_of_terminals_are_shown(tmp_path: Path, context: BrowserContext) -> None:
    text = (
        f"{ESC}[31mred{ESC}[0m {ESC}[38;5;196mcube{ESC}[0m {ESC}[38;2;1;2;3mtrue{ESC}[0m"
        f" {ESC}[38:2::4:5:6mcolons{ESC}[m {ESC}[1;4mstrong{ESC}[0m {ESC}[7mturned{ESC}[0m\n"
        f"{ESC}[38;5;196mlasts\nover lines{ESC}[0m\n"
    )
    seen = shown(tmp_path, context, one_command(text))
    lines = seen.page.locator(".entry .stdout")

    def look(words: str, name: str) -> str:
        found = lines.get_by_text(words, exact=True).evaluate(f"el => getComputedStyle(el).{name}")
        return str(found)

    assert look("red", "color") == "rgb(207, 34, 46)"
    assert look("cube", "color") == "rgb(255, 0, 0)"
    assert look("true", "color") == "rgb(1, 2, 3)"
    assert look("colons", "color") == "rgb(4, 5, 6)"
    assert look("strong", "fontWeight") == "700"
    assert "underline" in look("strong", "textDecorationLine")
    assert look("turned", "backgroundColor") == "rgb(31, 35, 40)"
    assert look("over lines", "color") == "rgb(255, 0, 0)"


@pytest.mark.accept("V5", "V4")
def test_other_sequences_do_nothing_and_hide_nothing(tmp_path: Path, context: BrowserContext) -> None:
    text = (
        f"{ESC}]0;title\x07{ESC}[2J{ESC}[10;10H{ESC}[?25l{ESC}(Bone\n"
        f"{ESC}]8;;http://evil.example/{ESC}\\link{ESC}]8;;{ESC}\\\n"
        f"{ESC}]52;c;unfinished\nafter it\n"
        "bell\x07 back\x08 null\x00 del\x7f\n"
        "\u202eevil.txt\n"
        "10%\r50%\rdone\r\n"
    )
    seen = shown(tmp_path, context, one_command(text))
    assert seen.page.locator(".entry .stdout").all_inner_texts() == [
        "one",
        "link",
        "52;c;unfinished",
        "after it",
        "bell\u2407 back\u2408 null\u2400 del\u2421",
        "\ufffdevil.txt",
        "10%\u240d",
        "50%\u240d",
        "done",
    ]
    expect(seen.page.locator(".entry .stdout a")).to_have_count(0)


@pytest.mark.accept("V2")
def test_long_output_is_folded_until_someone_asks(tmp_path: Path, context: BrowserContext) -> None:
    text = "".join(f"line {at}\n" for at in range(1, 301)) + "x" * 50_000 + "\n"
    seen = shown(tmp_path, context, one_command(text))
    lines = seen.page.locator(".entry .stdout")
    expect(lines).to_have_count(26)
    expect(lines.first).to_have_text("line 1")
    assert len(lines.last.inner_text()) < 3_000
    seen.page.get_by_role("button", name="show all 50,000 characters").click()
    expect(lines.last).to_have_text("x" * 50_000)
    seen.page.get_by_role("button", name="show 275 more lines").click()
    expect(lines).to_have_count(301)
    assert lines.all_inner_texts()[:300] == [f"line {at}" for at in range(1, 301)]


@pytest.mark.accept("V2")
def test_output_keeps_the_order_in_which_it_came(tmp_path: Path, context: BrowserContext) -> None:
    output = tuple(Output(stream, 0.1, text) for stream, text in _MIXED)
    mixed = command("acme build")
    detail = Detail(
        (
            type(mixed)("acme build", "", "/", 0.0, 10.0, 124, True, output),
            type(mixed)("acme wait", "", "/", 0.0, 0.0, None, False),
        )
    )
    seen = shown(tmp_path, context, detail)
    lines = seen.page.locator(".entry").first.locator(".stdout, .stderr")
    assert lines.all_inner_texts() == ["one", "half and half", "warning", "two"]
    expect(seen.page.locator(".entry").first.locator(".exit")).to_have_text("timed out after 10.0 s")
    expect(seen.page.locator(".entry").last.locator(".exit")).to_have_text("never ended")


_MIXED: tuple[tuple[Stream, str], ...] = (
    ("stdout", "one\n"),
    ("stdout", "half and"),
    ("stdout", " half\n"),
    ("stderr", "warning\n"),
    ("stdout", "two\n"),
)


@pytest.mark.accept("V2")
def test_attempts_are_tabs_with_their_own_evidence(seen: Visit) -> None:
    seen.page.get_by_role("link", name="Attempt 1").click()
    expect(seen.page.locator(".entry")).to_have_count(1)
    expect(seen.page.locator(".entry .stderr")).to_have_text("error: no space left on device")
    expect(seen.page.locator(".heading .reason")).to_have_count(0)
    seen.arrive(f"{FAILING}/attempt/1")
    seen.page.go_back()
    expect(seen.page.locator(".entry")).to_have_count(4)


@pytest.mark.accept("U4")
def test_a_link_leads_to_one_command(tmp_path: Path, context: BrowserContext) -> None:
    sample = shop()
    file = page_file(tmp_path, sample.index(), sample.chunks)
    seen = visit(context, file, FAILING + "/attempt/2/command/4")
    chosen = seen.page.locator(".entry[aria-current]")
    expect(chosen).to_contain_text("are you there?")
    expect(chosen).to_be_in_viewport()
    seen.page.get_by_title("Link to this command").first.click()
    expect(chosen).to_contain_text("git clone")
    seen.arrive(f"{FAILING}/attempt/2/command/1")


def test_a_command_is_copied(tmp_path: Path, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    seen = shown(tmp_path, context, Detail((command("printf '%s\\n' \"$HOME\""),)))
    seen.page.locator(".entry").hover()
    seen.page.get_by_role("button", name="Copy this command").click()
    expect(seen.page.locator(".copy")).to_have_text("copied")
    assert seen.page.evaluate("navigator.clipboard.readText()") == "printf '%s\\n' \"$HOME\""


def test_an_attempt_whose_data_is_missing_says_so(tmp_path: Path, context: BrowserContext) -> None:
    sample = shop()
    sample.chunks.pop("t0/2")
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks), FAILING)
    expect(seen.page.locator(".warning")).to_contain_text("this page has no data named t0/2")
