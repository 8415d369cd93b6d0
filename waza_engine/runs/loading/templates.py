"""Values in the prompts of a CSV dataset, written as Go templates: ``{{.Vars.language}}``, ``{{.TaskName}}``.

The braces hold a value (a field, string, number, function or pipeline), a condition (``if``, ``with``,
``else``, ``end``) or a comment. ``{{-`` and ``-}}`` trim adjacent whitespace. Loops, variables and templates
of Go are a clear error: a row has nothing to loop over.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
_MOST_DIGITS = 4
"""The most digits of a width and of a precision: each costs memory."""
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


def printed_value(value: Value) -> str:
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
        return _constant(_number(text))
    if kind == "field":
        return _field(text)
    if text in constants:
        return _constant(constants[text])
    if text in _FUNCTIONS:
        return _command([("word", text)], None)
    raise NotUnderstoodError(text)


def _number(text: str) -> int | float:
    # As in Go, a whole number has 64 bits; Python reads no more than 4,300 digits.
    number = float(text) if "." in text or len(text) > 20 else int(text)
    if abs(number) >= 2**63 if "." not in text else math.isinf(number):
        raise ValueFault("the number is too large; put it into quotes")
    return number


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
        if not value:
            break
    return value


def _or(scope: Scope, arguments: Sequence[Expression]) -> Value:
    value: Value = None
    for argument in arguments:
        value = argument(scope)
        if value:
            break
    return value


def _not(scope: Scope, arguments: Sequence[Expression]) -> Value:
    return not arguments[0](scope)


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
        parts.append(printed_value(value))
        before = value
    return "".join(parts)


def _println(scope: Scope, arguments: Sequence[Expression]) -> Value:
    return " ".join(printed_value(value) for value in _values(scope, arguments)) + "\n"


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
        if max(len(found["width"]), len(found["precision"].lstrip("."))) > _MOST_DIGITS:
            raise ValueFault("a width or precision of `printf` is above 9,999; write a smaller one")
        form = f"%{found['flags']}{found['width']}{found['precision']}"
        if verb in "sv":
            return f"{form}s" % printed_value(value)
        if verb == "q":
            return f"{form}s" % json.dumps(printed_value(value), ensure_ascii=False)
        if verb in "dxXo" and isinstance(value, int):
            return (form + verb) % value
        if verb in "feEgG" and isinstance(value, int | float):
            return (form + verb) % value
        raise ValueFault(f"`printf` cannot write {printed_value(value)!r} as `{found[0]}`")

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


_BLANKS = " \t\r\n"
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`')
_COMMENT = re.compile(r"\{\{(-[ \t\r\n]+)?/\*.*?\*/([ \t\r\n]+-)?\}\}", re.DOTALL)
_WORD = re.compile(IDENTIFIER)
_REFUSED = frozenset({"range", "define", "template", "block", "break", "continue"})


class TemplateError(ValueError):
    """A template that cannot be filled in; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class TemplateData:
    """The names that a template may use: ``fields`` as ``{{.Name}}``, ``variables`` as ``{{.Vars.name}}``."""

    fields: Mapping[str, str | int]
    variables: Mapping[str, str]


def render(template: str, data: TemplateData) -> str:
    """Return the template with every value filled in; one without ``{{`` is returned unchanged.

    Raises ``TemplateError``.
    """
    try:
        return _filled(template, data)
    except RecursionError:
        raise TemplateError("the template is nested too deeply") from None


def _filled(template: str, data: TemplateData) -> str:
    pieces = list(_pieces(template))
    pieces.reverse()
    nodes = _nodes(pieces, data)
    if pieces:
        raise TemplateError(
            f"{_braces(pieces[-1].text)} closes nothing; there is no `{{{{if …}}}}` before it"
        )
    root: dict[str, Value] = {**data.fields, "Vars": dict(data.variables)}
    return "".join(_printed(nodes, Scope(root, root, lambda name, inner: _missing(name, inner, data))))


@dataclass(frozen=True, slots=True)
class _Piece:
    """Literal text, or the content of braces."""

    text: str
    is_action: bool = False


@dataclass(frozen=True, slots=True)
class _Node:
    """Literal text, a value, or a condition with its branches; ``binds`` makes the value the new dot."""

    text: str
    value: Expression | None = None
    then: list[_Node] = field(default_factory=list["_Node"])
    otherwise: list[_Node] = field(default_factory=list["_Node"])
    is_condition: bool = False
    binds: bool = False


def _pieces(template: str) -> Iterator[_Piece]:
    position, trim_next = 0, False
    while (opening := template.find("{{", position)) >= 0:
        text = template[position:opening]
        inside, end, trim_before, trim_after = _action(template, opening)
        text = text.lstrip(_BLANKS) if trim_next else text
        yield _Piece(text.rstrip(_BLANKS) if trim_before else text)
        if inside is not None:
            yield _Piece(inside, is_action=True)
        position, trim_next = end, trim_after
    rest = template[position:]
    yield _Piece(rest.lstrip(_BLANKS) if trim_next else rest)


def _nodes(pieces: list[_Piece], data: TemplateData) -> list[_Node]:
    """Take pieces up to an ``else`` or ``end`` of an enclosing action."""
    nodes: list[_Node] = []
    while pieces:
        piece = pieces[-1]
        word = _first_word(piece) if piece.is_action else ""
        if word in ("else", "end"):
            break
        pieces.pop()
        if not piece.is_action:
            nodes.append(_Node(piece.text))
        elif word in ("if", "with"):
            nodes.append(_condition(piece.text, word, pieces, data))
        else:
            nodes.append(_Node(piece.text, _parsed(piece.text, data)))
    return nodes


def _condition(text: str, word: str, pieces: list[_Piece], data: TemplateData) -> _Node:
    value = _parsed(text.removeprefix(word).strip(_BLANKS), data)
    then, otherwise = _nodes(pieces, data), list[_Node]()
    closing = pieces.pop().text if pieces else ""
    if closing.startswith("else"):
        rest = closing.removeprefix("else").strip(_BLANKS)
        if rest:
            chained = _first_word(_Piece(rest))
            if chained not in ("if", "with"):
                raise TemplateError(
                    f"{_braces(closing)} is not understood; write `else`, `else if …` or `end`"
                )
            otherwise = [_condition(rest, chained, pieces, data)]
            closing = "end"
        else:
            otherwise = _nodes(pieces, data)
            closing = pieces.pop().text if pieces else ""
    if closing != "end":
        raise TemplateError(f"{_braces(text)} has no `{{{{end}}}}`")
    return _Node(text, value, then, otherwise, is_condition=True, binds=word == "with")


def _printed(nodes: list[_Node], scope: Scope) -> Iterator[str]:
    for node in nodes:
        if node.value is None:
            yield node.text
            continue
        try:
            value = node.value(scope)
            if not node.is_condition:
                yield printed_value(value)
                continue
        except ValueFault as fault:
            raise TemplateError(f"{_braces(node.text)}: {fault}") from None
        if value:
            inner = Scope(scope.root, value, scope.missing) if node.binds else scope
            yield from _printed(node.then, inner)
        else:
            yield from _printed(node.otherwise, scope)


def _parsed(inside: str, data: TemplateData) -> Expression:
    try:
        return parse(inside)
    except ValueFault as fault:
        raise TemplateError(f"{_braces(inside)}: {fault}") from None
    except NotUnderstoodError:
        raise TemplateError(_not_understood(inside, data)) from None


def _first_word(piece: _Piece) -> str:
    found = _WORD.match(piece.text)
    return "" if found is None else found[0]


def _action(template: str, opening: int) -> tuple[str | None, int, bool, bool]:
    """Return the braces' content (None for a comment), where they end, and which whitespace they trim."""
    comment = _COMMENT.match(template, opening)
    if comment is not None:
        return None, comment.end(), comment[1] is not None, comment[2] is not None
    start = opening + 2
    trim_before = template.startswith("-", start) and template[start + 1 : start + 2] in tuple(_BLANKS)
    closing = _closing(template, start)
    inside = template[start + trim_before : closing]
    trim_after = inside.endswith("-") and inside[-2:-1] in tuple(_BLANKS)
    if trim_after:
        inside = inside[:-1]
    return inside.strip(_BLANKS), closing + 2, trim_before, trim_after


def _closing(template: str, start: int) -> int:
    """Return the position of ``}}``; one inside quotes does not count."""
    position = start
    while position < len(template):
        if template.startswith("}}", position):
            return position
        quoted = _QUOTED.match(template, position)
        position = quoted.end() if quoted else position + 1
    raise TemplateError(f"`{{{{{_shortened(template[start:])}` has no closing `}}}}`")


def _missing(name: str, inner: bool, data: TemplateData) -> TemplateError:
    if inner:
        known = ", ".join(f"`{variable}`" for variable in data.variables)
        return TemplateError(f"there is no column or input `{name}`; there are {known or 'none'}")
    if name in data.variables:
        return TemplateError(f"`{{{{.{name}}}}}` is not known; write `{{{{.Vars.{name}}}}}`")
    known = ", ".join(f"`.{known}`" for known in data.fields)
    return TemplateError(f"`{{{{.{name}}}}}` is not known; write {known} or `.Vars.<name>`")


def _not_understood(inside: str, data: TemplateData) -> str:
    name = inside.removeprefix(".Vars.").strip()
    if inside.startswith(".Vars.") or name in data.variables:
        right = f".Vars.{name}" if _WORD.fullmatch(name) else f'index .Vars "{name}"'
        return f"{_braces(inside)} is not a value; write `{{{{{right}}}}}`"
    if not inside:
        return "`{{}}` is empty; write a value, for example `{{.Vars.name}}`"
    word = _WORD.match(inside)
    if inside.startswith("$") or (word is not None and word[0] in _REFUSED):
        what = "a variable" if word is None else f"`{word[0]}`"
        return f"{_braces(inside)}: {what} cannot be used here; write the values into columns of the dataset"
    return f"{_braces(inside)} is not a value; write for example `{{{{.Vars.name}}}}`"


def _braces(inside: str) -> str:
    return f"`{{{{{_shortened(inside)}}}}}`"


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"
