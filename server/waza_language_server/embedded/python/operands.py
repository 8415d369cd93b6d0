"""Operations whose values never fit: text above a number, texts joined by ``&``, a search in a number.

Only where the kinds of both sides are certain; what can work in some run is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.kinds import (
    CALL,
    EVENT,
    MATCH,
    NOTHING,
    NUMBER,
    TEXT,
    Kind,
    Kinds,
    is_number,
    kind_of,
)
from waza_language_server.embedded.python.python_source import PythonFault, PythonSource, brief, parse_python

_SIGNS: dict[type[ast.operator | ast.cmpop], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_ORDERED = (str, list, tuple, set, bytes)
_SIZED = (str, list, tuple, set, dict)
_JOINING: dict[type[ast.operator], str] = {ast.BitAnd: "and", ast.BitOr: "or"}


def comparison_findings(source: PythonSource, node: ast.Compare, names: Kinds) -> Iterator[Finding]:
    """Yield the first comparison of a chain that fails, or comes out the same, whatever is compared."""
    sides = [node.left, *node.comparators]
    for before, between in zip(sides, node.comparators[:-1], strict=False):
        if (joined := _joined(source, before, between, names)) is not None:
            yield joined
            return
    for at, operator in enumerate(node.ops):
        left, right = sides[at], sides[at + 1]
        kinds = kind_of(left, names), kind_of(right, names)
        if kinds[0] is None or kinds[1] is None:
            continue
        # A comparison knows of the brackets around its sides, a side does not.
        ends = (node if at == 0 else left, node if right is sides[-1] else right)
        compared = _Compared(source, left, operator, right, (kinds[0], kinds[1]), ends)
        finding = None
        if isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            finding = compared.in_order()
        elif isinstance(operator, ast.In | ast.NotIn):
            finding = compared.inside()
        elif at and _is_truth(right) and (not is_number(kinds[0]) or isinstance(left, ast.Constant)):
            finding = _chained(source, node, at)
        else:
            finding = compared.equal()
        if finding is not None:
            yield finding
            return


def operation_findings(source: PythonSource, node: ast.BinOp, names: Kinds) -> Iterator[Finding]:
    """Yield an operation that fails whatever its values are."""
    left, right = kind_of(node.left, names), kind_of(node.right, names)
    sign = _SIGNS.get(type(node.op))
    if left is None or right is None or sign is None or _works(node.op, left, right):
        return
    start, end = source.end(node.left), source.start(node.right)
    at = source.text.find(sign, start, end)
    what = f"`{source.brief(node.left)}` is {left.title} and `{source.brief(node.right)}` {right.title}"
    rewrites: tuple[Rewrite, ...] = ()
    word = _JOINING.get(type(node.op))
    if word is not None and at >= 0:
        what = f"`{sign}` joins numbers and not conditions, for which there is `{word}`"
        changed = f"{source.text[:at]}{word}{source.text[at + len(sign) :]}"
        if not isinstance(parse_python(changed), PythonFault):
            rewrites = (Rewrite(f"Write `{word}`", (changed,), preferred=True),)
        message = f"{what}; that fails the assertion."
    else:
        message = f"{what}; `{sign}` does not work with them, which fails the assertion."
    if at < 0:
        at, sign = source.start(node), source.segment(node)
    yield Finding("assertion-type", at, at + len(sign), message, rewrites)


class _Compared:
    """Two values of known kinds and what compares them."""

    def __init__(
        self,
        source: PythonSource,
        left: ast.expr,
        operator: ast.cmpop,
        right: ast.expr,
        kinds: tuple[Kind, Kind],
        ends: tuple[ast.expr, ast.expr],
    ) -> None:
        self._source = source
        self._left, self._operator, self._right = left, operator, right
        self._kinds = kinds
        self._ends = ends

    @cached_property
    def _start(self) -> int:
        return self._source.start(self._ends[0])

    @cached_property
    def _end(self) -> int:
        return self._source.end(self._ends[1])

    def in_order(self) -> Finding | None:
        """Return a finding for values that have no order."""
        left, right = self._kinds
        if _family(left) is _family(right) and (is_number(left) or left.owner in _ORDERED):
            return None
        sign = _SIGNS[type(self._operator)]
        message = f"{self._kinds_in_words()}; `{sign}` cannot compare them, which fails the assertion."
        return self._finding("assertion-type", message, self._of_one_kind())

    def equal(self) -> Finding | None:
        """Return a finding for values that are never equal."""
        left, right = self._kinds
        if _family(left) is _family(right) or NOTHING in self._kinds:
            return None
        if MATCH in self._kinds and any(map(_is_truth, (self._left, self._right))):
            return self._finding("assertion-constant", self._never(), self._truth_of_match())
        if isinstance(self._operator, ast.Is | ast.IsNot) and not any(
            map(_is_truth, (self._left, self._right))
        ):
            return None
        return self._finding("assertion-constant", self._never(), self._of_one_kind())

    def inside(self) -> Finding | None:
        """Return a finding for a value that cannot be looked into, or never holds the other."""
        left, right = self._kinds
        if is_number(right) or right in (MATCH, NOTHING):
            what = f"`{self._source.brief(self._right)}` is {right.title}, in which nothing can be"
            message = f"{what}; that fails the assertion."
            return self._finding("assertion-type", message, ())
        if right is TEXT and left is not TEXT:
            message = f"{self._kinds_in_words()}; only text can be in a text, and this fails the assertion."
            return self._finding("assertion-type", message, self._as_text())
        item = right.item if right.owner is list else None
        if item is None or NOTHING in (left, item) or _family(left) is _family(item):
            return None
        outcome = "true" if isinstance(self._operator, ast.NotIn) else "false"
        message = (
            f"The items of `{self._source.brief(self._right)}` are {_plural(item)}, of which "
            f"`{self._source.brief(self._left)}` is none, so this is always {outcome}."
        )
        return self._finding("assertion-constant", message, self._among(item))

    def _finding(self, code: str, message: str, rewrites: tuple[Rewrite, ...]) -> Finding:
        return Finding(code, self._start, self._end, message, rewrites)

    def _kinds_in_words(self) -> str:
        left, right = self._kinds
        return (
            f"`{self._source.brief(self._left)}` is {left.title} and `{self._source.brief(self._right)}` "
            f"is {right.title}"
        )

    def _never(self) -> str:
        outcome = "true" if isinstance(self._operator, ast.NotEq | ast.IsNot) else "false"
        return f"{self._kinds_in_words()}; they are never equal, so this is always {outcome}."

    def _of_one_kind(self) -> tuple[Rewrite, ...]:
        """Write the length of what is compared with a number, or the number that a text is."""
        found: list[Rewrite] = []
        for mine, other in ((self._left, self._kinds[1]), (self._right, self._kinds[0])):
            if not is_number(other):
                continue
            if isinstance(mine, ast.Constant) and isinstance(mine.value, str):
                if mine.value.strip().isdecimal() and mine.value.isascii():
                    found.append(self._written(mine, mine.value.strip(), preferred=True))
            elif self._kinds[mine is self._right].owner in _SIZED and not _is_truth(
                self._right if mine is self._left else self._left
            ):
                found.append(self._written(mine, f"len({self._source.segment(mine)})"))
        return tuple(found)

    def _truth_of_match(self) -> tuple[Rewrite, ...]:
        """Leave out a comparison of a match with true: it counts as true by itself."""
        value = self._right.value if isinstance(self._right, ast.Constant) else None
        wanted = value is not isinstance(self._operator, ast.NotEq | ast.IsNot)
        if not isinstance(value, bool):
            return ()
        text = self._source.text[self._start : self._source.end(self._left)]
        text += ")" * (text.count("(") - text.count(")"))
        new = text if wanted else f"not {text}"
        changed = f"{self._source.text[: self._start]}{new}{self._source.text[self._end :]}"
        return (Rewrite(f"Write `{brief(new)}`", (changed,), preferred=True),) if _parses(changed) else ()

    def _as_text(self) -> tuple[Rewrite, ...]:
        if isinstance(self._left, ast.Constant) and isinstance(self._left.value, int | float):
            return (self._written(self._left, f"'{self._source.segment(self._left)}'"),)
        return ()

    def _among(self, item: Kind) -> tuple[Rewrite, ...]:
        """Look into the tool calls or events of a list, where a text is looked for among them."""
        if self._kinds[0] is not TEXT or not isinstance(self._right, ast.Name):
            return ()
        listed = self._source.segment(self._right)
        if item is CALL:
            return (self._written(self._right, f"[call['name'] for call in {listed}]"),)
        return (self._written(self._right, f"str({listed})"),) if item is EVENT else ()

    def _written(self, node: ast.expr, new: str, *, preferred: bool = False) -> Rewrite:
        text = self._source.text
        changed = f"{text[: self._source.start(node)]}{new}{text[self._source.end(node) :]}"
        return Rewrite(f"Write `{brief(new)}`", (changed,), preferred=preferred)


def _chained(source: PythonSource, node: ast.Compare, at: int) -> Finding | None:
    """Return a finding for ``'x' in output == True``, which compares the output with true."""
    if isinstance(node.ops[at - 1], ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        return None
    start, end = source.end(node.comparators[at - 1]), source.end(node.comparators[at])
    compared = source.text[source.start(node.comparators[at - 1]) : end]
    behind = node.comparators[at]
    is_true = isinstance(behind, ast.Constant) and behind.value is True
    asks_true = is_true is isinstance(node.ops[at], ast.Eq | ast.Is)
    rewrites: tuple[Rewrite, ...] = ()
    if asks_true and len(node.ops) == at + 1:
        changed = source.text[:start] + source.text[end:]
        rewrites = (Rewrite(f"Leave out `{source.text[start:end].strip()}`", (changed,), preferred=True),)
    before = node.comparators[at - 1]
    is_equal = (
        isinstance(before, ast.Constant) and isinstance(behind, ast.Constant) and before.value == behind.value
    )
    outcome = "true" if is_equal is isinstance(node.ops[at], ast.Eq | ast.Is) else "false"
    message = f"Comparisons form a chain: this asks `{brief(compared)}`, too, which is always {outcome}."
    return Finding("assertion-constant", start + _blanks(source.text[start:end]), end, message, rewrites)


def _joined(source: PythonSource, before: ast.expr, node: ast.expr, names: Kinds) -> Finding | None:
    """Return a finding for ``len(output) > 0 & len(output) < 9``, which compares with ``0 & len(output)``."""
    word = _JOINING.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if word is None or not isinstance(node, ast.BinOp):
        return None
    kinds = [kind_of(side, names) for side in (node.left, node.right)]
    are_numbers = all(kind is not None and is_number(kind) for kind in kinds)
    if not are_numbers or "(" in source.text[source.end(before) : source.start(node)]:
        return None
    sign = _SIGNS[type(node.op)]
    at = source.text.find(sign, source.end(node.left), source.start(node.right))
    changed = f"{source.text[:at]}{word}{source.text[at + 1 :]}"
    message = f"`{sign}` joins the numbers beside it before they are compared; write `{word}`."
    return Finding("assertion-type", at, at + 1, message, (Rewrite(f"Write `{word}`", (changed,)),))


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip())


def _works(operator: ast.operator, left: Kind, right: Kind) -> bool:
    numbers = is_number(left), is_number(right)
    if all(numbers):
        return True
    alike = left.owner is right.owner
    match operator:
        case ast.Add():
            return alike and left.owner in (str, list, tuple, bytes)
        case ast.Sub():
            return alike and left.owner is set
        case ast.Mult():
            return any(numbers) and any(kind.owner in (str, list, tuple, bytes) for kind in (left, right))
        case ast.Mod():
            return left.owner in (str, bytes)
        case ast.BitAnd() | ast.BitOr():
            # The keys of dicts are like sets, and two dicts can be one.
            return left.owner not in (str, list) and right.owner not in (str, list) and not any(numbers)
        case _:
            return False


def _family(kind: Kind) -> type:
    return NUMBER.owner if is_number(kind) else kind.owner


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _plural(kind: Kind) -> str:
    return {CALL: "tool calls, each a dict", EVENT: "events, each a dict"}.get(kind, f"each {kind.title}")


def _parses(text: str) -> bool:
    return not isinstance(parse_python(text), PythonFault)
