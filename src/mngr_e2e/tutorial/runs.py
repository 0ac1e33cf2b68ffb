"""The commands a test runs, as far as its source tells."""

import ast
from collections.abc import Iterable

from mngr_e2e.tutorial.literals import called_name, text_with_holes

_RUN_NAMES = ("run", "start", "terminal")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Runs:
    """The commands of each function of a file; those of the file's own helpers and fixtures count as its own."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self._functions = {node.name: node for node in nodes if isinstance(node, Function)}
        self._calls: dict[Function, list[ast.Call]] = {}

    def calls(self, function: Function) -> list[ast.Call]:
        """Every call in a function; each is walked once, since walking is what reading a large suite costs."""
        if function not in self._calls:
            self._calls[function] = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        return self._calls[function]

    def of(self, function: Function) -> tuple[str | None, ...]:
        """First arguments of `.run(...)` in order; a HOLE for what is filled in, None for one that is not text."""
        found: list[str | None] = []
        todo, seen = [function], {function.name}
        while todo:
            current = todo.pop(0)
            calls = self.calls(current)
            found += [
                text_with_holes(call.args[0])
                for call in calls
                if (isinstance(call.func, ast.Attribute) and call.func.attr in _RUN_NAMES) and call.args
            ]
            names = {called_name(call.func) for call in calls} | {arg.arg for arg in current.args.args}
            for name in sorted(names & self._functions.keys() - seen):
                seen.add(name)
                todo.append(self._functions[name])
        return tuple(found)
