"""Values that refuse what is done with them: text called, negated or printed as a number, a list in a set.

Only where the kind of the value is certain; what can work in some run is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from waza_engine.assertions.names import CONTEXT_NAMES
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.kinds import NOTHING, TEXT, Kinds, is_number, kind_of
from waza_language_server.embedded.python.python_source import PythonSource, brief

_UNHASHABLE = (list, dict, set)
_IN_PARENTHESES = frozenset({"len", "any", "all", "str", "int", "float", "bool"})
"""Functions that cannot be read by a key, as the types of collections can."""
_SIGNS: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
_PLACES = compiled_later(r"%[^a-zA-Z%]*[a-zA-Z]")
"""Where values are put into a text: `%s`, `%05d`."""
_OF_NUMBERS = frozenset("bdoxXeEfFgGn")
"""Last letters of formats that take numbers alone."""


def refusal_findings(source: PythonSource, node: ast.AST, names: Kinds) -> Iterator[Finding]:
    """Yield what the values of one node refuse, whatever they are in a run."""
    match node:
        case ast.Call():
            yield from _called(source, node, names)
        case ast.Subscript(value=ast.Name(id=name), slice=inside) if (
            name in _IN_PARENTHESES - source.bound - names.keys()
        ):
            start, end = source.start(node), source.end(node)
            called = f"{name}({source.segment(inside)})"
            changed = (f"{source.text[:start]}{called}{source.text[end:]}",)
            what = f"`{name}` is a function, which is called in parentheses"
            yield _finding(source, node, what, (Rewrite(f"Write `{brief(called)}`", changed),))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
            yield from _turned(source, node, names)
        case ast.Set() if (template := _template(source, node)) is not None:
            yield template
        case ast.Set(elts=members):
            yield from _unhashable(source, members, "be in a set", names)
        case ast.Dict(keys=keys):
            yield from _unhashable(
                source, [key for key in keys if key is not None], "be keys of a dict", names
            )
        case ast.Slice():
            yield from _places(source, node, names)
        case ast.FormattedValue() | ast.BinOp(op=ast.Mod()):
            yield from _printed(source, node, names)
        case _:
            return


def _turned(source: PythonSource, node: ast.UnaryOp, names: Kinds) -> Iterator[Finding]:
    kind = kind_of(node.operand, names)
    if kind is not None and not is_number(kind):
        what = f"`{_SIGNS[type(node.op)]}` turns numbers, and `{source.brief(node.operand)}` is {kind.title}"
        yield _finding(source, node, what)


def _places(source: PythonSource, node: ast.Slice, names: Kinds) -> Iterator[Finding]:
    for place in (node.lower, node.upper, node.step):
        kind = kind_of(place, names) if place is not None else None
        if place is None or kind is None or kind is NOTHING or is_number(kind):
            continue
        what = f"Places in a text or a list are numbers, and `{source.brief(place)}` is {kind.title}"
        yield _finding(source, place, what)
        return


def _printed(source: PythonSource, node: ast.FormattedValue | ast.BinOp, names: Kinds) -> Iterator[Finding]:
    match node:
        case ast.FormattedValue(
            value=value, conversion=-1, format_spec=ast.JoinedStr(values=[ast.Constant(value=str(form))])
        ) if form[-1:] in _OF_NUMBERS:
            yield from _no_number(source, value, f":{form}", names)
        case ast.BinOp(left=ast.Constant(value=str(template)), right=value):
            signs: list[str] = _PLACES.findall(template.replace("%%", ""))
            if len(signs) == 1 and signs[0][-1] in _OF_NUMBERS:
                yield from _no_number(source, value, signs[0], names)
        case _:
            return


def _no_number(source: PythonSource, value: ast.expr, sign: str, names: Kinds) -> Iterator[Finding]:
    if kind_of(value, names) is TEXT:
        what = f"`{sign}` prints a number, and `{source.brief(value)}` is {TEXT.title}"
        yield _finding(source, value, what)


def _called(source: PythonSource, call: ast.Call, names: Kinds) -> Iterator[Finding]:
    called = call.func
    kind = kind_of(called, names)
    if kind is None:
        return
    end = source.end(called)
    is_bare = not call.args and not call.keywords
    changed = f"{source.text[:end]}{source.text[source.end(call) :]}"
    written = source.brief(called)
    advice = f"; write `{written}`" if is_bare else ""
    rewrites = (Rewrite(f"Write `{written}`", (changed,), preferred=True),) if is_bare else ()
    yield _finding(source, call, f"`{written}` is {kind.title} and no function{advice}", rewrites)


def _template(source: PythonSource, node: ast.Set) -> Finding | None:
    """Return the finding of a value in two pairs of braces, as in templates: for Python a set in a set."""
    match node.elts:
        case [ast.Set(elts=[inner])]:
            pass
        case _:
            return None
    start, end = source.start(node), source.end(node)
    message = (
        f"Nothing is put in for `{source.brief(node)}` in an assertion: for Python it is a set in a set, "
        f"which fails; write `{source.brief(inner)}` alone."
    )
    changed = f"{source.text[:start]}{source.segment(inner)}{source.text[end:]}"
    is_known = isinstance(inner, ast.Name) and inner.id in CONTEXT_NAMES
    rewrites = (Rewrite(f"Write `{source.brief(inner)}`", (changed,), preferred=is_known),)
    return Finding("assertion-type", start, end, message, rewrites)


def _unhashable(source: PythonSource, members: list[ast.expr], what: str, names: Kinds) -> Iterator[Finding]:
    for member in members:
        kind = kind_of(member, names)
        if kind is not None and kind.owner in _UNHASHABLE:
            written = source.brief(member)
            yield _finding(
                source, member, f"`{written}` is {kind.title}, and only text and numbers can {what}"
            )
            return


def _finding(source: PythonSource, node: ast.expr, what: str, rewrites: tuple[Rewrite, ...] = ()) -> Finding:
    return Finding(
        "assertion-type", source.start(node), source.end(node), f"{what}; that fails the assertion.", rewrites
    )
