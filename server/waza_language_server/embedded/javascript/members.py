"""The types of values in JavaScript assertions and what can be read from them.

Names, parameters and meanings are those of ECMA-262; the names of the context are the engine's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from waza_engine.assertions.names import ARGUMENT_FIELDS, CONTEXT_NAMES, EVENT_FIELDS, TOOL_CALL_FIELDS
from waza_engine.frozen import frozen


@frozen()
class Member:
    """A property; ``parameters`` is None when it is not called, ``returns`` "" when that is unknown."""

    parameters: tuple[str, ...] | None
    returns: str
    documentation: str


_NO_FIELDS: Mapping[str, Member] = MappingProxyType({})
_MEANINGS = {
    "outcome": "An object that is always empty in current runs.",
    "transcript": "The events of the session, objects with `type` and, by type, `content` or `message`.",
    "tool_calls": "The tool calls, objects with `name`, `arguments`, `success`, `id` and maybe `result`.",
    "errors": "The transcript events whose type or content contains the text `error`, a list of objects.",
}
_FIELD_MEANINGS = {
    "arguments": "The arguments, an object.",
    "result": "What the tool returned; not always there, so use `call.result?.…`.",
}
CONTEXT: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        name: (kind, _MEANINGS.get(name, CONTEXT_NAMES[name]))
        for name, kind in {
            "output": "string",
            "tool_calls": "tool_call[]",
            "errors": "event[]",
            "transcript": "event[]",
            "duration_ms": "number",
            "outcome": "object",
        }.items()
    }
)
"""The names that the engine gives, each with its type and its meaning."""

_STRING = """
length | number | How many UTF-16 units the text has.
includes(text, from) | boolean | Whether the text occurs in it.
startsWith(text, from) | boolean | Whether it starts with a text.
endsWith(text, end) | boolean | Whether it ends with a text.
match(pattern) | array | What a pattern finds in it, null without a match.
matchAll(pattern) | iterator | All that a pattern with the flag `g` finds in it.
search(pattern) | number | Where a pattern matches first, -1 without a match.
indexOf(text, from) | number | Where a text occurs first, -1 when it does not.
lastIndexOf(text, from) | number | Where a text occurs last, -1 when it does not.
toLowerCase() | string | It in lower case.
toUpperCase() | string | It in upper case.
trim() | string | It without blanks at both ends.
trimStart() | string | It without blanks at its start.
trimEnd() | string | It without blanks at its end.
split(separator, limit) | string[] | Its parts between a separator.
slice(start, end) | string | A part of it; negative numbers count from its end.
substring(start, end) | string | A part of it.
replace(pattern, replacement) | string | It with the first match replaced.
replaceAll(pattern, replacement) | string | It with all matches replaced.
charAt(index) | string | The character at a position.
charCodeAt(index) | number | The UTF-16 unit at a position.
codePointAt(index) | number | The code point at a position.
concat(...texts) | string | It with texts behind it.
repeat(count) | string | It so many times.
padStart(length, filler) | string | It, filled up at its start.
padEnd(length, filler) | string | It, filled up at its end.
at(index) | string | The character at a position; negative numbers count from its end.
normalize(form) | string | It in a normal form of Unicode.
localeCompare(other) | number | Less than 0, 0 or more: how it sorts beside another text.
"""
_ARRAY = """
length | number | How many items it has.
some(callback) | boolean | Whether the callback is true for an item.
every(callback) | boolean | Whether the callback is true for every item.
filter(callback) | self | The items for which the callback is true.
find(callback) | item | The first item for which the callback is true, undefined without one.
findLast(callback) | item | The last item for which the callback is true, undefined without one.
findIndex(callback) | number | The position of the first item for which the callback is true, else -1.
map(callback) | array | What the callback makes of every item.
flatMap(callback) | array | What the callback makes of every item, lists laid open.
includes(item, from) | boolean | Whether an item is in it.
indexOf(item, from) | number | The position of an item, -1 when it is not there.
lastIndexOf(item, from) | number | The last position of an item, -1 when it is not there.
join(separator) | string | Its items as one text.
slice(start, end) | self | A part of it.
concat(...lists) | array | It with items behind it.
reduce(callback, initial) | | One value made of all items.
at(index) | item | The item at a position; negative numbers count from its end.
flat(depth) | array | Its items with the lists among them laid open.
forEach(callback) | | Calls the callback for every item; it gives nothing back.
keys() | iterator | Its positions.
values() | iterator | Its items.
entries() | iterator | Its positions and items.
reverse() | self | It in the other order; it changes itself.
sort(callback) | self | It in order; it changes itself.
"""
_NUMBER = """
toFixed(digits) | string | It as text, with so many digits behind the point.
toString(radix) | string | It as text.
toPrecision(digits) | string | It as text with so many digits.
"""
_REGEXP = """
test(text) | boolean | Whether the pattern matches in a text.
exec(text) | array | The first match in a text with its groups, null without one.
source | string | The pattern as text.
flags | string | Its flags.
"""
_OBJECT = """
hasOwnProperty(name) | boolean | Whether it has a property itself.
toString() | string | It as text.
"""
_MATH = """
abs(x) | number | The number without its sign.
ceil(x) | number | The next whole number above.
floor(x) | number | The next whole number below.
round(x) | number | The nearest whole number.
max(...numbers) | number | The greatest of the numbers.
min(...numbers) | number | The least of the numbers.
pow(x, y) | number | `x` to the power of `y`.
sqrt(x) | number | The square root.
trunc(x) | number | The number without what stands behind its point.
sign(x) | number | -1, 0 or 1.
"""
_JSON = """
parse(text) | | The value that a JSON text stands for; a text that is none makes the assertion fail.
stringify(value, replacer, space) | string | A value as JSON text.
"""
_OBJECTS = """
keys(object) | string[] | The names of its properties.
values(object) | array | The values of its properties.
entries(object) | array | Its properties, each as name and value.
assign(target, ...sources) | object | The target with all properties of the sources.
fromEntries(pairs) | object | An object made of names and values.
"""
_ARRAYS = """
isArray(value) | boolean | Whether a value is a list.
from(items, callback) | array | A list of what can be gone through.
of(...items) | array | A list of these items.
"""
_NUMBERS = """
isInteger(value) | boolean | Whether a value is a whole number.
isFinite(value) | boolean | Whether a value is a number that is not infinite.
isNaN(value) | boolean | Whether a value is no number.
parseFloat(text) | number | The number that a text starts with.
parseInt(text, radix) | number | The whole number that a text starts with.
"""
_GLOBALS = """
Array | Array() | Lists.
Boolean(value) | boolean | Whether a value counts as true.
JSON | JSON | JSON texts.
Math | Math | Functions of numbers.
Number(value) | number | A value as a number.
Object | Object() | Objects.
RegExp(pattern, flags) | pattern | A pattern made of a text.
String(value) | string | A value as text.
parseFloat(text) | number | The number that a text starts with.
parseInt(text, radix) | number | The whole number that a text starts with.
isNaN(value) | boolean | Whether a value is no number.
isFinite(value) | boolean | Whether a value is a number that is not infinite.
"""


@cache
def globals_() -> Mapping[str, Member]:
    """Return the names of JavaScript itself that assertions use."""
    return _table(_GLOBALS)


def members_of(kind: str) -> Mapping[str, Member]:
    """Return what can be read from a value of a type, nothing of one that is unknown."""
    if kind == "array" or kind.endswith("[]"):
        item = item_of(kind)
        return {name: _in_list(kind, item, member) for name, member in _members("array").items()}
    return _members(kind)


def item_of(kind: str) -> str:
    """Return the type of the items of a list or the characters of a text, "" when it is unknown."""
    return kind.removesuffix("[]") if kind.endswith("[]") else "string" if kind == "string" else ""


def _in_list(kind: str, item: str, member: Member) -> Member:
    returns = {"self": kind, "item": item}.get(member.returns, member.returns)
    return Member(member.parameters, returns, member.documentation)


@cache
def _members(kind: str) -> Mapping[str, Member]:
    tables = {
        "string": _STRING,
        "array": _ARRAY,
        "number": _NUMBER,
        "pattern": _REGEXP,
        "object": _OBJECT,
        "Math": _MATH,
        "JSON": _JSON,
        "Object()": _OBJECTS,
        "Array()": _ARRAYS,
        "Number()": _NUMBERS,
    }
    if kind in tables:
        return _table(tables[kind])
    return {
        "tool_call": _fields(
            TOOL_CALL_FIELDS, {"arguments": "arguments", "success": "boolean", "result": ""}
        ),
        "arguments": _fields(ARGUMENT_FIELDS, {}),
        "event": _fields(EVENT_FIELDS, {}),
    }.get(kind, _NO_FIELDS)


def _fields(meanings: Mapping[str, str], kinds: Mapping[str, str]) -> Mapping[str, Member]:
    return {
        name: Member(None, kinds.get(name, "string"), _FIELD_MEANINGS.get(name, meaning))
        for name, meaning in meanings.items()
    }


def _table(rows: str) -> Mapping[str, Member]:
    found: dict[str, Member] = {}
    for row in rows.strip().splitlines():
        label, returns, documentation = (cell.strip() for cell in row.split("|"))
        name, called, inside = label.partition("(")
        parameters = tuple(part for part in inside.removesuffix(")").split(", ") if part) if called else None
        found[name] = Member(parameters, returns, documentation)
    return MappingProxyType(found)
