"""`review`: a person keeps, edits or rejects each draft. Every decision is written at once and is all that changes."""

import os

import mngr
from mngr_e2e.authoring import signals
from mngr_e2e.authoring.drafting.blocks import Draft, decode, keep, read_drafts, reject, replace_text
from mngr_e2e.authoring.interface.material import Material
from mngr_e2e.authoring.interface.proofread import Proof
from mngr_e2e.authoring.repository import find_repository, write_file
from mngr_e2e.tutorial.blocks import read_blocks
from mngr_e2e.tutorial.syntax import syntax_problem
from mngr_lib.suggest import did_you_mean


class Review:
    """The drafts of a tutorial, read anew each time: a person may edit the file meanwhile."""

    def __init__(self, tutorial: str, material: Material = Material()) -> None:  # noqa: B008
        self.tutorial = tutorial
        self._root = project_root(tutorial)
        blocks = read_blocks(decode(self._read()))
        self._proofreader = material.proofreader(blocks, self._root)

    def drafts(self) -> tuple[Draft, ...]:
        return read_drafts(self._read())

    def proof(self, draft: Draft) -> Proof:
        """What the automatic check has against it, as it stands now."""
        blocks = read_blocks(draft.text)
        block = blocks[0] if blocks else None
        where = f"{self.tutorial}:{draft.first_line}"
        return self._proofreader.read(block, where) if block else Proof()

    def keep(self, draft_id: str) -> Draft:
        """It becomes a block like any other."""
        draft = self.find(draft_id)
        write_file(self.tutorial, keep(self._read(), draft))
        return draft

    def reject(self, draft_id: str, reason: str) -> Draft:
        """The gap is as it was, and the reason becomes a signal."""
        draft = self.find(draft_id)
        write_file(self.tutorial, reject(self._read(), draft))
        path = os.path.relpath(os.path.realpath(self.tutorial), self._root)
        signal = signals.rejection(self._proofreader.command_of(draft.block), reason, path, draft.text)
        signals.append(signals.signals_path(self._root), [signal])
        return draft

    def edit(self, draft_id: str, text: str) -> Draft:
        """A person's own words stand there instead; text that is no block of commands is refused."""
        draft = self.find(draft_id)
        blocks = read_blocks(text)
        if not blocks or not all(block.commands for block in blocks):
            problem = "every block needs a command"
        else:
            problem = next((block.problem for block in blocks if block.problem), "") or syntax_problem(text)
        if problem:
            raise mngr.UsageError(f"this cannot stand in a tutorial: {problem}", hint="nothing was changed")
        write_file(self.tutorial, replace_text(self._read(), draft, text))
        return draft

    def find(self, draft_id: str) -> Draft:
        known = {draft.id: draft for draft in reversed(self.drafts())}
        if draft_id not in known:
            hint = did_you_mean(draft_id, known, else_hint="see: mngr tutorial review --list", form="{}")
            raise mngr.UsageError(f'no draft "{draft_id}"', hint=hint)
        return known[draft_id]

    def _read(self) -> bytes:
        with open(self.tutorial, "rb") as file:
            return file.read()


def project_root(tutorial: str) -> str:
    """The repository of a tutorial, or its folder."""
    try:
        return find_repository(tutorial).top
    except mngr.UsageError:
        return os.path.dirname(os.path.realpath(tutorial))
