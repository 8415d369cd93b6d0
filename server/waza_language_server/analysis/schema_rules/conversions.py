"""Graders of an older type, or assertions of another tool, written as graders with the same verdicts.

Source of the pairs: `docs/compatibility.md`. What has no counterpart is left to the author: then there is no
conversion at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from waza_engine.spec.reading.scalars import resolve_scalar
from waza_engine.steps import Steps
from waza_language_server.analysis.schema_rules.one_pattern import any_of
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.analysis.schema_rules.wrong_values import as_list
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.edits import delete_entry
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

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
"""By older type: its lists of patterns or texts, and what `text` calls them."""


_ASSERTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "contains": ("text", "contains_cs"),
        "contains-all": ("text", "contains_cs"),
        "icontains": ("text", "contains"),
        "icontains-all": ("text", "contains"),
        "not-contains": ("text", "not_contains_cs"),
        "not-icontains": ("text", "not_contains"),
        "not-regex": ("text", "regex_not_match"),
        "python": ("code", "assertions"),
    }
)
"""Assertions of promptfoo, and the option that says the same: https://www.promptfoo.dev/docs/configuration."""
_BESIDE = frozenset({"type", "value", "name", "weight"})


def conversions(subject: Subject, type_node: Node) -> Iterator[Fix]:
    """Yield the fix that turns a grader of an older type into its successor, if there is an exact one."""
    foreign = _of_other_tool(subject, type_node)
    if foreign is not None:
        yield foreign
    config = subject.node.get("config")
    if config is None or config.kind != "mapping" or subject.node.entry("type") is None:
        return
    options = {entry.key.value: entry for entry in config.entries}
    match type_node.value:
        case "regex" | "keyword":
            successor, repair = "text", partial(_as_text, subject, type_node, options)
        case "llm":
            successor, repair = "prompt", partial(_as_prompt, type_node, options)
        case "tool":
            successor, repair = "tool_calls", partial(_as_tool_calls, subject, type_node, options)
        case "script" | "custom":
            successor, repair = "program", partial(_as_program, subject, type_node, options)
        case _:
            return
    yield Fix(f"Convert to `{successor}`", repair)


def _of_other_tool(subject: Subject, type_node: Node) -> Fix | None:
    """Return the fix for an assertion as other tools write it: a type, and beside it a ``value``."""
    successor, option = _ASSERTIONS.get(type_node.value.replace("_", "-"), ("", ""))
    entry = subject.node.entry("value")
    if not successor or entry is None or type_node.parent != subject.node:
        return None
    text, value = subject.text, entry.value
    written = text[value.span.start : value.span.end]
    is_list = value.kind == "sequence" and value.style == "flow"
    is_line = bool(written) and "\n" not in written and "\r" not in written
    if not {*subject.node.key_names} <= _BESIDE or not is_line or not (is_list or value.kind == "scalar"):
        return None
    if value.green.anchor is not None or value.green.tag is not None:
        return None
    if text[entry.key.span.end : value.span.start].strip() != ":":
        # A comment would be lost.
        return None
    items = written if is_list else f"[{written}]"
    config = f"config: {{{option}: {items}}}"
    if subject.node.style == "block":
        margin = line_break(text) + " " * (column_of(text, entry.key.span.start) + 2)
        config = f"config:{margin}{option}:" + (f" {items}" if is_list else f"{margin}  - {written}")
    whole = Span(entry.key.span.start, value.span.end)
    return Fix(f"Convert to `{successor}`", (Edit(type_node.span, successor), Edit(whole, config)))


def _as_text(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Steps[Edits]:
    names = _LISTS[type_node.value]
    lists = {key: entry for key, entry in options.items() if key in names and not _is_switch(entry)}
    renamed = [names[key] for key in lists]
    rest = [entry for key, entry in options.items() if key not in lists]
    if not lists or len(set(renamed)) != len(renamed):
        return ()
    edits = [Edit(type_node.span, "text")]
    for key, entry in lists.items():
        least = _number(options.get("min_matches")) if key == "keywords" else None
        if least is not None and least != len(entry.value.target.items):
            if least != 1 or (pattern := any_of(entry)) is None:
                return ()
            whole = Span(entry.key.span.start, entry.value.span.end)
            edits.append(Edit(whole, f"regex_match: [{pattern}]"))
            continue
        edits.append(Edit(entry.key.span, names[key]))
        wanted = _option(subject, "text", names[key])
        if entry.value.kind == "scalar" and wanted is not None:
            edits += filter(None, [as_list(subject, entry.value, wanted)])
    for entry in rest:
        # All of the texts is what `contains` asks for anyway.
        if entry.key.value == "min_matches" or (entry.key.value == "must_include_all" and _is_on(entry)):
            edits += yield from delete_entry(subject.tree, entry)
        elif entry.key.value != "description":
            return ()
    return tuple(edits)


def _as_prompt(type_node: Node, options: Mapping[str, Entry]) -> Edits:
    """Keep the rating: `prompt` takes a rubric, too."""
    return (Edit(type_node.span, "prompt"),) if "rubric" in options else ()


def _as_tool_calls(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Steps[Edits]:
    """Ask for at least one call of a tool; other counts are of all calls there, not of one tool."""
    tool, least = options.get("tool_name"), options.get("min_calls")
    if tool is None or not options.keys() <= {"tool_name", "min_calls"} or not tool.value.value:
        return ()
    if least is not None and _number(least) != 1:
        return ()
    written = subject.text[tool.value.span.start : tool.value.span.end]
    edits = [Edit(type_node.span, "tool_calls")]
    edits.append(Edit(Span(tool.key.span.start, tool.value.span.end), f"required_tools: [{written}]"))
    if least is not None:
        edits += yield from delete_entry(subject.tree, least)
    return tuple(edits)


def _as_program(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Edits:
    """Run the script by name; it goes on telling its score in JSON."""
    script = options.get("script")
    if script is None or len(options) != 1 or not script.value.value or "\n" in script.value.value:
        return ()
    written = subject.text[script.value.span.start : script.value.span.end]
    start = script.key.span.start
    in_flow = script.key.parent is not None and script.key.parent.style == "flow"
    line = max(subject.text.rfind("\n", 0, start), subject.text.rfind("\r", 0, start)) + 1
    line_break = "\r\n" if "\r\n" in subject.text else "\n"
    between = ", " if in_flow else line_break + " " * (start - line)
    lines = ("command: python3", f"args: [{written}]", "protocol: waza-json")
    whole = Span(start, script.value.span.end)
    return (Edit(type_node.span, "program"), Edit(whole, between.join(lines)))


def _option(subject: Subject, grader: str, name: str) -> Shape | None:
    entry = subject.catalog.grader(grader)
    config = entry.properties.get("config") if entry is not None else None
    option = config.shape.branch("mapping").properties.get(name) if config is not None else None
    return option.shape if option is not None else None


def _is_switch(entry: Entry) -> bool:
    return entry.value.kind == "scalar" and isinstance(resolve_scalar(entry.value.value), bool)


def _is_on(entry: Entry) -> bool:
    return resolve_scalar(entry.value.value) is True


def _number(entry: Entry | None) -> int | None:
    value = resolve_scalar(entry.value.value) if entry is not None and entry.value.kind == "scalar" else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
