"""What agents and checks learn a program from."""

import os
from collections.abc import Sequence

from msgspec import Struct

from mngr_e2e.authoring.interface.programs import Programs
from mngr_e2e.authoring.interface.proofread import Proofreader, program_under_test, programs_used
from mngr_e2e.tutorial.blocks import Block


class Material(Struct, frozen=True):
    """The program that the tutorial is about, its reference and the project's own prompts, as paths in the project.

    Without a name the program is the one that the tutorial calls most; without a reference its help is asked.
    """

    program: str = ""
    reference: str = ""
    prompts: str = ""

    def program_of(self, blocks: Sequence[Block]) -> str:
        return self.program or program_under_test(blocks)

    def proofreader(self, blocks: Sequence[Block], folder: str) -> Proofreader:
        program = self.program_of(blocks)
        familiar = programs_used(block for block in blocks if not block.is_draft)
        return Proofreader(Programs(folder, self.path(self.reference, folder)), {program} - {""}, familiar)

    def path(self, place: str, folder: str) -> str:
        return os.path.join(folder, place) if place else ""

    def help_text(self, blocks: Sequence[Block], folder: str) -> str:
        """The words of the program and its commands, for a project without a reference."""
        program = self.program_of(blocks)
        if self.reference or not program:
            return ""
        programs = Programs(folder)
        own = programs.help((program,))
        paths = [(program,), *((program, name) for name in sorted(own.commands))] if own else []
        known = ((path, programs.help(path)) for path in paths)
        return "\n".join(f"$ {' '.join(path)} --help\n{read.text}" for path, read in known if read)
