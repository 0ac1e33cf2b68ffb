"""A function with its names replaced by what they stand for, so that a result may be named without losing its test."""

import ast
from collections import Counter
from copy import deepcopy
from typing import TypeVar

F = TypeVar("F", bound=ast.FunctionDef | ast.AsyncFunctionDef)
_DEEP = 3


def inline_names(function: F) -> F:
    """The same function; a name that is assigned once, by `name = …`, is read as that expression."""
    copy = deepcopy(function)
    stored = Counter(
        node.id for node in ast.walk(copy) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    meant = {
        target.id: node.value
        for node in ast.walk(copy)
        if isinstance(node, ast.Assign)
        for target in node.targets[:1]
        if len(node.targets) == 1 and isinstance(target, ast.Name) and stored[target.id] == 1
    }
    for _ in range(_DEEP):
        _NameInliner(meant).visit(copy)
    return copy


class _NameInliner(ast.NodeTransformer):
    def __init__(self, meant: dict[str, ast.expr]) -> None:
        self._meant = meant

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_read = isinstance(node.ctx, ast.Load) and node.id in self._meant
        return deepcopy(self._meant[node.id]) if is_read else node
