"""Text that stands in Python source, read without running it."""

import ast

HOLE = "\0"
"""Stands for a part of a text that only a run would know."""

_CLEANERS = ("dedent", "cleandoc")


def constant_text(node: ast.expr) -> str | None:
    """A string as it stands: literals, added literals, and literals in `textwrap.dedent(...)`; else None."""
    text = text_with_holes(node)
    return None if text is None or HOLE in text else text


def text_with_holes(node: ast.expr) -> str | None:
    """Like `constant_text`; what an f-string fills in is a HOLE. None when nothing of it is known."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(text_with_holes(value) or HOLE for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = text_with_holes(left), text_with_holes(right)
            return None if parts == (None, None) else "".join(part or HOLE for part in parts)
        case ast.Call(func=func, args=[text_node], keywords=[]) if called_name(func) in _CLEANERS:
            return text_with_holes(text_node)
        case ast.List(elts=words) | ast.Tuple(elts=words):
            return " ".join(text_with_holes(word) or HOLE for word in words)
    return None


def called_name(func: ast.expr) -> str:
    """The last word of what is called: `run` of `e2e.run` and of `run`."""
    match func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
