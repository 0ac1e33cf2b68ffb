"""The rules that an agent is told and then held to: prompts are made from them, findings name them."""

from msgspec import Struct

from mngr_e2e.tutorial.blocks import DRAFT_MARK
from mngr_e2e.tutorial.citations import CITE

FILES = "files"
HUMAN = "human-blocks"
UNDER_GAP = "under-the-gap"
FILLED = "every-gap"
VALID_SHELL = "valid-shell"
KNOWN_COMMAND = "known-commands"
KNOWN_OPTION = "known-options"
EXACT = "exact-citations"
COVERED = "every-block"
FAITHFUL = "a-command-of-the-block"
KEPT_TESTS = "no-test-is-lost"
OTHERS = "others-tests"
READABLE = "readable"

DRAFT_RULES = {
    FILES: "Edit only the files named under “Files”. Nothing else of your work is taken.",
    HUMAN: "Every line that is there now stays as it is, byte for byte and in its order.",
    UNDER_GAP: "Write the first example directly under the gap's comment, with no empty line between. Further "
    "examples follow after one empty line each, as blocks that begin with a comment of their own.",
    FILLED: "Every gap that you were given gets at least one command.",
    VALID_SHELL: "What you write is accepted by `bash -n`.",
    KNOWN_COMMAND: "Use only commands that the program has. The reference tells them; invent none.",
    KNOWN_OPTION: "Use only options that the command has. The reference tells them; invent none.",
}
SYNC_RULES = {
    FILES: "Edit only the files named under “Files”. Nothing else of your work is taken.",
    EXACT: f"A test cites its block with `{CITE}` and the block's text exactly as it stands, every line and "
    "character of it, comments included; one whole block a citation. Only indentation may differ.",
    COVERED: "Every block that has commands, of those you were given, is cited by at least one test.",
    FAITHFUL: "A test runs a command of the block it cites, not `--help` in its place.",
    KEPT_TESTS: "No test function is deleted or renamed.",
    OTHERS: "Tests whose citation is not stale stay as they are.",
    READABLE: f"Test files are valid Python, and what `{CITE}` gets is one literal text inside a test.",
}
INTERFACE_RULES = (VALID_SHELL, KNOWN_COMMAND, KNOWN_OPTION)
"""An author who breaks one of these has misunderstood the program: that says something about its interface or docs."""

MARK_NOTE = (
    f"Do not mark what you write: the line `{DRAFT_MARK}` is added afterwards, and a person reviews it."
)


class RuleFinding(Struct, frozen=True):
    """A rule that was broken: where, and in words for both the agent and a person.

    `subject` is the gap, block or file that cannot be taken because of it; without one nothing can. `command` and
    `what` say which part of the program's interface was misunderstood.
    """

    rule: str
    where: str
    problem: str
    subject: str = ""
    command: str = ""
    what: str = ""

    @property
    def text(self) -> str:
        return f"{self.where}: {self.problem}" if self.where else self.problem
