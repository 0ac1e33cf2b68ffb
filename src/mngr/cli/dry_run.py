"""`--dry-run`: who would be acted on, and nothing else."""

from mngr.cli.call import Call
from mngr.cli.options import Chosen
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.targets import find
from mngr.model.agent import Change
from mngr_lib.safe_text import one_line


def would(call: Call, chosen: Chosen, doing: str) -> int:
    """Reports each agent as unchanged, with what would be done to it."""

    def outcomes() -> list[TargetOutcome]:
        done: list[TargetOutcome] = []
        for meant, missing in find(call, chosen):
            note = (f"would {doing}",)
            done += [
                TargetOutcome(item, Change(row.agent, changed=False, notes=note)) for item, row in meant
            ] + missing
        return done

    return report(call, chosen, outcomes(), lambda change: f"Would {doing} {one_line(change.agent.name)}")
