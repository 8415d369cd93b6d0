"""JavaScript in a Python assertion: its detection, and its translation to Python.

Two steps. Operators and literals are replaced token by token, after which the text parses as Python; then
methods and properties (``.length``, ``.includes(…)``) are replaced in the syntax tree, innermost first.
"""

from __future__ import annotations

import ast
import re

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.python.inference import infer
from waza_language_server.embedded.python.members import CONTEXT_TYPES, TEXT
from waza_language_server.embedded.python.python_source import PythonSource, parse_python

LITERALS = {"true": "True", "false": "False", "null": "None", "undefined": "None"}

_OPERATORS = {"&&": "and", "||": "or", "===": "==", "!==": "!="}
_OTHER_LANGUAGES = {"AND": "and", "OR": "or", "NOT": "not", "<>": "!=", "=<": "<="}
_NOT = "~"
"""Replaces ``!`` until the tree is parsed: it binds as tightly, and no assertion uses it otherwise."""

_LISTS = frozenset({"tool_calls", "transcript", "errors"})
_PYTHON_ATTRIBUTES = frozenset(
    name
    for owner in (str, list, dict, re, re.Match, re.Pattern)
    for name in dir(owner)
    if not name.startswith("_")
)
_METHODS = {
    "toLowerCase": "lower",
    "toUpperCase": "upper",
    "startsWith": "startswith",
    "endsWith": "endswith",
    "trim": "strip",
    "trimStart": "lstrip",
    "trimEnd": "rstrip",
    "indexOf": "find",
}
# Possessive, and tried only at the beginning of a word or a run of spaces: else long ones are scanned
# repeatedly.
_TOKEN = compiled_later(
    r"""(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?:(?<!\s)\s++)?+(?P<operator>&&|\|\||===|!==)\s*
    |(?P<arrow>=>)
    |(?P<not>!(?!=)\s*)
    |(?P<word>(?<![\w.$])[^\W\d][\w$]*|<>|=<)
    |(?P<foreign>`|~|\?)""",
    re.VERBOSE,
)
_ROUNDS = 60
_LONGEST_CHARACTERS = 10_000

_LOOSE = ast.Expression | ast.BoolOp | ast.comprehension
"""Inside these a comparison operator needs no parentheses."""
_TIGHT = ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript | ast.List | ast.Tuple


@frozen()
class JavaScriptMark:
    """A piece of JavaScript: its place and its Python replacement."""

    start: int
    end: int
    python: str


def javascript_mark(text: str) -> JavaScriptMark | None:
    """Return the first JavaScript operator in a text that is not Python, outside of strings."""
    for match in _TOKEN.finditer(text) if len(text) <= _LONGEST_CHARACTERS else ():
        if match.lastgroup == "operator":
            return JavaScriptMark(*match.span("operator"), _OPERATORS[match["operator"]])
        if match["not"]:
            return JavaScriptMark(match.start("not"), match.start("not") + 1, "not")
        if match["arrow"]:
            return JavaScriptMark(*match.span("arrow"), "lambda")
    return None


def as_python(text: str) -> str | None:
    """Return the same assertion in Python, or None if there is no safe translation."""
    if len(text) > _LONGEST_CHARACTERS or any(
        match["foreign"] or match["arrow"] for match in _TOKEN.finditer(text)
    ):
        return None
    swapped = _TOKEN.sub(_python_token, text.strip().rstrip(";").rstrip())
    for _ in range(_ROUNDS):
        source = parse_python(swapped)
        if not isinstance(source, PythonSource):
            return None
        replacement = _swap_deepest(source)
        if replacement is None:
            return swapped if _attributes_exist(source.tree) else None
        swapped = replacement
    return None


def _python_token(match: re.Match[str]) -> str:
    if match["operator"]:
        return f" {_OPERATORS[match['operator']]} "
    if match["not"]:
        return _NOT
    if match["word"]:
        return (LITERALS | _OTHER_LANGUAGES).get(match["word"], match["word"])
    return match.group()


def _swap_deepest(source: PythonSource) -> str | None:
    """Replace one member, after everything below it; None when nothing is left."""
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.expr)]
    for node in sorted(nodes, key=lambda node: source.end(node) - source.start(node)):
        python = _swapped(source, node)
        if python is not None:
            return source.text[: source.start(node)] + python + source.text[source.end(node) :]
    return None


def _swapped(source: PythonSource, node: ast.expr) -> str | None:
    parents = source.parents
    match node:
        case ast.UnaryOp(op=ast.Invert()):
            loose = isinstance(parents.get(node), _LOOSE)
            inner = source.segment(node)[len(_NOT) :].strip()
            return f"not {inner}" if loose else f"(not {inner})"
        case ast.Call(func=ast.Attribute(value=value, attr="length" | "size" | "len"), args=[], keywords=[]):
            return f"len({source.segment(value)})"
        case ast.Attribute(value=value, attr="length" | "size" | "len") if not _is_called(node, parents):
            return f"len({source.segment(value)})"
        case ast.Call(
            func=ast.Attribute(value=value, attr="matches" | "match" | "search"), args=[pattern], keywords=[]
        ) if infer(value, CONTEXT_TYPES) == TEXT:
            return f"re.search({source.segment(pattern)}, {source.segment(value)})"
        case ast.Call(
            func=ast.Attribute(value=value, attr="includes" | "contains"), args=[part], keywords=[]
        ):
            loose = isinstance(parents.get(node), _LOOSE)
            contained = f"{_operand(source, part)} in {_operand(source, value)}"
            return contained if loose else f"({contained})"
        case ast.Attribute(value=value, attr=attribute) if attribute in _METHODS:
            return f"{source.segment(value)}.{_METHODS[attribute]}"
        case ast.Attribute(value=ast.Subscript(value=ast.Name(id=name)) as item, attr=attribute) if (
            name in _LISTS
        ):
            return f"{source.segment(item)}['{attribute}']"
        case _:
            return None


def _is_called(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    parent = parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _operand(source: PythonSource, node: ast.expr) -> str:
    """Return the source of a node, in parentheses unless it binds more tightly than a comparison."""
    return source.segment(node) if isinstance(node, _TIGHT) else f"({source.segment(node)})"


def _attributes_exist(tree: ast.AST) -> bool:
    """Return whether all attributes exist in Python: on strings, lists, dictionaries or ``re``."""
    return all(node.attr in _PYTHON_ATTRIBUTES for node in ast.walk(tree) if isinstance(node, ast.Attribute))
