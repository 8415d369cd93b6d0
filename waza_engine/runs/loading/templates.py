"""Values in the prompts of a CSV dataset, written as Go templates: ``{{.Vars.language}}``, ``{{.TaskName}}``.

The braces hold a value (a field, string, number, function or pipeline), a condition (``if``, ``with``,
``else``, ``end``) or a comment. ``{{-`` and ``-}}`` trim adjacent whitespace. Loops, variables and templates
of Go are a clear error: a row has nothing to loop over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from waza_engine.runs.loading.template_values import (
    IDENTIFIER,
    Expression,
    NotUnderstoodError,
    Scope,
    Value,
    ValueFault,
    parse,
    shown,
)

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
                yield shown(value)
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
