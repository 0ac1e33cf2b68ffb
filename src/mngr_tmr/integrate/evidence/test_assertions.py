"""What test functions ask of the program, read from their source: each demand, its subject and how strong it is."""

import ast
import warnings
from collections.abc import Iterator

from msgspec import Struct

from mngr_tmr.integrate.evidence.inline_names import inline_names

Function = ast.FunctionDef | ast.AsyncFunctionDef
_EXACT, _PARTIAL, _TRUTHY, _NOTHING = 3.0, 2.0, 1.0, 0.0
_CONDITIONAL = 0.5
_EXPECT = {
    "to_equal": _EXACT,
    "to_succeed": _EXACT,
    "to_have_exit_code": _EXACT,
    "to_be_empty": _EXACT,
    "to_match": _PARTIAL,
    "to_contain": _PARTIAL,
    "to_fail": _PARTIAL,
}
_METHODS = {
    "assertEqual": _EXACT,
    "assertIs": _EXACT,
    "assertDictEqual": _EXACT,
    "assertListEqual": _EXACT,
    "assertTrue": _TRUTHY,
    "assertIsNotNone": _TRUTHY,
}
_EXCUSES = ("pytest.skip", "pytest.xfail", "pytest.importorskip", "self.skipTest")
_BROAD = ("Exception", "BaseException", "AssertionError")
_LIMITS = ("timeout", "timeout_s", "deadline", "deadline_s", "timeout_seconds")


class Assertion(Struct, frozen=True):
    """One assertion; `subjects` are the expressions it is about."""

    text: str
    strength: float
    subjects: frozenset[str]


class FunctionAssertions(Struct, frozen=True):
    """All that a function asks, and what excuses it from asking."""

    __test__ = False
    is_test: bool = False
    assertions: tuple[Assertion, ...] = ()
    skips: tuple[str, ...] = ()
    xfails: tuple[str, ...] = ()
    timeouts: dict[str, float] = {}
    cases: int = 0


def read_assertions(source: bytes) -> dict[str, FunctionAssertions] | None:
    """The functions of a file by qualified name, and under "" what stands outside of them; None for no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        found = {name: _read(name, node) for name, node in _functions(tree.body, "")}
        return {**found, "": _read_module(tree)}
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
        return None


def _functions(body: list[ast.stmt], place: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function):
            yield f"{place}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{place}{node.name}::")


def _read(name: str, function: Function) -> FunctionAssertions:
    excuses = [ast.unparse(mark) for mark in function.decorator_list]
    excuses += [
        ast.unparse(call)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in _EXCUSES
    ]
    cases = 0
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("parametrize") and mark.args[1:]:
            values = mark.args[1]
            cases += len(values.elts) if isinstance(values, ast.List | ast.Tuple | ast.Set) else 0
    return FunctionAssertions(
        is_test=name.rpartition("::")[2].startswith("test"),
        assertions=tuple(_assertions(inline_names(function).body, 0.0)),
        skips=tuple(text for text in excuses if "skip" in text.partition("(")[0]),
        xfails=tuple(text for text in excuses if "xfail" in text.partition("(")[0]),
        timeouts=dict(_timeouts(function)),
        cases=cases,
    )


def _read_module(tree: ast.Module) -> FunctionAssertions:
    """Marks and limits of the whole file and of its classes."""
    texts: list[str] = []
    limits: dict[str, float] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        name, value = (target.id if isinstance(target, ast.Name) else ""), getattr(node, "value", None)
        if isinstance(node, ast.ClassDef):
            texts += [ast.unparse(mark) for mark in node.decorator_list]
        elif isinstance(value, ast.expr) and (name == "pytestmark" or isinstance(value, ast.Call)):
            texts.append(ast.unparse(value))
        elif (
            any(word in name.lower() for word in ("timeout", "deadline"))
            and isinstance(value, ast.Constant)
            and isinstance(value.value, int | float)
        ):
            limits[name] = float(value.value)
    return FunctionAssertions(
        skips=tuple(text for text in texts if "skip" in text),
        xfails=tuple(text for text in texts if "xfail" in text),
        timeouts=limits,
    )


def _assertions(body: list[ast.stmt], less: float) -> Iterator[Assertion]:
    """Assertions of statements; under a condition they ask less, where their failure is caught they ask nothing."""
    for node in body:
        if isinstance(node, ast.Assert):
            yield from (_weaker(assertion, less) for assertion in _of_test(node.test))
        elif isinstance(node, ast.Expr):
            yield from (_weaker(assertion, less) for assertion in _of_call(node.value))
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                yield from (_weaker(assertion, less) for assertion in _of_raises(item.context_expr))
            yield from _assertions(node.body, less)
        elif isinstance(node, ast.Try):
            is_caught = False
            for handler in node.handlers:
                named = ast.unparse(handler.type) if handler.type else "Exception"
                inside = (part for line in handler.body for part in ast.walk(line))
                ends = any(isinstance(part, ast.Raise | ast.Assert) for part in inside)
                is_caught |= any(name in named for name in _BROAD) and not ends
            yield from _assertions(node.body, 9.0 if is_caught else less)
            yield from _assertions([*node.orelse, *node.finalbody], less)
        elif isinstance(node, ast.If):
            yield from _assertions([*node.body, *node.orelse], less + _CONDITIONAL)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            yield from _assertions([*node.body, *node.orelse], less)
        elif isinstance(node, Function | ast.ClassDef):
            yield from _assertions(node.body, less)


def _weaker(assertion: Assertion, less: float) -> Assertion:
    return (
        Assertion(assertion.text, max(_NOTHING, assertion.strength - less), assertion.subjects)
        if less
        else assertion
    )


def _of_test(test: ast.expr) -> Iterator[Assertion]:
    """The demands of an expression that must be true."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _of_test(part)
        return
    if isinstance(test, ast.BoolOp):
        subjects = frozenset[str]().union(
            *(assertion.subjects for part in test.values for assertion in _of_test(part))
        )
        yield Assertion(ast.unparse(test), _TRUTHY / 2, subjects)
    elif isinstance(test, ast.Compare):
        op, right = test.ops[0], test.comparators[0]
        is_containing = isinstance(op, ast.In | ast.NotIn)
        about = right if is_containing and isinstance(test.left, ast.Constant) else test.left
        strength = _EXACT if isinstance(op, ast.Eq | ast.Is) else _PARTIAL
        if isinstance(op, ast.IsNot | ast.NotEq) and isinstance(right, ast.Constant):
            strength = _TRUTHY
        names = {ast.unparse(about)}
        names |= {ast.unparse(right)} if strength == _EXACT and not isinstance(right, ast.Constant) else set()
        yield Assertion(ast.unparse(test), strength, frozenset(names))
    elif isinstance(test, ast.Constant):
        yield Assertion(ast.unparse(test), _NOTHING, frozenset())
    else:
        yield Assertion(ast.unparse(test), _TRUTHY, frozenset((ast.unparse(test),)))


def _of_call(value: ast.expr) -> Iterator[Assertion]:
    """`expect(x).to_y(…)` and methods named assert…."""
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    name, owner = call.func.attr, call.func.value
    if isinstance(owner, ast.Call) and ast.unparse(owner.func).endswith("expect") and owner.args:
        base = name.removeprefix("not_")
        strength = _EXPECT.get(base, _PARTIAL) if base == name else _TRUTHY
        yield Assertion(ast.unparse(call), strength, frozenset((ast.unparse(owner.args[0]),)))
    elif name.startswith("assert"):
        arguments = call.args[1:2] if name == "assertIn" else call.args[:1]
        subjects = frozenset(map(ast.unparse, arguments)) or frozenset((ast.unparse(owner),))
        yield Assertion(ast.unparse(call), _METHODS.get(name, _PARTIAL), subjects)


def _of_raises(context: ast.expr) -> Iterator[Assertion]:
    if not isinstance(context, ast.Call) or not ast.unparse(context.func).endswith(
        ("raises", "assertRaises")
    ):
        return
    named = context.args[0] if context.args else None
    text = ast.unparse(named) if named else ""
    strength = _TRUTHY if text in _BROAD or not text else _PARTIAL
    if isinstance(named, ast.Tuple):
        strength = _TRUTHY + 1 / (1 + len(named.elts))
    has_match = any(keyword.arg == "match" for keyword in context.keywords)
    yield Assertion(ast.unparse(context), strength + (_TRUTHY if has_match else 0), frozenset(("raises",)))


def _timeouts(function: Function) -> Iterator[tuple[str, float]]:
    """The longest limit by the place it is given at."""
    found: dict[str, float] = {}
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        place = ast.unparse(call.func)
        given = [
            (f"{place}({keyword.arg})", keyword.value) for keyword in call.keywords if keyword.arg in _LIMITS
        ]
        if place.endswith("mark.timeout") and call.args:
            given.append((place, call.args[0]))
        for name, value in given:
            if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
                found[name] = max(found.get(name, 0.0), float(value.value))
    yield from found.items()
