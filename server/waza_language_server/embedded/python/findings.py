"""The problems of one assertion, with their fixes.

A finding means that the assertion fails, or passes, whatever the agent does. Offsets count characters of the
assertion.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache

from waza_engine.assertions.names import ALL_NAMES
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.faults import syntax_finding, written_in_python
from waza_language_server.embedded.python.meaning import meaning_findings
from waza_language_server.embedded.python.missing_names import name_findings
from waza_language_server.embedded.python.python_source import PythonFault, PythonSource, parse_python
from waza_language_server.embedded.python.scopes import Resolution, parameters, resolve_names

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
    if isinstance(source.expression.body, ast.Lambda):
        return (_never_called(source, source.expression.body),), known
    resolution = _resolve(source, known)
    if resolution is None:
        return (), known
    later = known | resolution.leaked if resolution.leaked else known
    if not resolution.failing:
        return _meaning(source, known), later
    return tuple(name_findings(source, resolution, known)), later


def _never_called(source: PythonSource, function: ast.Lambda) -> Finding:
    """Return the finding of an assertion that is a function without a call: it is always true."""
    names = {each.arg for each in parameters(function)}
    message = (
        "This `lambda` is never called, so it is always true, whatever the agent does; write only its result."
    )
    rewrite = Rewrite("Write only the result", (source.segment(function.body),))
    return source.finding(
        "assertion-constant", function, message, *([rewrite] if names <= KNOWN_NAMES else ())
    )


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
