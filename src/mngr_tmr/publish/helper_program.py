#!/usr/bin/env python3
"""mngr-result: how an agent of a test run looks at its test and hands over its result.

    mngr-result check                 is the code under test the code of this working copy?
    mngr-result try DESCRIPTION       run the test as the judge will run it; its artifacts are kept as a try
    mngr-result write --outcome …     make the result from your commits and tries, and publish it
    mngr-result publish FILE|-        publish a result that you wrote yourself, as JSON
    mngr-result schema                what a result looks like

One file for any host: Python 3.8, standard library only.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple, NoReturn

WRONG, WRONG_CODE, TIMED_OUT = 2, 3, 124
SHOWN = 4000
# Filled in when this file is written onto a host: test, file, folder, args, pytest, programs, schema, schema_text,
# limit, plugin.
CONFIG: dict[str, Any] = {}

NOT_CODE = {
    "conftest",
    "setup",
    "tests",
    "test",
    "docs",
    "doc",
    "examples",
    "noxfile",
    "build",
    "dist",
    "tasks",
}
NAMED_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}
FIND = (
    "import importlib.util as u,sys;s=u.find_spec(sys.argv[1]);"
    "print((s.origin if s.has_location else list(s.submodule_search_locations or [''])[0]) if s else '')"
)


class ProblemError(Exception):
    """What the caller has to mend."""


class Seen(NamedTuple):
    """A run of pytest: its exit code, and what the plugin wrote."""

    code: int
    facts: list[dict[str, Any]]


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


def known(said: str, seen: Any) -> Any:
    return {"yes": True, "no": False, "unknown": None}.get(said, seen)


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


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise ProblemError("git {}: {}".format(words[0], done.stderr.decode(errors="replace").strip()))
    return done.stdout.decode("utf-8", "surrogateescape")


def read_tries() -> list[dict[str, Any]]:
    path = os.path.join(os.environ.get("MNGR_AGENT_STATE_DIR", ""), "tries.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def try_test(description: str, more: list[str]) -> int:
    """Runs the test once, its output as it is, and remembers how it went."""
    name = f"try-{len(read_tries()) + 1}"
    seen = run_pytest(
        ask(wanted=[CONFIG["test"]], files=[CONFIG["file"]], run=name), CONFIG["args"] + more, 0
    )
    own = [fact for fact in seen.facts if fact["kind"] == "ran" and fact["node_id"] == CONFIG["test"]]
    skipped = any(fact["outcome"] == "skipped" for fact in own)
    passed = None if skipped else bool(own) and all(fact["outcome"] == "passed" for fact in own)
    record = {"name": name, "description": description, "passed": passed}
    with open(os.path.join(os.environ["MNGR_AGENT_STATE_DIR"], "tries.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    print("{}: {}".format(name, {True: "passed", False: "failed", None: "skipped"}[passed]))
    return WRONG_CODE if tell_outside(seen.facts) else seen.code


def check() -> int:
    """Says where the code under test comes from; WRONG_CODE when any of it lies outside this working copy."""
    order = ask(wanted=None, files=[CONFIG["file"]] if CONFIG["file"] else None)
    with tempfile.TemporaryFile() as output:
        seen = run_pytest(order, ["--collect-only", "-q", *CONFIG["args"]], 0, output)
        output.seek(0)
        said = output.read().decode("utf-8", "replace")[-SHOWN:]
    for fact in seen.facts:
        if fact["kind"] == "origin" and fact["inside"]:
            print("{}: {}, in this working copy".format(fact["what"], fact["path"] or "not found"))
    if tell_outside(seen.facts):
        return WRONG_CODE
    if seen.code:
        print(f"pytest could not collect the test:\n{said}", file=sys.stderr)
    return seen.code


def tell_outside(facts: list[dict[str, Any]]) -> bool:
    found = [fact for fact in facts if fact["kind"] == "origin" and not fact["inside"]]
    for fact in found:
        print("wrong code under test: {what} comes from {path}, outside this working copy".format(**fact))
    if found:
        print("whatever you change here is not what the test sees: report it as blocked, stage environment")
    return bool(found)


def ask(**asked: Any) -> dict[str, Any]:
    """The plugin's order; paths in it are relative to the working copy."""
    root = git("rev-parse", "--show-toplevel").rstrip("\n")
    files = asked.get("files")
    return {
        "root": os.path.realpath(root),
        "wanted": asked.get("wanted"),
        "files": None if files is None else [os.path.join(root, file) for file in files],
        "run": asked.get("run", ""),
        "names": own_names(root),
    }


def run_pytest(order: dict[str, Any], args: list[str], timeout_s: float, output: Any = None) -> Seen:
    """Runs pytest with the plugin in the working copy; at the deadline it ends with all its children."""
    # In the agent's own directory it goes with the agent, also when this is killed.
    folder = tempfile.mkdtemp(prefix="mngr-result-", dir=os.environ.get("MNGR_AGENT_STATE_DIR"))
    facts = os.path.join(folder, "facts.jsonl")
    try:
        for name, text in (
            ("mngr_tmr_facts.py", CONFIG["plugin"]),
            ("ask.json", json.dumps({**order, "facts": facts})),
        ):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        path = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
        env = {**os.environ, "MNGR_TMR_ASK": os.path.join(folder, "ask.json"), "PYTHONPATH": path}
        env["PYTHONDONTWRITEBYTECODE"] = "1"  # a run leaves nothing that `git add --all` would take along
        argv = [*CONFIG["pytest"], "-p", "mngr_tmr_facts", *args]
        code = run_to_end(argv, env, os.path.join(order["root"], CONFIG["folder"]), timeout_s, output)
        return Seen(code, [*read_facts(facts, order["root"]), *program_origins(order["root"])])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_to_end(argv: list[str], env: dict[str, str], cwd: str, timeout_s: float, output: Any) -> int:
    try:
        child = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            start_new_session=True,
        )
    except OSError as error:
        raise ProblemError(f"cannot run {argv[0]}: {error.strerror}") from None
    try:
        code = child.wait(timeout_s or None)
        return code if code >= 0 else 128 - code
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        child.wait()


def read_facts(path: str, root: str) -> list[dict[str, Any]]:
    if not os.path.exists(path):
        return []
    facts = []
    with open(path, "rb") as file:
        for line in file:
            try:
                fact = json.loads(line.decode())
                if fact["kind"] == "origin":
                    fact["inside"] = is_inside(fact["path"], root)
                facts.append(fact)
            except (ValueError, KeyError, TypeError):
                continue  # the tests ran in the same process and may have written here too
    return facts


def own_names(root: str) -> list[str]:
    """The packages and modules that this working copy holds, as an import would name them."""
    bases = {"", "src/"}
    if CONFIG["folder"]:
        bases |= {CONFIG["folder"] + "/", CONFIG["folder"] + "/src/"}
    names = set()
    for path in git("-C", root, "ls-files", "-z", "*.py").split("\0"):
        for base in bases:
            if path.startswith(base):
                first, _, rest = path[len(base) :].partition("/")
                if not rest:
                    names.add(first[:-3])
                elif rest == "__init__.py" or base.endswith("src/"):
                    names.add(first)
    taken = NOT_CODE | set(getattr(sys, "stdlib_module_names", sys.builtin_module_names))
    return sorted(name for name in names if name.isidentifier() and name not in taken)


def program_origins(root: str) -> list[dict[str, Any]]:
    """Where the project's own commands, as found on PATH, take their code from."""
    wanted = {
        **project_scripts(os.path.join(root, CONFIG["folder"])),
        **dict.fromkeys(CONFIG["programs"], ""),
    }
    found = []
    for name, module in wanted.items():
        program = shutil.which(name)
        if program is None:
            continue
        python = interpreter_of(program)
        path = imported_from(python, module) if python and module else program
        if path:
            found.append({"kind": "origin", "what": name, "path": path, "inside": is_inside(path, root)})
    return found


def project_scripts(folder: str) -> dict[str, str]:
    """Names and top modules of `[project.scripts]`; read by hand, since tomllib came with Python 3.11."""
    try:
        with open(os.path.join(folder, "pyproject.toml"), encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError):
        return {}
    section = re.search(r"^\[(?:project|tool\.poetry)\.scripts\]$(.*?)(?=^\[|\Z)", text, re.M | re.S)
    line = re.compile(r"""^\s*["']?([\w.-]+)["']?\s*=\s*["']([\w]+)[\w.]*:""", re.M)
    return dict(line.findall(section.group(1))) if section else {}


def interpreter_of(program: str) -> str:
    """The Python of a console script; empty for any other program."""
    with open(program, "rb") as file:
        head = file.read(2000).decode("utf-8", "replace")
    longer = re.match(r"#!/bin/sh\n'''exec' (\"[^\"]+\"|\S+)", head)
    if longer:
        return longer.group(1).strip('"')
    first = head.partition("\n")[0]
    words = shlex.split(first[2:]) if first.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [shutil.which(words[-1]) or ""]
    return words[0] if words and "python" in os.path.basename(words[0]) else ""


def imported_from(python: str, module: str) -> str:
    try:
        done = subprocess.run(
            [python, "-c", FIND, module],
            cwd="/",
            timeout=60,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def is_inside(path: str, root: str) -> bool:
    """Whether a path lies in the working copy; nothing found is nothing wrong."""
    return not path or os.path.realpath(path).startswith(root + os.sep)


def shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:79] + "…"


def judge(options: argparse.Namespace, args: list[str]) -> int:
    """For the orchestrator: runs pytest as asked on stdin, its output on stderr, facts on stdout."""
    asked = json.load(sys.stdin)
    seen = run_pytest(ask(**asked), args, options.timeout, sys.stderr.buffer)
    sys.stderr.flush()
    for fact in seen.facts:
        print(json.dumps(fact))
    return seen.code


def arguments(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and what stands after `--`."""
    ours, more = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    parser = argparse.ArgumentParser(
        prog="mngr-result", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    verbs.required = True
    for verb in ("check", "schema"):
        verbs.add_parser(verb)
    verbs.add_parser("publish").add_argument("file")
    verbs.add_parser("try").add_argument("description", nargs="?", default="")
    verbs.add_parser("judge").add_argument("--timeout", type=float, default=0)
    add = verbs.add_parser("write").add_argument
    add("--outcome", required=True)
    add("--summary", required=True, help="markdown; - reads it from standard input")
    for when in ("before", "after"):
        add(
            "--passed-" + when,
            choices=("yes", "no", "unknown"),
            default="",
            help="default: what your tries say",
        )
    add("--blocked", nargs=3, metavar=("STAGE", "REASON", "NEEDS"))
    add("--escalate", nargs=3, metavar=("KIND", "TITLE", "DETAIL"), action="append", default=[])
    return parser.parse_args(ours), more


def act(options: argparse.Namespace, more: list[str]) -> int:
    if options.verb == "schema":
        print(CONFIG["schema_text"])
    elif options.verb == "publish":
        if options.file == "-":
            publish(sys.stdin.read())
        else:
            with open(options.file, encoding="utf-8") as file:
                publish(file.read())
    elif options.verb == "write":
        write(options)
    elif options.verb == "try":
        return try_test(options.description, more)
    elif options.verb == "judge":
        return judge(options, more)
    else:
        return check()
    return 0


def main() -> NoReturn:
    try:
        sys.exit(act(*arguments(sys.argv[1:])))
    except ProblemError as problem:
        print(f"mngr-result: {problem}", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"mngr-result: {error}", file=sys.stderr)
    sys.exit(WRONG)


if __name__ == "__main__":
    main()
