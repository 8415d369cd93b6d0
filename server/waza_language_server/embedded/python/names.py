"""Names inside Python assertions: what is bound there, fields of tool calls, methods of text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from waza_engine.assertions.names import CONTEXT_NAMES, DOCS, FUNCTION_NAMES
from waza_language_server.embedded.language import Explanation, Word

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
_LONGEST_NAME = 200
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_FIELD = re.compile(r"""(?:\[|\.get\()\s*(["'])(\w*)\Z""")
_ATTRIBUTE = re.compile(r"([A-Za-z_]\w*|[\])'\"])\s*\.(\w*)\Z")


class PythonAssertions:
    """What the editor knows of the names in an assertion."""

    def words(self, before: str) -> Iterator[Word]:
        """Yield fields behind a bracket, methods behind a dot, else what is bound in an assertion."""
        # A pattern for an end is tried at every place before it.
        last = before[-_LONGEST_NAME:]
        if field := _FIELD.search(last):
            fields = EVENT_FIELDS if _about_events(before) else TOOL_CALL_FIELDS
            yield from _words(fields, "field", "field", len(field[2]))
        elif attribute := _ATTRIBUTE.search(last):
            known = RE_FUNCTIONS if attribute[1] == "re" else TEXT_METHODS
            if attribute[1] not in {"tool_calls", "transcript", "errors"}:
                yield from _words(known, "function", "", len(attribute[2]))
        elif not _inside_text(before):
            typed = _WORD.search(last)
            length = len(typed[0]) if typed else 0
            yield from _words(CONTEXT_NAMES, "variable", "variable", length)
            yield from _words(FUNCTION_NAMES, "function", "function", length)

    def explain(self, value: str, offset: int) -> Explanation | None:
        """Explain the name at an offset, unless it is that of an attribute."""
        for match in _NAME.finditer(value):
            if match.start() <= offset <= match.end():
                described = DOCS.get(match[0])
                if described is None or value[: match.start()].rstrip().endswith("."):
                    return None
                return Explanation(*match.span(), f"**{match[0]}** {described}")
        return None


def _words(
    names: Mapping[str, str], kind: Literal["variable", "function", "field"], detail: str, typed: int
) -> Iterator[Word]:
    for name, documentation in names.items():
        yield Word(name, kind, detail, documentation, typed)


def _about_events(before: str) -> bool:
    return max(before.rfind("transcript"), before.rfind("errors")) > before.rfind("tool_calls")


def _inside_text(before: str) -> bool:
    """Whether the cursor stands in a string literal of the assertion."""
    quote = ""
    for character in before:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
    return bool(quote)
