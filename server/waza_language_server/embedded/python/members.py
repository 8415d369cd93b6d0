"""The types of values in assertions, their members, and the types of those.

The tables that the engine evaluates with decide which members exist. Their signatures and documentation come
from Python's own types; return types are written down here, because Python does not tell them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import GeneratorType, MappingProxyType
from typing import Any

from waza_engine.assertions.names import (
    ARGUMENT_FIELDS,
    EVENT_FIELDS,
    RE_FUNCTIONS,
    TOOL_CALL_FIELDS,
)
from waza_engine.assertions.names import members_of as tabled_members
from waza_engine.frozen import frozen
from waza_engine.spelling import article


@dataclass(frozen=True)
class ValueType:
    """The type of a value: its ``name``, the ``python`` type with its attributes, the ``item`` type.

    ``item`` is the type that iterating gives. ``fields`` are the keys of a dict with their descriptions;
    ``field_types`` the types of their values.
    """

    name: str
    python: type | None = None
    item: ValueType | None = None
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    field_types: Mapping[str, ValueType] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def title(self) -> str:
        """Return the name of the type with its article, for messages."""
        if self.fields:
            return f"{article(self.name)} {self.name}, a dict"
        return _TITLES.get(self.python, self.name)


@frozen()
class Member:
    """An attribute. ``signature`` is "" if it is not callable; ``returns`` is None if unknown."""

    name: str
    signature: str
    documentation: str
    returns: ValueType | None = None


def list_of(item: ValueType | None) -> ValueType:
    """Return the type of a list."""
    return ValueType(f"list[{item.name}]" if item is not None else "list", list, item)


def generator_of(item: ValueType | None) -> ValueType:
    """Return the type of a generator."""
    return ValueType("generator", GeneratorType, item)


def is_number(kind: ValueType | None) -> bool:
    """Return whether values of a type are numbers, true and false among them."""
    return kind is not None and kind.python in {int, float, bool}


_TITLES: Mapping[type | None, str] = MappingProxyType(
    {
        str: "text",
        int: "a number",
        float: "a number",
        bool: "true or false",
        list: "a list",
        dict: "a dict",
        set: "a set",
        tuple: "a tuple",
        re.Match: "a match",
        GeneratorType: "a generator",
        type(None): "nothing at all",
    }
)
INT = ValueType("int", int)
FLOAT = ValueType("float", float)
BOOL = ValueType("bool", bool)
BYTES = ValueType("bytes", bytes)
TUPLE = ValueType("tuple", tuple)
SET = ValueType("set", set)
NONE = ValueType("None", type(None))
GENERATOR = generator_of(None)
TEXT = ValueType("str", str, ValueType("str", str))
TEXTS = ValueType("tuple of str", tuple, TEXT)
DICT = ValueType("dict", dict)
OUTCOME = ValueType("dict", dict)
MATCH = ValueType("re.Match", re.Match)
OPTIONAL_MATCH = ValueType("re.Match or None", re.Match)
PATTERN = ValueType("re.Pattern", re.Pattern)
RE = ValueType("module")
ARGUMENTS = ValueType("dict of arguments", dict, TEXT, ARGUMENT_FIELDS, dict.fromkeys(ARGUMENT_FIELDS, TEXT))
TOOL_CALL = ValueType(
    "tool call",
    dict,
    TEXT,
    TOOL_CALL_FIELDS,
    {"name": TEXT, "arguments": ARGUMENTS, "success": BOOL, "id": TEXT},
)
EVENT = ValueType("event", dict, TEXT, EVENT_FIELDS, {"type": TEXT, "content": TEXT, "message": TEXT})

CONTEXT_TYPES: Mapping[str, ValueType] = MappingProxyType(
    {
        "output": TEXT,
        "outcome": OUTCOME,
        "transcript": list_of(EVENT),
        "tool_calls": list_of(TOOL_CALL),
        "errors": list_of(EVENT),
        "duration_ms": INT,
        "re": RE,
    }
)
FUNCTIONS: Mapping[str, tuple[str, ValueType | None]] = MappingProxyType(
    {
        "len": ("len(x)", INT),
        "any": ("any(xs)", BOOL),
        "all": ("all(xs)", BOOL),
        "str": ("str(x='')", TEXT),
        "int": ("int(x=0, base=10)", INT),
        "float": ("float(x=0)", FLOAT),
        "bool": ("bool(x=False)", BOOL),
        "list": ("list(xs=())", list_of(None)),
        "dict": ("dict(pairs=())", DICT),
    }
)
"""The signatures and return types of the functions of an assertion."""

_TEXTS = (
    "lower upper strip lstrip rstrip title capitalize casefold swapcase replace join format removeprefix "
    "removesuffix zfill center ljust rjust expandtabs translate format_map"
)
_RETURNS: Mapping[type, Mapping[str, ValueType]] = {
    str: {
        **dict.fromkeys(_TEXTS.split(), TEXT),
        **dict.fromkeys(("split", "rsplit", "splitlines"), list_of(TEXT)),
        **dict.fromkeys(("find", "rfind", "index", "rindex", "count"), INT),
        **dict.fromkeys(("startswith", "endswith"), BOOL),
        **dict.fromkeys((name for name in dir(str) if name.startswith("is")), BOOL),
        **dict.fromkeys(("partition", "rpartition"), TEXTS),
        "encode": BYTES,
    },
    list: dict.fromkeys(("count", "index"), INT),
    int: {**dict.fromkeys(("bit_length", "bit_count"), INT), "as_integer_ratio": TUPLE},
    float: {"is_integer": BOOL, "hex": TEXT, "as_integer_ratio": TUPLE},
    re.Match: {
        "group": TEXT,
        "expand": TEXT,
        "groups": TUPLE,
        "span": TUPLE,
        "groupdict": DICT,
        "start": INT,
        "end": INT,
    },
}
_USUAL: Mapping[type, tuple[str, ...]] = {
    str: ("lower", "count", "startswith", "endswith", "strip", "split", "splitlines", "find", "replace"),
    dict: ("get", "items", "keys", "values"),
    re.Match: ("group", "groups"),
}
"""The members that assertions use most, the most frequent first."""
_FLAGS = {
    "IGNORECASE": "Upper and lower case are the same.",
    "MULTILINE": "`^` and `$` match at every line.",
    "DOTALL": "`.` matches a line break, too.",
    "VERBOSE": "Whitespace and comments in the pattern are ignored.",
    "ASCII": "`\\w`, `\\d`, `\\s` and `\\b` know ASCII letters only.",
}
_SHORT_FLAGS = {"I": "IGNORECASE", "M": "MULTILINE", "S": "DOTALL", "X": "VERBOSE", "A": "ASCII"}
_RE_RETURNS: Mapping[str, ValueType] = {
    **dict.fromkeys(("search", "match", "fullmatch"), OPTIONAL_MATCH),
    **dict.fromkeys(("split",), list_of(TEXT)),
    **dict.fromkeys(("sub", "escape"), TEXT),
    "findall": list_of(None),
    "finditer": ValueType("iterator of matches", None, MATCH),
    "compile": PATTERN,
}
_CHANGING = frozenset(
    {"append", "clear", "extend", "insert", "remove", "reverse", "sort"}
    | {"pop", "popitem", "setdefault", "update", "fromkeys"}
)
"""Methods that change values shared by all assertions of a grader; most return None, which is false."""


def members_of(owner: ValueType) -> Mapping[str, Member]:
    """Return the attributes that an assertion may read from a value, without those that change it."""
    if owner is RE:
        return _members_of_re()
    known: Mapping[str, Member] = _members(owner.python) if owner.python is not None else {}
    if owner.python in {list, dict}:
        return {name: _of_collection(owner, member) for name, member in known.items()}
    return known


def _of_collection(owner: ValueType, member: Member) -> Member:
    values = next(iter(owner.field_types.values()), None) if owner is ARGUMENTS else None
    returns = {
        "copy": owner,
        "keys": ValueType("keys", None, TEXT),
        "values": ValueType("values", None, values),
        "items": ValueType("pairs of key and value", None, TUPLE),
    }.get(member.name, member.returns)
    return Member(member.name, member.signature, member.documentation, returns)


@cache
def _members(python: type) -> Mapping[str, Member]:
    returns = _RETURNS.get(python, {})
    usual = _USUAL.get(python, ())
    return {
        name: _member(name, getattr(python, name), returns.get(name), bound=True)
        for name in (*usual, *(each for each in sorted(tabled_members(python)) if each not in usual))
        # A newer Python may have more of them than the running one.
        if name not in _CHANGING and hasattr(python, name)
    }


@cache
def _members_of_re() -> Mapping[str, Member]:
    found = {
        name: _member(name, getattr(re, name), _RE_RETURNS.get(name), bound=False)
        for name in ("search", *sorted(RE_FUNCTIONS - {"search"}))
    }
    meanings = {**_FLAGS, **{short: _FLAGS[name] for short, name in _SHORT_FLAGS.items()}}
    return found | {name: Member(name, "", f"Flag: {meaning}") for name, meaning in meanings.items()}


def _member(name: str, value: Any, returns: ValueType | None, *, bound: bool) -> Member:
    if not callable(value):
        return Member(name, "", _first_paragraph(value), returns)
    return Member(name, f"{name}{_signature(value, bound=bound)}", _first_paragraph(value), returns)


def _signature(value: Callable[..., Any], *, bound: bool) -> str:
    """Return the parameters in parentheses, from either of Python's two kinds of signature."""
    try:
        shown = [str(each) for each in inspect.signature(value).parameters.values()]
    except (ValueError, TypeError):
        # Such as "S.startswith(prefix[, start[, end]]) -> bool".
        written = re.match(r"[\w.]*\((?P<inside>.*?)\)(?= ->|\s|\Z)", inspect.getdoc(value) or "")
        inside = written["inside"] if written else "…"
        return f"({re.sub(r'[][]', '', inside)})"
    return f"({', '.join(shown[1:] if bound and shown[:1] == ['self'] else shown)})"


def _first_paragraph(value: Any) -> str:
    text = inspect.getdoc(value) or ""
    paragraphs = [part for part in text.split("\n\n") if "->" not in part.split("\n")[0]]
    return " ".join((paragraphs or [""])[0].split())
