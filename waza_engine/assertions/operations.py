"""The operations of assertions on values: functions, members by exact type, calls, operators, formats.

Architecture invariant: ``type(value)`` is looked up in closed tables, never ``isinstance``, and never an
attribute of Python by a name that an assertion wrote. Each value that an assertion can reach has one of the
types in ``KNOWN_TYPES``; only ``attribute``, ``method``, ``call`` and the operators here make new ones.
"""

from __future__ import annotations

import _string  # pyright: ignore[reportMissingModuleSource]
import operator
import re
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, cast

from waza_engine.assertions.names import (
    CALLABLE_TYPES,
    ITERATION,
    MEMBERS,
    RE,
    RE_FLAGS,
    RE_FUNCTIONS,
    RE_TYPES,
    RefusedError,
    is_refused_member,
)

Reader = Callable[[Any], Any]
exact_type: Callable[[Any], type[Any]] = type

LARGEST_NUMBER_BITS = 2**20
"""Bits of a whole number that an operator may make."""
ENCODINGS: tuple[str, ...] = (
    "ascii",
    "cp1252",
    "latin_1",
    "raw_unicode_escape",
    "unicode_escape",
    "utf_16",
    "utf_16_be",
    "utf_16_le",
    "utf_32",
    "utf_32_be",
    "utf_32_le",
    "utf_7",
    "utf_8",
    "utf_8_sig",
)
_SPELLINGS = frozenset(
    {*(name.replace("_", "") for name in ENCODINGS), "usascii", "iso88591", "l1", "u8", "u16", "u32"}
)

_DICT: dict[Any, Any] = {}
_ITERABLES: tuple[Any, ...] = ([], (), "", "é", b"", _DICT, _DICT.values(), _DICT.items(), set[Any]())
_GENERATOR: type[Any] = types.GeneratorType
_ITERATORS: tuple[type[Any], ...] = (
    *(cast("type[Any]", type(iter(each))) for each in _ITERABLES),
    cast("type[Any]", type(re.finditer("", ""))),
    _GENERATOR,
)
_PATTERN: Any = re.compile("")
_METHOD_OF_PATTERN = cast("type[Any]", type(_PATTERN.search))
_FUNCTIONS: tuple[type[Any], ...] = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    _METHOD_OF_PATTERN,
)
KNOWN_TYPES: frozenset[type] = frozenset({*MEMBERS, *_ITERATORS, *_FUNCTIONS, types.ModuleType, type})
"""The exact types of all values that an assertion can reach."""
_PLAIN = frozenset(
    {*CALLABLE_TYPES, type(None), type(...), re.Pattern, re.Match},
)
"""The types whose values have a `__class__`."""


class MemoryLimit:
    """The limit in bytes of a value, checked before it is created; the worker sets it."""

    number_of_bytes = 1_000_000_000


def attribute(value: Any, name: str) -> Any:
    """Return a member of a value, as its table has it. Raises ``RefusedError`` and ``AttributeError``."""
    kind = exact_type(value)
    members = _MEMBERS_OF_TYPES.get(value) if kind is type else _MEMBERS.get(kind)
    if members is None or (read := members.get(name)) is None:
        raise missing(value, name)
    return read(value)


def method(value: Any, name: str) -> Callable[..., Any]:
    """Return the function for ``value.name(…)``: with the value before the arguments."""
    methods = _METHODS.get(exact_type(value))
    if methods is not None and (function := methods.get(name)) is not None:
        return function
    return partial(_call_behind, attribute(value, name))


def call(function: Any, /, *args: Any, **keywords: Any) -> Any:
    """Call a function, a method or a type. Raises what it raises, ``RefusedError`` and ``TypeError``."""
    kind = exact_type(function)
    if kind is type:
        if function in _CALLED_TYPES:
            return _CALLED_TYPES[function](*args, **keywords)
        raise RefusedError(f"the type `{function.__name__}` cannot be called in an assertion")
    if kind in _CALLED_KINDS:
        return function(*args, **keywords)
    raise TypeError(f"'{kind.__name__}' object is not callable")


def missing(value: Any, name: str) -> Exception:
    """Return why a value has no such attribute: Python has it not either, or assertions have it not."""
    kind = exact_type(value)
    classes = (*kind.__mro__, *(value.__mro__ if kind is type else ()))
    if is_refused_member(kind, name) or any(name in vars(each) for each in classes):
        return RefusedError(f"the attribute `{name}` is not allowed in an assertion")
    if kind is type:
        return AttributeError(f"type object '{value.__name__}' has no attribute '{name}'")
    if value is RE:
        return AttributeError(f"module 're' has no attribute '{name}'")
    return AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")


def item(value: Any, index: Any) -> Any:
    """Return ``value[index]``; types take no index, for that makes generic types."""
    if type(value) is type:
        raise RefusedError(f"the type `{value.__name__}` takes no `[…]` in an assertion")
    return value[index]


def either(left: Any, right: Any) -> Any:
    """Return ``left | right``; types cannot be joined."""
    if type(left) is type or type(right) is type:
        raise RefusedError("types cannot be joined by `|` in an assertion")
    return left | right


def times(left: Any, right: Any) -> Any:
    """Return ``left * right``. Raises ``MemoryError`` before a sequence is made that is too large."""
    for sequence, count in ((left, right), (right, left)):
        size = _BYTES_OF_ITEM.get(exact_type(sequence))
        if size is not None and isinstance(count, int) and count < _MOST_ITEMS:
            if len(sequence) * count * size > MemoryLimit.number_of_bytes:
                raise MemoryError
            return left * right
    if isinstance(left, int) and isinstance(right, int):
        _refuse_large(left.bit_length() + right.bit_length() - 1)
    return left * right


def power(left: Any, right: Any) -> Any:
    """Return ``left ** right``, and refuse a number that would be too large."""
    if isinstance(left, int) and isinstance(right, int) and right > 0 and left not in (-1, 0, 1):
        _refuse_large((abs(left).bit_length() - 1) * right)
    return left**right


def shifted(left: Any, right: Any) -> Any:
    """Return ``left << right``, and refuse a number that would be too large."""
    if isinstance(left, int) and isinstance(right, int) and left:
        _refuse_large(left.bit_length() + right)
    return left << right


def names_for_assertions() -> dict[str, Any]:
    """Return a new dict of the functions that assertions may call, by name."""
    return {
        "len": len,
        "any": any,
        "all": all,
        "re": RE,
        **{kind.__name__: kind for kind in (str, int, float, bool, list, dict)},
    }


def load_encodings() -> None:
    """Load the encodings, so that no assertion causes an import."""
    for name in ENCODINGS:
        "".encode(name)


_BYTES_OF_ITEM: Mapping[type, int] = {str: 1, bytes: 1, list: 8, tuple: 8}
_MOST_ITEMS = 2**62
"""A larger count is an error of Python."""


def _refuse_large(bits: int) -> None:
    if bits > LARGEST_NUMBER_BITS:
        raise OverflowError("a number of more than 300,000 digits")


def _format(template: Any, /, *args: Any, **keywords: Any) -> str:
    _check_fields(template, 2)
    return str.format(template, *args, **keywords)


def _format_map(template: Any, /, *args: Any) -> str:
    _check_fields(template, 2)
    return str.format_map(template, *args)


def _check_fields(template: Any, depth: int) -> None:
    """Refuse fields that read attributes, as `{0.x}`. Python's own parser reads the template.

    It is a generator that fails where the template is wrong; ``str.format`` says so then.
    """
    if type(template) is not str or "{" not in template:
        return
    fields = _string.formatter_parser(template)
    while True:
        try:
            _, name, specification, _ = next(fields)
            steps = _string.formatter_field_name_split(name)[1] if name else ()
            reads = [step for is_attribute, step in steps if is_attribute]
        except (StopIteration, ValueError):
            return
        if reads:
            raise RefusedError(f"the attribute `{reads[0]}` is not allowed in a format; write an f-string")
        if specification and depth > 1:
            _check_fields(specification, depth - 1)


def _encode(value: Any, /, *args: Any, **keywords: Any) -> bytes:
    _check_encoding(args[:1], keywords)
    return str.encode(value, *args, **keywords)


def _decode(value: Any, /, *args: Any, **keywords: Any) -> str:
    _check_encoding(args[:1], keywords)
    return bytes.decode(value, *args, **keywords)


def _str(*args: Any, **keywords: Any) -> str:
    _check_encoding(args[1:2], keywords)
    return str(*args, **keywords)


def _bytes(*args: Any, **keywords: Any) -> bytes:
    _check_encoding(args[1:2], keywords)
    if args and type(args[0]) is int and args[0] > MemoryLimit.number_of_bytes:
        raise MemoryError
    return bytes(*args, **keywords)


def _check_encoding(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
    """Refuse an encoding that is not in the list: Python imports a module for it."""
    name = args[0] if args else keywords.get("encoding", "utf-8")
    if type(name) is str and re.sub(r"[ _-]", "", name.lower()) not in _SPELLINGS:
        raise RefusedError(f"the encoding `{name[:40]}` is not allowed in an assertion; write `utf-8`")


def _call_behind(function: Any, _: Any, /, *args: Any, **keywords: Any) -> Any:
    return call(function, *args, **keywords)


def _bound(function: Callable[..., Any], name: str) -> Reader:
    """Return a function that binds one of ours to a value."""

    def bind(value: Any) -> Any:
        def bound(*args: Any, **keywords: Any) -> Any:
            return function(value, *args, **keywords)

        bound.__name__ = bound.__qualname__ = name
        return bound

    return bind


_OURS: Mapping[tuple[type, str], Callable[..., Any]] = {
    (str, "format"): _format,
    (str, "format_map"): _format_map,
    (str, "encode"): _encode,
    (bytes, "decode"): _decode,
}
"""The methods that Python's own would do too much for."""
_CALLED_KINDS: Final[frozenset[type[Any]]] = frozenset(_FUNCTIONS)
_CALLED_TYPES: Final[Mapping[type, Callable[..., Any]]] = {
    **{kind: kind for kind in CALLABLE_TYPES},
    str: _str,
    bytes: _bytes,
}


class _Tables:
    """The members of one type as functions: ``read`` from values, ``called`` with them, ``of_type``."""

    def __init__(self, kind: type, names: tuple[str, ...]) -> None:
        self.read: dict[str, Reader] = {}
        self.called: dict[str, Callable[..., Any]] = {}
        self.of_type: dict[str, Reader] = {}
        found = {name: each for base in reversed(kind.__mro__) for name, each in vars(base).items()}
        for name in names:
            if name in found:
                self._add(kind, name, found[name])

    def _add(self, kind: type, name: str, member: Any) -> None:
        if (own := _OURS.get((kind, name))) is not None:
            self.called[name], self.read[name] = own, _bound(own, name)
            self.of_type[name] = _constant(own)
        elif isinstance(member, types.MethodDescriptorType | types.WrapperDescriptorType):
            self.called[name] = member
            # Without the type CPython 3.11 crashes on the methods of patterns.
            self.read[name] = lambda value: member.__get__(value, kind)
            self.of_type[name] = _constant(member)
        elif isinstance(member, types.ClassMethodDescriptorType | staticmethod):
            bound: Any = member.__get__(None, kind)
            self.read[name] = self.of_type[name] = _constant(bound)
        else:
            self.read[name] = lambda value: member.__get__(value, kind)


def _constant(value: Any) -> Reader:
    return lambda _: value


def _document(value: Any) -> Any:
    return value.__doc__


def _name(value: Any) -> Any:
    return value.__name__


def _tables() -> tuple[
    dict[type, dict[str, Reader]], dict[type, dict[str, Any]], dict[type, dict[str, Reader]]
]:
    """Return the members of values, those that are called with a value, and the members of types."""
    members: dict[type, dict[str, Reader]] = {}
    methods: dict[type, dict[str, Callable[..., Any]]] = {}
    of_types: dict[type, dict[str, Reader]] = {}
    for kind in (*MEMBERS, *_ITERATORS):
        tables = _Tables(kind, (*MEMBERS.get(kind, ()), *ITERATION))
        members[kind], methods[kind] = tables.read, tables.called
        if kind in _PLAIN:
            members[kind] |= {"__class__": type, "__doc__": _document}
            of_types[kind] = {**tables.of_type, "__name__": _name, "__doc__": _document}
    members[re.RegexFlag] = {"name": lambda flag: flag.name, "value": lambda flag: flag.value}
    methods[re.RegexFlag] = {}
    members[re.Pattern]["groupindex"] = lambda pattern: dict(pattern.groupindex)
    for kind in _FUNCTIONS:
        members[kind] = {"__name__": _name, "__doc__": _document}
    exported = vars(re)
    members[types.ModuleType] = {
        "__name__": _name,
        "__doc__": _document,
        **{name: _constant(exported[name]) for name in RE_FUNCTIONS | RE_FLAGS | RE_TYPES},
    }
    return members, methods, of_types


_MEMBERS, _METHODS, _MEMBERS_OF_TYPES = _tables()

_python: Any = operator
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": _python.add,
    "Sub": _python.sub,
    "Mult": times,
    "Div": _python.truediv,
    "FloorDiv": _python.floordiv,
    "Mod": _python.mod,
    "Pow": power,
    "LShift": shifted,
    "RShift": _python.rshift,
    "BitOr": either,
    "BitXor": _python.xor,
    "BitAnd": _python.and_,
    "MatMult": _python.matmul,
}
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Eq": _python.eq,
    "NotEq": _python.ne,
    "Lt": _python.lt,
    "LtE": _python.le,
    "Gt": _python.gt,
    "GtE": _python.ge,
    "Is": _python.is_,
    "IsNot": _python.is_not,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
}
SIGNS: Mapping[str, Callable[[Any], Any]] = {
    "Not": _python.not_,
    "USub": _python.neg,
    "UAdd": _python.pos,
    "Invert": _python.invert,
}
