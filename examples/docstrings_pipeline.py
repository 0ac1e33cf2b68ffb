"""A second pipeline from the same verbs: an agent per source file writes its docstrings; patches and a report return.

Run it inside a repository. Gather, map and reduce are three functions; what travels between them is files.

    python examples/docstrings_pipeline.py 'src/**/*.py'
    python examples/docstrings_pipeline.py 'src/**/*.py' --type scripted --arg examples/docstrings_playbook.json
"""

import argparse
import ast
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from typing import NamedTuple

import mngr

PROMPT = """\
Write the missing docstrings of {file}: one sentence each, saying what a caller cannot see from the name.
Change nothing else. When you are done:
  git diff >"$MNGR_OUTBOX/docstrings.patch"
and list what you documented, a line each, in "$MNGR_OUTBOX/report.md".
"""
TIMEOUT_S = 1800
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Job(NamedTuple):
    """How agents work: their type and its arguments, how many at once, where what they hand over goes."""

    type: str
    args: tuple[str, ...]
    slots: int
    out: str


def gather(patterns: Iterable[str]) -> list[str]:
    """The source files in which something has no docstring."""
    found = sorted({path for pattern in patterns for path in glob(pattern, recursive=True)})
    return [path for path in found if undocumented(path)]


def undocumented(file: str) -> list[str]:
    with open(file, encoding="utf-8") as source:
        nodes = ast.walk(ast.parse(source.read()))
    return [node.name for node in nodes if isinstance(node, DOCUMENTED) and not ast.get_docstring(node)]


def map_files(files: Iterable[str], job: Job) -> dict[str, str]:
    """An agent for each file, so many at once; what became of each, by file: empty is good."""
    files = list(files)
    with ThreadPoolExecutor(job.slots) as pool:
        return dict(zip(files, pool.map(lambda file: work_on(file, job), files), strict=True))


def work_on(file: str, job: Job) -> str:
    """One agent's life: create, wait, pull, destroy. A failure is an answer, not the end of the others."""
    name = name_of(file)
    try:
        mngr.create(name, type=job.type, args=job.args, transfer="mirror", message=PROMPT.format(file=file))
        try:
            for waited in mngr.wait(name, timeout_s=TIMEOUT_S):
                print(f"{file}: {waited.agent.state}", file=sys.stderr)
            mngr.pull_outbox(name, job.out)
        finally:
            mngr.destroy(name)
    except mngr.MngrError as error:
        return str(error)
    return ""


def reduce(outcomes: dict[str, str], out: str) -> dict[str, str]:
    """Applies every patch, to its own file only, and makes one report of all; what went wrong, by file."""
    problems = {file: problem or apply(file, out) for file, problem in outcomes.items()}
    with open(os.path.join(out, "report.md"), "w", encoding="utf-8") as report:
        for file, problem in problems.items():
            report.write(f"## {file}\n\n{problem or read(os.path.join(out, name_of(file), 'report.md'))}\n\n")
    return {file: problem for file, problem in problems.items() if problem}


def apply(file: str, out: str) -> str:
    patch = os.path.abspath(os.path.join(out, name_of(file), "docstrings.patch"))
    if not os.path.isfile(patch):
        return "no patch came back"
    done = mngr.run_program(["git", "apply", "--allow-empty", f"--include={file}", patch])
    return done.complaint if done.code else ""


def name_of(file: str) -> str:
    return "docs-" + "".join(char if char.isalnum() else "-" for char in file).strip("-")


def read(path: str) -> str:
    if not os.path.isfile(path):
        return "(no report)"
    with open(path, encoding="utf-8", errors="replace") as report:
        return report.read(100_000).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("patterns", nargs="+")
    parser.add_argument("--type", default="claude", help="the agents' type")
    parser.add_argument("--arg", action="append", default=[], help="an argument for it")
    parser.add_argument("--slots", type=int, default=4, help="how many agents at once")
    parser.add_argument("--out", default="docstrings", help="where what they hand over is kept")
    words = parser.parse_args()
    job = Job(words.type, tuple(words.arg), words.slots, words.out)
    os.makedirs(job.out, exist_ok=True)
    problems = reduce(map_files(gather(words.patterns), job), job.out)
    for file, problem in problems.items():
        print(f"{file}: {problem}", file=sys.stderr)
    print(os.path.join(job.out, "report.md"))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
