"""Type inference for parts of an assertion, from its text alone.

None means that the type is unknown. Findings request ``certain`` types; completion and hover also accept a
guess, such as the last operand of an ``or``.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence

from waza_engine.assertions.assertion_syntax import parse_expression
from waza_language_server.embedded.python.members import (
    BOOL,
    BYTES,
    CONTEXT_TYPES,
    DICT,
    FLOAT,
    FUNCTIONS,
    GENERATOR,
    INT,
    NONE,
    RE,
    SET,
    TEXT,
    TOOL_CALL,
    TUPLE,
    ValueType,
    generator_of,
    is_number,
    list_of,
    members_of,
)
from waza_language_server.embedded.python.python_source import CLOSERS, Token, first_tokens

Types = Mapping[str, "ValueType | None"]
"""The types of the visible names; None for a name whose type is not known."""
_Inferred = Callable[[ast.expr], ValueType | None]

_ENDS = frozenset({"if", "for", "else", "and", "or"})
_CONSTANTS: Mapping[type, ValueType] = {
    str: TEXT,
    bool: BOOL,
    int: INT,
    float: FLOAT,
    bytes: BYTES,
    type(None): NONE,
}
_DISPLAYED = (
    (ast.JoinedStr, TEXT),
    (ast.Compare, BOOL),
    (ast.Dict | ast.DictComp, DICT),
    (ast.Tuple, TUPLE),
    (ast.SetComp, SET),
)
"""Expressions whose syntax determines their type."""
DEEPEST = 20
"""The most nested attributes, calls and indexes to follow."""
MOST_BINDINGS = 20
_MOST_TOKENS_OF_VALUE = 40
_TIGHT = (
    *(ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.JoinedStr),
    *(ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp),
)
LONGEST_EXPRESSION = 500
"""In characters; the types of longer expressions are not inferred."""


def infer(node: ast.expr, names: Types, *, certain: bool = True, depth: int = DEEPEST) -> ValueType | None:
    """Return the type of an expression, given the types of ``names``."""
    if not depth:
        return None

    def of(part: ast.expr, inner: Types = names) -> ValueType | None:
        return infer(part, inner, certain=certain, depth=depth - 1)

    match node:
        case ast.Name(id=name):
            found = names.get(name)
        case ast.NamedExpr(value=value):
            found = of(value)
        case ast.Constant(value=value):
            found = _CONSTANTS.get(type(value))
        case ast.UnaryOp() | ast.BinOp() | ast.BoolOp() | ast.IfExp():
            found = _operation(node, of, certain=certain)
        case ast.List(elts=elements):
            is_known = len(elements) == 1 or (elements and not certain)
            found = list_of(of(elements[0]) if is_known else None)
        case (
            ast.ListComp(elt=element, generators=generators)
            | ast.GeneratorExp(elt=element, generators=generators)
        ):
            item = of(element, names_inside(generators, names, certain=certain))
            found = list_of(item) if isinstance(node, ast.ListComp) else generator_of(item)
        case ast.Subscript(value=value, slice=at):
            found = _item(of(value), at, certain=certain)
        case ast.Call():
            found = _returned(node, names, of, certain=certain)
        case _:
            found = next((kind for written, kind in _DISPLAYED if isinstance(node, written)), None)
    return None if certain and found is not None and found.python is None else found


def names_inside(generators: Sequence[ast.comprehension], names: Types, *, certain: bool = True) -> Types:
    """Return the types of the names that are visible inside a comprehension."""
    inner = dict(names)
    for generator in generators:
        items = infer(generator.iter, inner, certain=certain)
        for part in ast.walk(generator.target):
            if isinstance(part, ast.Name):
                inner[part.id] = None
        if isinstance(generator.target, ast.Name) and items is not None:
            is_certain = items.python in {str, list, GENERATOR.python}
            inner[generator.target.id] = items.item if is_certain or not certain else None
    return inner


def type_of(text: str, known: Types) -> ValueType | None:
    """Return the most likely type of an expression, None if it is unknown or cannot be parsed.

    ``known`` are the types of the names that the assertion binds itself.
    """
    tree = _parsed(text)
    return infer(tree, {**CONTEXT_TYPES, **known}, certain=False) if tree is not None else None


def type_before(value: str, tokens: Sequence[Token]) -> ValueType | None:
    """Return the most likely type of the value that ends with the last token, such as ``f(x)[0].name``.

    It is the longest expression there that binds more tightly than operators.
    """
    found: ast.expr | None = None
    for token in reversed(tokens[-_MOST_TOKENS_OF_VALUE:]):
        tree = _parsed(value[token.start : tokens[-1].end])
        # An expression in parentheses does not begin at column 0.
        if isinstance(tree, _TIGHT) or (tree is not None and tree.col_offset):
            found = tree
    if found is None:
        return None
    return infer(found, {**CONTEXT_TYPES, **bound_types(value, first_tokens(value))}, certain=False)


def bound_types(value: str, tokens: Sequence[Token]) -> dict[str, ValueType]:
    """Return the types of the names that ``for`` and ``:=`` bind; ``tokens`` are those of the value."""
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


def _parsed(text: str) -> ast.expr | None:
    if len(text) > LONGEST_EXPRESSION:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse_expression(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _operation(
    node: ast.UnaryOp | ast.BinOp | ast.BoolOp | ast.IfExp, of: _Inferred, *, certain: bool
) -> ValueType | None:
    if isinstance(node, ast.UnaryOp):
        is_not = isinstance(node.op, ast.Not)
        return BOOL if is_not else INT if is_number(of(node.operand)) else None
    if isinstance(node, ast.BinOp):
        left, right = of(node.left), of(node.right)
        if is_number(left) and is_number(right):
            is_float = FLOAT in (left, right) or isinstance(node.op, ast.Div | ast.Pow)
            return FLOAT if is_float else INT
        is_text = right == TEXT if isinstance(node.op, ast.Add) else isinstance(node.op, ast.Mod)
        return TEXT if left == TEXT and is_text else None
    types = [of(each) for each in (node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse))]
    return types[-1] if not certain or all(each == types[0] for each in types) else None


def _item(owner: ValueType | None, at: ast.expr, *, certain: bool) -> ValueType | None:
    if owner is None or isinstance(at, ast.Slice):
        return owner
    if owner.python is not dict:
        return None if isinstance(at, ast.Constant) and isinstance(at.value, str) else owner.item
    key = at.value if isinstance(at, ast.Constant) else None
    if not isinstance(key, str) or (certain and not (owner is TOOL_CALL and key in {"name", "arguments"})):
        return None
    return owner.field_types.get(key)


def _returned(call: ast.Call, names: Types, of: _Inferred, *, certain: bool) -> ValueType | None:
    match call:
        case ast.Call(func=ast.Name(id="list"), args=[items]):
            owner = of(items)
            return list_of(owner.item if owner is not None else None)
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS and name not in names:
            return FUNCTIONS[name][1]
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=arguments):
            # The module is not a value, so its type is not certain.
            is_re = isinstance(value, ast.Name) and names.get(value.id) is RE
            owner = RE if is_re else of(value)
        case _:
            return None
    if owner is None or (certain and owner is not RE and owner.python not in {str, list}):
        return None
    if owner.python is dict and method == "get" and arguments:
        return _item(owner, arguments[0], certain=False)
    member = members_of(owner).get(method)
    return member.returns if member is not None else None


def _end_of(tokens: Sequence[Token], start: int) -> int:
    """Return the end of an expression that begins with a token: before a clause or a closing bracket."""
    depth, end = 0, tokens[start].start if start < len(tokens) else 0
    for token in tokens[start:]:
        if not depth and (token.text in _ENDS or token.text == ","):
            break
        if token.text in CLOSERS:
            depth += 1
        elif token.text in CLOSERS.values():
            depth -= 1
            if depth < 0:
                break
        end = token.end
    return end
