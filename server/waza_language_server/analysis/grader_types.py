"""The ``type`` of a grader entry: unknown, or not there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_language_server.analysis.problem import Fix, Problem
from waza_language_server.analysis.spelling import listed, nearest
from waza_language_server.analysis.subject import Subject
from waza_language_server.schema.catalog import Catalog
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.syntax.nodes import Node

_OTHER_NAMES = {
    "custom": "program",
    "tool": "tool_calls",
    "tools": "tool_calls",
    "tool_call": "tool_calls",
    "contains": "text",
    "string": "text",
    "python": "code",
    "assertion": "code",
    "judge": "prompt",
    "llm_judge": "prompt",
    "rubric": "prompt",
    "model_graded": "prompt",
    "skill": "skill_invocation",
    "command": "program",
    "shell": "program",
    "files": "file",
    "json": "json_schema",
    "schema": "json_schema",
}
"""What people call a type, in other tools and in older versions."""


def unknown_type(subject: Subject, node: Node, written: str) -> Problem:
    """Return the problem of a type that does not exist, with what was probably meant."""
    current = _current_types(subject.catalog)
    meant = _OTHER_NAMES.get(written.lower()) or nearest(written, (*current, *subject.catalog.grader_types))
    guess = f"did you mean `{meant}`? The types are" if meant is not None else "the types are"
    message = f"There is no grader type `{written}`; {guess} {listed(current, 'and')}."
    fixes: tuple[Fix, ...] = ()
    if meant is not None:
        fixes = (Fix(f"Change to `{meant}`", partial(replace_scalar, subject.tree, node, meant), True),)
    return Problem("unknown-grader-type", subject.value_span(node), message, "error", fixes)


def missing_type(subject: Subject, node: Node | None) -> Problem:
    """Return the problem of an entry without a type, with the types that its options fit."""
    entry = subject.node
    message = "This grader has no `type`; without one a run cannot grade."
    guesses = list(_types_that_fit(subject.catalog, entry))
    fixes: list[Fix] = []
    for at, guess in enumerate(guesses):
        if node is not None:
            repair = partial(replace_scalar, subject.tree, node, guess)
        else:
            repair = partial(insert_entry, subject.tree, entry, "type", guess, entry.entry("name"))
        fixes.append(Fix(f"Insert `type: {guess}`", repair, preferred=at == 0 and len(guesses) == 1))
    span = subject.value_span(node) if node is not None else subject.anchor_of_missing(entry)
    return Problem("missing-grader-type", span, message, "error", tuple(fixes))


def _types_that_fit(catalog: Catalog, entry: Node) -> Iterator[str]:
    """Yield up to three types that know most of the options given; ``code`` for none (an older default)."""
    config = entry.get("config")
    options = {each.key.value for each in (config.target.entries if config is not None else entry.entries)}
    options -= {"name", "weight", "config"}
    scored: list[tuple[int, str]] = []
    for name in _current_types(catalog):
        shape = catalog.grader(name)
        known = shape.properties["config"].shape.branch("mapping") if shape is not None else None
        hits = len(options & known.properties.keys()) if known is not None else 0
        if hits:
            scored.append((hits, name))
    if not scored:
        yield "code"
        return
    best = max(hits for hits, _ in scored)
    yield from [name for hits, name in sorted(scored, key=lambda each: each[1]) if hits == best][:3]


def _current_types(catalog: Catalog) -> tuple[str, ...]:
    """Return the types that are not deprecated, in alphabetical order."""
    shapes = ((name, catalog.grader(name)) for name in catalog.grader_types)
    return tuple(name for name, shape in shapes if shape is not None and not shape.deprecated)
