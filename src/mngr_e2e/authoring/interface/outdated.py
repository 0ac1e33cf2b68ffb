"""Commands and options in a tutorial that its program no longer has."""

import os
from collections.abc import Sequence

from mngr_e2e.authoring.interface.material import Material
from mngr_e2e.authoring.interface.programs import Programs
from mngr_e2e.authoring.interface.proofread import Proofreader, program_under_test
from mngr_e2e.authoring.rules import KNOWN_COMMAND, KNOWN_OPTION
from mngr_e2e.tutorial.blocks import Block
from mngr_e2e.tutorial.check import Outdated

_BUDGET_S = 10.0


def find_outdated(blocks: Sequence[Block], material: Material, root: str) -> tuple[Outdated, ...]:
    """What the reference of the program, or else its `--help`, does not know; nothing where neither tells."""
    program = material.program or program_under_test(blocks)
    if not program:
        return ()
    reference = material.path(material.reference, root or os.curdir)
    programs = Programs(root or os.curdir, reference, asks_first=False, budget_s=_BUDGET_S)
    reader = Proofreader(programs, [program])
    outdated = []
    for block in blocks:
        if block.kind != "command" or block.is_draft:
            continue
        for finding in reader.read(block, "").findings:
            is_own = finding.command.split(" ")[0] == program
            if is_own and finding.rule in (KNOWN_COMMAND, KNOWN_OPTION):
                outdated.append(Outdated(block.id, block.first_line, finding.problem))
    return tuple(outdated)
