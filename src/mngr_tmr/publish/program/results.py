"""A result: checked against the schema, made from commits and tries, and published in one step."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
import time
from typing import Any

from mngr_tmr.publish.program.config import CONFIG, ProblemError, git, shown

NAMED_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}


def problems(value: Any, schema: dict[str, Any], where: str = "") -> list[str]:
    """What in a value does not fit the schema, each with the place and what is allowed there."""
    if "$ref" in schema:
        return problems(value, CONFIG["schema"]["$defs"][schema["$ref"].rpartition("/")[2]], where)
    place = where or "the result"
    if "anyOf" in schema:
        return choice_problems(value, schema["anyOf"], where)
    if "enum" in schema:
        allowed = ", ".join(schema["enum"])
        return [] if value in schema["enum"] else [f"{place}: {shown(value)} is not one of {allowed}"]
    kind = NAMED_TYPES[schema["type"]]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        return ["{}: expected {}, found {}".format(place, schema["type"], shown(value))]
    if kind is int and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return ["{}: {} is not between {} and {}".format(place, value, schema["minimum"], schema["maximum"])]
    if kind is list:
        parts = [problems(part, schema["items"], f"{where}[{at}]") for at, part in enumerate(value)]
        return [problem for part in parts for problem in part]
    return object_problems(value, schema, where) if kind is dict else []


def choice_problems(value: Any, choices: list[dict[str, Any]], where: str) -> list[str]:
    found = [problems(value, choice, where) for choice in choices]
    if [] in found:
        return []
    if isinstance(value, dict) and "$ref" in choices[0]:
        return found[0]
    names = " or ".join(choice.get("type", "object") for choice in choices)
    return [f"{where}: expected {names}, found {shown(value)}"]


def object_problems(value: dict[str, Any], schema: dict[str, Any], where: str) -> list[str]:
    known, before = schema["properties"], where + "." if where else ""
    found = [f"{before}{name}: it is missing" for name in schema.get("required", ()) if name not in value]
    for name, part in value.items():
        if name in known:
            found += problems(part, known[name], before + name)
        else:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "known: " + ", ".join(known)
            found.append(f"{before}{name}: there is no such field; {hint}")
    return found


def contradictions(result: dict[str, Any]) -> list[str]:
    """What a well-formed result says that cannot be."""
    found = []
    if result.get("schema", 1) != 1:
        found.append("schema: it must be 1")
    if CONFIG["test"] and result["test"] != CONFIG["test"]:
        found.append("test: it must be " + shown(CONFIG["test"]))
    if result["outcome"] == "blocked" and not result.get("blocked"):
        found.append("blocked: with outcome blocked it says stage, reason and needs")
    named = any(change["commits"] for change in result.get("changes", ()))
    if result["outcome"] in ("fixed", "improved") and not named:
        found.append("changes: with outcome {} they name its commits".format(result["outcome"]))
    return found


def publish(text: str) -> None:
    """Checks a result and puts it into the outbox in one step: it is there whole, or not at all."""
    try:
        result = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProblemError(f"this is not JSON: {error}") from None
    found = problems(result, CONFIG["schema"]) or contradictions(result)
    if found:
        raise ProblemError("nothing was published:\n" + "\n".join(found))
    try:
        data = (json.dumps(result, indent=2, ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:
        raise ProblemError("it holds half of a surrogate pair, which is no text") from None
    if len(data) > CONFIG["limit"]:
        raise ProblemError("it has {} bytes, {} is the most".format(len(data), CONFIG["limit"]))
    outbox = os.environ.get("MNGR_OUTBOX")
    if not outbox:
        raise ProblemError("MNGR_OUTBOX is not set: this works inside an agent")
    os.makedirs(outbox, exist_ok=True)
    replace(os.path.join(outbox, "result.json"), data)
    if os.environ.get("MNGR_HOST_DIR"):
        bell = f"{os.getpid()} {time.time()}\n".encode()
        replace(os.path.join(os.environ["MNGR_HOST_DIR"], "bell"), bell)
    print("published: {}, {}".format(result["test"], result["outcome"]))


def replace(path: str, data: bytes) -> None:
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write(options: argparse.Namespace) -> None:
    """A result from the words given, the commits since the base and the tries so far."""
    tries = read_tries()
    summary = sys.stdin.read() if options.summary == "-" else options.summary
    result: dict[str, Any] = {
        "schema": 1,
        "test": CONFIG["test"],
        "outcome": options.outcome,
        "passed_before": known(options.passed_before, tries[0]["passed"] if tries else None),
        "passed_after": known(options.passed_after, tries[-1]["passed"] if tries else None),
        "summary": summary,
        "changes": own_changes(),
        "escalations": [
            {"kind": kind, "title": title, "detail": detail} for kind, title, detail in options.escalate
        ],
        "attempts": tries,
    }
    if options.blocked:
        stage, reason, needs = options.blocked
        result["blocked"] = {"stage": stage, "reason": reason, "needs": needs}
    publish(json.dumps(result))


def known(text: str, seen: Any) -> Any:
    return {"yes": True, "no": False, "unknown": None}.get(text, seen)


def own_changes() -> list[dict[str, Any]]:
    """A change per commit since the base, by its trailers Kind, Importance and Reason."""
    base = os.environ.get("MNGR_BASE_COMMIT", "")
    if not base:
        return []
    form = "%H%x00%s%x00" + "%x00".join(
        f"%(trailers:key={key},valueonly,unfold,separator=%x20)" for key in ("Kind", "Importance", "Reason")
    )
    log = git("log", "--reverse", "--format=" + form + "%x01", base + "..HEAD")
    changes = []
    for record in filter(None, (part.strip("\n") for part in log.split("\x01"))):
        commit, subject, kind, importance, reason = record.split("\0")
        if not kind:
            raise ProblemError(
                f"commit {commit[:10]} ({subject}) does not say its kind; end its message with the line: Kind: test"
            )
        change: dict[str, Any] = {"kind": kind, "commits": [commit], "summary": subject, "reason": reason}
        if importance.isdigit():
            change["importance"] = int(importance)
        changes.append(change)
    return changes


def read_tries() -> list[dict[str, Any]]:
    path = os.path.join(os.environ.get("MNGR_AGENT_STATE_DIR", ""), "tries.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
