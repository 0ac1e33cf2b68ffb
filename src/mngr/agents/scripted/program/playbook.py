"""Playbooks: JSON lists of steps, checked whole and made into a flat program before anything is done."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

KINDS = ("implementation", "test", "docs", "tutorial")
DEFAULT_PLAYBOOK: list[Any] = [
    {"repeat": "forever", "steps": [{"end_turn": True}, {"say": "You said: {message}"}]}
]

# verb: (what its value must be, what may stand beside it). {message} and {commit} are filled in, in any text.
VERBS: dict[str, tuple[tuple[type, ...], tuple[str, ...]]] = {
    "say": ((str,), ()),
    "sleep": ((int, float), ()),
    "edit": ((str,), ("text", "append", "replace")),
    "delete": ((str,), ()),
    "run": ((str,), ("allow_fail",)),  # a failing command ends the program unless allowed
    "commit": ((str,), ("kind", "allow_fail")),
    "ask": ((str,), ()),  # waits for a message, and says that it needs one
    "permission": ((str,), ()),
    "wait_message": ((bool,), ()),  # waits for a message without saying so
    "end_turn": ((bool,), ()),  # says that its turn is over, then waits for a message
    "api_error": (
        (str,),
        ("message",),
    ),  # the same after an error of the model: "billing_error", "rate_limit", …
    "result": ((dict,), ()),
    "write_outbox": ((str,), ("text",)),
    "exit": ((int,), ()),
    "crash": ((int, str), ()),  # a signal: 9, "KILL", "SIGKILL"
    "hang": ((bool,), ()),  # reads nothing, prints nothing, forever
    "flood": ((int,), ()),
    "ignore_term": ((bool,), ()),
    "spawn": ((str,), ()),  # "child", or "detached": its own session, no parent
    "repeat": ((int, str), ("steps",)),  # a number, or "forever"
    "if_failed": ((list,), ()),  # when the last run or commit failed
    "usage": ((dict,), ()),
}


class Op(NamedTuple):
    """A step in a flat program; `jump` is where repeat, again and if_failed may go."""

    verb: str
    step: dict[str, Any]
    jump: int = 0


class BadPlaybookError(Exception):
    pass


def compile_steps(steps: Any, where: str = "step", at: int = 0) -> list[Op]:
    """Steps as a flat program that starts at index `at`, checked whole before anything is done."""
    if not isinstance(steps, list):
        raise BadPlaybookError(f"{where}: expected a list of steps, found {json.dumps(steps)[:80]}")
    ops: list[Op] = []
    for number, step in enumerate(steps, 1):
        here = f"{where} {number}"
        verb = check_step(step, here)
        start = at + len(ops)
        if verb == "repeat":
            inner = compile_steps(step.get("steps"), here + ", step", start + 1)
            ops += [Op(verb, step, start + len(inner) + 2), *inner, Op("again", step, start)]
        elif verb == "if_failed":
            inner = compile_steps(step[verb], here + ", step", start + 1)
            ops += [Op(verb, step, start + len(inner) + 1), *inner]
        else:
            ops.append(Op(verb, step))
    return ops


def check_step(step: Any, where: str) -> str:
    found = [verb for verb in VERBS if isinstance(step, dict) and verb in step]
    shown = json.dumps(step)[:120]
    if len(found) != 1:
        raise BadPlaybookError("{}: no such step: {} (known: {})".format(where, shown, ", ".join(VERBS)))
    types, beside = VERBS[found[0]]
    value = step[found[0]]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise BadPlaybookError(f"{where}: {found[0]} cannot be {json.dumps(value)[:80]}")
    strange = set(step) - {found[0], *beside}
    if strange:
        raise BadPlaybookError(
            "{}: {} has no {}: {}".format(where, found[0], ", ".join(sorted(strange)), shown)
        )
    wrong = wrong_beside(step)
    if wrong:
        raise BadPlaybookError(f"{where}: {wrong}: {shown}")
    return found[0]


def wrong_beside(step: dict[str, Any]) -> str:
    if step.get("kind", "test") not in KINDS:
        return "a commit's kind is one of " + ", ".join(KINDS)
    if isinstance(step.get("repeat"), str) and step["repeat"] != "forever":
        return 'repeat is a number or "forever"'
    if step.get("spawn", "child") not in ("child", "detached"):
        return 'spawn is "child" or "detached"'
    pair = step.get("replace", ["", ""])
    texts = [step.get("text", ""), step.get("append", ""), *(pair if isinstance(pair, list) else [None])]
    if len(texts) != 4 or not all(isinstance(text, str) for text in texts):
        return "text and append are texts, replace is [old, new]"
    return "" if isinstance(step.get("message", ""), str) else "message is a text"
