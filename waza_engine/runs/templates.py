"""Values in the prompts of a CSV dataset, written as Go templates: ``{{.Vars.language}}``, ``{{.TaskName}}``.

What stands between the braces is one value: a field, a variable, ``index .Vars "name"`` for names that are no
identifiers, a quoted text, or a comment. ``{{-`` and ``-}}`` take the blanks beside them away. Everything
else of Go's language (conditions, loops, pipes, functions) is a clear error (reference waza.md §4.8).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

_BLANKS = " \t\r\n"
_IDENTIFIER = r"[^\W\d]\w*"
_FIELD = re.compile(rf"\.({_IDENTIFIER})")
_VARIABLE = re.compile(rf"\.Vars\.({_IDENTIFIER})")
_INDEX = re.compile(r'index[ \t\r\n]+\.Vars[ \t\r\n]+("(?:[^"\\\n]|\\.)*"|`[^`]*`)')
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`')
_COMMENT = re.compile(r"\{\{(-[ \t\r\n]+)?/\*.*?\*/([ \t\r\n]+-)?\}\}", re.DOTALL)
_WORD = re.compile(_IDENTIFIER)
_KEYWORDS = frozenset({"if", "else", "end", "range", "with", "define", "template", "block", "break"})


class TemplateError(ValueError):
    """A template that cannot be filled in; the text says what to write instead."""


@dataclass(frozen=True, slots=True)
class TemplateData:
    """What a template may name: ``fields`` as ``{{.Name}}`` and ``variables`` as ``{{.Vars.name}}``."""

    fields: Mapping[str, str]
    variables: Mapping[str, str]


def render(template: str, data: TemplateData) -> str:
    """Return the text with every value filled in; a text without ``{{`` is left alone.

    Raises ``TemplateError``.
    """
    parts: list[str] = []
    position, trim_next = 0, False
    while (opening := template.find("{{", position)) >= 0:
        text = template[position:opening]
        inside, end, trim_before, trim_after = _action(template, opening)
        text = text.lstrip(_BLANKS) if trim_next else text
        parts.append(text.rstrip(_BLANKS) if trim_before else text)
        if inside is not None:
            parts.append(_value(inside, data))
        position, trim_next = end, trim_after
    rest = template[position:]
    parts.append(rest.lstrip(_BLANKS) if trim_next else rest)
    return "".join(parts)


def _action(template: str, opening: int) -> tuple[str | None, int, bool, bool]:
    """Return what stands in the braces (None for a comment), where they end, and which blanks they take."""
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
    """Return where ``}}`` stands; one inside quotes does not count."""
    position = start
    while position < len(template):
        if template.startswith("}}", position):
            return position
        quoted = _QUOTED.match(template, position)
        position = quoted.end() if quoted else position + 1
    raise TemplateError(f"`{{{{{_shortened(template[start:])}` has no closing `}}}}`")


def _value(inside: str, data: TemplateData) -> str:
    if found := _VARIABLE.fullmatch(inside):
        return _variable(found[1], data)
    if found := _INDEX.fullmatch(inside):
        return _variable(_text(found[1]), data)
    if found := _FIELD.fullmatch(inside):
        if found[1] in data.fields:
            return data.fields[found[1]]
        raise TemplateError(_unknown_field(found[1], data))
    if _QUOTED.fullmatch(inside):
        return _text(inside)
    raise TemplateError(_not_understood(inside, data))


def _variable(name: str, data: TemplateData) -> str:
    if name in data.variables:
        return data.variables[name]
    known = ", ".join(f"`{variable}`" for variable in data.variables)
    raise TemplateError(f"there is no column or input `{name}`; there are {known or 'none'}")


def _text(quoted: str) -> str:
    if quoted.startswith("`"):
        return quoted[1:-1].replace("\r", "")
    try:
        return str(json.loads(quoted))
    except ValueError:
        raise TemplateError(f"{quoted} has an escape that is not understood") from None


def _unknown_field(name: str, data: TemplateData) -> str:
    if name == "Vars":
        return "`{{.Vars}}` is all values; write one of them, for example `{{.Vars.name}}`"
    if name in data.variables:
        return f"`{{{{.{name}}}}}` is not known; write `{{{{.Vars.{name}}}}}`"
    known = ", ".join(f"`.{field}`" for field in data.fields)
    return f"`{{{{.{name}}}}}` is not known; write {known} or `.Vars.<name>`"


def _not_understood(inside: str, data: TemplateData) -> str:
    shown = f"`{{{{{_shortened(inside)}}}}}`"
    name = inside.removeprefix(".Vars.").strip()
    if inside.startswith(".Vars.") or name in data.variables:
        right = f".Vars.{name}" if _WORD.fullmatch(name) else f'index .Vars "{name}"'
        return f"{shown} is not a value; write `{{{{{right}}}}}`"
    word = _WORD.match(inside)
    if not inside:
        return "`{{}}` is empty; write a value, for example `{{.Vars.name}}`"
    if word is not None and word[0] in _KEYWORDS:
        return f"{shown}: `{word[0]}` cannot be used here; write the values into columns of the dataset"
    return f"{shown} is not a value; write for example `{{{{.Vars.name}}}}`"


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"
