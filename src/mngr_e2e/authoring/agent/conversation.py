"""Asks an agent, checks its work, and asks for corrections, a bounded number of rounds."""

from collections.abc import Callable
from typing import Generic, TypeVar

from msgspec import Struct

from mngr_e2e.authoring.agent.prompts import corrections
from mngr_e2e.authoring.agent.workplace import Say, Workplace
from mngr_e2e.authoring.rules import RuleFinding

T = TypeVar("T")


class Verdict(Struct, Generic[T], frozen=True):
    """What is good of an agent's work, and what is wrong with the rest."""

    good: T
    findings: tuple[RuleFinding, ...] = ()


class Conversation(Struct, Generic[T], frozen=True):
    """The last verdict, and all that was wrong on the way to it, round by round."""

    verdict: Verdict[T]
    rounds: tuple[tuple[RuleFinding, ...], ...]


def converse(
    place: Workplace, prompt: str, judge: Callable[[str], Verdict[T]], rounds: int, say: Say
) -> Conversation[T]:
    """One corrective message a round; ends with the first clean verdict, after `rounds`, or with the agent."""
    place.ask(prompt)
    wrong: list[tuple[RuleFinding, ...]] = []
    while True:
        verdict = judge(place.commit())
        wrong.append(verdict.findings)
        for finding in verdict.findings:
            say(f"round {len(wrong)}: {finding.text}")
        if not verdict.findings or len(wrong) >= rounds or place.is_over:
            return Conversation(verdict, tuple(wrong))
        place.ask(corrections(verdict.findings, rounds - len(wrong)))
