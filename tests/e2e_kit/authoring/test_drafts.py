"""A draft goes in under its gap and comes out again without a trace; all other bytes stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_e2e.authoring.drafting.blocks import Draft, fill_gaps, keep, read_drafts, reject, replace_text
from mngr_e2e.authoring.drafting.compare import compare_tutorials
from mngr_e2e.authoring.rules import HUMAN, UNDER_GAP
from mngr_e2e.tutorial.blocks import Block, read_blocks
from mngr_e2e.tutorial.check import compare
from mngr_e2e.tutorial.citations import TestSources

TEXT = "#!/bin/sh\n\nnotes add x\n\n# One\n# more of it\n\nnotes list\n\n\n# Two\n"
LINES = ("notes list --tag x", "", "# again", "notes list")


def gaps_of(text: str) -> list[Block]:
    return [block for block in read_blocks(text) if block.kind == "gap" and not block.is_draft]


def filled(text: str, *, lines: tuple[str, ...] = LINES) -> bytes:
    return fill_gaps(text.encode(), {gap.id: lines for gap in gaps_of(text)})


def reject_all(data: bytes) -> bytes:
    while drafts := read_drafts(data):
        data = reject(data, drafts[0])
    return data


def keep_all(data: bytes) -> bytes:
    while drafts := read_drafts(data):
        data = keep(data, drafts[-1])
    return data


def by_id(data: bytes, text: str) -> Draft:
    return next(draft for draft in read_drafts(data) if text in draft.text)


@pytest.mark.accept("A5", "A6")
@pytest.mark.parametrize("ending", ["\n", "", "\n\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_rejecting_every_draft_gives_back_the_tutorial_byte_for_byte(ending: str, newline: str) -> None:
    text = (TEXT.rstrip("\n") + ending).replace("\n", newline)
    data = filled(text)
    assert len(read_drafts(data)) == 4
    assert data.count(b"\r\n") == (data.count(b"\n") if newline == "\r\n" else 0)
    assert reject_all(data) == text.encode()


@given(
    st.lists(st.sampled_from(["# a gap", "# b", "notes list", "", "", "## c", "cat <<E\n\nE"]), max_size=12),
    st.lists(st.sampled_from(["notes list", "# hm", "", "cat <<E\nx\n\ny\nE"]), max_size=5),
)
@pytest.mark.accept("A5", "A6")
def test_any_tutorial_survives_any_draft(text: list[str], lines: list[str]) -> None:
    joined = "\n".join(text)
    own = tuple(part for line in ["notes add x", *lines, "notes list"] for part in line.split("\n"))
    assert reject_all(filled(joined, lines=own)) == joined.encode()


@pytest.mark.accept("A5")
def test_a_kept_draft_is_a_block_like_any_other() -> None:
    data = keep_all(filled(TEXT))
    kinds = [block.kind for block in read_blocks(data.decode())]
    assert kinds == ["preamble", "command", "command", "command", "command", "command", "command"]
    assert b"# One\n# more of it\nnotes list --tag x\n\n# again\nnotes list\n" in data
    assert b"draft" not in data


@pytest.mark.accept("A5", "T4", "Y5")
def test_an_unreviewed_draft_is_still_a_gap_and_needs_no_test() -> None:
    blocks = read_blocks(filled(TEXT).decode())
    drafts = [block for block in blocks if block.is_draft]
    assert [block.kind for block in drafts] == ["gap"] * 4
    report = compare("tutorial.sh", blocks, TestSources())
    assert [block.title for block in report.uncovered] == ["notes add x", "notes list"]
    assert drafts[0].comment == "One\nmore of it"


@pytest.mark.accept("A5")
@pytest.mark.parametrize("mark", ["#draft: unreviewed", "  # Draft: UNREVIEWED (by claude)"])
def test_a_mark_survives_a_persons_editing(mark: str) -> None:
    data = f"# Gap\n{mark}\nnotes list\n".encode()
    (draft,) = read_drafts(data)
    assert draft.text == "# Gap\nnotes list"
    assert reject(data, draft) == b"# Gap\n"
    assert keep(data, draft) == b"# Gap\nnotes list\n"


def test_a_mark_inside_a_heredoc_is_text() -> None:
    assert read_drafts(b"cat <<E\n# draft: unreviewed\nE\n") == ()


@pytest.mark.accept("A5")
def test_an_edited_draft_stands_as_the_person_wrote_it() -> None:
    data = filled(TEXT)
    draft = by_id(data, "--tag x")
    edited = replace_text(data, draft, "# One, better\nnotes list --tag y\n\n")
    assert b"notes add x\n\n# One, better\nnotes list --tag y\n\n# draft: unreviewed\n# again\n" in edited


def test_bytes_that_are_not_text_stay() -> None:
    data = b"echo \xff\n\n# gap\xfe\n"
    gap = next(block for block in read_blocks(data.decode(errors="backslashreplace")) if block.kind == "gap")
    done = fill_gaps(data, {gap.id: ("notes list",)})
    assert done == b"echo \xff\n\n# gap\xfe\n# draft: unreviewed\nnotes list\n"
    assert reject_all(done) == data


@pytest.mark.accept("A6")
@pytest.mark.parametrize(
    ("old", "new", "rule", "line"),
    [
        ("notes add x", "notes add y", HUMAN, 3),
        ("notes add x\n\n", "", HUMAN, 3),
        ("# more of it", "# more of this", HUMAN, 5),
        ("notes list\n", "notes list\nnotes add z\n", UNDER_GAP, 9),
        ("#!/bin/sh\n", "#!/bin/sh\n\nnotes add first\n", UNDER_GAP, 3),
        ("notes add x\n", "notes add x\r\n", HUMAN, 3),
        ("notes list\n\n\n", "notes list\n\n", HUMAN, None),
        ("# One\n# more of it\n\nnotes list", "notes list\n\n# One\n# more of it", HUMAN, None),
    ],
)
def test_any_other_change_is_named(old: str, new: str, rule: str, line: int | None) -> None:
    compared = compare_tutorials("t.sh", TEXT.encode(), TEXT.replace(old, new).encode(), gaps_of(TEXT))
    assert compared.added == {}
    assert rule in [finding.rule for finding in compared.findings]
    if line:
        assert f"t.sh:{line}" in [finding.where for finding in compared.findings]


@pytest.mark.accept("A6")
def test_additions_are_found_by_gap_and_other_gaps_are_a_persons_too() -> None:
    one, two = gaps_of(TEXT)
    after = TEXT.replace(
        "# more of it\n", "# more of it\n# draft: unreviewed\nnotes a\n\n\nnotes b\n"
    ).encode()
    assert compare_tutorials("t.sh", TEXT.encode(), after + b"\n\n", [one, two]).added == {
        one.id: ("notes a", "", "", "notes b"),
        two.id: (),
    }
    assert compare_tutorials("t.sh", TEXT.encode(), after, [two]).findings[0].rule == UNDER_GAP
