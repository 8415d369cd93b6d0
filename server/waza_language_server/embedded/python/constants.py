"""Assertions, and parts of them, that come out the same whatever the agent does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from waza_engine.assertions.names import FUNCTION_NAMES
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.python_source import PythonSource, brief
from waza_language_server.embedded.python.scopes import resolve_names

_FUNCTIONS = frozenset(FUNCTION_NAMES)
_LOWERED: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "casefold": str.casefold,
    "upper": str.upper,
}
_CASE_KEPT = frozenset({"strip", "lstrip", "rstrip"})
_CONSTANT_TESTS: dict[tuple[type[ast.cmpop], int], bool] = {
    (ast.GtE, 0): True,
    (ast.Gt, -1): True,
    (ast.NotEq, -1): True,
    (ast.Lt, 0): False,
    (ast.LtE, -1): False,
    (ast.Eq, -1): False,
}
"""What comparing something that is never negative with a number comes to."""


def constant_findings(source: PythonSource) -> Iterator[Finding]:
    """Yield the parts of an assertion that are constant, and the texts whose case can never match."""
    yield from _condition(source, source.expression.body, None)
    for node in source.nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _texts_in_one(source, node)
            yield from _case(source, node)


def _condition(source: PythonSource, node: ast.expr, parent: ast.BoolOp | None) -> Iterator[Finding]:
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield from _condition(source, operand, node)
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _condition(source, node.operand, None)
        return
    if isinstance(node, ast.GeneratorExp):
        yield _never_asked(source, node)
        return
    truth = _truth(node)
    if truth is None:
        if _looks_at_nothing(source, node):
            start, end = source.start(node), source.end(node)
            message = "This looks at nothing that the agent did, so it comes out the same in every trial."
            yield Finding("assertion-constant", start, end, message)
        return
    start, end = source.start(node), source.end(node)
    written = source.text[start:end]
    shown = written if len(written) <= 40 and "\n" not in written else "This"
    shown = f"`{shown}`" if shown != "This" else shown
    message = f"{shown} is always {str(truth).lower()}, whatever the agent does."
    rewrites: tuple[Rewrite, ...] = ()
    container = _container(source, parent, node) if parent is not None else None
    if container is not None:
        message = f"{shown} is always {str(truth).lower()}; every text needs an `in` of its own."
        changed = f"{source.text[:end]} {container}{source.text[end:]}"
        rewrites = (Rewrite(f"Write `{written} {container}`", (changed,), preferred=len(written) < 40),)
    elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and _is_text(node.elts[1]):
        # The second part of an `assert`.
        alone = f"{source.text[:start]}{source.segment(node.elts[0])}{source.text[end:]}"
        rewrites = (Rewrite("Delete the text behind the condition", (alone,)),)
    yield Finding("assertion-constant", start, end, message, rewrites)


def _never_asked(source: PythonSource, node: ast.GeneratorExp) -> Finding:
    start, end = source.start(node), source.end(node)
    rewrites = tuple(
        Rewrite(f"Write `{name}(…)`", (f"{source.text[:start]}{name}{source.text[start:]}",))
        for name in ("any", "all")
        if source.text[start] == "("
    )
    message = "A generator is always true, whatever it would give; ask `any(…)` or `all(…)` of it."
    return Finding("assertion-constant", start, end, message, rewrites)


def _looks_at_nothing(source: PythonSource, node: ast.expr) -> bool:
    """Whether a part uses no name but functions, and those that it binds itself."""
    if source.bound and any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
        # It may be there for the name, which later assertions see.
        return False
    return not resolve_names(ast.Expression(node), _FUNCTIONS).failing


def _truth(node: ast.expr) -> bool | None:
    match node:
        case ast.Name(id=name) if name in FUNCTION_NAMES:
            return True
        case ast.Attribute(value=ast.Name(id="re")):
            return True
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return None if any(isinstance(each, ast.Starred) for each in elements) else bool(elements)
        case ast.Dict(keys=keys):
            return None if None in keys else bool(keys)
        case ast.Lambda():
            return True
        case ast.JoinedStr(values=values):
            return True if any(isinstance(each, ast.Constant) and each.value for each in values) else None
        case ast.BinOp(left=ast.Constant(value=str(template)), op=ast.Mod()) if template.strip("%srd"):
            return True
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _compared(left, operator, right)
        case _:
            return None


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
    number = _number(right)
    if number is None or not _never_negative(left):
        return None
    return _CONSTANT_TESTS.get((type(operator), number))


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))) if not isinstance(
            value, bool
        ):
            return -value
        case _:
            return None


def _never_negative(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len")) | ast.Name(id="duration_ms"):
            return True
        case ast.Call(func=ast.Attribute(attr="count")):
            return True
        case _:
            return False


def _container(source: PythonSource, parent: ast.BoolOp, node: ast.expr) -> str | None:
    """Return the ``in …`` of the operand behind a text that was meant to have it too."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    behind = parent.values[parent.values.index(node) + 1 :]
    for other in (*behind, *parent.values):
        match other:
            case (
                ast.Compare(left=ast.Constant(value=str()), ops=[ast.In()])
                | ast.Compare(left=ast.Constant(value=str()), ops=[ast.NotIn()])
            ):
                return source.text[source.end(other.left) : source.end(other)].strip()
            case _:
                continue
    return None


def _texts_in_one(source: PythonSource, node: ast.Compare) -> Iterator[Finding]:
    """Yield texts with `or` or `and` between them before one `in`, which looks for one of them alone."""
    texts, operator = node.left, node.ops[0]
    if not isinstance(texts, ast.BoolOp) or not isinstance(operator, ast.In | ast.NotIn):
        return
    if not all(isinstance(each, ast.Constant) and each.value for each in texts.values):
        return
    is_or = isinstance(texts.op, ast.Or)
    start, end = source.start(texts), source.end(texts)
    taken = source.segment(texts.values[0 if is_or else -1])
    message = f"`{source.brief(texts)}` is always `{brief(taken)}`; every text needs an `in` of its own."
    rest = source.text[source.end(texts) : source.end(node)].lstrip(" )")
    # "Neither a nor b": what is not in it is not the one and not the other.
    word = "or" if is_or and isinstance(operator, ast.In) else "and"
    each_asked = f" {word} ".join(f"{source.segment(text)} {rest}" for text in texts.values)
    changed = f"{source.text[: source.start(node)]}({each_asked}){source.text[source.end(node) :]}"
    yield Finding(
        "assertion-constant", start, end, message, (Rewrite(f"Write `{brief(each_asked)}`", (changed,)),)
    )


def _case(source: PythonSource, node: ast.Compare) -> Iterator[Finding]:
    operator, right = node.ops[0], node.comparators[0]
    if isinstance(operator, ast.In | ast.NotIn):
        always = isinstance(operator, ast.NotIn)
        yield from _never(source, node.left, _whole_text(right), always=always)
        if isinstance(right, ast.List | ast.Tuple | ast.Set):
            # Another of them may be equal.
            for each in right.elts:
                yield from _never(source, each, node.left, always=False)
    elif isinstance(operator, ast.Eq | ast.NotEq):
        for text, changed in ((node.left, right), (right, node.left)):
            yield from _never(source, text, changed, always=isinstance(operator, ast.NotEq))


def _never(source: PythonSource, text: ast.expr, changed: ast.expr, *, always: bool) -> Iterator[Finding]:
    """Yield the text that cannot occur in one whose letters were all made small or capital."""
    method = _method_of_case(changed)
    if method is None or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return
    value, turned = text.value, _LOWERED[method](text.value)
    if value == turned:
        return
    start, end = source.start(text), source.end(text)
    outcome = "it never occurs there, so this is always true" if always else "it never occurs there"
    message = f"`{value[:40]}` is compared with text whose letters `.{method}()` has changed; {outcome}."
    written = _LOWERED[method](source.text[start:end])
    rewrites: tuple[Rewrite, ...] = ()
    if "\\" not in written and _value(written) == turned:
        again = f"{source.text[:start]}{written}{source.text[end:]}"
        rewrites = (Rewrite(f"Write `{written}`", (again,), preferred=len(written) < 40),)
    yield Finding("assertion-case", start, end, message, rewrites)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _whole_text(node: ast.expr) -> ast.expr:
    """Return the text that a list is the words or lines of; else what was given."""
    match node:
        case ast.Call(func=ast.Attribute(value=text, attr="split" | "splitlines" | "rsplit")):
            return text
        case _:
            return node


def _method_of_case(node: ast.expr) -> str | None:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _LOWERED and not node.args:
            return node.func.attr
        if node.func.attr not in _CASE_KEPT:
            return None
        node = node.func.value
    return None


def _value(written: str) -> str | None:
    try:
        value = ast.literal_eval(written)
    except (SyntaxError, ValueError):
        return None
    return value if isinstance(value, str) else None
