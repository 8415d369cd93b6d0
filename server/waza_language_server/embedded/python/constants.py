"""Assertions, and parts of them, that have the same result whatever the agent does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from waza_engine.assertions.names import FUNCTION_NAMES
from waza_language_server.embedded.language import Finding
from waza_language_server.embedded.python.python_source import PythonSource, brief
from waza_language_server.embedded.python.scopes import resolve_names

_FUNCTIONS = frozenset(FUNCTION_NAMES)
_CASE_METHODS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "casefold": str.casefold,
    "upper": str.upper,
}
_STRIP_METHODS = frozenset({"strip", "lstrip", "rstrip"})
_SPLIT_METHODS = frozenset({"split", "splitlines", "rsplit"})
_CONSTANT_TESTS: dict[tuple[type[ast.cmpop], int], bool] = {
    (ast.GtE, 0): True,
    (ast.Gt, -1): True,
    (ast.NotEq, -1): True,
    (ast.Lt, 0): False,
    (ast.LtE, -1): False,
    (ast.Eq, -1): False,
}
"""The results of comparing a value that is never negative with a number."""


def constant_findings(source: PythonSource) -> Iterator[Finding]:
    """Yield the parts of an assertion that are constant, and the strings whose case can never match."""
    yield from _condition(source, source.expression.body, None)
    for node in source.nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _strings_before_in(source, node)
            yield from _case(source, node)


def _condition(source: PythonSource, node: ast.expr, parent: ast.BoolOp | None) -> Iterator[Finding]:
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield from _condition(source, operand, node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _condition(source, node.operand, None)
    elif isinstance(node, ast.GeneratorExp):
        yield _generator(source, node)
    elif (truth := _truth(node)) is not None:
        yield _constant(source, node, parent, truth=truth)
    elif _looks_at_nothing(source, node):
        message = "This looks at nothing that the agent did, so it comes out the same in every trial."
        yield source.finding("assertion-constant", node, message)


def _constant(source: PythonSource, node: ast.expr, parent: ast.BoolOp | None, *, truth: bool) -> Finding:
    written = source.segment(node)
    is_short = len(written) <= 40 and "\n" not in written
    message = f"{f'`{written}`' if is_short else 'This'} is always {str(truth).lower()}"
    container = _container(source, parent, node) if parent is not None else None
    if container is not None:
        new = f"{written} {container}"
        rewrite = source.rewrite(node, new, f"Write `{new}`", preferred=len(written) < 40)
        return source.finding(
            "assertion-constant", node, f"{message}; every text needs an `in` of its own.", rewrite
        )
    message = f"{message}, whatever the agent does."
    if isinstance(node, ast.Tuple) and len(node.elts) == 2 and _is_string(node.elts[1]):
        # The second part of an `assert`.
        rewrite = source.rewrite(node, source.segment(node.elts[0]), "Delete the text behind the condition")
        return source.finding("assertion-constant", node, message, rewrite)
    return source.finding("assertion-constant", node, message)


def _generator(source: PythonSource, node: ast.GeneratorExp) -> Finding:
    message = "A generator is always true, whatever it would give; ask `any(…)` or `all(…)` of it."
    names = ("any", "all") if source.segment(node).startswith("(") else ()
    rewrites = (source.rewrite(node, name + source.segment(node), f"Write `{name}(…)`") for name in names)
    return source.finding("assertion-constant", node, message, *rewrites)


def _looks_at_nothing(source: PythonSource, node: ast.expr) -> bool:
    """Return whether a part uses no name but functions, and those that it binds itself."""
    if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
        # It may be there for the name, which later assertions see.
        return False
    return not resolve_names(ast.Expression(node), _FUNCTIONS).failing


def _truth(node: ast.expr) -> bool | None:
    match node:
        case ast.Name(id=name) if name in FUNCTION_NAMES:
            return True
        case ast.Attribute(value=ast.Name(id="re")) | ast.Lambda():
            return True
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return None if any(isinstance(each, ast.Starred) for each in elements) else bool(elements)
        case ast.Dict(keys=keys):
            return None if None in keys else bool(keys)
        case ast.JoinedStr(values=values):
            return True if any(isinstance(each, ast.Constant) and each.value for each in values) else None
        case ast.BinOp(left=ast.Constant(value=str(template)), op=ast.Mod()) if template.strip("%srd"):
            return True
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if _is_never_negative(left):
            return _CONSTANT_TESTS.get((type(operator), _number(right)))
        case _:
            return None


def _number(node: ast.expr) -> int:
    """Return the value of a node that is a number, and for anything else one that is in no table."""
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return 1
    return value if type(value) is int else 1


def _is_never_negative(node: ast.expr) -> bool:
    match node:
        case ast.Name(id="duration_ms") | ast.Call(func=ast.Name(id="len") | ast.Attribute(attr="count")):
            return True
        case _:
            return False


def _container(source: PythonSource, parent: ast.BoolOp, node: ast.expr) -> str | None:
    """Return the ``in …`` of another operand for a string that should have it too."""
    if not _is_string(node):
        return None
    after = parent.values[parent.values.index(node) + 1 :]
    for other in (*after, *parent.values):
        match other:
            case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()]):
                return source.text[source.end(other.left) : source.end(other)].strip()
            case _:
                continue
    return None


def _strings_before_in(source: PythonSource, node: ast.Compare) -> Iterator[Finding]:
    """Yield strings joined by `or` or `and` before one `in`, which tests only one of them."""
    strings, operator = node.left, node.ops[0]
    if not isinstance(strings, ast.BoolOp) or not isinstance(operator, ast.In | ast.NotIn):
        return
    if not all(isinstance(each, ast.Constant) and each.value for each in strings.values):
        return
    is_or = isinstance(strings.op, ast.Or)
    only = source.segment(strings.values[0 if is_or else -1])
    rest = source.text[source.end(strings) : source.end(node)].lstrip(" )")
    # "Neither a nor b" means that neither of them is in it.
    word = "or" if is_or and isinstance(operator, ast.In) else "and"
    new = f" {word} ".join(f"{source.segment(each)} {rest}" for each in strings.values)
    message = f"`{source.brief(strings)}` is always `{brief(only)}`; every text needs an `in` of its own."
    rewrite = source.rewrite(node, f"({new})", f"Write `{brief(new)}`")
    yield source.finding("assertion-constant", strings, message, rewrite)


def _case(source: PythonSource, node: ast.Compare) -> Iterator[Finding]:
    operator, right = node.ops[0], node.comparators[0]
    if isinstance(operator, ast.In | ast.NotIn):
        always = isinstance(operator, ast.NotIn)
        yield from _wrong_case(source, node.left, right, always=always)
        if isinstance(right, ast.List | ast.Tuple | ast.Set):
            # Another element may be equal.
            for each in right.elts:
                yield from _wrong_case(source, each, node.left, always=False)
    elif isinstance(operator, ast.Eq | ast.NotEq):
        for string, changed in ((node.left, right), (right, node.left)):
            yield from _wrong_case(source, string, changed, always=isinstance(operator, ast.NotEq))


def _wrong_case(
    source: PythonSource, node: ast.expr, changed: ast.expr, *, always: bool
) -> Iterator[Finding]:
    """Yield a string that cannot occur in text that was changed to one case."""
    method = _case_method(changed)
    if method is None or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return
    change = _CASE_METHODS[method]
    if node.value == change(node.value):
        return
    outcome = "it never occurs there, so this is always true" if always else "it never occurs there"
    message = f"`{node.value[:40]}` is compared with text whose letters `.{method}()` has changed; {outcome}."
    new = change(source.segment(node))
    rewrites = (source.rewrite(node, new, f"Write `{new}`", preferred=len(new) < 40),)
    yield source.finding("assertion-case", node, message, *(rewrites if "\\" not in new else ()))


def _case_method(node: ast.expr) -> str | None:
    """Return the method that changed the case of a string, or of the string that was split."""
    passed = _STRIP_METHODS | _SPLIT_METHODS
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _CASE_METHODS and not node.args:
            return node.func.attr
        if node.func.attr not in passed:
            return None
        passed = _STRIP_METHODS
        node = node.func.value
    return None


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
