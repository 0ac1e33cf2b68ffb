"""Prompts say what the code enforces, since they are made from it."""

import os
from pathlib import Path

import pytest

import mngr
import mngr_e2e
from mngr_e2e.authoring import rules
from mngr_e2e.authoring.agent.prompts import (
    REFERENCE_BYTES,
    TEMPLATES,
    corrections,
    draft_prompt,
    example_test,
    slash_command,
    sync_prompt,
)
from mngr_e2e.authoring.agent.slash_command import shipped_text
from mngr_e2e.authoring.batch import Batch
from mngr_e2e.authoring.drafting import checks as draft_checks
from mngr_e2e.authoring.drafting import compare as tutorial_changes
from mngr_e2e.authoring.interface import proofread
from mngr_e2e.authoring.rules import DRAFT_RULES, HUMAN, SYNC_RULES, RuleFinding
from mngr_e2e.authoring.syncing import checks as sync_checks
from mngr_e2e.tutorial.blocks import Block, read_blocks
from mngr_e2e.tutorial.check import compare
from mngr_e2e.tutorial.citations import read_tests

BLOCKS = read_blocks(
    '## Notes\n\n# write it\nnotes add "a b" \\\n  --tag x\n\n# read it\ncat <<E\none\n\ntwo\nE\n\n# Gap\n'
)
COMMANDS = [block for block in BLOCKS if block.kind == "command"]
GAPS = [block for block in BLOCKS if block.kind == "gap"]


@pytest.mark.accept("Y9")
def test_the_shipped_slash_command_is_fresh() -> None:
    assert shipped_text() == slash_command(), "run: make docs"
    assert all(text in shipped_text() for name, text in SYNC_RULES.items() if name != rules.FILES)


@pytest.mark.accept("A2", "A3", "Y13")
def test_every_rule_is_told() -> None:
    draft = draft_prompt("t.sh", GAPS, "docs/man", "")
    sync = sync_prompt("t.sh", ["tests"], Batch(blocks=tuple(COMMANDS)))
    assert all(f"- {name}: {text}\n" in draft for name, text in DRAFT_RULES.items())
    assert all(f"- {name}: {text}\n" in sync for name, text in SYNC_RULES.items())
    assert "Read `docs/man` first" in draft


def test_every_rule_that_is_enforced_can_be_told() -> None:
    told = set(DRAFT_RULES) | set(SYNC_RULES)
    named = {name for name, value in vars(rules).items() if name.isupper() and isinstance(value, str)} - {
        "MARK_NOTE"
    }
    assert {getattr(rules, name) for name in named - {"CITE", "DRAFT_MARK"}} == told
    used = {
        name
        for module in (draft_checks, tutorial_changes, proofread, sync_checks)
        for name in vars(module)
        if name in named
    }
    assert used == named - {"CITE", "DRAFT_MARK"}


@pytest.mark.accept("Y1", "Y7", "Y14")
@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block.title)
def test_the_example_in_the_prompt_would_itself_pass(block: Block) -> None:
    report = compare("t.sh", BLOCKS, read_tests(example_test(block), "test_x.py"))
    assert (report.stale, report.lint, report.unreadable) == ((), (), ())
    assert [link.block_id for link in report.links] == [block.id]


def test_a_quote_at_the_end_of_a_block_can_be_cited() -> None:
    (block,) = read_blocks('echo """a"""\necho "b"')
    assert compare("t", [block], read_tests(example_test(block), "test_x.py")).is_green


def test_one_message_holds_all_findings_and_their_rules() -> None:
    said = corrections(
        [RuleFinding(HUMAN, "t.sh:3", "put it back"), RuleFinding(rules.FILES, "a.txt", "no")], 1
    )
    assert "- t.sh:3: put it back (rule human-blocks)\n" in said
    assert f"- {HUMAN}: {DRAFT_RULES[HUMAN]}\n" in said
    assert rules.KNOWN_OPTION not in said
    assert "This is the last round." in said
    many = corrections([RuleFinding(rules.FILES, f"{number}.txt", "no") for number in range(99)], 2)
    assert "- 49.txt: no" in many
    assert "- and 49 more of the kind\n" in many
    assert "2 rounds are left." in many


def test_a_long_reference_is_cut_and_says_so() -> None:
    prompt = draft_prompt("t.sh", GAPS, "", "line of help\n" * 9000)
    assert len(prompt) < REFERENCE_BYTES + 5000
    assert "(cut here; ask the program itself for more)" in prompt


def test_words_of_a_tutorial_are_not_a_template() -> None:
    (gap,) = read_blocks("# {{ 7 * 7 }} {% raw %}")
    assert "# {{ 7 * 7 }} {% raw %}" in draft_prompt("t.sh", [gap], "", "")


def test_a_projects_template_cannot_leave_the_sandbox_or_its_folder(tmp_path: Path) -> None:
    for text in ("{{ gaps.__class__.__bases__ }}", '{% include "../secret" %}', "{{ nonsense }}"):
        (tmp_path / "draft.md").write_text(text)
        with pytest.raises(mngr.UsageError, match="cannot be made"):
            draft_prompt("t.sh", GAPS, "", "", str(tmp_path))


def test_templates_ship_with_the_package() -> None:
    assert {"draft.md", "sync.md", "corrections.md", "slash-command.md"} <= set(os.listdir(TEMPLATES))


def test_everything_can_be_imported_from_the_top() -> None:
    assert all(getattr(mngr_e2e, name) for name in mngr_e2e.__all__)
    assert {"check", "draft", "sync", "Review"} <= set(dir(mngr_e2e))
