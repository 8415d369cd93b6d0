"""Valid assertions that do not mean what they seem to: unknown attributes, methods that are not called.

Everything is found without running the assertion; if the type of a value is unknown, nothing is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from waza_engine.assertions.names import ALLOWED_DUNDER_ATTRIBUTES as _DUNDERS
from waza_engine.assertions.names import READ, is_refused_attribute, is_refused_member, members_of
from waza_language_server.embedded.language import Finding
from waza_language_server.embedded.python.constants import constant_findings
from waza_language_server.embedded.python.inference import Types, infer, names_inside
from waza_language_server.embedded.python.members import CONTEXT_TYPES, OUTCOME, RE, TOOL_CALL, ValueType
from waza_language_server.embedded.python.python_source import PythonSource
from waza_language_server.embedded.python.scopes import Comprehension, parameters
from waza_language_server.embedded.python.values import call_findings, comparison_findings, unknown_of_re
from waza_language_server.spelling import nearest, slip_of

_JAVASCRIPT = {
    "length": "len(…)",
    "includes": "… in …",
    "toLowerCase": ".lower()",
    "toUpperCase": ".upper()",
    "indexOf": ".find(…)",
    "startsWith": ".startswith(…)",
    "endsWith": ".endswith(…)",
    "trimStart": ".lstrip()",
    "trimEnd": ".rstrip()",
    "trim": ".strip()",
    "some": "any(…)",
    "every": "all(…)",
    "filter": "[… for … in … if …]",
    "map": "[… for … in …]",
}
_ELSEWHERE = {
    "contains": "… in …",
    "matches": "re.search(…)",
    "match": "re.search(…)",
    "search": "re.search(…)",
    "test": "re.search(…)",
    "size": "len(…)",
    "len": "len(…)",
}
"""The Python equivalents of methods of other languages."""
_METHODS_WITH_ARGUMENTS = """
count endswith find get index join removeprefix removesuffix replace rfind rindex startswith
"""
_NEED_ARGUMENTS = frozenset(_METHODS_WITH_ARGUMENTS.split())
"""Methods of strings, lists and dicts that cannot be called without arguments."""
_CALL_KEYS = ("name", "arguments", "success", "result", "id")
_OTHER_WORDS = {
    "tool": "name",
    "tool_name": "name",
    "toolName": "name",
    "args": "arguments",
    "input": "arguments",
    "parameters": "arguments",
    "output": "result",
    "response": "result",
    "ok": "success",
}


def meaning_findings(source: PythonSource) -> tuple[Finding, ...]:
    """Return the findings about the values of an expression; none if it is nested too deeply."""
    try:
        names: Types = CONTEXT_TYPES
        if source.bound:
            names = {**names, **dict.fromkeys(source.bound)}
        found = [*_visit(source, source.expression.body, names)]
        return tuple(found) or tuple(constant_findings(source))
    except RecursionError:
        return ()


def _visit(source: PythonSource, node: ast.AST, names: Types, *, called: bool = False) -> Iterator[Finding]:
    match node:
        case ast.Attribute():
            if isinstance(node.value, ast.Name) and node.value.id == "re" and names.get("re") is RE:
                finding = unknown_of_re(source, node)
            else:
                finding = _attribute(source, node, infer(node.value, names), called=called)
            if finding is not None:
                yield finding
            yield from _visit(source, node.value, names)
        case ast.Subscript():
            finding = _subscript(source, node, infer(node.value, names))
            if finding is not None:
                yield finding
            yield from _visit(source, node.value, names)
            yield from _visit(source, node.slice, names)
        case ast.Call():
            yield from call_findings(source, node, names)
            yield from _visit(source, node.func, names, called=True)
            for part in (*node.args, *node.keywords):
                yield from _visit(source, part, names)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            yield from _visit_comprehension(source, node, names)
        case ast.Lambda():
            arguments = [each.arg for each in parameters(node)]
            yield from _visit(source, node.body, {**names, **dict.fromkeys(arguments)})
        case ast.Set(elts=[ast.Set(elts=[inner])]):
            yield _template(source, node, inner)
        case _:
            yield from comparison_findings(source, node, names)
            for child in ast.iter_child_nodes(node):
                yield from _visit(source, child, names)


def _visit_comprehension(source: PythonSource, node: Comprehension, names: Types) -> Iterator[Finding]:
    first, *others = node.generators
    inner = names_inside(node.generators, names)
    yield from _visit(source, first.iter, names)
    for generator in others:
        yield from _visit(source, generator.iter, inner)
    for generator in node.generators:
        for condition in generator.ifs:
            yield from _visit(source, condition, inner)
    parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    for part in parts:
        yield from _visit(source, part, inner)


def _attribute(
    source: PythonSource, node: ast.Attribute, kind: ValueType | None, *, called: bool
) -> Finding | None:
    name, end = node.attr, source.end(node)
    place = (end - len(name), end)
    if source.text[slice(*place)] != name:
        return None
    owner = kind.python if kind is not None else None
    if is_refused_attribute(name) or (owner is not None and is_refused_member(owner, name)):
        message = f"This engine refuses `{name}`, which reaches into Python itself; upstream evaluates it."
        return source.finding("assertion-internal", place, message)
    if kind is not None and owner is not None and (name in members_of(owner) or name in _DUNDERS):
        is_method = name in members_of(owner) - READ.get(owner, frozenset())
        return _uncalled(source, node, kind) if is_method and not called else None
    if kind is not None and owner is dict and not called:
        return _key_as_attribute(source, node, kind)
    if name in _JAVASCRIPT:
        message = f"`.{name}` is JavaScript; Python writes `{_JAVASCRIPT[name]}`."
        return source.finding("assertion-javascript", place, message)
    if kind is None or owner is None:
        return None
    what = f"`{source.segment(node.value)[:40]}` is {kind.title}, which has no `{name}`"
    if name in _ELSEWHERE:
        return source.finding("assertion-attribute", place, f"{what}; Python writes `{_ELSEWHERE[name]}`.")
    intended = _intended(name, sorted(members_of(owner)))
    if intended is None:
        return source.finding("assertion-attribute", place, f"{what}.")
    rewrite = source.rewrite(place, intended, f"Change to `{intended}`")
    return source.finding("assertion-attribute", place, f"{what}; did you mean `{intended}`?", rewrite)


def _uncalled(source: PythonSource, node: ast.Attribute, kind: ValueType) -> Finding:
    """Return the finding of a method that is not called."""
    name, end = node.attr, source.end(node)
    place, what = (
        (end - len(name), end),
        f"`{name}` is not called, so this is the method and not what it returns",
    )
    if name not in _NEED_ARGUMENTS:
        rewrite = source.rewrite(place, f"{name}()", preferred=True)
        return source.finding("assertion-uncalled", place, f"{what}; write `{name}()`.", rewrite)
    if name == "count" and kind.python in {str, list}:
        message = "`count` is not called and would count one thing; how many there are is `len(…)`."
        rewrite = source.rewrite(node, f"len({source.segment(node.value)})", "Write `len(…)`")
        return source.finding("assertion-uncalled", place, message, rewrite)
    return source.finding("assertion-uncalled", place, f"{what}; write `{name}(…)`.")


def _intended(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is intended: a typo away, or one that contains the other."""
    near, plain = nearest(name, known), name.lower()
    if near is None or not (slip_of(name, known) == near or plain in near or near in plain):
        return None
    return near


def _template(source: PythonSource, node: ast.Set, inner: ast.expr) -> Finding:
    """Return the finding of a value in two pairs of braces, which Python reads as a set in a set."""
    message = (
        f"Assertions are no templates: `{source.brief(node)}` is a set in a set, which fails; "
        f"write `{source.brief(inner)}` alone."
    )
    is_known = isinstance(inner, ast.Name) and inner.id in CONTEXT_TYPES
    rewrite = source.rewrite(node, source.segment(inner), preferred=is_known)
    return source.finding("assertion-type", node, message, rewrite)


def _key_as_attribute(source: PythonSource, node: ast.Attribute, kind: ValueType) -> Finding:
    name, end = node.attr, source.end(node)
    place = (end - len(name), end)
    if kind is OUTCOME:
        message = f"`outcome` is always an empty dict in current runs, it has no `{name}`."
        return source.finding("assertion-attribute", place, message)
    key = _OTHER_WORDS.get(name, name) if kind is TOOL_CALL else name
    message = (
        f"`{source.segment(node.value)[:40]}` is {kind.title}, whose values are keys; write `['{key}']`."
    )
    rewrite = source.rewrite((source.end(node.value), end), f"['{key}']", preferred=key in _CALL_KEYS)
    return source.finding("assertion-attribute", place, message, rewrite)


def _subscript(source: PythonSource, node: ast.Subscript, kind: ValueType | None) -> Finding | None:
    if kind is None or not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, str):
        return None
    key = node.slice.value
    if kind is OUTCOME:
        message = f"`outcome` is always an empty dict in current runs, it has no key `{key}`."
        return source.finding("assertion-key", node.slice, message)
    if kind.python in {str, list}:
        message = f"`{source.segment(node.value)[:40]}` is {kind.title}, which has no keys such as `{key}`."
        return source.finding("assertion-key", node.slice, message)
    if kind is not TOOL_CALL or key in _CALL_KEYS:
        return None
    intended = _OTHER_WORDS.get(key) or nearest(key, _CALL_KEYS)
    if intended is None:
        known = ", ".join(f"`{each}`" for each in _CALL_KEYS)
        message = f"A tool call has no key `{key}`; its keys are {known}."
        return source.finding("assertion-key", node.slice, message)
    message = f"A tool call has no key `{key}`; did you mean `{intended}`?"
    quote = source.segment(node.slice)[-1]
    new = f"{quote}{intended}{quote}"
    rewrite = source.rewrite(node.slice, new, f"Change to `{intended}`", preferred=True)
    return source.finding("assertion-key", node.slice, message, rewrite)
