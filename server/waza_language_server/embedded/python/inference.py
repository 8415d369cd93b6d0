"""Which type a part of an assertion has, as far as that can be told without evaluating it."""

from __future__ import annotations

import ast
import keyword
import warnings
from collections.abc import Iterator, Mapping, Sequence

from waza_engine.assertions.syntax import parse_expression
from waza_language_server.embedded.python.members import (
    BOOL,
    CONTEXT_TYPES,
    DICT,
    FLOAT,
    FUNCTIONS,
    INT,
    TEXT,
    TUPLE,
    ValueType,
    list_of,
    members_of,
)
from waza_language_server.embedded.python.python_source import Token

_OPENERS = {")": "(", "]": "[", "}": "{"}
_ENDS = frozenset({"if", "for", "else", "and", "or"})
_DISPLAYED = (
    (ast.JoinedStr, TEXT),
    (ast.Compare, BOOL),
    (ast.Dict | ast.DictComp, DICT),
    (ast.Tuple, TUPLE),
)
"""What says its type by how it is written."""
DEEPEST = 20
"""Attributes, calls and indexes behind each other that are looked into."""
MOST_BINDINGS = 20
LONGEST_EXPRESSION = 500
"""Characters; nobody waits for the type of a longer one."""


def type_of(text: str, known: Mapping[str, ValueType]) -> ValueType | None:
    """Return the type of an expression, None when it is unknown or the text is none.

    ``known`` are the types of the names that the assertion binds itself.
    """
    if len(text) > LONGEST_EXPRESSION:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse_expression(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _type(tree.body, known, DEEPEST)


def bound_types(value: str, tokens: Sequence[Token]) -> dict[str, ValueType]:
    """Return the types of the names that ``for`` and ``:=`` bind, ``tokens`` being those of the value."""
    known: dict[str, ValueType] = {}
    bindings = sum(token.text in {":=", "for"} for token in tokens)
    if bindings > MOST_BINDINGS:
        return known
    for index, token in enumerate(tokens):
        name = tokens[index - 1].text if index else ""
        if token.text == ":=" and name.isidentifier():
            end = _end_of(tokens, index + 1)
            found = type_of(value[token.end : end], known)
        elif token.text == "in" and index >= 2 and tokens[index - 2].text == "for" and name.isidentifier():
            iterable = type_of(value[token.end : _end_of(tokens, index + 1)], known)
            found = iterable.item if iterable is not None else None
        else:
            continue
        if found is not None:
            known[name] = found
    return known


def start_of_primary(tokens: Sequence[Token], last: int) -> int | None:
    """Return the index of the token where the value begins that ends with token ``last``; None without one.

    ``f(x)[0].name`` is such a value: a name, a text or brackets, and what hangs on to it.
    """
    index = last
    while index >= 0:
        token = tokens[index]
        if token.text in _OPENERS:
            opened = _opener(tokens, index)
            if opened is None:
                return None
            before = tokens[opened - 1] if opened else None
            if before is None or not (before.text in _OPENERS or _is_operand(before)) or token.text == "}":
                return opened
            index = opened - 1
        elif _is_operand(token):
            if index >= 2 and tokens[index - 1].text == ".":
                index -= 2
            else:
                return index
        else:
            return None
    return None


def _is_operand(token: Token) -> bool:
    text = token.text
    return (text[:1].isalnum() or text[:1] in "_\"'") and not keyword.iskeyword(text)


def _opener(tokens: Sequence[Token], closer: int) -> int | None:
    open_ones: list[str] = []
    for index in range(closer, -1, -1):
        text = tokens[index].text
        if text in _OPENERS:
            open_ones.append(_OPENERS[text])
        elif open_ones and text == open_ones[-1]:
            open_ones.pop()
            if not open_ones:
                return index
    return None


def _end_of(tokens: Sequence[Token], start: int) -> int:
    """Return where an expression ends that begins with a token: before a clause or a bracket's end."""
    depth, end = 0, tokens[start].start if start < len(tokens) else 0
    for token in tokens[start:]:
        if not depth and (token.text in _ENDS or token.text == ","):
            break
        if token.text in _OPENERS:
            depth -= 1
            if depth < 0:
                break
        elif token.text in _OPENERS.values():
            depth += 1
        end = token.end
    return end


def _type(node: ast.expr, known: Mapping[str, ValueType], depth: int) -> ValueType | None:
    if not depth:
        return None
    match node:
        case ast.Name():
            return known.get(node.id) or CONTEXT_TYPES.get(node.id)
        case ast.NamedExpr():
            return _type(node.value, known, depth - 1)
        case ast.BoolOp():
            return _type(node.values[-1], known, depth - 1)
        case ast.Subscript():
            return _of_subscript(node, known, depth)
        case ast.Call():
            return _of_call(node, known, depth)
        case ast.List():
            return list_of(_type(node.elts[0], known, depth - 1) if node.elts else None)
        case ast.ListComp() | ast.GeneratorExp():
            inner = {**known, **dict(_bound(node.generators, known, depth))}
            return list_of(_type(node.elt, inner, depth - 1))
        case ast.Constant():
            return next((kind for kind in (TEXT, BOOL, INT, FLOAT) if kind.python is type(node.value)), None)
        case _:
            return next((found for written, found in _DISPLAYED if isinstance(node, written)), None)


def _bound(
    clauses: Sequence[ast.comprehension], known: Mapping[str, ValueType], depth: int
) -> Iterator[tuple[str, ValueType]]:
    inner = dict(known)
    for clause in clauses:
        iterable = _type(clause.iter, inner, depth - 1)
        if isinstance(clause.target, ast.Name) and iterable is not None and iterable.item is not None:
            inner[clause.target.id] = iterable.item
            yield clause.target.id, iterable.item


def _of_subscript(node: ast.Subscript, known: Mapping[str, ValueType], depth: int) -> ValueType | None:
    owner = _type(node.value, known, depth - 1)
    if owner is None:
        return None
    if isinstance(node.slice, ast.Slice):
        return owner
    if owner.python is dict:
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return owner.field_types.get(key) if isinstance(key, str) else None
    return owner.item


def _of_call(node: ast.Call, known: Mapping[str, ValueType], depth: int) -> ValueType | None:
    if isinstance(node.func, ast.Name):
        function = FUNCTIONS.get(node.func.id)
        if function is None or node.func.id in known:
            return None
        if node.func.id == "list" and node.args:
            iterable = _type(node.args[0], known, depth - 1)
            return list_of(iterable.item if iterable is not None else None)
        return function[1]
    if not isinstance(node.func, ast.Attribute):
        return None
    owner = _type(node.func.value, known, depth - 1)
    if owner is None:
        return None
    if owner.python is dict and node.func.attr == "get" and node.args:
        key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        return owner.field_types.get(key) if isinstance(key, str) else None
    member = members_of(owner).get(node.func.attr)
    return member.returns if member is not None else None
