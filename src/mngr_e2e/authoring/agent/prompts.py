"""What agents are told: templates that ship here and that a project may extend, filled from the code's own rules.

A project's template of the same name, in the folder that `[tutorial] prompts` names, is used instead, and can begin
with `{% extends "mngr/draft.md" %}` to change one block of ours. Templates run in Jinja's sandbox.
"""

import os
import re
from collections.abc import Sequence
from typing import Any

import mngr
from mngr_e2e.authoring.batch import Batch
from mngr_e2e.authoring.rules import DRAFT_RULES, MARK_NOTE, SYNC_RULES, RuleFinding
from mngr_e2e.tutorial.blocks import Block
from mngr_e2e.tutorial.citations import CITE

TEMPLATES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "templates")
REFERENCE_BYTES = 24_000
MOST_FINDINGS = 50
TENSIONS = {
    "Arrange": "set up as little as possible, so that the test is like real use, but enough that it stands alone: "
    "nothing from other tests, nothing left behind.",
    "Act": "run the block's own commands, as faithful as possible; vary a name or a path only where the test needs it.",
    "Assert": "look at the effect of a command rather than its echo, but not so literally that a changed word or a "
    "slow machine breaks the test.",
}


def draft_prompt(
    tutorial: str, gaps: Sequence[Block], reference: str, help_text: str, folder: str = ""
) -> str:
    """What to do with the gaps of a tutorial; `folder` holds a project's own templates."""
    if len(help_text) > REFERENCE_BYTES:
        beginning = help_text[:REFERENCE_BYTES].rpartition("\n")[0]
        help_text = f"{beginning}\n(cut here; ask the program itself for more)"
    return _render(
        "draft.md",
        folder,
        tutorial=tutorial,
        gaps=gaps,
        reference=reference,
        help_text=help_text,
        rules=DRAFT_RULES,
        mark_note=MARK_NOTE,
    )


def sync_prompt(tutorial: str, tests: Sequence[str], batch: Batch, folder: str = "") -> str:
    """What to do with stale citations, places that cannot be read, and blocks without a test."""
    return _render(
        "sync.md",
        folder,
        tutorial=tutorial,
        tests=tests,
        stale=batch.stale,
        unreadable=batch.unreadable,
        blocks=batch.blocks,
        rules=SYNC_RULES,
        tensions=TENSIONS,
        example=example_test,
    )


def slash_command() -> str:
    """The text of `sync-tutorial-to-e2e-tests` for Claude Code."""
    rules = {name: text for name, text in SYNC_RULES.items() if name != "files"}
    return _render("slash-command.md", "", rules=rules, tensions=TENSIONS, cite=CITE)


def corrections(findings: Sequence[RuleFinding], rounds_left: int) -> str:
    """The one message of a round: the findings, and the rules that they break."""
    return _render(
        "corrections.md",
        "",
        findings=findings[:MOST_FINDINGS],
        more=len(findings[MOST_FINDINGS:]),
        rules={**DRAFT_RULES, **SYNC_RULES},
        left=rounds_left,
    )


def example_test(block: Block) -> str:
    """A test that cites a block exactly and runs a command of it, as source."""
    quotes = "'''" if '"""' in block.text or block.text.endswith('"') else '"""'
    command = block.commands[0] if block.commands else ""
    lines = [f"    e2e.{CITE}(r{quotes}", *(f"    {line}" if line else "" for line in block.text.split("\n"))]
    return "\n".join(
        [
            "def test_what_it_shows(e2e: E2eSession) -> None:",
            *lines,
            f"    {quotes})",
            f"    result = e2e.run({command!r})",
            "    expect(result).to_succeed()",
        ]
    )


def _render(name: str, folder: str, **values: Any) -> str:
    from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    ours = FileSystemLoader(TEMPLATES)
    own = [FileSystemLoader(folder)] if folder else []
    environment = SandboxedEnvironment(
        loader=ChoiceLoader([*own, ours, PrefixLoader({"mngr": ours})]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    try:
        text = environment.get_template(name).render(**values)
    except TemplateError as error:
        raise mngr.UsageError(
            f"the prompt {os.path.join(folder or TEMPLATES, name)} cannot be made: {error}",
            hint="see docs/tutorial.md for what a template can use",
        ) from error
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
