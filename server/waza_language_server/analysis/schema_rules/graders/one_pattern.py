"""`match_any` and the like: no option of `text` means "one of these", but one pattern with ``|`` does."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

OPTION = "regex_match"
_PATTERNS = frozenset({"match_any", "must_match_any", "regex_match_any", "any_match", "regex_any"})
_TEXTS = frozenset({"contains_any", "must_contain_any", "any_contains", "any_of"})
_SPECIAL = compiled_later(r"[\\.+*?()|\[\]{}^$]")


def one_pattern(shape: Shape, entry: Entry) -> str | None:
    """Return the pattern that matches if one of the listed patterns or strings does; None for other keys.

    Strings match ignoring case, as with `contains`.
    """
    key = entry.key.value
    if OPTION not in shape.properties or (key not in _PATTERNS and key not in _TEXTS):
        return None
    texts = _texts(entry.value)
    if not texts:
        return None
    if key in _PATTERNS:
        return _alternatives(texts)
    return "(?i)" + _alternatives([_SPECIAL.sub(r"\\\g<0>", text) for text in texts])


def any_of(entry: Entry) -> str | None:
    """Return the quoted pattern that matches if one of the listed strings does; None for no such list."""
    texts = _texts(entry.value)
    if not texts or any("\n" in text for text in texts):
        return None
    return _quoted("(?i)" + _alternatives([_SPECIAL.sub(r"\\\g<0>", text) for text in texts]))


def as_one_pattern(mapping: Node, entry: Entry, pattern: str) -> tuple[Fix, ...]:
    """Return the fix that replaces the entry with the pattern; None if the mapping has patterns."""
    if mapping.entry(OPTION) is not None or "\n" in pattern:
        return ()
    edit = Edit(Span(entry.key.span.start, entry.value.span.end), f"{OPTION}: [{_quoted(pattern)}]")
    return (Fix(f"Write one pattern in `{OPTION}`", (edit,)),)


def _quoted(pattern: str) -> str:
    return "'" + pattern.replace("'", "''") + "'"


def _alternatives(patterns: list[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def _texts(value: Node) -> list[str]:
    """Return the items of a list of scalars, or a single scalar; empty for anything else."""
    node = value.target
    nodes = [item.target for item in node.items] if node.kind == "sequence" else [node]
    simple = all(each.kind == "scalar" and each.value for each in nodes)
    return [each.value for each in nodes] if simple else []
