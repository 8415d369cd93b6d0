"""The problems of one assertion, with their fixes.

A finding means that the assertion fails, or passes, whatever the agent does. Offsets count characters of the
assertion.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from keyword import iskeyword

from waza_engine.assertions.names import ALL_NAMES
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.javascript import as_python, javascript_mark
from waza_language_server.embedded.python.meaning import meaning_findings
from waza_language_server.embedded.python.missing_names import make_visible, name_findings
from waza_language_server.embedded.python.python_source import (
    CLOSERS,
    PythonFault,
    PythonSource,
    parse_python,
    tokens_of,
    unclosed,
)
from waza_language_server.embedded.python.scopes import (
    Resolution,
    resolve_names,
)

KNOWN_NAMES = frozenset(ALL_NAMES)
_OF_OTHER_LANGUAGES = frozenset({"assertion-javascript", "assertion-attribute"})


@lru_cache(maxsize=64)
def assertion_findings(
    text: str, known: frozenset[str] = KNOWN_NAMES
) -> tuple[tuple[Finding, ...], frozenset[str]]:
    """Return the findings of one assertion and the names known to the grader's later assertions.

    ``known`` holds the context names and what earlier assertions of the same grader bound with ``:=``.
    """
    source = parse_python(text)
    if isinstance(source, PythonFault):
        return (syntax_finding(text, source, known),), known
    resolution = _resolve(source, known)
    if resolution is None:
        return (), known
    later = known | resolution.leaked if resolution.leaked else known
    if not resolution.failing:
        return _meaning(source, known), later
    return tuple(name_findings(source, resolution, known)), later


def _meaning(source: PythonSource, known: frozenset[str]) -> tuple[Finding, ...]:
    """Return the findings about values; other languages' methods get a fix in Python where possible."""
    found = meaning_findings(source)
    foreign = [each for each in found if each.code in _OF_OTHER_LANGUAGES and not each.rewrites]
    if not foreign:
        return found
    rewrites = tuple(written_in_python(source.text, known))
    return tuple(replace(each, rewrites=rewrites) if each in foreign else each for each in found)


def _resolve(source: PythonSource, known: frozenset[str]) -> Resolution | None:
    try:
        return resolve_names(source.expression, known)
    except RecursionError:
        return None


_STATEMENT_WORDS = "assert return import from if for while def with try del raise"
_STATEMENTS = frozenset(_STATEMENT_WORDS.split())
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "in", "is", "not", "and", "or"})


def syntax_finding(text: str, fault: PythonFault, known: frozenset[str]) -> Finding:
    """Return the syntax error of an assertion."""
    if not tokens_of(text.strip()) and (not text.strip() or text.lstrip().startswith("#")):
        message = "This assertion is empty; write an expression such as `len(output) > 0`."
        return Finding("assertion-syntax", 0, len(text), message)
    if (mark := javascript_mark(text)) is not None:
        written = text[mark.start : mark.end]
        message = (
            f"`{written}` is JavaScript; assertions are Python expressions, which write `{mark.python}`."
        )
        return Finding(
            "assertion-javascript", mark.start, mark.end, message, tuple(written_in_python(text, known))
        )
    if is_statement(text) or _is_assignment(text, fault):
        message = (
            f"{_statement_title(text, fault)}: an assertion is one Python expression that is true or false."
        )
        rewrites = tuple(_statements(text, fault, known))
        return Finding("assertion-statement", fault.start, fault.end, message, rewrites)
    reason = f": {fault.reason}" if fault.reason else ""
    message = f"This is not a Python expression{reason}."
    rewrites = tuple(_repairs(text, fault, known)) or tuple(written_in_python(text, known))
    return Finding("assertion-syntax", fault.start, fault.end, message, rewrites)


def _is_assignment(text: str, fault: PythonFault) -> bool:
    around = text[max(fault.start - 1, 0) : fault.end + 1]
    return text[fault.start : fault.end] == "=" and not set(around) & set("<>!") and "==" not in around


def _statement_title(text: str, fault: PythonFault) -> str:
    written = text[fault.start : fault.end]
    if written in _STATEMENTS:
        return f"`{written}` starts a statement"
    if written == "=":
        return "`=` assigns and does not compare"
    if written == ";":
        return "`;` separates statements"
    return "A second statement starts here"


def written_in_python(text: str, known: frozenset[str]) -> Iterator[Rewrite]:
    """Yield the translation of JavaScript to Python, if there is one."""
    python = as_python(text)
    working = _working(python, known) if python is not None else None
    if working is not None:
        yield Rewrite("Write it in Python", (working,), preferred=True)


def _statements(text: str, fault: PythonFault, known: frozenset[str]) -> Iterator[Rewrite]:
    compared = intended_comparison(text, known)
    if not is_statement(text):
        # It is invalid to assign to a call, or after an `and`.
        compared = f"{text[: fault.start]}=={text[fault.end :]}"
    if compared is not None and (working := _working(compared, known)) is not None:
        yield Rewrite("Compare with `==`", (working,), preferred=True)
        return
    expressions = as_expressions(text)
    if expressions is None:
        return
    repaired: list[str] = []
    for expression in expressions:
        working = _working(expression, known)
        if working is None:
            return
        known |= _bound(working, known)
        repaired.append(working)
    titles = {0: "Delete the assertion, `re` is always there", 1: "Keep the expression only"}
    title = titles.get(len(repaired), f"Split into {len(repaired)} assertions")
    yield Rewrite(title, tuple(repaired))


def _repairs(text: str, fault: PythonFault, known: frozenset[str]) -> Iterator[Rewrite]:
    """Yield repairs of typos: a bracket too few or too many, an expression over several lines."""
    if fault.reason.startswith("unmatched"):
        without = text[: fault.start] + text[fault.start + 1 :]
        if (working := _working(without, known)) is not None:
            yield Rewrite(f"Delete `{text[fault.start]}`", (working,))
        return
    closed = _closed(text)
    if closed is not None and (working := _working(closed, known)) is not None:
        yield Rewrite("Close the bracket", (working,))
    elif "\n" in text.strip() and (wrapped := _working(f"({text.strip()})", known)) is not None:
        yield Rewrite("Put the expression in parentheses", (wrapped,), preferred=True)
    else:
        for name in ("any", "all") if " for " in text else ():
            if (working := _working(f"{name}({text.strip()})", known)) is not None:
                yield Rewrite(f"Write `{name}(…)`", (working,))


def _closed(text: str) -> str | None:
    """Return the text with its only open bracket closed; None if several are open or the place is a guess.

    The arguments of a call end before a comparison: ``len(output > 3`` means ``len(output) > 3``.
    """
    tokens = tokens_of(text.rstrip())
    opened = unclosed([token.text for token in tokens])
    if len(opened) != 1:
        return None
    (at,) = opened
    end = len(text.rstrip())
    if (
        tokens[at].text == "("
        and at
        and tokens[at - 1].text.isidentifier()
        and not iskeyword(tokens[at - 1].text)
    ):
        compared = [token.start for token in tokens[at:] if token.text in _COMPARISONS]
        end = len(text[: compared[0]].rstrip()) if compared else end
    return text[:end] + CLOSERS[tokens[at].text] + text[end:]


def _bound(expression: str, known: frozenset[str]) -> frozenset[str]:
    """Return the names that an expression binds for later ones."""
    source = parse_python(expression)
    return resolve_names(source.expression, known).leaked if isinstance(source, PythonSource) else frozenset()


def _working(text: str, known: frozenset[str]) -> str | None:
    """Return the text, with its vanished names made visible, or None if it would not run."""
    source = parse_python(text)
    if isinstance(source, PythonFault):
        return None
    return make_visible(text, known, unroll=True)


def is_statement(text: str) -> bool:
    """Return whether a text that is not an expression parses as Python statements."""
    source = parse_python(text.strip(), "exec")
    return isinstance(source, PythonSource) and isinstance(source.tree, ast.Module) and bool(source.tree.body)


def as_expressions(text: str) -> tuple[str, ...] | None:
    """Return expressions equivalent to the statements, one for each assertion, or None.

    ``assert`` and ``return`` are dropped, so are a trailing semicolon and ``import re``; an assignment has no
    equivalent.
    """
    source = parse_python(text.strip(), "exec")
    if not isinstance(source, PythonSource) or not isinstance(source.tree, ast.Module):
        return None
    statements = [each for each in source.tree.body if not _is_import_of_re(each)]
    values = [value for each in statements if (value := _value(each)) is not None]
    if len(values) < len(statements):
        return None
    written = map(source.segment, values)
    return tuple(f"({text})" if "\n" in text else text for text in written)


def intended_comparison(text: str, known: frozenset[str]) -> str | None:
    """Return ``a == b`` for the single statement ``a = b`` when ``a`` is a name the assertion knows."""
    source = parse_python(text.strip(), "exec")
    if not isinstance(source, PythonSource) or not isinstance(source.tree, ast.Module):
        return None
    match source.tree.body:
        case [ast.Assign(targets=[target])]:
            root = target
            while isinstance(root, ast.Subscript | ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name) or root.id not in known:
                return None
            equals = [t for t in source.tokens if t.text == "=" and t.start >= source.end(target)]
            if not equals:
                return None
            return source.text[: equals[0].start] + "==" + source.text[equals[0].end :]
        case _:
            return None


def _is_import_of_re(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=[ast.alias(name="re", asname=None)]):
            return True
        case _:
            return False


def _value(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Expr(value=value) | ast.Return(value=ast.expr() as value) | ast.Assert(test=value):
            return value
        case _:
            return None
