"""The sections of a report, in the order in which they are shown."""

from typing import Literal, get_args

from msgspec import Struct

SectionName = Literal[
    "needs_you",
    "implementation",
    "other",
    "blocked",
    "regressed",
    "disputed",
    "flaky",
    "failing",
    "fixed_by_others",
    "infrastructure",
    "malformed",
    "unverified",
    "set_aside",
    "running",
    "queued",
    "not_run",
    "skipped",
    "clean",
    "added",
]
NAMES: tuple[SectionName, ...] = get_args(SectionName)


class ReportSection(Struct, frozen=True):
    """A heading and what it means. `is_finding` says that its rows are for a person to look at.

    `one` is what a single row of it is called, where the heading has a plural.
    """

    title: str
    about: str
    is_finding: bool = True
    one: str = ""


SECTIONS: dict[SectionName, ReportSection] = {
    "needs_you": ReportSection(
        "Needs you", "Its agent waits for a permission or an answer, and does nothing until it has one."
    ),
    "implementation": ReportSection(
        "Implementation fixes",
        "The agent changed the code under test; ranked as on the branch.",
        one="implementation fix",
    ),
    "other": ReportSection(
        "Tests and docs", "The agent changed tests, docs or the tutorial, and no implementation."
    ),
    "blocked": ReportSection("Blocked", "The agent could not go on and says what it needs."),
    "regressed": ReportSection(
        "Regressed", "The test passed before the agent's commits and does not with them."
    ),
    "disputed": ReportSection(
        "Agent was wrong", "The agent says one thing, running its commit shows another."
    ),
    "flaky": ReportSection("Flaky", "The test sometimes passes and sometimes fails at the same commit."),
    "failing": ReportSection("Still failing", "The test fails, and no work of this run fixed it."),
    "fixed_by_others": ReportSection(
        "Fixed by other work",
        "The work for another test fixes it: on the integrated branch, or at that agent's commit.",
        False,
    ),
    "infrastructure": ReportSection(
        "No result", "The agent died or ended without a result, or a step of the run failed."
    ),
    "malformed": ReportSection(
        "Unreadable results",
        "The result does not have the form it must have; it is shown as it is.",
        one="unreadable result",
    ),
    "unverified": ReportSection("Not verified", "There is a result, and nothing that confirms it."),
    "set_aside": ReportSection("Not merged", "Verified work that is not on the integrated branch, and why."),
    "running": ReportSection(
        "Running", "An agent is at work on it, or its work is being fetched or verified.", False
    ),
    "queued": ReportSection("Waiting", "No agent has been launched for it yet.", False),
    "not_run": ReportSection(
        "Not run",
        "The run was interrupted or stopped, and a resumed run runs these too; or the test was cancelled.",
        False,
    ),
    "skipped": ReportSection(
        "Skipped",
        "The test skips itself, or nothing that it reads changed since its last verified pass.",
        False,
    ),
    "clean": ReportSection(
        "Already passing", "The test passes, and the agent found nothing to change.", False
    ),
    "added": ReportSection(
        "Added tests", "Tests that agents added, as they are on the integrated branch.", one="added test"
    ),
}
