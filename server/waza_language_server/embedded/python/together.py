"""Conditions that cannot all hold, of which one always holds, or that ask for something else than they say.

Told are only conditions on the very same expression, and that nothing in between can change. What may fail to
be evaluated is never said to be always true.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType

from waza_engine.frozen import frozen
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.python_source import PythonSource

_OPPOSITES: Mapping[type[ast.cmpop], type[ast.cmpop]] = MappingProxyType(
    {
        ast.Lt: ast.GtE,
        ast.GtE: ast.Lt,
        ast.Gt: ast.LtE,
        ast.LtE: ast.Gt,
        ast.Eq: ast.NotEq,
        ast.NotEq: ast.Eq,
        ast.In: ast.NotIn,
        ast.NotIn: ast.In,
    }
)
_TURNED: Mapping[type[ast.cmpop], type[ast.cmpop]] = MappingProxyType(
    {ast.GtE: ast.LtE, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}
)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SAFE_METHODS = frozenset({"casefold", "count", "find", "lower", "split", "splitlines", "strip", "upper"})
_ENDS = frozenset({"startswith", "endswith"})
_MOST_COMPARED = 40
"""Conditions between two `and`; of more only the first are compared."""


@frozen()
class _Fact:
    """What one condition says of an expression: how it compares with a constant, or whether it is true.

    ``about`` is the expression in Python's own form, ``node`` the condition that says it.
    """

    about: str
    operator: type[ast.cmpop] | None
    value: object
    node: ast.expr
    is_whole: bool = False
    """A value that counts things: between two neighbours of its kind there is none."""

    @property
    def opposite(self) -> _Fact:
        """What holds when this does not."""
        if self.operator is None:
            return _Fact(self.about, None, not self.value, self.node)
        return _Fact(self.about, _OPPOSITES[self.operator], self.value, self.node, self.is_whole)


def together_findings(source: PythonSource) -> Iterator[Finding]:
    """Yield the conditions of an expression that come out the same because of others beside them."""
    if source.bound:
        # A name may stand for something else in the next condition.
        return
    for node in source.nodes:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                yield from _never_all(source, values)
            case ast.BoolOp(op=ast.Or(), values=values):
                yield from _always_one(source, values)
            case ast.Compare(ops=[_, _, *_]):
                yield from _never_all(source, [node])
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                yield from _with_itself(source, node, left, operator, right)
            case _:
                continue


def place_as_condition(source: PythonSource, node: ast.expr) -> Finding | None:
    """Return the finding for a place in a text that is taken for a condition: neither -1 nor 0 says it."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=value, attr="find" | "rfind" | "index" | "rindex" as method),
            args=[wanted, *others],
            keywords=[],
        ):
            start, end = source.start(node), source.end(node)
        case _:
            return None
    is_plain = isinstance(wanted, ast.Constant | ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    written = f"{source.segment(wanted)} in {source.segment(value)}"
    rewrites: tuple[Rewrite, ...] = ()
    advice = "compare it with a number."
    if is_plain and not others and isinstance(value, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
        changed = f"{source.text[:start]}{written}{source.text[end:]}"
        rewrites = (Rewrite(f"Write `{written}`", (changed,), preferred=len(written) < 40),)
        advice = f"write `{written}`." if len(written) <= 60 and "\n" not in written else "ask with `in`."
    what = "-1 where nothing is found, which counts as true"
    if method.endswith("index"):
        what = "0 for what stands at the very beginning, which counts as false"
    return Finding("assertion-constant", start, end, f"`{method}` gives {what}; {advice}", rewrites)


def _never_all(source: PythonSource, conditions: list[ast.expr]) -> Iterator[Finding]:
    facts: list[_Fact] = []
    for condition in conditions[:_MOST_COMPARED]:
        for fact in _facts(condition):
            other = next((each for each in facts if _excludes([each, fact])), None)
            if other is None and _excludes([each for each in facts if each.about == fact.about] + [fact]):
                other = next(each for each in reversed(facts) if each.about == fact.about)
            if other is not None:
                yield _excluded(source, fact.node, other.node)
                return
            facts.append(fact)


def _excluded(source: PythonSource, node: ast.expr, other: ast.expr) -> Finding:
    start, end = source.start(node), source.end(node)
    shown, beside = _shown(source, node), _shown(source, other)
    message = "These comparisons never hold together, so this is never true."
    if node is not other:
        message = f"`{shown}` never holds together with `{beside}`, so this is never true."
    return Finding("assertion-constant", start, end, message)


def _always_one(source: PythonSource, conditions: list[ast.expr]) -> Iterator[Finding]:
    facts: list[_Fact] = []
    for condition in conditions[:_MOST_COMPARED]:
        found = [*_facts(condition)]
        if len(found) != 1 or _is_chain(condition) or not _is_safe(condition):
            continue
        fact = found[0].opposite
        other = next((each for each in facts if _excludes([each, fact])), None)
        if other is not None:
            start, end = source.start(condition), source.end(condition)
            shown, beside = _shown(source, condition), _shown(source, other.node)
            message = f"Either `{beside}` or `{shown}` always holds, so this is always true."
            yield Finding("assertion-constant", start, end, message)
            return
        facts.append(fact)


def _with_itself(
    source: PythonSource, node: ast.Compare, left: ast.expr, operator: ast.cmpop, right: ast.expr
) -> Iterator[Finding]:
    if isinstance(operator, ast.Is | ast.IsNot) and _is_text(right) and not _is_text(left):
        yield _identity(source, node, left, operator, right)
        return
    if isinstance(operator, ast.In | ast.NotIn) or type(left) is not type(right):
        return
    if isinstance(left, ast.Constant) or ast.dump(left) != ast.dump(right) or not _is_safe(left):
        return
    outcome = "always" if isinstance(operator, ast.Eq | ast.LtE | ast.GtE | ast.Is) else "never"
    start, end = source.start(node), source.end(node)
    message = f"This compares `{_shown(source, left)}` with itself, so it is {outcome} true."
    yield Finding("assertion-constant", start, end, message)


def _is_text(node: ast.expr) -> bool:
    """Whether a node is a text of which Python keeps no single copy."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 1


def _identity(
    source: PythonSource, node: ast.Compare, left: ast.expr, operator: ast.cmpop, right: ast.expr
) -> Finding:
    sign, word = ("==", "is") if isinstance(operator, ast.Is) else ("!=", "is not")
    start, end = source.start(node), source.end(node)
    changed = f"{source.text[: source.end(left)]} {sign} {source.text[source.start(right) :]}"
    message = f"`{word}` asks for the very same text in memory and not for an equal one; write `{sign}`."
    rewrites: tuple[Rewrite, ...] = ()
    if not {"(", ")"} & set(source.text[source.end(left) : source.start(right)]):
        rewrites = (Rewrite(f"Write `{sign}`", (changed,), preferred=True),)
    return Finding("assertion-constant", start, end, message, rewrites)


def _facts(node: ast.expr) -> Iterator[_Fact]:
    """Yield what holds whenever a condition does."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = [*_facts(operand)]
            if len(found) == 1 and not _is_chain(operand):
                only = found[0]
                yield _Fact(only.about, only.operator, only.value, node, only.is_whole).opposite
        case ast.Compare(left=left, ops=operators, comparators=rights):
            for operator, (one, other) in zip(operators, pairwise((left, *rights)), strict=True):
                yield from _compared(node, one, type(operator), other)
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=[ast.Constant(value=str(text))]) if (
            method in _ENDS and not node.keywords
        ):
            yield _Fact(f"{method} {ast.dump(value)}", ast.Eq, text, node)
        case ast.Name() | ast.Call() | ast.Attribute() | ast.Subscript():
            yield _Fact(ast.dump(node), None, value=True, node=node)
        case _:
            return


def _compared(
    node: ast.Compare, one: ast.expr, operator: type[ast.cmpop], other: ast.expr
) -> Iterator[_Fact]:
    if operator in {ast.In, ast.NotIn}:
        yield _Fact(f"{ast.dump(one)} in {ast.dump(other)}", None, operator is ast.In, node)
        return
    value, about = _constant(other), one
    if value is None and operator in _TURNED:
        value, about, operator = _constant(one), other, _TURNED[operator]
    if value is None or operator not in _OPPOSITES or isinstance(about, ast.Constant):
        return
    yield _Fact(ast.dump(about), operator, value, node, _is_whole(about))


def _constant(node: ast.expr) -> int | float | str | None:
    match node:
        case ast.Constant(value=int() | float() | str() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if not (
            isinstance(value, bool)
        ):
            return -value
        case _:
            return None


def _excludes(facts: list[_Fact]) -> bool:
    """Whether facts about one expression cannot all hold."""
    first = facts[0]
    if len(facts) < 2 or any(each.about != first.about for each in facts):
        return False
    if any(each.operator is None for each in facts):
        return all(each.operator is None for each in facts) and len({bool(each.value) for each in facts}) > 1
    texts = [each for each in facts if isinstance(each.value, str)]
    if texts:
        return len(texts) == len(facts) and _texts_exclude(texts)
    return _numbers_exclude(facts)


def _texts_exclude(facts: list[_Fact]) -> bool:
    same = {each.value for each in facts if each.operator is ast.Eq}
    end = facts[0].about.partition(" ")[0]
    if end in _ENDS:
        # The other begins with one of them, too.
        texts = sorted((str(each) for each in same), key=len)
        shorter, longer = texts[0] if texts else "", texts[-1] if texts else ""
        if facts[0].operator is not ast.Eq or any(each.operator is not ast.Eq for each in facts):
            return any(each.operator is ast.NotEq and each.value in same for each in facts)
        return not (longer.startswith(shorter) if end == "startswith" else longer.endswith(shorter))
    return len(same) > 1 or any(each.operator is ast.NotEq and each.value in same for each in facts)


def _numbers_exclude(facts: list[_Fact]) -> bool:
    low, high = float("-inf"), float("inf")
    low_open = high_open = False
    refused: set[float] = set()
    for each in facts:
        value = each.value
        if not isinstance(value, int | float) or abs(value) > 2**53:
            return False
        if each.operator is ast.NotEq:
            refused.add(value)
        if each.operator in {ast.Gt, ast.GtE, ast.Eq} and (value, each.operator is ast.Gt) > (low, low_open):
            low, low_open = value, each.operator is ast.Gt
        if each.operator in {ast.Lt, ast.LtE, ast.Eq} and (-value, each.operator is ast.Lt) > (
            -high,
            high_open,
        ):
            high, high_open = value, each.operator is ast.Lt
    if low > high or (low == high and (low_open or high_open or low in refused)):
        return True
    whole = facts[0].is_whole and low_open and high_open and float(low).is_integer()
    return whole and high <= low + 1


def _is_chain(node: ast.expr) -> bool:
    """Whether a comparison says more than one thing, so that less is known when it does not hold."""
    return isinstance(node, ast.Compare) and len(node.ops) > 1


def _is_whole(node: ast.expr) -> bool:
    match node:
        case (
            ast.Call(func=ast.Name(id="len")) | ast.Call(func=ast.Attribute(attr="count" | "find" | "rfind"))
        ):
            return True
        case _:
            return isinstance(node, ast.Name) and node.id == "duration_ms"


def _is_safe(node: ast.expr) -> bool:
    """Whether an expression can be evaluated whatever the agent did."""
    match node:
        case ast.Constant() | ast.Name():
            return True
        case ast.Call(func=ast.Name(id="len" | "bool" | "str"), args=[only], keywords=[]):
            return _is_safe(only)
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=arguments, keywords=[]):
            is_known = method in _SAFE_METHODS or method in _ENDS
            return is_known and _is_safe(value) and all(isinstance(each, ast.Constant) for each in arguments)
        case ast.Compare(left=left, comparators=rights):
            return _is_safe(left) and all(map(_is_safe, rights))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_safe(operand)
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case _:
            return False


def _shown(source: PythonSource, node: ast.expr) -> str:
    written = " ".join(source.segment(node).split())
    return written if len(written) <= 60 else f"{written[:59]}…"
