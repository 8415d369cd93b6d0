"""What kind of value an expression has, as far as its text tells: text, lists, tool calls, numbers.

None means that nothing is known, and then nothing is said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import GeneratorType, MappingProxyType

from waza_engine.assertions.members import ALLOWED_DUNDER_ATTRIBUTES, READ, members_of
from waza_engine.frozen import frozen


@frozen()
class Kind:
    """A kind of value: what a person calls it, the class that has its attributes, the kind of its items."""

    title: str
    owner: type
    item: Kind | None = None

    def has(self, attribute: str) -> bool:
        """Whether values of this kind have an attribute in an assertion."""
        return attribute in members_of(self.owner) or attribute in ALLOWED_DUNDER_ATTRIBUTES

    def is_method(self, attribute: str) -> bool:
        """Whether the attribute is something to be called."""
        return attribute in members_of(self.owner) - READ.get(self.owner, frozenset())


TEXT = Kind("text", str)
NUMBER = Kind("a number", int)
DECIMAL = Kind("a number", float)
TRUTH = Kind("true or false", bool)
CALL = Kind("a tool call, a dict", dict)
EVENT = Kind("an event, a dict", dict)
OUTCOME = Kind("a dict", dict)
DATA = Kind("a dict", dict)
MATCH = Kind("a match", re.Match)
"""What ``re.search`` returns, or nothing."""
NOTHING = Kind("nothing at all", type(None))
BYTES = Kind("bytes", bytes)
TUPLE = Kind("a tuple", tuple)
SET = Kind("a set", set)
GENERATOR = Kind("a generator", GeneratorType)

Kinds = Mapping[str, "Kind | None"]

CONTEXT_KINDS: Kinds = MappingProxyType(
    {
        "output": TEXT,
        "outcome": OUTCOME,
        "transcript": Kind("a list", list, EVENT),
        "tool_calls": Kind("a list", list, CALL),
        "errors": Kind("a list", list, EVENT),
        "duration_ms": NUMBER,
    }
)

_RESULTS: Mapping[str, Kind] = MappingProxyType(
    {"len": NUMBER, "any": TRUTH, "all": TRUTH, "str": TEXT, "int": NUMBER, "float": DECIMAL, "bool": TRUTH}
)
_TEXT_METHODS: Mapping[str, Kind] = MappingProxyType(
    {
        method: kind
        for methods, kind in (
            ("lower upper casefold strip lstrip rstrip replace title capitalize join format", TEXT),
            ("count find rfind index rindex", NUMBER),
            ("startswith endswith isdigit isalpha isupper islower isspace", TRUTH),
            ("split rsplit splitlines", Kind("a list", list, TEXT)),
        )
        for method in methods.split()
    }
)
_CONSTANTS: Mapping[type, Kind] = MappingProxyType(
    {str: TEXT, bool: TRUTH, int: NUMBER, float: DECIMAL, bytes: BYTES, type(None): NOTHING}
)
_DISPLAYED = (
    (ast.JoinedStr, TEXT),
    (ast.Compare, TRUTH),
    (ast.Tuple, TUPLE),
    (ast.Set | ast.SetComp, SET),
    (ast.Dict | ast.DictComp, DATA),
    (ast.GeneratorExp, GENERATOR),
)
"""What says its kind by how it is written."""
_CALL_KEYS: Mapping[str, Kind] = MappingProxyType({"name": TEXT, "arguments": DATA})


def kind_of(node: ast.expr, names: Kinds) -> Kind | None:
    """Return the kind of value of an expression, where ``names`` have these kinds."""
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.NamedExpr(value=value):
            return kind_of(value, names)
        case ast.Constant(value=value):
            return _CONSTANTS.get(type(value))
        case ast.UnaryOp() | ast.BinOp() | ast.BoolOp() | ast.IfExp():
            return _kind_of_operation(node, names)
        case ast.Set(elts=elements) if any(isinstance(each, ast.Set) for each in elements):
            # There is no such value, which is told.
            return None
        case ast.List(elts=elements):
            return Kind("a list", list, kind_of(elements[0], names) if len(elements) == 1 else None)
        case ast.ListComp(elt=element, generators=generators):
            return Kind("a list", list, kind_of(element, inside(generators, names)))
        case ast.Call():
            return _kind_of_call(node, names)
        case ast.Subscript(value=value, slice=at):
            return _kind_of_item(kind_of(value, names), at)
        case _:
            return next((kind for written, kind in _DISPLAYED if isinstance(node, written)), None)


def is_number(kind: Kind | None) -> bool:
    """Whether values of a kind are numbers, true and false among them."""
    return kind is not None and kind.owner in (int, float, bool)


def _shared(kinds: list[Kind | None]) -> Kind | None:
    """Return the kind of one of several values, when they are all of one kind."""
    first = kinds[0]
    return first if first is not None and all(kind is first for kind in kinds) else None


def _kind_of_operation(node: ast.expr, names: Kinds) -> Kind | None:
    match node:
        case ast.UnaryOp(op=ast.Not()):
            return TRUTH
        case ast.UnaryOp(operand=operand):
            return NUMBER if is_number(kind_of(operand, names)) else None
        case ast.BoolOp(values=values):
            return _shared([kind_of(value, names) for value in values])
        case ast.IfExp(body=body, orelse=orelse):
            return _shared([kind_of(body, names), kind_of(orelse, names)])
        case ast.BinOp(left=one, op=operator, right=other):
            left, right = kind_of(one, names), kind_of(other, names)
        case _:
            return None
    if is_number(left) and is_number(right):
        return DECIMAL if DECIMAL in (left, right) or isinstance(operator, ast.Div | ast.Pow) else NUMBER
    if left is TEXT and (right is TEXT if isinstance(operator, ast.Add) else isinstance(operator, ast.Mod)):
        return TEXT
    return None


def inside(generators: list[ast.comprehension], names: Kinds) -> Kinds:
    """Return the kinds of the names that are seen inside a comprehension."""
    inner = dict(names)
    for generator in generators:
        items = kind_of(generator.iter, inner)
        for part in ast.walk(generator.target):
            if isinstance(part, ast.Name):
                inner[part.id] = None
        if isinstance(generator.target, ast.Name) and items is not None:
            inner[generator.target.id] = TEXT if items is TEXT else items.item
    return inner


def _kind_of_call(call: ast.Call, names: Kinds) -> Kind | None:
    match call:
        case ast.Call(func=ast.Name(id="list"), args=[items]):
            of = kind_of(items, names)
            return Kind("a list", list, of.item if of is not None else None)
        case ast.Call(func=ast.Name(id=name)) if name not in names:
            return _RESULTS.get(name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="search" | "match" | "fullmatch")):
            return MATCH
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="findall")):
            return Kind("a list", list)
        case ast.Call(func=ast.Attribute(value=value, attr=method)):
            return _TEXT_METHODS.get(method) if kind_of(value, names) is TEXT else None
        case _:
            return None


def _kind_of_item(kind: Kind | None, at: ast.expr) -> Kind | None:
    if kind is None:
        return None
    if isinstance(at, ast.Slice):
        return kind
    if isinstance(at, ast.Constant) and isinstance(at.value, str):
        return _CALL_KEYS.get(at.value) if kind is CALL else None
    if kind is TEXT:
        return TEXT
    return kind.item if kind.owner is list else None
