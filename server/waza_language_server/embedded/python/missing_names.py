"""Names of an assertion that do not exist when it runs, and fixes for them."""

from __future__ import annotations

import ast
import builtins
import difflib
import sys
from collections.abc import Iterator

from waza_engine.assertions.names import CONTEXT_NAMES, FUNCTION_NAMES
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.javascript import LITERALS
from waza_language_server.embedded.python.python_source import PythonSource
from waza_language_server.embedded.python.scopes import NameUse, Resolution
from waza_language_server.embedded.python.visibility import make_visible
from waza_language_server.spelling import slip_of

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
    close = difflib.get_close_matches(name.lower(), sorted(known | {"None"}), n=1, cutoff=0.7)
    if name.lower() == "none":
        close = ["None"]
    if close:
        is_typo = close[0] == slip_of(name, known)
        rewrite = source.rewrite(place, close[0], f"Change to `{close[0]}`", preferred=is_typo)
        return source.finding(code, place, f"{what}; did you mean `{close[0]}`?", rewrite)
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
