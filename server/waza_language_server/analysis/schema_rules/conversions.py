"""Conversions of graders of older types to graders with the same verdicts.

Source of the pairs: `docs/compatibility.md`. If a part has no counterpart, there is no conversion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.schema_rules.coercions import as_list
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import delete_entry
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.placed_text import items_added
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_SUCCESSORS: Mapping[str, str] = MappingProxyType(
    {
        "regex": "text",
        "keyword": "text",
        "llm": "prompt",
    }
)


def conversions(subject: Subject, type_node: Node) -> Iterator[Fix]:
    """Yield the fix that converts a grader of an older type to its successor, if there is an exact one."""
    successor, config = _SUCCESSORS.get(type_node.value), subject.node.get("config")
    if successor is None or subject.node.entry("type") is None:
        return
    if config is None or config.kind != "mapping":
        if successor == "prompt" and config is None and subject.node.entry("rubric") is not None:
            yield Fix(f"Convert to `{successor}`", (Edit(type_node.span, successor),))
        return
    options = {entry.key.value: entry for entry in config.entries}
    convert = _as_prompt if successor == "prompt" else as_text
    repair: Edits | partial[Edits] = partial(convert, subject, type_node, options)
    if options and options.keys() <= subject.catalog.options_of(successor) - subject.catalog.options_of(
        type_node.value
    ):
        # The options are already those of the successor.
        repair = (Edit(type_node.span, successor),)
    yield Fix(f"Convert to `{successor}`", repair)


def _as_prompt(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Edits:
    """Keep the rating: `prompt` accepts a rubric, too."""
    known = options.keys() <= subject.catalog.options_of("prompt")
    needed = not {"rubric", "prompt"}.isdisjoint(options) or subject.node.entry("rubric") is not None
    return (Edit(type_node.span, "prompt"),) if needed and known else ()


_LISTS: Mapping[str, Mapping[str, str]] = {
    "regex": {
        "must_match": "regex_match",
        "pattern": "regex_match",
        "patterns": "regex_match",
        "should_match": "regex_match",
        "must_not_match": "regex_not_match",
        "should_not_match": "regex_not_match",
    },
    "keyword": {
        "must_contain": "contains",
        "keywords": "contains",
        "must_include_all": "contains",
        "must_not_contain": "not_contains",
    },
}
"""By older type: its lists of patterns or strings, and their names in `text`."""
_CASED: Mapping[str, str] = {"contains": "contains_cs", "not_contains": "not_contains_cs"}
"""The case-sensitive names of the lists of `text`."""
_SWITCHES = frozenset({"should_match", "must_include_all", "case_sensitive"})
"""Options that change the meaning of the lists."""


def as_text(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Edits:
    """Return the edits that convert a grader with these options to `text`, if that is equivalent."""
    older = type_node.value
    given = [(key, entry) for key, entry in options.items() if key in _SWITCHES and _is_switch(entry)]
    switches = {key: _is_on(entry) for key, entry in given}
    lists = _lists(subject, older, options, switches)
    if lists is None or (older == "regex" and not switches.get("case_sensitive", True)):
        return ()
    edits = [Edit(type_node.span, "text")]
    gone = [entry for _, entry in given]
    takes_any = not switches.get("must_include_all", True)
    firsts: dict[str, Entry] = {}
    for name, entry in lists:
        least = number_of(options.get("min_matches")) if entry.key.value == "keywords" else None
        if takes_any or (least is not None and least != len(entry.value.target.items)):
            pattern = any_of(entry) if least in {None, 1} and not switches.get("case_sensitive") else None
            if pattern is None or len(lists) > 1:
                return ()
            edits.append(Edit(Span(entry.key.span.start, entry.value.span.end), f"regex_match: [{pattern}]"))
        elif name in firsts:
            more = items_added(subject.text, firsts[name], entry)
            if more is None:
                return ()
            edits.append(more)
            gone.append(entry)
        else:
            firsts[name] = entry
            edits += _renamed(subject, entry, name)
    if "min_matches" in options:
        gone.append(options["min_matches"])
    for entry in gone:
        edits += delete_entry(subject.tree, entry)
    return tuple(edits)


def _lists(
    subject: Subject, older: str, options: Mapping[str, Entry], switches: Mapping[str, bool]
) -> list[tuple[str, Entry]] | None:
    """Return the lists with their names in `text`; None without any, or with another option."""
    names, known = _LISTS[older], subject.catalog.options_of("text")
    found: list[tuple[str, Entry]] = []
    for key, entry in options.items():
        if key in switches or key in {"min_matches", "description"}:
            continue
        name = key if key in known else names.get(key)
        if name is None or (_is_switch(entry) and key in _SWITCHES):
            return None
        if key == "pattern" and not switches.get("should_match", True):
            name = "regex_not_match"
        if switches.get("case_sensitive"):
            name = _CASED.get(name, name)
        found.append((name, entry))
    decided = "should_match" not in switches or [entry.key.value for _, entry in found] == ["pattern"]
    return found if found and decided else None


def _renamed(subject: Subject, entry: Entry, name: str) -> list[Edit]:
    edits = [Edit(entry.key.span, name)] if entry.key.value != name else []
    grader = subject.catalog.grader("text")
    config = grader.properties.get("config") if grader is not None else None
    option = config.shape.branch("mapping").properties.get(name) if config is not None else None
    wanted = option.shape if option is not None else None
    if entry.value.kind == "scalar" and wanted is not None:
        edits += filter(None, [as_list(subject, entry.value, wanted)])
    return edits


def _is_switch(entry: Entry) -> bool:
    return entry.value.kind == "scalar" and isinstance(resolve_scalar(entry.value.value), bool)


def _is_on(entry: Entry) -> bool:
    return resolve_scalar(entry.value.value) is True


def number_of(entry: Entry | None) -> int | None:
    """Return the value of an option that is a whole number, None for anything else."""
    value = resolve_scalar(entry.value.value) if entry is not None and entry.value.kind == "scalar" else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


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
    return _alternatives(texts) if key in _PATTERNS else _any_text(texts)


def any_of(entry: Entry) -> str | None:
    """Return the quoted pattern that matches if one of the listed strings does; None for no such list."""
    texts = _texts(entry.value)
    if not texts or any("\n" in text for text in texts):
        return None
    return _quoted(_any_text(texts))


def as_one_pattern(mapping: Node, entry: Entry, pattern: str) -> tuple[Fix, ...]:
    """Return the fix that replaces the entry with the pattern; None if the mapping has patterns."""
    if mapping.entry(OPTION) is not None or "\n" in pattern:
        return ()
    edit = Edit(Span(entry.key.span.start, entry.value.span.end), f"{OPTION}: [{_quoted(pattern)}]")
    return (Fix(f"Write one pattern in `{OPTION}`", (edit,)),)


def _quoted(pattern: str) -> str:
    return "'" + pattern.replace("'", "''") + "'"


def _any_text(texts: list[str]) -> str:
    return "(?i)" + _alternatives([_SPECIAL.sub(r"\\\g<0>", text) for text in texts])


def _alternatives(patterns: list[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def _texts(value: Node) -> list[str]:
    """Return the items of a list of scalars, or a single scalar; empty for anything else."""
    node = value.target
    nodes = [item.target for item in node.items] if node.kind == "sequence" else [node]
    simple = all(each.kind == "scalar" and each.value for each in nodes)
    return [each.value for each in nodes] if simple else []
