"""Names of an assertion that do not exist when it runs, and what could be written instead."""

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
"""What other tools call the answer."""
_LENGTH = frozenset({"length", "size", "strlen"})
_SCOPE_TITLES = {
    "GeneratorExp": "generator expression",
    "ListComp": "list comprehension",
    "SetComp": "set comprehension",
    "DictComp": "dict comprehension",
    "Lambda": "lambda",
}


def name_findings(source: PythonSource, resolution: Resolution, known: frozenset[str]) -> Iterator[Finding]:
    """Yield the names of an assertion that will not be found, each of them once."""
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
    """Return the range of a name; inside an f-string older Pythons miscount, then the text is searched."""
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
    def renamed(new: str) -> tuple[str, ...]:
        return (source.text[:start] + new + source.text[end:],)

    if name in LITERALS:
        python = LITERALS[name]
        fixes = (Rewrite(f"Write `{python}`", renamed(python), preferred=True),)
        message = f"`{name}` is JavaScript or YAML; Python writes `{python}`."
        return Finding("assertion-javascript", start, end, message, fixes)
    if hasattr(builtins, name):
        functions = ", ".join(sorted(FUNCTION_NAMES))
        message = f"`{name}` does not exist in assertions, whose only functions are {functions}."
        return Finding("assertion-unknown-name", start, end, message)
    if name in sys.stdlib_module_names:
        message = f"`{name}` does not exist in assertions: of all modules only `re` is there."
        return Finding("assertion-unknown-name", start, end, message)
    close = difflib.get_close_matches(name.lower(), sorted(known | {"None"}), n=1, cutoff=0.7)
    if name.lower() == "none":
        close = ["None"]
    if close:
        message = f"`{name}` does not exist in assertions; did you mean `{close[0]}`?"
        safe = close[0] == slip_of(name, known)
        fixes = (Rewrite(f"Change to `{close[0]}`", renamed(close[0]), preferred=safe),)
        return Finding("assertion-unknown-name", start, end, message, fixes)
    called = _call_of(source, start)
    message = f"`{name}` does not exist in assertions, which know {', '.join(CONTEXT_NAMES)}."
    if called is not None:
        functions = ", ".join(sorted(FUNCTION_NAMES))
        message = f"`{name}` does not exist in assertions, whose only functions are {functions}."
    rewrites = tuple(_other_words(source, name, start, called))
    return Finding("assertion-unknown-name", start, end, message, rewrites)


def _call_of(source: PythonSource, start: int) -> ast.Call | None:
    """Return the call of the function whose name begins here."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and source.start(node) == start:
            return node
    return None


def _other_words(source: PythonSource, name: str, start: int, called: ast.Call | None) -> Iterator[Rewrite]:
    """Yield the assertion with the names of this language for `response` and `length(output)`."""
    before, behind = source.text[:start], source.text[start + len(name) :]
    if called is None:
        if name.lower() in _ANSWER:
            yield Rewrite("Change to `output`", (f"{before}output{behind}",))
    elif name.lower() in _LENGTH:
        yield Rewrite("Change to `len`", (f"{before}len{behind}",))


def _visible(text: str, known: frozenset[str]) -> Iterator[Rewrite]:
    bound = make_visible(text, known, unroll=False)
    unrolled = make_visible(text, known, unroll=True)
    if unrolled is not None and unrolled != bound:
        yield Rewrite("Write the elements out with `or`/`and`", (unrolled,))
    if bound is not None:
        yield Rewrite("Bind the names inside", (bound,))
