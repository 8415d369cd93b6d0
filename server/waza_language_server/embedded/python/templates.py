"""Texts with places for values (`'{}'.format(…)`, `'%s' % …`) that are given none for one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from string import Formatter

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.kinds import TEXT, Kinds, is_number, kind_of
from waza_language_server.embedded.python.python_source import PythonSource

_NAME = compiled_later(r"[^.\[]*")
_SIGN = compiled_later(r"%(\(.*?\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.|$)")
"""A place behind `%`, or a percent sign: its key, what may be asked of the values before, its last letter."""


def template_findings(source: PythonSource, node: ast.AST, names: Kinds) -> Iterator[Finding]:
    """Yield the first place of a template without a value; nothing where it is not certain what is given."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)) as template, attr="format")):
            if any(isinstance(each, ast.Starred) for each in node.args):
                return
            given = [keyword.arg for keyword in node.keywords]
            if None not in given:
                yield from _of_format(source, template, text, node.args, given)
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text)), right=values):
            given = _number_of(values, names)
            signs: list[tuple[str, ...]] = [each for each in _SIGN.findall(text) if each[-1] != "%"]
            if given is None or any(key for key, *_ in signs):
                return
            needed = sum(1 + sign.count("*") for sign in signs)
            if needed != given:
                places = counted(needed, "place")
                what = f"`{source.brief(node.left)}` has {places} for values and not {given}"
                yield _finding(source, node, what)
        case _:
            return


def _number_of(values: ast.expr, names: Kinds) -> int | None:
    """Return how many values are given behind `%`; None where that is not certain."""
    if isinstance(values, ast.Tuple):
        return None if any(isinstance(each, ast.Starred) for each in values.elts) else len(values.elts)
    kind = kind_of(values, names)
    return 1 if kind is not None and (kind is TEXT or is_number(kind)) else None


def _of_format(
    source: PythonSource,
    template: ast.expr,
    text: str,
    values: Sequence[ast.expr],
    keywords: Sequence[str | None],
) -> Iterator[Finding]:
    try:
        fields = list(_fields(text))
    except ValueError:
        what = f"A brace in `{source.brief(template)}` lacks its other one, and is not written twice"
        yield _finding(source, template, what)
        return
    unnamed = 0
    for field in fields:
        name = field if field else str(unnamed)
        unnamed += not field
        if name in keywords or (name.isdecimal() and int(name) < len(values)):
            continue
        rewrites: tuple[Rewrite, ...] = ()
        written = source.segment(template)
        if len(fields) == len(values) == 1 and not keywords and written.count(f"{{{field}") == 1:
            start, end = source.start(template), source.end(template)
            new = written.replace(f"{{{field}", "{")
            rewrites = (Rewrite(f"Write `{new}`", (f"{source.text[:start]}{new}{source.text[end:]}",)),)
        yield _finding(source, template, f"`format` is given no value for `{{{field}}}`", rewrites)
        return


def _fields(text: str) -> Iterator[str]:
    """Yield the names of the places in a text, those in the forms of others too; "" for the next value."""
    for _, field, form, _ in Formatter().parse(text):
        if field is not None:
            yield _NAME.match(field)[0]  # pyright: ignore[reportOptionalSubscript]
        yield from _fields(form or "")


def _finding(source: PythonSource, node: ast.expr, what: str, rewrites: tuple[Rewrite, ...] = ()) -> Finding:
    message = f"{what}; that fails the assertion."
    return Finding("assertion-type", source.start(node), source.end(node), message, rewrites)
