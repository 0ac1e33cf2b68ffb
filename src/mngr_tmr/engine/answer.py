"""Whether what a person asks of a run that goes on can be done, and the journal's entry that says so."""

import msgspec
from msgspec.structs import replace

import mngr
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.steering import changed_by_steering
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunSteered


def answers(run: RunState, request: Entry) -> tuple[Entry, ...]:
    """The entry for a request, in words what is done or why not; none if the journal has it already."""
    fact = request.fact
    assert isinstance(fact, RunSteered)
    if fact.request in run.steering.taken:
        return ()
    about_task = fact.action in ("retry", "cancel")
    refused = _task_refusal(run, request.task, fact) if about_task else _run_refusal(run, fact)
    attempt = run.tasks[request.task].attempt if about_task and not refused else 0
    changes = fact.options if fact.action == "set" and not refused else {}
    old = {**msgspec.to_builtins(run.options.limits), **msgspec.to_builtins(run.options)}
    set_to = ", ".join(
        f"{name.removesuffix('_s')} {old[name] or 'none'} → {new}" for name, new in changes.items()
    )
    words = {
        "pause": f"paused by {fact.by}: nothing more is launched",
        "resume": f"goes on, asked by {fact.by}",
        "set": f"{set_to}, set by {fact.by}",
        "retry": f"tried again, asked by {fact.by}",
        "cancel": f"cancelled by {fact.by}",
    }
    return (
        replace(
            request,
            task=request.task if attempt else "",
            attempt=attempt,
            message=f"{fact.action} refused: {refused} (asked by {fact.by})"
            if refused
            else words[fact.action],
            fact=replace(fact, options=changes, refused=refused),
        ),
    )


def _run_refusal(run: RunState, fact: RunSteered) -> str:
    """Why it cannot be done; empty when it can."""
    is_paused = bool(run.steering.paused_at)
    if fact.action == "pause":
        return f"it is paused already, by {run.steering.paused_by}" if is_paused else ""
    if fact.action == "resume":
        return "" if is_paused else "it is not paused"
    try:
        after = changed_by_steering(run.options, fact.options)
    except (ValueError, mngr.UsageError) as error:
        return str(error)
    if after.limits.in_dollars and run.spec.estimate is None:
        return "it has no estimate in dollars to keep a budget by; give the budget in tokens"
    return "" if fact.options else "no option is named"


def _task_refusal(run: RunState, slug: str, fact: RunSteered) -> str:
    task = run.tasks.get(slug)
    if task is None:
        return "the run has no such test"
    phase = task.phase.value.replace("_", " ")
    if fact.action == "cancel":
        may_cancel = task.phase in (TaskPhase.QUEUED, TaskPhase.LAUNCHING, TaskPhase.WORKING)
        return "" if may_cancel else f"its agent is not at work: it is {phase}"
    if task.phase != TaskPhase.ENDED:
        return f"it has not ended: it is {phase}"
    return "" if run.is_settled(slug) else "a step of its last attempt has not answered yet"
