"""Options of another grader type: the grader was copied and kept its type, or only its type was changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.graders.grader_types import current_types
from waza_language_server.analysis.schema_rules.keys.misplaced_keys import removals
from waza_language_server.analysis.schema_rules.keys.unknown_key import OneMistake, UnknownKey
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.spelling import article, slips_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Fix

_MOST_OPTIONS = 50


def of_another_type(
    subject: Subject, mapping: Node, shape: Shape, unexpected: Sequence[Entry]
) -> OneMistake | None:
    """Return the problem, at the type, of a grader whose options are all those of one other type.

    None if its type knows one of them, or one may be a typo of an option that it knows.
    """
    if not subject.is_grader or mapping.step != "config" or not 0 < len(unexpected) <= _MOST_OPTIONS:
        return None
    written, keys = subject.node.entry("type"), frozenset(mapping.key_names)
    if written is None or written.value.kind != "scalar" or len(unexpected) != len(keys):
        return None
    if any(key in shape.misspellings or slips_of(key, shape.properties) for key in keys):
        return None
    others = types_with(subject, keys)
    if len(others) != 1:
        return None
    (other,) = others
    here, first = written.value.value, unexpected[0]
    lacked = f"no option `{first.key.value}`" if len(keys) == 1 else "none of these options"
    message = f"{article(here).capitalize()} `{here}` grader has {lacked}, which `{other}` graders have."
    repair = partial(replace_scalar, subject.tree, written.value, other)
    fixes = (
        Fix(f"Change the type to `{other}`", repair),
        *(removals(subject, first) if len(keys) == 1 else ()),
    )
    problem = Problem("unknown-key", written.value.span, message, shape.unknown_keys, fixes)
    # The other missing keys follow from the wrong type.
    needed = frozenset(shape.properties)
    return OneMistake(UnknownKey(problem, mapping, mapping, (), held=needed, cause="As it is"), keys)


def types_with(subject: Subject, keys: frozenset[str]) -> tuple[str, ...]:
    """Return the grader types that have all of these options, in alphabetical order."""
    catalog = subject.catalog
    return tuple(name for name in current_types(catalog) if keys <= catalog.options_of(name))
