"""New public surface of a change: commands, options, entry points and names that others may come to rely on."""

import ast
import re
import tomllib
import warnings
from collections.abc import Iterator

_FLAG = re.compile(rb"(?<![\w-])--[a-z][a-z0-9-]+")
_COMMANDS = ("command", "group")
_OPTIONS = ("option", "argument", "add_argument", "Option", "Argument", "add_option")
_PROBLEMS = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)


def new_surface(path: str, before: bytes, after: bytes) -> tuple[str, ...]:
    """What a file offers after a change and did not before."""
    return tuple(sorted(set(_surface(path, after)) - set(_surface(path, before))))


def _surface(path: str, data: bytes) -> list[str]:
    try:
        if path.endswith((".py", ".pyi")):
            return list(_python(path, data))
        if path.endswith("pyproject.toml"):
            project = tomllib.loads(data.decode()).get("project", {})
            groups = project.get("entry-points", {}).items()
            found = [f"command {name}" for name in project.get("scripts", {})]
            return [*found, *(f"entry point {group}: {name}" for group, names in groups for name in names)]
    except _PROBLEMS:
        return []
    if path.endswith((".sh", ".bash")) or data.startswith(b"#!"):
        return [f"option {flag.decode()}" for flag in _FLAG.findall(data)]
    return []


def _python(path: str, data: bytes) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            values = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            words = [value for value in values if isinstance(value, str)]
            if called == "add_parser" and words:
                yield f"command {words[0]}"
            elif called in _OPTIONS:
                yield from (f"option {word}" for word in words if word.startswith("-"))
                yield from (f"argument {word}" for word in words[:1] if not word.startswith("-"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in node.decorator_list:
                maker = mark.func if isinstance(mark, ast.Call) else mark
                if not isinstance(maker, ast.Attribute) or maker.attr not in _COMMANDS:
                    continue
                given = (
                    [arg.value for arg in mark.args if isinstance(arg, ast.Constant)]
                    if isinstance(mark, ast.Call)
                    else []
                )
                name = given[0] if given and isinstance(given[0], str) else node.name
                yield f"command {name}"
    if path.rpartition("/")[2] == "__init__.py":
        yield from _exports(tree)


def _exports(tree: ast.Module) -> Iterator[str]:
    """Public names of a package."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple):
            is_all = any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
            names = [str(item.value) for item in node.value.elts if is_all and isinstance(item, ast.Constant)]
        else:
            names = []
        yield from (f"name {name}" for name in names if not name.startswith("_") and name != "*")
