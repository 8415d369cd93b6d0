"""The names that an assertion may use, and the members of their types; nothing else exists for it.

Light: the language server imports it too. ``operations.py`` implements each function and member.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

CONTEXT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "output": "The agent's final answer, as text.",
        "outcome": "A dict that is always empty in current runs; use `outcome.get('status')` if at all.",
        "transcript": "The events of the session, dicts with `type` and, by type, `content` or `message`.",
        "tool_calls": "The tool calls, dicts with `name`, `arguments`, `success`, `id` and maybe `result`.",
        "errors": "The transcript events whose type or content contains the text `error`, a list of dicts.",
        "duration_ms": "How long the run took, in milliseconds, a whole number.",
    }
)

FUNCTION_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "len": "`len(x)`: how many items or characters `x` has.",
        "any": "`any(xs)`: whether an item is true.",
        "all": "`all(xs)`: whether every item is true.",
        "re": "The module of regular expressions: `re.search(r'\\d+', output)`.",
        "str": "`str(x)`: `x` as text.",
        "int": "`int(x)`: `x` as a whole number.",
        "float": "`float(x)`: `x` as a number.",
        "bool": "`bool(x)`: whether `x` counts as true.",
        "list": "`list(xs)`: the items as a list.",
        "dict": "`dict(pairs)`: a dict of key and value pairs.",
    }
)

DOCS: Mapping[str, str] = MappingProxyType(
    {**CONTEXT_NAMES, **FUNCTION_NAMES, "True": "The true value.", "False": "The false value."}
)

ALL_NAMES: frozenset[str] = frozenset(DOCS)

TOOL_CALL_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "name": "The tool's name.",
        "arguments": "The arguments, a dict.",
        "success": "True if the call succeeded.",
        "id": "The id of the call; not always there.",
        "result": "The result of the tool; not always there, so use `.get('result')`.",
    }
)

ARGUMENT_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "path": "The file that the tool was given.",
        "file_text": "The text that the tool was given for a file.",
        "command": "The command that the tool was given.",
        "description": "How the agent described the call.",
        "skill": "The skill that the tool was given.",
    }
)
"""The arguments of a call that an assertion sees: all of them always, "" for one that was not given."""

EVENT_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "type": "The kind of event, such as `assistant.message`.",
        "content": "The text of the event; not always there.",
        "message": "The message of the event; not always there.",
    }
)


_FLAGS = "ASCII DEBUG DOTALL IGNORECASE LOCALE MULTILINE TEMPLATE UNICODE VERBOSE"
RE = types.ModuleType("re")
"""The value of the name `re`: a module without contents, whose members are those of the table."""
RE_FUNCTIONS: frozenset[str] = frozenset(
    ["compile", "escape", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"]
)
RE_FLAGS: frozenset[str] = frozenset(
    {*(each for each in _FLAGS.split() if each != "TEMPLATE"), "NOFLAG", *"AILMSUX"}
)
RE_TYPES: frozenset[str] = frozenset({"Match", "Pattern"})

CALLABLE_TYPES: tuple[type, ...] = (str, int, float, bool, list, dict, tuple, set, bytes, complex)
"""The types that can be called. `tuple`, `set`, `bytes` and `complex` are the classes of values."""

_COMPARED_SETS = "difference intersection isdisjoint issubset issuperset symmetric_difference union"
_TEXT = (
    "capitalize center count endswith expandtabs find index isalnum isalpha isascii isdigit islower isspace "
    "istitle isupper join ljust lower lstrip maketrans partition removeprefix removesuffix replace rfind "
    "rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper "
    "zfill"
)
_WHOLE = (
    "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer numerator real "
    "to_bytes"
)
_EMPTY: dict[str, Any] = {}
_VIEW: type[Any] = type(_EMPTY.keys())
_ITEMS: type[Any] = type(_EMPTY.items())
_VALUES: type[Any] = type(_EMPTY.values())
_GENERATOR: type[Any] = types.GeneratorType

MEMBERS: Mapping[type, frozenset[str]] = MappingProxyType(
    {
        kind: frozenset(names.split())
        for kind, names in (
            (str, f"{_TEXT} casefold encode format format_map isdecimal isidentifier isnumeric isprintable"),
            (bytes, f"{_TEXT} decode fromhex hex"),
            (int, _WHOLE),
            (bool, _WHOLE),
            (float, "as_integer_ratio conjugate fromhex hex imag is_integer real"),
            (complex, "conjugate imag real"),
            (list, "append clear copy count extend index insert pop remove reverse sort"),
            (dict, "clear copy fromkeys get items keys pop popitem setdefault update values"),
            (
                set,
                f"{_COMPARED_SETS} add clear copy difference_update discard intersection_update pop remove "
                "symmetric_difference_update update",
            ),
            (tuple, "count index"),
            (type(None), ""),
            (type(...), ""),
            (_VIEW, "isdisjoint"),
            (_ITEMS, "isdisjoint"),
            (_VALUES, ""),
            (
                re.Pattern,
                "findall finditer flags fullmatch groupindex groups match pattern search split sub subn",
            ),
            (
                re.Match,
                "end endpos expand group groupdict groups lastgroup lastindex pos re span start string",
            ),
            (re.RegexFlag, "name value"),
            (_GENERATOR, ""),
        )
    }
)
"""The public members by the exact type of a value. Types have the methods of their values, too."""

READ: Mapping[type, frozenset[str]] = MappingProxyType(
    {
        kind: frozenset(names.split())
        for kind, names in (
            (int, "denominator imag numerator real"),
            (bool, "denominator imag numerator real"),
            (float, "imag real"),
            (complex, "imag real"),
            (re.Pattern, "flags groupindex groups pattern"),
            (re.Match, "endpos lastgroup lastindex pos re string"),
            (re.RegexFlag, "name value"),
        )
    }
)
"""The members that are values, and no methods. Types do not have them."""

REFUSED: Mapping[type, frozenset[str]] = MappingProxyType(
    {
        kind: frozenset(names.split())
        for kind, names in (
            (_VIEW, "mapping"),
            (_ITEMS, "mapping"),
            (_VALUES, "mapping"),
            (re.Pattern, "scanner"),
            (re.Match, "regs"),
            (re.RegexFlag, f"{_WHOLE} {_FLAGS}"),
            (_GENERATOR, "close gi_code gi_frame gi_running gi_suspended gi_yieldfrom send throw"),
            (types.ModuleType, "PatternError RegexFlag T TEMPLATE error purge template"),
            (type, "mro"),
        )
    }
)
"""Public members that Python has and assertions have not: they lead to other values or change the process."""

ITERATION = ("__contains__", "__iter__", "__len__", "__next__")
"""The methods of Python's own protocols that exist where the type has them."""
NAMING = ("__doc__", "__name__")
"""Names that functions and types have for themselves."""
ALLOWED_DUNDER_ATTRIBUTES: frozenset[str] = frozenset({"__class__", *ITERATION, *NAMING})
_OF_FRAMES = ("gi_", "cr_", "ag_", "tb_", "f_", "co_", "func_")


class RefusedError(Exception):
    """An assertion uses a part of Python that assertions do not have; the message says which."""


def is_refused_attribute(name: str) -> bool:
    """Return whether assertions reject the attribute, for any value."""
    if name.startswith("_"):
        return name not in ALLOWED_DUNDER_ATTRIBUTES
    return name == "mro" or name.startswith(_OF_FRAMES)


def is_refused_member(kind: type, name: str) -> bool:
    """Return whether values of a type have the attribute in Python, and an assertion cannot read it."""
    return is_refused_attribute(name) or name in REFUSED.get(kind, ())


def members_of(kind: type) -> frozenset[str]:
    """Return the public members of the values of a type, none of a type that has no table."""
    return MEMBERS.get(kind, frozenset())
