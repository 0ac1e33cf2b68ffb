"""Text that stands in Python source, read without running it."""

import ast
from collections.abc import Mapping, Sequence

HOLE = "\0"
"""Stands for a part of a text that only a run would know."""

_CLEANERS = ("dedent", "cleandoc")


def constant_text(node: ast.expr, names: Mapping[str, str] = {}) -> str | None:
    """A string as it stands: literals, added literals, literals in `textwrap.dedent(...)`, `names`; else None."""
    text = text_with_holes(node, names)
    return None if text is None or HOLE in text else text


def module_constants(body: Sequence[ast.stmt]) -> dict[str, str]:
    """The texts that a module gives a name to, `BLOCK = "…"`, once and nowhere else, by that name."""
    found: dict[str, str] = {}
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                text = constant_text(value, found)
                if text is not None:
                    found[name] = text
    stored = [
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    return {name: text for name, text in found.items() if stored.count(name) == 1}


def text_with_holes(node: ast.expr, names: Mapping[str, str] = {}) -> str | None:
    """Like `constant_text`; what an f-string fills in is a HOLE. None when nothing of it is known."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return names.get(name)
        case ast.JoinedStr(values=values):
            return "".join(text_with_holes(value, names) or HOLE for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = text_with_holes(left, names), text_with_holes(right, names)
            return None if parts == (None, None) else "".join(part or HOLE for part in parts)
        case ast.Call(func=func, args=[text_node], keywords=[]) if called_name(func) in _CLEANERS:
            return text_with_holes(text_node, names)
        case ast.List(elts=words) | ast.Tuple(elts=words):
            return " ".join(text_with_holes(word, names) or HOLE for word in words)
    return None


def called_name(func: ast.expr) -> str:
    """The last word of what is called: `run` of `e2e.run` and of `run`."""
    match func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
