"""Comparisons and calls with values of wrong types: a number compared with a string, an invalid pattern.

Only if the types of the values are certain; an expression that may work in some run is not reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import ModuleType

from waza_engine.assertions.names import RE_FLAGS, RE_FUNCTIONS, RE_TYPES, is_refused_member
from waza_engine.spec.pattern_syntax import PatternSyntaxError, check_python_syntax
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.inference import Types, infer
from waza_language_server.embedded.python.members import EVENT, RE, TEXT, TOOL_CALL, ValueType, is_number
from waza_language_server.embedded.python.python_source import PythonSource
from waza_language_server.spelling import nearest

_ORDERED = frozenset({str, list, tuple, set, bytes})
_SIZED = frozenset({str, list, tuple, set, dict})
_NO_CONTAINERS = frozenset({int, float, bool, re.Match, type(None)})
_SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_NAMES_OF_RE: frozenset[str] = RE_FUNCTIONS | RE_FLAGS | RE_TYPES
_WITH_PATTERN = RE_FUNCTIONS - {"escape"}


def comparison_findings(source: PythonSource, node: ast.AST, names: Types) -> Iterator[Finding]:
    """Yield the first comparison in a node that fails, or has the same result for all values."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        yield from _joined(source, node, names)
    if not isinstance(node, ast.Compare):
        return
    sides = [node.left, *node.comparators]
    for at, operator in enumerate(node.ops):
        left, right = sides[at], sides[at + 1]
        types = infer(left, names), infer(right, names)
        if types[0] is None or types[1] is None:
            continue
        # The comparison includes the brackets around its first and last side; the sides do not.
        start = source.start(node if at == 0 else left)
        end = source.end(node if right is sides[-1] else right)
        finding = _compared(source, left, operator, right, (types[0], types[1]), (start, end))
        if finding is not None:
            yield finding
            return


def call_findings(source: PythonSource, call: ast.Call, names: Types) -> Iterator[Finding]:
    """Yield the problems of the first argument of a call."""
    match call:
        case ast.Call(func=ast.Name(id="int" | "float" as name), args=[ast.Constant(value=str(written))]) if (
            name not in names
        ):
            try:
                float(written) if name == "float" else int(written)
            except ValueError:
                yield _failing(source, call.args[0], f"`{source.brief(call.args[0])}` is no number")
        case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]) if "len" not in names:
            kind = infer(argument, names)
            if kind is not None and kind.python not in _SIZED | {bytes}:
                yield _failing(
                    source, argument, f"`{source.brief(argument)}` is {kind.title}, without a length"
                )
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="re"), attr=name),
            args=[ast.Constant(value=str()) as pattern, *_],
        ) if name in _WITH_PATTERN and names.get("re") is RE:
            yield from _pattern(source, pattern)
        case _:
            return


def unknown_of_re(source: PythonSource, node: ast.Attribute) -> Finding | None:
    """Return a finding for a function that ``re`` does not have, or that assertions may not use."""
    end = source.end(node)
    start = end - len(node.attr)
    if node.attr in _NAMES_OF_RE or source.text[start:end] != node.attr:
        return None
    if is_refused_member(ModuleType, node.attr):
        message = f"This engine refuses `re.{node.attr}`; upstream evaluates it."
        return Finding("assertion-internal", start, end, message)
    intended = nearest(node.attr, sorted(_NAMES_OF_RE))
    if intended is None:
        message = f"There is no `{node.attr}` in `re`; it has `search`, `findall` and `sub`, for example."
        return Finding("assertion-attribute", start, end, message)
    message = f"There is no `{node.attr}` in `re`; did you mean `{intended}`?"
    rewrite = source.rewrite((start, end), intended, f"Change to `{intended}`")
    return source.finding("assertion-attribute", (start, end), message, rewrite)


def _joined(source: PythonSource, node: ast.BinOp, names: Types) -> Iterator[Finding]:
    """Yield ``&`` and ``|`` next to strings, which bind more tightly than the comparisons around them."""
    if infer(node.left, names) != TEXT and infer(node.right, names) != TEXT:
        return
    sign, word = ("&", "and") if isinstance(node.op, ast.BitAnd) else ("|", "or")
    at = source.text.find(sign, source.end(node.left), source.start(node.right))
    message = (
        f"`{sign}` joins numbers and not conditions, for which there is `{word}`; that fails the assertion."
    )
    rewrite = source.rewrite((at, at + 1), word, preferred=True)
    yield source.finding("assertion-type", (at, at + 1), message, rewrite)


def _compared(
    source: PythonSource,
    left: ast.expr,
    operator: ast.cmpop,
    right: ast.expr,
    types: tuple[ValueType, ValueType],
    place: tuple[int, int],
) -> Finding | None:
    one, other = types
    are_alike = _family(one) is _family(other)
    both = f"`{source.brief(left)}` is {one.title} and `{source.brief(right)}` is {other.title}"
    rewrites = _of_one_type(source, (left, right), types)
    if isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        if are_alike and (is_number(one) or one.python in _ORDERED):
            return None
        message = f"{both}; `{_SIGNS[type(operator)]}` cannot compare them, which fails the assertion."
        return Finding("assertion-type", *place, message, rewrites)
    if not isinstance(operator, ast.In | ast.NotIn):
        is_identity = isinstance(operator, ast.Is | ast.IsNot)
        if are_alike or is_identity or type(None) in {one.python, other.python}:
            return None
        outcome = "true" if isinstance(operator, ast.NotEq) else "false"
        message = f"{both}; they are never equal, so this is always {outcome}."
        return Finding("assertion-constant", *place, message, rewrites)
    if other.python in _NO_CONTAINERS:
        what = f"`{source.brief(right)}` is {other.title}, in which nothing can be"
        return Finding("assertion-type", *place, f"{what}; that fails the assertion.")
    if other.python is str and one.python is not str:
        message = f"{both}; only text can be in a text, and this fails the assertion."
        return Finding("assertion-type", *place, message)
    if other.python is not list or other.item not in (TOOL_CALL, EVENT) or one.python is not str:
        return None
    outcome = "true" if isinstance(operator, ast.NotIn) else "false"
    items = "tool calls" if other.item is TOOL_CALL else "events"
    message = (
        f"The items of `{source.brief(right)}` are {items}, each a dict, of which "
        f"`{source.brief(left)}` is none, so this is always {outcome}."
    )
    written = source.segment(right)
    new = f"[call['name'] for call in {written}]" if other.item is TOOL_CALL else f"str({written})"
    title = "Look for it in the names" if other.item is TOOL_CALL else f"Look for it in `{new}`"
    return source.finding("assertion-constant", place, message, source.rewrite(right, new, title))


def _of_one_type(
    source: PythonSource, sides: tuple[ast.expr, ast.expr], types: tuple[ValueType, ValueType]
) -> tuple[Rewrite, ...]:
    """Compare the length of a value with a number, or write the number that a string contains."""
    for side, mine, other in zip(sides, types, reversed(types), strict=True):
        if other.python not in {int, float}:
            continue
        if isinstance(side, ast.Constant) and isinstance(side.value, str):
            number = side.value.strip()
            if number.isdecimal() and number.isascii():
                return (source.rewrite(side, number, preferred=True),)
        elif mine.python in _SIZED:
            return (source.rewrite(side, f"len({source.segment(side)})"),)
    return ()


def _pattern(source: PythonSource, node: ast.Constant) -> Iterator[Finding]:
    written = source.segment(node)
    try:
        check_python_syntax(str(node.value))
    except PatternSyntaxError as error:
        yield source.finding("invalid-pattern", node, f"This regular expression is invalid: {error}.")
        return
    # In double quotes of YAML it is a backspace already, in Python's quotes it becomes one.
    if "\\\\" in written or "\b" not in f"{node.value}":
        return
    new = written.replace("\b", "\\b")
    new = new if written[0] not in "\"'" else f"r{new}"
    message = "`\\b` is a backspace here, and is meant as the edge of a word."
    yield source.finding("assertion-constant", node, message, source.rewrite(node, new, preferred=True))


def _family(kind: ValueType) -> type | None:
    return int if is_number(kind) else kind.python


def _failing(source: PythonSource, node: ast.expr, what: str) -> Finding:
    return source.finding("assertion-type", node, f"{what}; that fails the assertion.")
