"""Several targets, one answer: each is done or failed, all are told, and the exit code says how it went."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from mngr.cli.call import Call
from mngr.cli.options import Chosen
from mngr.cli.records import as_record, error_record
from mngr.cli.render import JSON, JSONL, put, say, show_error
from mngr.cli.stdin import Item
from mngr.errors import ExitCode, MngrError
from mngr.model.address import is_host


class TargetOutcome(Struct, frozen=True):
    """What became of one target: a result, or an error."""

    item: Item
    result: Any = None
    error: MngrError | None = None

    def record(self) -> dict[str, Any]:
        """The result with the fields of the line that asked for it; a failed line returns with its error."""
        if self.item.has_failed_before:
            return self.item.fields
        if self.error is not None:
            fields = as_record(self.result) if self.result is not None else {}
            named = {"name": self.item.target} if self.item.target else {}
            return {**named, **self.item.fields, **fields, **error_record(self.error)}
        known = as_record(self.result)
        passed = {
            key: value for key, value in self.item.fields.items() if key not in known and key != "error"
        }
        return known | passed


def report(call: Call, chosen: Chosen, outcomes: Iterable[TargetOutcome], human: Callable[[Any], str]) -> int:
    """Prints every outcome as it comes and returns the exit code of them all."""
    output = call.output
    streams = chosen.from_stdin or output.format == JSONL or output.is_template
    done: list[TargetOutcome] = []
    for outcome in outcomes:
        done.append(outcome)
        if outcome.error is not None and not outcome.item.has_failed_before:
            show_error(outcome.error)
        if streams:
            if not call.output.is_template:
                put(msgspec.json.encode(outcome.record()).decode())
            elif outcome.error is None:
                call.output.line(outcome.record())
        elif output.is_human and outcome.error is None:
            say(human(outcome.result))
    if output.format == JSON and not streams:
        if chosen.is_one:
            for outcome in done:
                if outcome.result is not None:
                    output.document(outcome.record())
        else:
            output.document(
                {
                    "schema": 1,
                    "agents": [outcome.record() for outcome in done if outcome.error is None],
                    "errors": [outcome.record() for outcome in done if outcome.error is not None],
                    "warnings": list(call.manager.warnings),
                }
            )
    if not done and output.is_human and not streams:
        output.note("No agents there" if any(map(is_host, chosen.names)) else "No agent matches")
    return exit_code(done)


def exit_code(outcomes: list[TargetOutcome]) -> int:
    """All done: 0. All failed: the code of the first. Otherwise part of it failed."""
    failed = [outcome.error for outcome in outcomes if outcome.error is not None]
    if not failed:
        return ExitCode.DONE
    return failed[0].exit_code if len(failed) == len(outcomes) else ExitCode.PARTIAL
