"""What a testing agent hands over (`result.json`, schema 1), and how it is read: tolerantly, dropping nothing."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

SCHEMA = 1
RAW_LIMIT = 1_000_000

Outcome = Literal["fixed", "improved", "unchanged", "blocked", "failed"]
ChangeKind = Literal["implementation", "test", "docs", "tutorial"]
Importance = Annotated[int, Meta(ge=1, le=5, description="1 cosmetic … 5 people lose work")]


class Change(Struct, frozen=True):
    """Commits of one kind that belong together."""

    kind: ChangeKind
    commits: tuple[str, ...]
    summary: str
    importance: Importance = 3
    reason: str = ""


class Blocked(Struct, frozen=True):
    """Why the agent could not go on, and what someone would have to do."""

    stage: str
    reason: str
    needs: str = ""


class Escalation(Struct, frozen=True):
    """Something that this agent is not to fix; reported whatever the outcome is."""

    kind: str
    title: str
    detail: str = ""
    locations: tuple[str, ...] = ()


class Try(Struct, frozen=True):
    """One run of the test by the agent; its artifacts are in the outbox under `artifacts/<name>`."""

    name: str
    description: str = ""
    passed: bool | None = None


class Result(Struct, frozen=True):
    """The whole file."""

    test: str
    outcome: Outcome
    passed_before: bool | None
    passed_after: bool | None
    summary: str
    schema: int = SCHEMA
    changes: tuple[Change, ...] = ()
    blocked: Blocked | None = None
    escalations: tuple[Escalation, ...] = ()
    attempts: tuple[Try, ...] = ()


class Claim(Struct, frozen=True):
    """A result file as it was received: the record, or the problem with it and its raw text."""

    result: Result | None = None
    problem: str = ""
    raw: str = ""


def read_claim(data: bytes, test: str = "") -> Claim:
    """Reads a result file of any content; what cannot be read is a problem with its text, never nothing."""
    raw = data[:RAW_LIMIT].decode("utf-8", "replace")
    if len(data) > RAW_LIMIT:
        return Claim(problem=f"the result has more than {RAW_LIMIT} bytes", raw=raw)
    try:
        result = msgspec.json.decode(data, type=Result)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Claim(problem=f"not a result: {error}", raw=raw)
    return Claim(result, _contradiction(result, test), raw)


def _contradiction(result: Result, test: str) -> str:
    """What a well-formed result says that cannot be."""
    if result.schema != SCHEMA:
        return f"schema {result.schema}, this program reads {SCHEMA}"
    if test and result.test != test:
        return f"it is about {result.test!r}"
    if result.outcome == "blocked" and result.blocked is None:
        return "blocked, but it does not say why"
    if result.outcome in ("fixed", "improved") and not any(change.commits for change in result.changes):
        return f"{result.outcome}, but it names no commit"
    return ""


def json_schema() -> dict[str, Any]:
    """The schema as prompts and the publishing helper show it, made from the records above."""
    return msgspec.json.schema(Result)
