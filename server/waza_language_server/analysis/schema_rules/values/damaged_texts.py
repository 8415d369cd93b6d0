"""Unquoted strings that lost a part, or have an extra character: YAML does not read what was intended.

`Fix #1 and that` ends before the number, `v2.0'` has a quote at its end, `view,` a comma, and an `I` above
lines of prose should be the bar that opens a block scalar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.escapes import in_lost_quotes, in_single_quotes, quoted
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.value_quotes import ESCAPED_QUOTES
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

ENDINGS = frozenset("\"',;")
"""The last characters of strings that are checked."""
_ENDS_OF_NOTES = frozenset("\\)")
_SIGNS_OF_NOTES = ("//", "/*", "--")
SIGNS_OF_BLOCKS = frozenset("Il1¦│-=/\\")
"""The first characters of multi-line strings that are checked."""
DASH_INSIDE = " - "
"""The dash of an over-indented item below a text, as it appears within that text."""
_READ_BY_PEOPLE = frozenset({"criteria"})
"""Lists whose items are read by people or models, not compared: dashes in one may be a list of its own."""
_DASH_OF_LINE = compiled_later(r"(?m)^(?P<lead> +)- +(?=\S)")
_LIKE_A_SIGN = {
    **dict.fromkeys(("I", "l", "1", "¦", "│", "/", "\\", "-|"), "|"),
    **dict.fromkeys(("->", "=>"), ">-"),
}
"""Characters alone after a key where a block scalar indicator was intended."""
_NUMBER_BEHIND = compiled_later(r"[ \t]#(?=\d)[^\r\n]*")
_WORD_BEHIND = compiled_later(r"[ \t]#(?=\w)[^\r\n]*")
"""A `#` after one space; after two, as linters want them, it begins a comment."""
_OWN_WORDS = frozenset({"regex", "python.assertion", "glob", "task.glob", "model", "tool.name", "executor"})
"""Kinds of strings in which `#1` is not expected."""
_NAMES = frozenset({"tool.name", "path.workspace", "task.id", "grader.name", "model"})
"""Kinds of strings that have no comma at their end."""
_NAMING = frozenset({"id", "name", "skill", "type", "version"})
"""Keys of names, where a single word has no such character at its end."""
_NAMED = frozenset({"model", "task.id", "grader.name", "grader.type", "skill.name"})
"""Kinds of strings that are one word, so that text after it is a note."""
_NOTE_BEHIND = compiled_later(
    r"(?P<name>[\w.:/@-]+)[ \t]+"
    r"(?:(?P<slashes>//[ \t]*\S.*|/\*.+)|(?P<sign>\\)|(?P<words>\([^()]+\)|--[ \t].*))"
)
_AROUND_NOTE = compiled_later(r"\A(?://|/\*|--)\s*|\s*\*/\Z")
_MODELS = frozenset({"model", "judge_model"})
"""Keys of one model each."""
_SEVERAL_NAMES = compiled_later(r"[\w./:@-]+(?:(?:[ ]*[|,;][ ]*|[ ]+or[ ]+)[\w./:@-]+)+")
_BETWEEN_NAMES = compiled_later(r"[ ]*[|,;][ ]*|[ ]+or[ ]+")
_NAME = compiled_later(r"[\w./-]+[,;]")
_LISTED = compiled_later(r"\w[\w./*-]*(?:[ ][a-z][\w./*-]*)*,")
"""A word of a list of words: not a greeting (`Hello Ana,`), not a line of code (`break;`)."""
_MEANT_BEFORE_QUOTE = {
    '"': compiled_later(r"[^\w.!?…)]\Z|(?<![\w.])\w{1,2}\Z|\d\Z|[={}<>$`\\]|\([^)]*\Z"),
    "'": compiled_later(
        r"[^\w.!?…)]\Z|(?<![\w.])\w{1,2}\Z|(?<![\w.])\d+\Z|[szx]\Z|\win\Z|[={}<>$`\\]|\([^)]*\Z"
    ),
}
"""Text before a quote that may be intended: code (`href="`, `print(f"`), inches, `O'`, `runnin'`."""
_LOOKED_FOR = frozenset({"task.glob", "path.fixture", "path.suite", "python.assertion", "rubric"})
"""Kinds of strings that other rules check."""
_PATHS = frozenset(
    {"path.fixture", "path.suite", "path.workspace", "path.skill", "path.repository", "task.glob", "glob"}
)
_ESCAPED_SIGN = compiled_later(r"\\(?P<letter>[abtnvfre0])")
_BREAK = compiled_later(r"[\r\n]")
_CONTROL = compiled_later(r"[\x00-\x1f]")
_PRINTED = {'"': "“„«", "'": "‘‚"}
_MOST_WORDS = 4
_MOST_NAMES = 4
"""The maximum number of names that are offered."""


def damaged_text(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the problems at the ends of a plain scalar."""
    if node.style != "plain" or "string" not in shape.types or not node.value:
        return
    if DASH_INSIDE in node.value and (pushed := _items_inside(text, node, shape)) is not None:
        yield pushed
        return
    last = node.value[-1]
    if last in "\"'" and shape.kind not in _LOOKED_FOR:
        yield from _quote_at_end(node, last, shape)
    elif last == "," or (last == ";" and node.value.count(";") == 1):
        yield from _sign_at_end(node, shape)
    if node.value[0] in SIGNS_OF_BLOCKS:
        yield from _sign_of_block(text, node)
    if last in _ENDS_OF_NOTES or any(sign in node.value for sign in _SIGNS_OF_NOTES):
        yield from _note_behind(text, node, shape)
    if shape.kind == "model":
        yield from _several_names(text, node)
    if (
        not shape.enum
        and shape.kind not in _OWN_WORDS
        and text.startswith((" #", "\t#", "  #"), node.span.end)
    ):
        yield from _cut_off(text, node, shape)


def may_be_damaged(text: str, node: Node) -> bool:
    """Return whether ``damaged_text`` may report something about a plain scalar. Cheaper than calling it."""
    value, end = node.green.value, node.green.end + node.offset
    return (
        value[-1] in ENDINGS
        or value[-1] in _ENDS_OF_NOTES
        or (" " in value and (" //" in value or " /*" in value or " --" in value or DASH_INSIDE in value))
        or "#" in text[end + 1 : end + 3]
        or (value[0] in SIGNS_OF_BLOCKS and value[1:2] in {" ", ">", "|"})
        or (
            node.step in _MODELS
            and ("|" in value or "," in value or ";" in value or " or " in value)
            and _SEVERAL_NAMES.fullmatch(value) is not None
        )
    )


def may_be_escaped(node: Node, shape: Shape) -> bool:
    """Return whether ``escaped_text`` may report something about a double-quoted scalar."""
    return "\b" in node.green.value or (
        shape.kind in _PATHS and _CONTROL.search(node.green.value) is not None
    )


def escaped_text(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the first escape sequence in double quotes where a backslash and a letter were intended.

    In an assertion it is reported where Python finds it.
    """
    if shape.kind in _PATHS:
        yield from _escaped_path(text, node)
    elif shape.kind != "python.assertion":
        yield from _edge_of_word(text, node, shape)


def _edge_of_word(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    start, written = node.span.start, text[node.span.start : node.span.end]
    at = written.replace("\\\\", "  ").find("\\b")
    if at < 0:
        # A backspace that is written as a number, as `\x08`, is intended.
        return
    is_pattern = shape.kind == "regex"
    instead = ", not the edge of a word" if is_pattern else ""
    message = (
        f"`\\b` in double quotes is a backspace{instead}; put the text in single quotes or write `\\\\b`."
    )
    fixes = ()
    if _BREAK.search(written) is None:
        edit = in_single_quotes(text, Span(start, node.span.end))
        title = "Use single quotes, which keep backslashes as they are"
        fixes = (Fix(title, (edit,), preferred=is_pattern),)
    yield Problem("yaml-escape", Span(start + at, start + at + len("\\b")), message, "warning", fixes)


def _escaped_path(text: str, node: Node) -> Iterator[Problem]:
    start, end = node.span.start, node.span.end
    written = text[start:end]
    escaped = list(_ESCAPED_SIGN.finditer(written.replace("\\\\", "  ")))
    if not escaped or "\n" in written:
        return
    first = escaped[0]
    place = Span(start + first.start(), start + first.end())
    meant = re.sub(r"\\+", "/", written)
    message = f"`{first[0]}` is one invisible character in double quotes; a path is written with `/`."
    fix = Fix(f"Change to `{shown(meant)}`", (Edit(node.span, meant),))
    yield Problem("yaml-escape", place, message, "error", (fix,))


def _items_inside(text: str, node: Node, shape: Shape) -> Problem | None:
    """Return the problem of items that are indented further than the one above them.

    YAML reads each of them as one more line of the text above.
    """
    items, start = node.parent, node.span.start
    dash = text.rfind("-", 0, start)
    if (
        items is None
        or items.kind != "sequence"
        or items.style == "flow"
        or text[dash + 1 : start].strip(" ")
    ):
        return None
    inside = list(_DASH_OF_LINE.finditer(text, start, node.span.end))
    if not inside:
        return None
    column = column_of(text, dash)
    edits = tuple(Edit(Span(each.start(), each.end("lead")), " " * column) for each in inside)
    columns = {len(each["lead"]) for each in inside}
    first = inside[0]
    place = Span(first.end("lead"), first.end("lead") + 1)
    what, side = "item stands further to the right than the one above", "this dash is a part of its text"
    if (
        len(inside) > 1
        and len(items.items) == 1
        and len(columns) == 1
        and not text[dash - column : dash].strip(" ")
    ):
        # All others are at the right column for this one.
        edits = (Edit(Span(dash, dash), " " * (min(columns) - column)),)
        place = Span(dash, dash + 1)
        what, side = "item stands further to the left than those below", "they are a part of its text"
    title = "Align the item" if len(edits) == 1 else "Align the items"
    severity: Severity = "error" if shape.kind == "python.assertion" else "warning"
    if items.step in _READ_BY_PEOPLE:
        severity = "information"
    fix = Fix(title, edits)
    return Problem(
        "yaml-indentation", place, f"This {what}, so for YAML {side}; align them.", severity, (fix,)
    )


def _quote_at_end(node: Node, quote: str, shape: Shape) -> Iterator[Problem]:
    # A pattern may search for a quote at the end.
    severity: Severity = "information" if shape.kind == "regex" else "warning"
    if (escaped := ESCAPED_QUOTES.fullmatch(node.value)) is not None:
        bare = f"{quote}{escaped['inner']}{quote}"
        message = "These quotes are a part of the text, because a backslash stands before them; delete it."
        fix = Fix(f"Change to `{shown(bare)}`", (Edit(node.span, bare),))
        yield Problem("unlikely-value", node.span, message, severity, (fix,))
        return
    before = node.value[:-1]
    if before[:1] in _PRINTED[quote]:
        before = before[1:]
    may_be_meant = _MEANT_BEFORE_QUOTE[quote].search(before) is not None and before not in shape.examples
    if not before or quote in before or may_be_meant:
        return
    in_quotes = in_lost_quotes(f"{before}{quote}") or f"{quote}{before}{quote}"
    fix = Fix(f"Change to `{shown(in_quotes)}`", (Edit(node.span, in_quotes),))
    message = f"`{shown(node.value)}` ends with a quote that none opens, so the quote is a part of the text."
    yield Problem("unlikely-value", node.span, message, severity, (fix,))


def _note_behind(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield text after a name that is a comment in other languages: YAML reads all of it as the name."""
    if shape.kind not in _NAMED and node.step not in _NAMING:
        return
    note = _NOTE_BEHIND.fullmatch(node.value)
    if note is None or text[node.span.start : node.span.end] != node.value:
        return
    written = note["slashes"] or note["sign"] or note["words"]
    if note["words"] is not None and shape.kind != "model":
        return
    place = Span(node.span.end - len(written), node.span.end)
    if note["sign"] is not None:
        blanks = Span(node.span.start + len(note["name"]), node.span.end)
        message = f"The `{written}` is a part of this name; no line of YAML goes on because of it."
        fix = Fix(f"Delete the `{written}`", (Edit(blanks, ""),))
    else:
        comment = f"# {_AROUND_NOTE.sub('', written)}"
        message = f"`{shown(written)}` is a part of this name for YAML, where comments begin with `#`."
        fix = Fix("Make a comment of it", (Edit(place, comment),))
    yield Problem("unlikely-value", place, message, "warning", (fix,))


def _several_names(text: str, node: Node) -> Iterator[Problem]:
    """Yield several model names written as alternatives: YAML reads all of them as one name."""
    written = text[node.span.start : node.span.end]
    if _SEVERAL_NAMES.fullmatch(written) is None:
        return
    names = _BETWEEN_NAMES.split(written)
    fixes = tuple(Fix(f"Change to `{shown(name)}`", (Edit(node.span, name),)) for name in names[:_MOST_NAMES])
    message = f"For a run `{shown(written)}` is the name of one model; write one of them."
    yield Problem("unlikely-value", node.span, message, "warning", fixes)


def _sign_at_end(node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the comma, or the semicolon, with which other languages end an element."""
    items, sign = node.parent, node.value[-1]
    if items is None or items.style == "flow":
        return
    ending: list[Node] = [node]
    if items.kind == "sequence":
        siblings = [item for item in items.items if item.kind == "scalar"]
        ending = [item for item in siblings if item.style == "plain" and item.value.endswith(sign)]
        is_short = all(len(item.value.split()) <= _MOST_WORDS for item in siblings)
        are_words = all(_LISTED.fullmatch(item.value) for item in ending)
        are_all = (
            len(ending) > 1 and ending[: len(siblings) - 1] == siblings[: len(siblings) - 1] and is_short
        )
        if ending[0].span != node.span or not ((are_all and are_words) or shape.kind in _NAMES):
            return
    elif shape.kind not in _NAMES and (node.step not in _NAMING or _NAME.fullmatch(node.value) is None):
        return
    word = "comma" if sign == "," else "semicolon"
    edits = tuple(Edit(Span(each.span.end - 1, each.span.end), "") for each in ending)
    title, behind = (
        (f"Delete the {word}", "this") if len(edits) == 1 else (f"Delete the {word}s", "each of these")
    )
    place = Span(node.span.end - 1, node.span.end)
    message = f"The {word} is a part of `{shown(node.value)}`; no sign stands behind {behind} in YAML."
    yield Problem("unlikely-value", place, message, "warning", (Fix(title, edits),))


def _sign_of_block(text: str, node: Node) -> Iterator[Problem]:
    start = node.span.start
    first, line_break, _ = text[start : node.span.end].partition("\n")
    sign = _LIKE_A_SIGN.get(first.strip())
    if sign is not None and line_break:
        place = Span(start, start + len(first.strip()))
        message = f"`{first.strip()}` begins no block of text; write `{sign}` to have the lines below as one."
        fix = Fix(f"Write `{sign}` for `{first.strip()}`", (Edit(place, sign),))
        yield Problem("unlikely-value", place, message, "warning", (fix,))


def _cut_off(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    start, end = node.span.start, node.span.end
    behind = _NUMBER_BEHIND.match(text, end)
    sure = behind is not None
    if behind is None and shape.kind == "prompt.text":
        behind = _WORD_BEHIND.match(text, end)
    in_flow = node.parent is not None and node.parent.style == "flow"
    if behind is None or in_flow or "\n" in text[start:end]:
        return
    place = Span(end + len(behind[0]) - len(behind[0].lstrip()), behind.end())
    comment = shown(text[place.start : place.end])
    message = f"`{comment}` is a comment for YAML, so the text ends before it; put all of it in quotes."
    edit = Edit(Span(start, behind.end()), quoted(text[start : behind.end()].rstrip()))
    fix = Fix("Put the whole line in quotes", (edit,))
    yield Problem("unlikely-value", place, message, "warning" if sure else "information", (fix,))
