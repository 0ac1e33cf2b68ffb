"""Which tests there are and which blocks they cite, read from their source and never imported."""

import ast
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from mngr_e2e.tutorial.blocks import normal_text
from mngr_e2e.tutorial.literals import called_name, constant_text, module_constants
from mngr_e2e.tutorial.runs import Runs

CITE = "write_tutorial_block"
_BLOCK_MARK, _SCOPE_MARK = "tutorial block:", "scope:"
_SHOWN = 80
_NOT_ENTERED = ("__pycache__", "node_modules", "venv", "build", "dist")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Citation(Struct, frozen=True):
    """What a test says its block is, dedented.

    `is_flush`: it starts right after its quotes, so that its first line tells nothing of the indentation.
    """

    line: int
    text: str
    form: Literal["call", "docstring"] = "call"
    is_flush: bool = False


class Case(Struct, frozen=True):
    """A test function: the blocks it cites, and the commands it runs (None where one is not known)."""

    node_id: str
    path: str
    line: int
    citations: tuple[Citation, ...] = ()
    runs: tuple[str | None, ...] = ()


class Unreadable(Struct, frozen=True):
    """Something in a test file that cannot be judged, and why."""

    path: str
    line: int
    problem: str


class TestSources(Struct, frozen=True):
    """What was found in test files."""

    __test__ = False
    cases: tuple[Case, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


def load_tests(paths: Iterable[str]) -> TestSources:
    """Reads test files and folders of them. A path that does not exist is a FileNotFoundError."""
    files: dict[str, None] = {}
    for path in paths:
        if not os.path.isdir(path):
            files[path] = None
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name not in _NOT_ENTERED and name[0] != ".")
            files |= {os.path.join(folder, name): None for name in sorted(names) if is_test_file(name)}
    found = []
    for path in files:
        with open(path, "rb") as file:
            found.append(read_tests(file.read(), path))
    return _joined(found)


def read_sources(files: Mapping[str, bytes]) -> TestSources:
    """The same from what files hold, by path; those that are no test files are passed over."""
    return _joined([read_tests(source, path) for path, source in files.items() if is_test_file(path)])


def read_functions(source: bytes, path: str) -> dict[str, str]:
    """The code of every test by its node id, without comments and layout; none when it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(source).body
        return {"::".join((path, *names, one.name)): ast.dump(one) for names, one in _functions(body, ())}
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
        return {}


def is_test_file(path: str) -> bool:
    """Whether pytest would collect a file of that name."""
    name = os.path.basename(path)
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def read_tests(source: str | bytes, path: str) -> TestSources:
    """The tests of one file. A file that is not Python is a finding."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        return _unreadable(path, error.lineno or 1, f"not valid Python: {error.msg}")
    except (ValueError, RecursionError, MemoryError, LookupError) as error:
        return _unreadable(path, 1, f"not valid Python: {error}")
    try:
        nodes = list(ast.walk(tree))
        runs, constants = Runs(nodes), module_constants(tree.body)
        cases: list[Case] = []
        unreadable: list[Unreadable] = []
        strays = {node: node.lineno for node in nodes if isinstance(node, ast.Call) and _is_citing(node)}
        for names, function in _functions(tree.body, ()):
            calls = [call for call in runs.calls(function) if _is_citing(call)]
            citations, problems = _citations(function, calls, constants, path)
            unreadable += problems
            for call in calls:
                strays.pop(call, None)
            node_id = "::".join((path, *names, function.name))
            cases.append(Case(node_id, path, function.lineno, citations, runs.of(function)))
        problem = "this citation is outside a test, so it covers nothing"
        unreadable += [Unreadable(path, line, problem) for line in strays.values()]
        return TestSources(tuple(cases), tuple(unreadable))
    except RecursionError:
        return _unreadable(path, 1, "nested too deeply to be read")


def _functions(
    body: Sequence[ast.stmt], names: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Function]]:
    """The functions that pytest would collect: in the file, in `Test…` classes, under if, try and with."""
    for node in body:
        if isinstance(node, Function):
            if node.name.startswith("test"):
                yield names, node
        elif isinstance(node, ast.ClassDef):
            if node.name.startswith("Test") or any(
                called_name(base).endswith("TestCase") for base in node.bases
            ):
                yield from _functions(node.body, (*names, node.name))
        else:
            for part in ("body", "orelse", "handlers", "finalbody"):
                yield from _functions(getattr(node, part, ()), names)


def _citations(
    function: Function, calls: Sequence[ast.Call], constants: Mapping[str, str], path: str
) -> tuple[tuple[Citation, ...], list[Unreadable]]:
    found: list[Citation] = []
    problems: list[Unreadable] = []
    docstring = ast.get_docstring(function, clean=False)
    if docstring is not None and _BLOCK_MARK in docstring.lower():
        first = function.body[0].lineno
        blocks, unended = docstring_blocks(docstring)
        found = [Citation(first + at, text, "docstring") for at, text in blocks]
        if unended is not None:
            problem = '"Tutorial block:" without a "Scope:" after it'
            problems.append(Unreadable(path, first + unended, problem))
    local = {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}
    names = {name: text for name, text in constants.items() if name not in local}
    for call in calls:
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        text = constant_text(arguments[0], names) if len(arguments) == 1 else None
        if text is None:
            problem = (
                f"cannot tell what {ast.unparse(call)[:_SHOWN]} cites without running it: cite a text, or the name of "
                "a text that this file assigns once"
            )
            problems.append(Unreadable(path, call.lineno, problem))
        elif not text.strip():
            problems.append(Unreadable(path, call.lineno, "an empty citation"))
        else:
            found.append(Citation(call.lineno, normal_text(text), is_flush=bool(text[:1].strip())))
    return tuple(sorted(found, key=lambda citation: citation.line)), problems


def _is_citing(call: ast.Call) -> bool:
    return called_name(call.func) == CITE


def docstring_blocks(docstring: str) -> tuple[list[tuple[int, str]], int | None]:
    """The blocks that a docstring cites, each with its line from 0; then the line of one without an end, or None."""
    found: list[tuple[int, str]] = []
    lines = docstring.split("\n")
    start: int | None = None
    for number, line in enumerate(lines):
        word = line.strip().lower()
        if word.startswith(_BLOCK_MARK):
            start = number
        elif word.startswith(_SCOPE_MARK) and start is not None:
            text = "\n".join([lines[start].strip()[len(_BLOCK_MARK) :].strip(), *lines[start + 1 : number]])
            found.append((start, normal_text(text)))
            start = None
    return found, start


def _joined(read: Sequence[TestSources]) -> TestSources:
    return TestSources(
        tuple(case for one in read for case in one.cases),
        tuple(found for one in read for found in one.unreadable),
    )


def _unreadable(path: str, line: int, problem: str) -> TestSources:
    return TestSources((), (Unreadable(path, line, problem),))
