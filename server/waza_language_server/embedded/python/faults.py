"""Syntax errors of assertions, and fixes for them.

Loaded with the first one: nearly all assertions parse.
"""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword

from waza_language_server.embedded.brackets import CLOSERS, unclosed
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python import statements
from waza_language_server.embedded.python.javascript import as_python, javascript_mark
from waza_language_server.embedded.python.python_source import (
    PythonFault,
    PythonSource,
    parse_python,
    tokens_of,
)
from waza_language_server.embedded.python.scopes import resolve_names
from waza_language_server.embedded.python.visibility import make_visible

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
    if statements.is_statement(text) or _is_assignment(text, fault):
        message = (
            f"{_statement_title(text, fault)}: an assertion is one Python expression that is true or false."
        )
        rewrites = tuple(_statements(text, fault, known))
        return Finding("assertion-statement", fault.start, fault.end, message, rewrites)
    reason = f": {fault.reason}" if fault.reason else ""
    message = f"This is no Python expression{reason}."
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
    compared = statements.comparison_meant(text, known)
    if not statements.is_statement(text):
        # It is invalid to assign to a call, or after an `and`.
        compared = f"{text[: fault.start]}=={text[fault.end :]}"
    if compared is not None and (working := _working(compared, known)) is not None:
        yield Rewrite("Compare with `==`", (working,), preferred=True)
        return
    expressions = statements.as_expressions(text)
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
