"""Conversions of graders of older types, or of assertions of another tool, to graders with the same verdicts.

Source of the pairs: `docs/compatibility.md`. If a part has no counterpart, there is no conversion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from waza_engine.checkpoint import checkpoint
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.pattern_syntax import literal_pattern
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.schema_rules.coercions import as_list
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.edits import delete_entry
from waza_language_server.syntax.escapes import quoted
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.joined_lists import items_added
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.scalar_writing import plain_or_quoted
from waza_language_server.text.span import Span

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
"""Assertions of promptfoo, and the equivalent options: https://www.promptfoo.dev/docs/configuration."""
_BESIDE = frozenset({"type", "value", "name", "weight", "required"})
_SUCCESSORS: Mapping[str, str] = MappingProxyType(
    {
        "regex": "text",
        "keyword": "text",
        "llm": "prompt",
        "llm_comparison": "prompt",
        "tool": "tool_calls",
        "script": "program",
        "custom": "program",
    }
)
_BESIDE_TYPE = frozenset({"script", "rubric"})
"""Options that the first version accepted next to the type."""
_COMPARING = (
    "Rate from 1 to 5 how far the answer means the same as this reference.",
    "1: something else. 3: the same in part. 5: the same.",
    "Reference:",
)


def conversions(subject: Subject, type_node: Node) -> Iterator[Fix]:
    """Yield the fix that converts a grader of an older type to its successor, if there is an exact one."""
    foreign = _of_other_tool(subject, type_node)
    if foreign is not None:
        yield foreign
    successor = _SUCCESSORS.get(type_node.value)
    if successor is None or subject.node.entry("type") is None:
        return
    config = subject.node.get("config")
    if config is None:
        if {*subject.node.key_names} & _BESIDE_TYPE:
            yield Fix(f"Convert to `{successor}`", partial(_from_beside, subject, type_node, successor))
        return
    if config.kind != "mapping":
        return
    options = {entry.key.value: entry for entry in config.entries}
    match type_node.value:
        case "regex" | "keyword":
            repair = partial(as_text, subject, type_node, options)
        case "llm":
            repair = partial(_as_prompt, subject, type_node, options)
        case "llm_comparison":
            repair = partial(_as_comparison, subject, type_node, options)
        case "tool":
            if not {"min_calls", "max_calls"}.isdisjoint(options) and not _is_once(options):
                successor = "code"
            repair = partial(_as_tool_calls, subject, type_node, options)
        case _:
            repair = partial(_as_program, subject, type_node, options)
    if options and options.keys() <= subject.catalog.options_of(successor) - subject.catalog.options_of(
        type_node.value
    ):
        # The options are already those of the successor.
        repair = (Edit(type_node.span, successor),)
    yield Fix(f"Convert to `{successor}`", repair)


def _of_other_tool(subject: Subject, type_node: Node) -> Fix | None:
    """Return the fix for an assertion in another tool's form: a type, and next to it a ``value``."""
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
        # The fix would delete a comment.
        return None
    items = written if is_list else f"[{written}]"
    config = f"config: {{{option}: {items}}}"
    if subject.node.style == "block":
        margin = line_break(text) + " " * (column_of(text, entry.key.span.start) + 2)
        config = f"config:{margin}{option}:" + (f" {items}" if is_list else f"{margin}  - {written}")
    whole = Span(entry.key.span.start, value.span.end)
    return Fix(f"Convert to `{successor}`", (Edit(type_node.span, successor), Edit(whole, config)))


def _from_beside(subject: Subject, type_node: Node, successor: str) -> Edits:
    """Convert a grader whose options are next to its type, as they were in the first version."""
    entry = subject.node.entry("script")
    if successor == "prompt" and subject.node.entry("rubric") is not None:
        return (Edit(type_node.span, "prompt"),)
    if successor != "program" or entry is None or subject.node.style != "block":
        return ()
    if entry.value.kind != "scalar" or not entry.value.value or "\n" in entry.value.value:
        return ()
    text, span = subject.text, entry.value.span
    margin = line_break(text) + " " * (column_of(text, entry.key.span.start) + 2)
    lines = ("command: python3", f"args: [{text[span.start : span.end]}]", "protocol: waza-json")
    block = "config:" + "".join(f"{margin}{line}" for line in lines)
    checkpoint()
    return (Edit(type_node.span, "program"), Edit(Span(entry.key.span.start, span.end), block))


def _as_prompt(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Edits:
    """Keep the rating: `prompt` accepts a rubric, too."""
    known = options.keys() <= subject.catalog.options_of("prompt")
    needed = not {"rubric", "prompt"}.isdisjoint(options) or subject.node.entry("rubric") is not None
    return (Edit(type_node.span, "prompt"),) if needed and known else ()


def _as_comparison(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Edits:
    """Write the rating of the older type as a rubric that contains the reference."""
    entry = options.get("reference")
    if entry is None or not options.keys() <= {"reference", "model"} or entry.value.kind != "scalar":
        return ()
    text, reference = subject.text, entry.value.value
    if not reference.strip() or entry.key.parent is None or entry.key.parent.style != "block":
        return ()
    margin = line_break(text) + " " * (column_of(text, entry.key.span.start) + 2)
    rows = [*_COMPARING, *(f"  {row}".rstrip() for row in reference.strip("\r\n").splitlines())]
    rubric = "rubric: |" + "".join(f"{margin}{row}".rstrip(" ") for row in rows)
    whole = Span(entry.key.span.start, entry.value.span.end)
    ending = line_break(text) if text[whole.start : whole.end].endswith("\n") else ""
    return (Edit(type_node.span, "prompt"), Edit(whole, f"{rubric}{ending}"))


def _as_tool_calls(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Edits:
    """Require a call of a tool; `tool_calls` counts the calls of all tools, other counts are assertions."""
    tool, least, match = options.get("tool_name"), options.get("min_calls"), options.get("argument_match")
    known = {"tool_name", "min_calls", "max_calls", "argument_match"}
    if tool is None or not options.keys() <= known or not tool.value.value or tool.value.kind != "scalar":
        return ()
    name = tool.value.value
    written = subject.text[tool.value.span.start : tool.value.span.end]
    place = Span(tool.key.span.start, tool.value.span.end)
    if not _is_once(options):
        return () if match is not None else _as_counts(subject, type_node, options, name)
    edits = [Edit(type_node.span, "tool_calls")]
    if match is None:
        edits.append(Edit(place, f"required_tools: [{written}]"))
    elif (arguments := _matchers(match)) is not None:
        tool_pattern = quoted(f"^{literal_pattern(name)}$")
        edits.append(Edit(place, f"expect: [{{tool: {tool_pattern}, args: {{{arguments}}}}}]"))
        edits += delete_entry(subject.tree, match)
    else:
        return ()
    if least is not None:
        edits += delete_entry(subject.tree, least)
    return tuple(edits)


def _as_counts(subject: Subject, type_node: Node, options: Mapping[str, Entry], name: str) -> Edits:
    """Write bounds on the calls of one tool as assertions."""
    calls = f"len([call for call in tool_calls if call['name'] == {name!r}])"
    bounds = {"min_calls": ">=", "max_calls": "<="}
    given = {key: options[key] for key in bounds if key in options}
    numbers = {key: number_of(entry) for key, entry in given.items()}
    if not name.isprintable() or any(number is None for number in numbers.values()):
        return ()
    asserted = [f'"{calls} {bounds[key]} {number}"' for key, number in numbers.items()]
    if '"' in calls or "\\" in calls:
        return ()
    tool = options["tool_name"]
    whole = Span(tool.key.span.start, tool.value.span.end)
    edits = [Edit(type_node.span, "code"), Edit(whole, f"assertions: [{', '.join(asserted)}]")]
    for entry in given.values():
        edits += delete_entry(subject.tree, entry)
    return tuple(edits)


def _is_once(options: Mapping[str, Entry]) -> bool:
    """Return whether one call of the tool is enough, and any number may follow."""
    least = options.get("min_calls")
    return "max_calls" not in options and (least is None or number_of(least) == 1)


def _matchers(match: Entry) -> str | None:
    """Return the matchers of arguments by name, in flow style; None if a value is not a plain string."""
    entries = match.value.entries
    if match.value.kind != "mapping" or not entries:
        return None
    pairs: list[str] = []
    for entry in entries:
        value = entry.value
        if value.kind != "scalar" or not value.value or not value.value.isprintable():
            return None
        pairs.append(f"{plain_or_quoted(entry.key.value)}: {{contains: {quoted(value.value)}}}")
    return ", ".join(pairs)


def _as_program(subject: Subject, type_node: Node, options: Mapping[str, Entry]) -> Edits:
    """Run the script by name; it still prints its score as JSON."""
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
    wanted = _option(subject, "text", name)
    if entry.value.kind == "scalar" and wanted is not None:
        edits += filter(None, [as_list(subject, entry.value, wanted)])
    return edits


def _option(subject: Subject, grader: str, name: str) -> Shape | None:
    entry = subject.catalog.grader(grader)
    config = entry.properties.get("config") if entry is not None else None
    option = config.shape.branch("mapping").properties.get(name) if config is not None else None
    return option.shape if option is not None else None


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
