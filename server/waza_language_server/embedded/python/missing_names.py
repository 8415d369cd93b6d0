"""Names of an assertion that do not exist when it runs, and fixes: another name, or one made visible again.

Two rewrites make a vanished name visible, all of them plain Python that means what the author intended:

* unroll: ``any(k in output for k in ['a', 'b'])`` becomes ``'a' in output or 'b' in output``;
* bind again: ``all(len(t) > 2 for t in tool_calls)`` becomes ``all(len(t) > 2 for len, tool_calls in [(len,
  tool_calls)] for t in tool_calls)``: the first iterable is evaluated outside, so a first clause carries the
  names in, those of the old first iterable among them.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator

from waza_engine.assertions.names import CONTEXT_NAMES, FUNCTION_NAMES
from waza_engine.spelling import nearest, typo_of
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.javascript import LITERALS
from waza_language_server.embedded.python.python_source import PythonSource, parse_python
from waza_language_server.embedded.python.scopes import (
    Comprehension,
    NameUse,
    Resolution,
    ScopeNode,
    resolve_names,
    with_names_replaced,
)

_ANSWER = frozenset({"response", "answer", "completion", "actual_output", "final_output", "result", "text"})
"""Names of the answer in other tools."""
_LENGTH = frozenset({"length", "size", "strlen"})
_SCOPE_TITLES = {
    "GeneratorExp": "generator expression",
    "ListComp": "list comprehension",
    "SetComp": "set comprehension",
    "DictComp": "dict comprehension",
    "Lambda": "lambda",
}


def name_findings(source: PythonSource, resolution: Resolution, known: frozenset[str]) -> Iterator[Finding]:
    """Yield the names of an assertion that do not exist, each of them once."""
    seen: set[tuple[str, object]] = set()
    rewrites: tuple[Rewrite, ...] | None = None
    for use in resolution.failing:
        key = (use.node.id, use.scopes[-1] if use.scopes else None)
        if key in seen:
            continue
        seen.add(key)
        start, end = _place(source, use)
        if use.reason == "vanishing":
            if rewrites is None:
                rewrites = tuple(_visible(source.text, known))
            yield Finding("assertion-vanishing-name", start, end, _vanishing_message(use), rewrites)
        else:
            yield _unknown_name(source, use.node.id, start, end, known)


def _place(source: PythonSource, use: NameUse) -> tuple[int, int]:
    """Return the range of a name; inside an f-string older Pythons miscount, so the source is searched."""
    name = use.node.id
    start = source.start(use.node)
    if source.text[start : start + len(name)] != name:
        start = source.text.find(name)
    return (start, start + len(name)) if start >= 0 else (0, len(source.text))


def _vanishing_message(use: NameUse) -> str:
    name = use.node.id
    if use.since_3_12:
        title = _SCOPE_TITLES[type(use.scopes[-1]).__name__]
        return f"`{name}` is not visible inside a {title} up to Python 3.11; only from Python 3.12 on it is."
    hiding = next(scope for scope in use.scopes if type(scope).__name__ in {"GeneratorExp", "Lambda"})
    title = _SCOPE_TITLES[type(hiding).__name__]
    return f"`{name}` is not visible inside a {title}: only its own variables and its first iterable are."


def _unknown_name(source: PythonSource, name: str, start: int, end: int, known: frozenset[str]) -> Finding:
    code, place, functions = "assertion-unknown-name", (start, end), ", ".join(sorted(FUNCTION_NAMES))
    if name in LITERALS:
        rewrite = source.rewrite(place, LITERALS[name], preferred=True)
        message = f"`{name}` is JavaScript or YAML; Python writes `{LITERALS[name]}`."
        return source.finding("assertion-javascript", place, message, rewrite)
    what = f"`{name}` does not exist in assertions"
    if hasattr(builtins, name):
        return source.finding(code, place, f"{what}, whose only functions are {functions}.")
    if name in sys.stdlib_module_names:
        return source.finding(code, place, f"{what}: of all modules only `re` is there.")
    if intended := nearest(name, sorted(known | {"None"})):
        is_typo = intended == typo_of(name, known)
        rewrite = source.rewrite(place, intended, f"Change to `{intended}`", preferred=is_typo)
        return source.finding(code, place, f"{what}; did you mean `{intended}`?", rewrite)
    if _is_called(source, start):
        rewrites = (source.rewrite(place, "len", "Change to `len`"),) if name.lower() in _LENGTH else ()
        return source.finding(code, place, f"{what}, whose only functions are {functions}.", *rewrites)
    rewrites = (source.rewrite(place, "output", "Change to `output`"),) if name.lower() in _ANSWER else ()
    return source.finding(code, place, f"{what}, which know {', '.join(CONTEXT_NAMES)}.", *rewrites)


def _is_called(source: PythonSource, start: int) -> bool:
    """Return whether the name at this place is called."""
    calls = (each.func for each in source.nodes if isinstance(each, ast.Call))
    return any(isinstance(each, ast.Name) and source.start(each) == start for each in calls)


def _visible(text: str, known: frozenset[str]) -> Iterator[Rewrite]:
    bound = make_visible(text, known, unroll=False)
    unrolled = make_visible(text, known, unroll=True)
    if unrolled is not None and unrolled != bound:
        yield Rewrite("Write the elements out with `or`/`and`", (unrolled,))
    if bound is not None:
        yield Rewrite("Bind the names inside", (bound,))


UNROLL_LIMIT = 8
"""In elements; a longer chain is harder to read than the clause that binds the names again."""

_ROUNDS = 12


def make_visible(text: str, known: frozenset[str], *, unroll: bool) -> str | None:
    """Return the assertion with every vanished name visible again, or None if that is impossible.

    With ``unroll`` literal ``any``/``all`` are written out where possible, else names are bound again
    everywhere. An assertion that also has an unknown name is not changed: it would fail in any case.
    """
    for _ in range(_ROUNDS):
        source = parse_python(text)
        if not isinstance(source, PythonSource):
            return None
        resolution = resolve_names(source.expression, known)
        if not resolution.failing:
            return text
        if any(use.reason == "unknown" for use in resolution.failing):
            return None
        outermost = resolution.failing[0].scopes[0]
        rewritten = _rewrite(source, outermost, known | resolution.leaked, unroll=unroll)
        if rewritten is None or rewritten == text:
            return None
        text = rewritten
    return None


def _rewrite(source: PythonSource, scope: ScopeNode, known: frozenset[str], *, unroll: bool) -> str | None:
    if any(isinstance(node, ast.JoinedStr) for node in _ancestors(scope, source.parents)):
        return None
    if isinstance(scope, ast.Lambda):
        return None
    if unroll and (unrolled := _unroll(source, scope)) is not None:
        return unrolled
    return _bind_again(source, scope, known)


def _unroll(source: PythonSource, scope: Comprehension) -> str | None:
    call = source.parents.get(scope)
    if not isinstance(call, ast.Call) or not isinstance(scope, ast.GeneratorExp | ast.ListComp):
        return None
    if not isinstance(call.func, ast.Name) or call.func.id not in {"any", "all"}:
        return None
    constants = _constants_unrolled(call, scope)
    if constants is None:
        return None
    target = scope.generators[0].target
    assert isinstance(target, ast.Name)
    copies = [_substituted(source, scope.elt, target.id, constant) for constant in constants]
    if any(copy is None for copy in copies):
        return None
    operator = " or " if call.func.id == "any" else " and "
    empty = "False" if call.func.id == "any" else "True"
    chain = operator.join(copy for copy in copies if copy is not None) or empty
    if not copies:
        replacement = chain
    elif not _only_truth_matters(call, source.parents):
        replacement = f"bool({chain})"
    elif call is source.expression.body and "\n" not in chain:
        replacement = chain
    else:
        replacement = f"({chain})"
    return source.text[: source.start(call)] + replacement + source.text[source.end(call) :]


def _constants_unrolled(call: ast.Call, scope: ast.GeneratorExp | ast.ListComp) -> list[ast.expr] | None:
    """Return the elements to write out, or None when the comprehension is not of the simple form."""
    if len(call.args) != 1 or call.keywords or len(scope.generators) != 1:
        return None
    (clause,) = scope.generators
    if clause.ifs or clause.is_async or not isinstance(clause.target, ast.Name):
        return None
    if not isinstance(clause.iter, ast.List | ast.Tuple | ast.Set) or len(clause.iter.elts) > UNROLL_LIMIT:
        return None
    if not all(_is_constant(element) for element in clause.iter.elts):
        return None
    return clause.iter.elts


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant)


def _substituted(source: PythonSource, body: ast.expr, name: str, constant: ast.expr) -> str | None:
    """Return the body with the loop variable replaced by the constant, safe between ``or`` and ``and``."""
    text = with_names_replaced(source, body, {name}, lambda use: _constant_text(source, constant, use))
    is_loose = isinstance(body, ast.BoolOp | ast.IfExp | ast.Lambda | ast.Starred)
    return f"({text})" if text is not None and (is_loose or "\n" in text) else text


def _constant_text(source: PythonSource, constant: ast.expr, use: ast.Name) -> str:
    text = source.segment(constant)
    is_text = isinstance(constant, ast.Constant) and isinstance(constant.value, str | bytes)
    if is_text and "\n" not in text:
        return text
    bare = isinstance(constant, ast.Constant) and not isinstance(source.parents.get(use), ast.Attribute)
    return text if bare and "\n" not in text else f"({text})"


def _only_truth_matters(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether only the truth of the value matters, not the value itself."""
    parent = parents.get(node)
    while isinstance(parent, ast.BoolOp):
        parent = parents.get(parent)
    is_negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    return is_negated or parent is None or isinstance(parent, ast.Expression)


def _bind_again(source: PythonSource, scope: Comprehension, known: frozenset[str]) -> str | None:
    first = scope.generators[0]
    inside = resolve_names(ast.Expression(scope), known).failing
    outside = resolve_names(ast.Expression(_as_lambda(first.iter)), known).failing
    names = list(dict.fromkeys(use.node.id for use in (*inside, *outside) if use.reason == "vanishing"))
    last_part = scope.value if isinstance(scope, ast.DictComp) else scope.elt
    end, start = source.end(last_part), source.start(first.target)
    clause = [t for t in source.tokens if t.text == "for" and end <= t.start and t.end <= start]
    if not names or len(clause) != 1:
        return None
    bound = f"for {names[0]} in [{names[0]}] " if len(names) == 1 else _bind_several(names)
    at = clause[0].start
    return source.text[:at] + bound + source.text[at:]


def _bind_several(names: list[str]) -> str:
    listed = ", ".join(names)
    return f"for {listed} in [({listed})] "


def _as_lambda(body: ast.expr) -> ast.Lambda:
    none = ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    return ast.Lambda(args=none, body=body)


def _ancestors(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    current = parents.get(node)
    while current is not None:
        yield current
        current = parents.get(current)
