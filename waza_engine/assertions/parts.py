"""The parts of an assertion, and their values as it is evaluated.

The worker imports it, in a process that has nothing but Python's own library.
"""

from __future__ import annotations

import ast
import re
import reprlib
import types
from typing import Any, cast

from waza_engine.assertions.assertion_syntax import check_expression, parse_expression
from waza_engine.assertions.interpreter import Expression

VALUE_CHARACTERS = 120
MOST_VALUES = 20
MOST_ITEMS = 4
MOST_OBSERVED = 3
OBSERVED_CHARACTERS = 40
LONGEST_OBSERVED = 2_000
"""The length in characters of the longest assertion that is analyzed by default: longer ones take long."""
_DESCRIBED_CHARACTERS = 500
_UNTOLD = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.GeneratorType, type)
_CHANGING = (
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
)
"""The methods that change a list or a dict."""
_PLAIN = (ast.Constant, ast.Starred, ast.Slice, ast.Lambda, ast.GeneratorExp)
_SHOWN = reprlib.Repr()
_SHOWN.maxlist = _SHOWN.maxtuple = _SHOWN.maxdict = _SHOWN.maxset = MOST_ITEMS
_SHOWN.maxstring = _SHOWN.maxother = 60
_SHOWN.maxlevel = 3


class Parts:
    """The parts of an expression, and their values as it is evaluated: once, in its own order.

    The interpreter hands the value of each part to ``note``.
    """

    def __init__(self) -> None:
        self._source = ""
        self._places: list[tuple[int, int, int, int]] = []
        self._texts: list[str] = []
        self._values: dict[int, Any] = {}
        self._counts: dict[int, int] = {}
        self._chain: list[int] = []
        self._last = -1
        self._expression: Expression | None = None
        self._numbers: dict[ast.expr, int] = {}
        self._is_all = False
        self._targets: set[str] = set()
        self._untold: set[int] = set()

    def watched(self, text: str) -> Expression:
        """Return the expression, which notes its parts from here on."""
        self._values.clear()
        self._counts.clear()
        self._last = -1
        self._expression = self._expression or self._read(text.lstrip(" \t"))
        return self._expression

    def _read(self, text: str) -> Expression:
        self._source = text
        tree = parse_expression(text)
        scopes = check_expression(tree)
        inner = tree.body
        while isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            inner = inner.operand
        self._targets = _targets(tree)
        self._is_all = isinstance(tree.body, ast.BoolOp) and isinstance(tree.body.op, ast.And)
        self._number(tree.body, set(_clauses(inner)))
        return Expression(tree, scopes, self._numbers)

    def note(self, number: int, value: Any) -> Any:
        """Store the value of a part, and return it."""
        self._values[number] = value
        self._counts[number] = self._counts.get(number, 0) + 1
        if number in self._chain:
            self._last = number
        return value

    def as_answer(self) -> dict[str, Any]:
        """Return ``values``, pairs of a part and its value, and ``decided`` (``evaluator.py``)."""
        shown: dict[str, str] = {}
        order = sorted(self._values, key=lambda number: self._places[number])
        for number in order:
            value = self._values[number]
            whole = self._texts[number].strip() == self._source.strip()
            if type(value) in _UNTOLD or (whole and isinstance(value, bool)):
                continue
            count = self._counts[number]
            text = _value(value) + (f", the last of {count:,}" if count > 1 else "")
            shown.setdefault(" ".join(self._texts[number].split())[:VALUE_CHARACTERS], text)
        decided = self._texts[self._last] if self._last >= 0 else None
        return {"values": list(shown.items())[:MOST_VALUES], "decided": decided}

    def observed(self) -> list[tuple[str, str]]:
        """Return the largest short parts with short values, in the clause that decided a chain of `and`s.

        The stored values are cleared.
        """
        within = self._texts[self._last] if self._is_all and self._last >= 0 else self._source
        shown: dict[str, str] = {}
        for number in sorted(self._values, key=lambda number: self._places[number]):
            text, value = self._texts[number], self._values[number]
            if number in self._untold or text not in within or not _is_short(value):
                continue
            text = " ".join(text.split())
            if len(text) <= OBSERVED_CHARACTERS and not any(text in part for part in shown):
                shown[text] = repr(value)
        self._values.clear()
        return list(shown.items())[:MOST_OBSERVED]

    def _number(self, node: ast.AST, chained: set[ast.expr]) -> None:
        """Give numbers to a part, unless its value is written there, and to the parts of it."""
        if isinstance(node, ast.expr):
            names = any(isinstance(each, ast.Name) for each in ast.walk(node))
            is_plain = isinstance(node, _PLAIN) or not names
            if not is_plain or node in chained:
                self._add(node, chained)
        self._descend(node, chained)

    def _descend(self, node: ast.AST, chained: set[ast.expr]) -> None:
        if isinstance(node, ast.Lambda | ast.JoinedStr):
            return
        for name, child in ast.iter_fields(node):
            if isinstance(node, ast.Call) and name == "func":
                # The value that a method is called on is shown, the method itself is not.
                self._descend(child, chained)
            elif name != "target":
                children = cast("list[Any]", child if isinstance(child, list) else [child])
                for each in children:
                    if isinstance(each, ast.AST):
                        self._number(each, chained)

    def _add(self, node: ast.expr, chained: set[ast.expr]) -> None:
        number = self._numbers[node] = len(self._texts)
        self._texts.append(ast.get_source_segment(self._source, node) or "")
        self._places.append(
            (node.lineno, node.col_offset, -(node.end_lineno or 0), -(node.end_col_offset or 0))
        )
        if node in chained:
            self._chain.append(number)
        outer = self._targets - _targets(node)
        in_loop = any(isinstance(each, ast.Name) and each.id in outer for each in ast.walk(node))
        if in_loop or isinstance(node, ast.BoolOp):
            self._untold.add(number)


def is_repeatable(text: str) -> bool:
    """Return whether an assertion can be evaluated again, soon, and changes nothing by that."""
    if len(text) > LONGEST_OBSERVED:
        return False
    try:
        nodes = ast.walk(parse_expression(text))
        return not any(
            isinstance(node, ast.NamedExpr)
            or (isinstance(node, ast.Attribute) and (node.attr in _CHANGING or node.attr.startswith("__")))
            for node in nodes
        )
    except Exception:  # noqa: BLE001 - what cannot be read is not evaluated
        return True


def _targets(node: ast.AST) -> set[str]:
    """Return the names that loops within an expression bind."""
    loops = (each for each in ast.walk(node) if isinstance(each, ast.comprehension))
    return {name.id for loop in loops for name in ast.walk(loop.target) if isinstance(name, ast.Name)}


def _clauses(node: ast.expr) -> list[ast.expr]:
    """Return the clauses of a chain of ``and`` and ``or``, those of chains within it in their place."""
    if not isinstance(node, ast.BoolOp):
        return []
    return [part for clause in node.values for part in (_clauses(clause) or [clause])]


def _value(value: Any) -> str:
    """Return a value in a few characters, with its size when they do not show all of it."""
    kind: Any = value.__class__
    try:
        if kind is str:
            cut = repr(value[:VALUE_CHARACTERS])
            return cut if len(value) <= VALUE_CHARACTERS else f"{cut}… ({len(value):,} characters)"
        if kind is int and abs(value) >= 1000:
            return f"{value:,}"
        if kind is re.Match:
            return f"match {value.group()[:VALUE_CHARACTERS]!r} at character {value.start() + 1:,}"
        if kind in (list, tuple, dict, set):
            shown = _SHOWN.repr(value)
            return shown if len(value) <= MOST_ITEMS else f"{shown} ({len(value):,} items)"
        return repr(value)[:_DESCRIBED_CHARACTERS]
    except Exception:  # noqa: BLE001 - a value may fail to describe itself
        return kind.__name__


def _is_short(value: Any) -> bool:
    """Return whether a value is short and more informative than true or false."""
    kind: Any = value.__class__
    if kind in (list, tuple):
        return len(value) <= MOST_ITEMS and sum(map(_characters_of, value)) <= OBSERVED_CHARACTERS
    return _characters_of(value) <= OBSERVED_CHARACTERS and kind is not bool


def _characters_of(value: Any) -> int:
    """Return about how many characters a value takes, many when it is not a plain one."""
    kind: Any = value.__class__
    if kind is str:
        return len(value)
    if kind is int:
        return value.bit_length() // 3
    return 5 if kind in (float, bool, type(None)) or (kind is dict and not value) else OBSERVED_CHARACTERS + 1
