"""Whether a merged file can still be parsed: git merges lines and does not know their syntax."""

import ast
import json
import tomllib
import warnings
from collections import Counter

_SUFFIXES = ("py", "json", "toml")
_PROBLEMS = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)


def keeps_syntax(path: str, before: bytes, after: bytes) -> bool:
    """False when the file could be parsed before and cannot now, or defines twice what it defined once."""
    suffix = path.rpartition(".")[2]
    if suffix not in _SUFFIXES:
        return True
    try:
        known = _definitions(suffix, before)
    except _PROBLEMS:
        return True
    try:
        now = _definitions(suffix, after)
    except _PROBLEMS:
        return False
    return not any(count > 1 and count > known[name] for name, count in now.items())


def _definitions(suffix: str, data: bytes) -> Counter[str]:
    """Parses a file and counts how often Python code defines each function and class in one place."""
    found: Counter[str] = Counter()
    if suffix == "json":
        json.loads(data)
        return found
    if suffix == "toml":
        tomllib.loads(data.decode())
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    bodies = [("", tree.body)]
    while bodies:
        place, body = bodies.pop()
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.decorator_list:
                found[f"{place}{node.name}"] += 1
            elif isinstance(node, ast.ClassDef):
                found[f"{place}{node.name}"] += 1
                bodies.append((f"{place}{node.name}.", node.body))
    return found
