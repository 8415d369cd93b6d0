"""What is wrong with one assertion, and what could be written instead: text in, text out.

A finding makes the assertion fail, or pass, whatever the agent does. Offsets count its characters.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from keyword import iskeyword

from waza_engine.assertions.names import ALL_NAMES, CONTEXT_NAMES, FUNCTION_NAMES
from waza_language_server.embedded.brackets import CLOSERS
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python import statements
from waza_language_server.embedded.python.javascript import LITERALS, as_python, javascript_marks
from waza_language_server.embedded.python.meaning import meaning_findings
from waza_language_server.embedded.python.other_signs import in_other_signs
from waza_language_server.embedded.python.python_source import (
    PythonFault,
    PythonSource,
    parse_python,
    tokens_of,
)
from waza_language_server.embedded.python.scopes import NameUse, Resolution, resolve_names
from waza_language_server.embedded.python.signs_of_print import python_signs
from waza_language_server.embedded.python.visibility import make_visible
from waza_language_server.spelling import slip_of

KNOWN_NAMES = frozenset(ALL_NAMES)

_SCOPE_TITLES = {
    "GeneratorExp": "generator expression",
    "ListComp": "list comprehension",
    "SetComp": "set comprehension",
    "DictComp": "dict comprehension",
    "Lambda": "lambda",
}
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "in", "is", "not", "and", "or"})


@lru_cache(maxsize=64)
def assertion_findings(
    text: str, known: frozenset[str] = KNOWN_NAMES
) -> tuple[tuple[Finding, ...], frozenset[str]]:
    """Return the findings of one assertion and the names known to the grader's later assertions.

    ``known`` holds the context names and what earlier assertions of the same grader bound with ``:=``.
    """
    source = parse_python(text)
    if isinstance(source, PythonFault):
        return (_syntax_finding(text, source, known),), known
    resolution = _resolve(source, known)
    if resolution is None:
        return (), known
    found = tuple(_name_findings(source, resolution, known)) or _meaning(source, known)
    return found, known | resolution.leaked


def _meaning(source: PythonSource, known: frozenset[str]) -> tuple[Finding, ...]:
    """Return what is wrong with the values, words of other languages written in Python where possible."""
    return tuple(
        replace(finding, rewrites=tuple(_javascript(source.text, known)))
        if finding.code in ("assertion-javascript", "assertion-attribute") and not finding.rewrites
        else finding
        for finding in meaning_findings(source)
    )


def _resolve(source: PythonSource, known: frozenset[str]) -> Resolution | None:
    try:
        return resolve_names(source.expression, known)
    except RecursionError:
        return None


def _syntax_finding(text: str, fault: PythonFault, known: frozenset[str]) -> Finding:
    if not tokens_of(text.strip()) and (not text.strip() or text.lstrip().startswith("#")):
        message = "This assertion is empty; write an expression such as `len(output) > 0`."
        return Finding("assertion-syntax", 0, len(text), message)
    if (other := in_other_signs(text)) and (working := _working(other.python, known)) is not None:
        message = f"`{other.written}` is no operator of Python, which writes `{other.meant}`."
        rewrite = Rewrite("Write it in Python", (working,), preferred=True)
        return Finding("assertion-syntax", other.start, other.end, message, (rewrite,))
    if marks := javascript_marks(text):
        mark = marks[0]
        written = text[mark.start : mark.end]
        message = (
            f"`{written}` is JavaScript; assertions are Python expressions, which write `{mark.python}`."
        )
        return Finding("assertion-javascript", mark.start, mark.end, message, tuple(_javascript(text, known)))
    if statements.is_statement(text) or _is_assignment(text, fault):
        message = (
            f"{_statement_title(text, fault)}: an assertion is one Python expression that is true or false."
        )
        rewrites = tuple(_statements(text, fault, known))
        return Finding("assertion-statement", fault.start, fault.end, message, rewrites)
    if each := list(_any_or_all(text, known)):
        message = "A condition for each of several values needs `any(…)` or `all(…)` around it."
        return Finding("assertion-syntax", fault.start, fault.end, message, tuple(each))
    reason = f": {fault.reason}" if fault.reason else ""
    message = f"This is no Python expression{reason}."
    return Finding("assertion-syntax", fault.start, fault.end, message, tuple(_repairs(text, known)))


def _is_assignment(text: str, fault: PythonFault) -> bool:
    around = text[max(fault.start - 1, 0) : fault.end + 1]
    return text[fault.start : fault.end] == "=" and not set(around) & set("<>!") and "==" not in around


def _statement_title(text: str, fault: PythonFault) -> str:
    written = text[fault.start : fault.end]
    if written in {
        "assert",
        "return",
        "import",
        "from",
        "if",
        "for",
        "while",
        "def",
        "with",
        "try",
        "del",
        "raise",
    }:
        return f"`{written}` starts a statement"
    if written == "=":
        return "`=` assigns and does not compare"
    if written == ";":
        return "`;` separates statements"
    return "A second statement starts here"


def _name_findings(source: PythonSource, resolution: Resolution, known: frozenset[str]) -> Iterator[Finding]:
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
    import difflib

    close = difflib.get_close_matches(name.lower(), sorted(known | {"None"}), n=1, cutoff=0.7)
    if name.lower() == "none":
        close = ["None"]
    if close:
        message = f"`{name}` does not exist in assertions; did you mean `{close[0]}`?"
        safe = close[0] == slip_of(name, known)
        fixes = (Rewrite(f"Change to `{close[0]}`", renamed(close[0]), preferred=safe),)
        return Finding("assertion-unknown-name", start, end, message, fixes)
    context = ", ".join(CONTEXT_NAMES)
    message = f"`{name}` does not exist in assertions, which know {context}."
    return Finding("assertion-unknown-name", start, end, message)


def _visible(text: str, known: frozenset[str]) -> Iterator[Rewrite]:
    bound = make_visible(text, known, unroll=False)
    unrolled = make_visible(text, known, unroll=True)
    if unrolled is not None and unrolled != bound:
        yield Rewrite("Write the elements out with `or`/`and`", (unrolled,))
    if bound is not None:
        yield Rewrite("Bind the names inside", (bound,))


def _javascript(text: str, known: frozenset[str]) -> Iterator[Rewrite]:
    python = as_python(text)
    working = _working(python, known) if python is not None else None
    if working is not None:
        yield Rewrite("Write it in Python", (working,), preferred=True)


def _statements(text: str, fault: PythonFault, known: frozenset[str]) -> Iterator[Rewrite]:
    compared = statements.comparison_meant(text, known)
    if not statements.is_statement(text):
        # Nothing can be assigned to a call, or behind an `and`.
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
        known = assertion_findings(working, known)[1]
        repaired.append(working)
    titles = {0: "Delete the assertion, `re` is always there", 1: "Keep the expression only"}
    title = titles.get(len(repaired), f"Split into {len(repaired)} assertions")
    yield Rewrite(title, tuple(repaired))


def _repairs(text: str, known: frozenset[str]) -> Iterator[Rewrite]:
    """Yield repairs of small slips: signs of print, brackets left open, an expression over several lines."""
    typed = python_signs(text)
    if typed != text and (working := _working(typed, known)) is not None:
        yield Rewrite("Write the signs that Python knows", (working,), preferred=len(typed) == len(text))
        return
    closed = _closed(text)
    if closed is not None and (working := _working(closed, known)) is not None:
        yield Rewrite("Close the bracket", (working,))
    elif "\n" in text.strip() and (wrapped := _working(f"({text.strip()})", known)) is not None:
        yield Rewrite("Put the expression in parentheses", (wrapped,), preferred=True)


def _any_or_all(text: str, known: frozenset[str]) -> Iterator[Rewrite]:
    """Yield an expression that goes through a list and stands in no brackets, inside a call."""
    for name in ("any", "all") if " for " in text else ():
        working = _working(f"{name}({text.strip()})", known)
        if working is not None:
            yield Rewrite(f"Write `{name}(…)`", (working,))


def _closed(text: str) -> str | None:
    """Return the text with its only open bracket closed; None when several are open or the place is a guess.

    The arguments of a call end before a comparison: ``len(output > 3`` means ``len(output) > 3``.
    """
    tokens = tokens_of(text.rstrip())
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in CLOSERS:
            opened.append(index)
        elif opened and token.text == CLOSERS[tokens[opened[-1]].text]:
            opened.pop()
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


def _working(text: str, known: frozenset[str]) -> str | None:
    """Return the text, its vanished names made visible, or None when it would not run."""
    source = parse_python(text)
    if isinstance(source, PythonFault):
        return None
    return make_visible(text, known, unroll=True)
