"""The ``type`` of a grader entry: unknown, or missing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_engine.spec.vally.name_checks import misspelt_type_words
from waza_engine.spelling import listed, nearest, typo_of
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.catalog import Catalog
from waza_language_server.syntax.edits import insert_entry, move_entry_up, replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix


def unknown_type(subject: Subject, node: Node, written: str) -> Problem:
    """Return the problem of a type that does not exist, with the probable one."""
    current = current_types(subject.catalog)
    if subject.catalog.of_vally:
        intended = typo_of(written, current)
        words = misspelt_type_words(written, current)
        if not words:
            message = f"Vally has no grader type `{written}` itself; a grader plug-in has to bring it."
            return Problem("unknown-grader-type", subject.value_span(node), message, "information")
        message = f"{words} The types are {listed(current, 'and')}."
    else:
        intended = _intended_type(subject.catalog, subject.node, written)
        guess = f"did you mean `{intended}`? The types are" if intended is not None else "the types are"
        message = f"There is no grader type `{written}`; {guess} {listed(current, 'and')}."
    fixes: tuple[Fix, ...] = ()
    if intended is not None:
        safe = intended == typo_of(written, (*current, *subject.catalog.grader_types))
        repair = partial(replace_scalar, subject.tree, node, intended)
        fixes = (Fix(f"Change to `{intended}`", repair, preferred=safe),)
    return Problem("unknown-grader-type", subject.value_span(node), message, "error", fixes)


def missing_type(subject: Subject, node: Node | None) -> Problem:
    """Return the problem of an entry without a type, with the types that its options fit."""
    entry = subject.node
    if node is None and (elsewhere := _type_elsewhere(subject)) is not None:
        return elsewhere
    severity: Severity = "error"
    message = "This grader has no `type`; without one a run cannot grade."
    guesses = list(_types_that_fit(subject.catalog, entry))
    if _is_of_task(subject) and "assertions" in _options(entry):
        message = "This grader has no `type`; a run takes it for `code`, and upstream refuses it."
        severity, guesses = "warning", ["code"]
    fixes: list[Fix] = []
    for guess in guesses:
        if node is not None:
            repair = partial(replace_scalar, subject.tree, node, guess)
        else:
            repair = partial(insert_entry, subject.tree, entry, "type", guess, entry.entry("name"))
        fixes.append(Fix(f"Insert `type: {guess}`", repair))
    span = subject.value_span(node) if node is not None else subject.anchor_of_missing(entry)
    return Problem("missing-grader-type", span, message, severity, tuple(fixes))


def _is_of_task(subject: Subject) -> bool:
    """Return whether a grader is one of a task, where `code` is the default type."""
    path = subject.node.path
    return subject.document_kind == "task" or (bool(path) and path[0] == "tasks")


def _type_elsewhere(subject: Subject) -> Problem | None:
    """Return the problem of a type under a misspelt key, or among the options; None when there is none."""
    entry = subject.node
    for each in entry.entries:
        key = each.key.value
        if key in subject.root.top.properties or each.value.target.kind != "scalar":
            continue
        value = each.value.target.value
        known = value in subject.catalog.grader_types
        if known or (nearest(key, ["type"]) is not None and value):
            message = f"This grader has no key `{key}`; did you mean `type`? Without it the run fails."
            safe = typo_of(key, ["type"]) is not None
            fix = Fix("Change to `type`", (Edit(each.key.span, "type"),), preferred=safe)
            return Problem("unknown-key", each.key.span, message, "error", (fix,))
    config = entry.get("config")
    inner = config.target.entry("type") if config is not None and config.kind == "mapping" else None
    if inner is None or inner.value.target.value not in subject.catalog.grader_types:
        return None
    message = "`type` belongs next to `config`, not under it. Without it the run fails."
    moved = partial(move_entry_up, subject.tree, inner, entry)
    return Problem("misplaced-key", inner.key.span, message, "error", (Fix("Move into this grader", moved),))


def _intended_type(catalog: Catalog, entry: Node, written: str) -> str | None:
    """Return the probable type: one with a similar name, another tool's name, or one that the options fit."""
    plain = written.lower().replace("-", "_")
    alike = nearest(written, (*current_types(catalog), *catalog.grader_types))
    if alike is not None and alike.replace("_", "") == plain.replace("_", ""):
        return alike
    fitting = list(_types_by_options(catalog, entry))
    other = catalog.other_type_names.get(plain)
    for guess in (other, alike):
        if guess is not None and (guess in fitting or not fitting):
            return guess
    return fitting[0] if len(fitting) == 1 else other or alike


def _types_that_fit(catalog: Catalog, entry: Node) -> Iterator[str]:
    """Return up to three types that know most of the options; ``code`` for none (an older default)."""
    fitting = list(_types_by_options(catalog, entry))
    if fitting:
        yield from fitting[:3]
    elif not _options(entry) and "code" in catalog.grader_types:
        yield "code"


def _types_by_options(catalog: Catalog, entry: Node) -> Iterator[str]:
    """Yield the types that know most of the options, deprecated ones only when no other does."""
    options = _options(entry)
    current = current_types(catalog)
    for names in (current, [name for name in catalog.grader_types if name not in current]):
        scored = [(len(options & catalog.options_of(name)), name) for name in names]
        best = max((hits for hits, _ in scored), default=0)
        # A type may know one option of many by chance.
        if best * 2 >= max(len(options), 1):
            yield from (name for hits, name in scored if hits == best)
            return


def _options(entry: Node) -> set[str]:
    config = entry.get("config")
    options = {each.key.value for each in (config.target.entries if config is not None else entry.entries)}
    return options - {"name", "weight", "config"}


def current_types(catalog: Catalog) -> tuple[str, ...]:
    """Return the types that are not deprecated, in alphabetical order."""
    shapes = ((name, catalog.grader(name)) for name in catalog.grader_types)
    return tuple(name for name, shape in shapes if shape is not None and not shape.deprecated)
