"""Whether a merged file can still be read: git merges lines and knows nothing of what they mean."""

import ast
import json
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable


def keeps_syntax(path: str, before: bytes, after: bytes) -> bool:
    """False when the file could be read before and cannot now, or defines something twice that it defined once."""
    read = _READERS.get(path.rpartition(".")[2])
    if read is None:
        return True
    try:
        known = read(before)
    except _PROBLEMS:
        return True
    try:
        now = read(after)
    except _PROBLEMS:
        return False
    return not any(count > 1 and count > known[name] for name, count in now.items())


def _python(data: bytes) -> Counter[str]:
    """How often each function and class is defined in one place."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    found: Counter[str] = Counter()
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


def _json(data: bytes) -> Counter[str]:
    json.loads(data)
    return Counter()


def _toml(data: bytes) -> Counter[str]:
    tomllib.loads(data.decode())
    return Counter()


_PROBLEMS = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)
_READERS: dict[str, Callable[[bytes], Counter[str]]] = {"py": _python, "json": _json, "toml": _toml}
