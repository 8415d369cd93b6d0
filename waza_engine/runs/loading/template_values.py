"""The content of Go template actions: fields, strings, numbers, functions, pipelines.

Functions are those of text/template that apply to strings and numbers; the rest is a clear error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

Value: TypeAlias = "str | int | float | bool | Mapping[str, Value] | None"
Expression: TypeAlias = "Callable[[Scope], Value]"

IDENTIFIER = r"[^\W\d]\w*"
_TOKEN = re.compile(
    rf"""(?P<blank>[ \t\r\n]+)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
    |(?P<number>-?\d+(?:\.\d+)?(?![\w.]))
    |(?P<field>\$?(?:\.{IDENTIFIER})+(?![\w-])|\$(?![\w.])|\.(?![\w.]))
    |(?P<word>{IDENTIFIER}(?![\w-]))
    |(?P<mark>[()|])""",
    re.VERBOSE,
)
_VERB = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>\d*)(?P<precision>(?:\.\d+)?)(?P<verb>[a-zA-Z%])")


class NotUnderstoodError(ValueError):
    """The expression cannot be read."""


class ValueFault(ValueError):  # noqa: N818 - becomes a TemplateError with the whole action
    """The expression cannot be evaluated; the message says why."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The values of names: ``root`` is ``$``, ``dot`` is ``.``.

    ``missing`` makes the error for an unknown name, inside ``.Vars`` or outermost.
    """

    root: Mapping[str, Value]
    dot: Value
    missing: Callable[[str, bool], Exception]


def parse(text: str) -> Expression:
    """Return the expression. Raises ``NotUnderstoodError``."""
    tokens = _tokens(text)
    expression = _pipeline(tokens)
    if tokens:
        raise NotUnderstoodError(text)
    return expression


def is_true(value: Value) -> bool:
    """Return a value's truth as ``if`` evaluates it: "", zero, false and nothing are false."""
    return bool(value)


def shown(value: Value) -> str:
    """Return a value as a template prints it. Raises ``ValueFault`` for ``.Vars`` itself."""
    match value:
        case None:
            return "<no value>"
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() else repr(value)
        case Mapping():
            raise ValueFault("`.Vars` is all values; write one of them, for example `{{.Vars.name}}`")
        case _:
            return str(value)


def unquoted(text: str) -> str:
    """Return the value of a quoted string. Raises ``NotUnderstoodError`` for an unknown escape."""
    if text.startswith("`"):
        return text[1:-1].replace("\r", "")
    try:
        return str(json.loads(text))
    except ValueError:
        raise ValueFault(f"{text} has an escape that is not understood") from None


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise NotUnderstoodError(text)
        if found.lastgroup is not None and found.lastgroup != "blank":
            tokens.append((found.lastgroup, found[0]))
        position = found.end()
    tokens.reverse()
    return tokens


def _pipeline(tokens: list[tuple[str, str]]) -> Expression:
    expression = _command(tokens, None)
    while tokens and tokens[-1] == ("mark", "|"):
        tokens.pop()
        expression = _command(tokens, expression)
    return expression


def _command(tokens: list[tuple[str, str]], piped: Expression | None) -> Expression:
    if not tokens:
        raise NotUnderstoodError("")
    kind, first = tokens[-1]
    if kind == "word" and first in _FUNCTIONS:
        tokens.pop()
        arguments = list(_operands(tokens))
        if piped is not None:
            arguments.append(piped)
        function, least = _FUNCTIONS[first]
        if len(arguments) < least:
            raise NotUnderstoodError(first)
        return lambda scope: function(scope, arguments)
    operands = list(_operands(tokens))
    if len(operands) != 1 or piped is not None:
        raise NotUnderstoodError(first)
    return operands[0]


def _operands(tokens: list[tuple[str, str]]) -> list[Expression]:
    operands: list[Expression] = []
    while tokens and tokens[-1] not in (("mark", "|"), ("mark", ")")):
        kind, text = tokens.pop()
        if kind == "mark":
            operands.append(_pipeline(tokens))
            if not tokens or tokens.pop() != ("mark", ")"):
                raise NotUnderstoodError(text)
        else:
            operands.append(_operand(kind, text))
    return operands


def _operand(kind: str, text: str) -> Expression:
    constants: dict[str, Value] = {"true": True, "false": False, "nil": None}
    if kind == "text":
        return _constant(unquoted(text))
    if kind == "number":
        return _constant(float(text) if "." in text else int(text))
    if kind == "field":
        return _field(text)
    if text in constants:
        return _constant(constants[text])
    if text in _FUNCTIONS:
        return _command([("word", text)], None)
    raise NotUnderstoodError(text)


def _constant(value: Value) -> Expression:
    return lambda _: value


def _field(text: str) -> Expression:
    names = [name for name in text.removeprefix("$").split(".") if name]

    def find(scope: Scope) -> Value:
        value: Value = scope.root if text.startswith("$") else scope.dot
        for position, name in enumerate(names):
            if not isinstance(value, Mapping):
                raise ValueFault(
                    f"a single value has no part `.{name}`; write `$.{name}` for the outermost one"
                )
            if name not in value:
                raise scope.missing(name, position > 0)
            value = value[name]
        return value

    return find


_Function: TypeAlias = "Callable[[Scope, Sequence[Expression]], Value]"


def _values(scope: Scope, arguments: Sequence[Expression]) -> list[Value]:
    return [argument(scope) for argument in arguments]


def _and(scope: Scope, arguments: Sequence[Expression]) -> Value:
    value: Value = None
    for argument in arguments:
        value = argument(scope)
        if not is_true(value):
            break
    return value


def _or(scope: Scope, arguments: Sequence[Expression]) -> Value:
    value: Value = None
    for argument in arguments:
        value = argument(scope)
        if is_true(value):
            break
    return value


def _not(scope: Scope, arguments: Sequence[Expression]) -> Value:
    return not is_true(arguments[0](scope))


def _eq(scope: Scope, arguments: Sequence[Expression]) -> Value:
    first, *others = _values(scope, arguments)
    return any(_comparable(first, other) and first == other for other in others)


def _ne(scope: Scope, arguments: Sequence[Expression]) -> Value:
    first, second = _values(scope, arguments[:2])
    return _comparable(first, second) and first != second


def _ordered(compare: Callable[[float | str, float | str], bool]) -> _Function:
    def function(scope: Scope, arguments: Sequence[Expression]) -> Value:
        first, second = _values(scope, arguments[:2])
        _comparable(first, second)
        if not isinstance(first, str | int | float) or not isinstance(second, str | int | float):
            raise ValueFault("only texts and numbers have an order")
        return compare(first, second)

    return function


def _comparable(one: Value, other: Value) -> bool:
    kinds = (isinstance(one, str), isinstance(one, bool)), (isinstance(other, str), isinstance(other, bool))
    if kinds[0] != kinds[1] or isinstance(one, Mapping) or isinstance(other, Mapping):
        raise ValueFault(
            "values of different kinds are compared; cells of a dataset are texts: quote the other side"
        )
    return True


def _len(scope: Scope, arguments: Sequence[Expression]) -> Value:
    value = arguments[0](scope)
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, Mapping):
        return len(value)
    raise ValueFault("`len` counts a text or `.Vars`")


def _index(scope: Scope, arguments: Sequence[Expression]) -> Value:
    block, *names = _values(scope, arguments)
    for name in names:
        if not isinstance(block, Mapping) or not isinstance(name, str):
            raise ValueFault('`index` takes `.Vars` and a name, as in `index .Vars "name"`')
        if name not in block:
            raise scope.missing(name, True)
        block = block[name]
    return block


def _print(scope: Scope, arguments: Sequence[Expression]) -> Value:
    parts: list[str] = []
    before: Value = ""
    for value in _values(scope, arguments):
        # Go puts a space between two operands when neither is a string.
        if parts and not isinstance(value, str) and not isinstance(before, str):
            parts.append(" ")
        parts.append(shown(value))
        before = value
    return "".join(parts)


def _println(scope: Scope, arguments: Sequence[Expression]) -> Value:
    return " ".join(shown(value) for value in _values(scope, arguments)) + "\n"


def _printf(scope: Scope, arguments: Sequence[Expression]) -> Value:
    template, *values = _values(scope, arguments)
    if not isinstance(template, str):
        raise ValueFault("`printf` starts with a text")
    waiting = list(values)

    def fill(found: re.Match[str]) -> str:
        verb = found["verb"]
        if verb == "%":
            return "%"
        if not waiting:
            raise ValueFault(f"`printf` has no value for `{found[0]}`")
        value = waiting.pop(0)
        form = f"%{found['flags']}{found['width']}{found['precision']}"
        if verb in "sv":
            return f"{form}s" % shown(value)
        if verb == "q":
            return f"{form}s" % json.dumps(shown(value), ensure_ascii=False)
        if verb in "dxXo" and isinstance(value, int):
            return (form + verb) % value
        if verb in "feEgG" and isinstance(value, int | float):
            return (form + verb) % value
        raise ValueFault(f"`printf` cannot write {shown(value)!r} as `{found[0]}`")

    text = _VERB.sub(fill, template)
    if waiting:
        raise ValueFault("`printf` has more values than its text asks for")
    return text


_FUNCTIONS: dict[str, tuple[_Function, int]] = {
    "and": (_and, 1),
    "or": (_or, 1),
    "not": (_not, 1),
    "eq": (_eq, 2),
    "ne": (_ne, 2),
    "lt": (_ordered(lambda one, other: cast("float", one) < cast("float", other)), 2),
    "le": (_ordered(lambda one, other: cast("float", one) <= cast("float", other)), 2),
    "gt": (_ordered(lambda one, other: cast("float", one) > cast("float", other)), 2),
    "ge": (_ordered(lambda one, other: cast("float", one) >= cast("float", other)), 2),
    "len": (_len, 1),
    "index": (_index, 2),
    "print": (_print, 0),
    "println": (_println, 0),
    "printf": (_printf, 1),
}
