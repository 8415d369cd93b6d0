"""Names inside Python assertions: what is bound there, fields of tool calls, methods of text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from waza_engine.assertions.names import CONTEXT_NAMES, FUNCTION_NAMES
from waza_language_server.features.completion_item import Completion, CompletionKind, Place
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

TOOL_CALL_FIELDS = {
    "name": "The tool's name.",
    "arguments": "The arguments, a dict.",
    "success": "Whether the call succeeded.",
    "id": "The id of the call.",
    "result": "What the tool returned; not always there, so use `.get('result')`.",
}
EVENT_FIELDS = {
    "type": "The kind of event, such as `assistant.message`.",
    "content": "The text of the event; not always there.",
    "message": "The message of the event; not always there.",
}
TEXT_METHODS = {
    "lower()": "The text in lower case.",
    "upper()": "The text in upper case.",
    "strip()": "The text without blanks at its ends.",
    "splitlines()": "The lines as a list.",
    "split()": "The words as a list.",
    "startswith('')": "Whether the text starts so.",
    "endswith('')": "Whether the text ends so.",
    "count('')": "How often something occurs.",
}
RE_FUNCTIONS = {
    "search(r'', output)": "The first match anywhere, or None.",
    "match(r'', output)": "A match at the start, or None.",
    "findall(r'', output)": "All matches as a list.",
    "fullmatch(r'', output)": "A match of the whole text, or None.",
    "IGNORECASE": "Flag: upper and lower case are the same.",
}
_LANGUAGES = {"", "python"}
_LONGEST_NAME = 200
_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_FIELD = re.compile(r"""(?:\[|\.get\()\s*\\?(["'])(\w*)\Z""")
_ATTRIBUTE = re.compile(r"([A-Za-z_]\w*|[\])'\"])\s*\.(\w*)\Z")


def python_items(place: Place) -> Iterator[Completion]:
    """Yield what can be written at the cursor inside an assertion."""
    if _language(place) not in _LANGUAGES:
        return
    before = place.text[place.cursor.replace.start : place.offset]
    # A pattern for an end is tried at every place before it.
    last = before[-_LONGEST_NAME:]
    if field := _FIELD.search(last):
        fields = EVENT_FIELDS if _about_events(before) else TOOL_CALL_FIELDS
        yield from _items(place, fields, "field", "field", len(field[2]))
    elif attribute := _ATTRIBUTE.search(last):
        known = RE_FUNCTIONS if attribute[1] == "re" else TEXT_METHODS
        if attribute[1] not in {"tool_calls", "transcript", "errors"}:
            yield from _items(place, known, "function", "", len(attribute[2]))
    elif not _inside_text(before):
        typed = _WORD.search(last)
        length = len(typed[0]) if typed else 0
        yield from _items(place, CONTEXT_NAMES, "variable", "variable", length)
        yield from _items(place, FUNCTION_NAMES, "function", "function", length)


def _items(
    place: Place, names: Mapping[str, str], kind: CompletionKind, detail: str, typed: int
) -> Iterator[Completion]:
    end = place.offset
    while end < len(place.text) and (place.text[end].isalnum() or place.text[end] == "_"):
        end += 1
    span = Span(place.offset - typed, end)
    rank = "1" if kind == "variable" else "2"
    for position, (name, documentation) in enumerate(names.items()):
        text = name
        if place.quote == "'":
            text = name.replace("'", "''")
        elif not place.quote and not place.cursor.prefix:
            # An empty value: an assertion is safest in double quotes.
            text = f'"{name}"'
        if place.text[span.start - 1 : span.start] in {":", "-"} and not place.quote and not typed:
            text = f" {text}"
        label = name.removesuffix("()")
        yield Completion(
            label, kind, detail, documentation, f"{rank}{position:02}", Edit(span, text), filter_text=label
        )


def _language(place: Place) -> str:
    root = place.document.tree.root
    path = place.cursor.container_path
    for length in range(len(path), 0, -1):
        holder = root.get(*path[:length]) if root is not None else None
        language = holder.get("language") if holder is not None and holder.kind == "mapping" else None
        if language is not None:
            return language.target.value.strip()
    return ""


def _about_events(before: str) -> bool:
    return max(before.rfind("transcript"), before.rfind("errors")) > before.rfind("tool_calls")


def _inside_text(before: str) -> bool:
    """Whether the cursor stands in a string literal of the assertion."""
    quote = ""
    for character in before.replace('\\"', '"').replace("''", "'"):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
    return bool(quote)
