"""A completion item, and the place of a completion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.features.completion.snippets import Layout, plain_text
from waza_language_server.features.hover.model_prices import ModelPrices
from waza_language_server.features.prompt_metadata import METADATA
from waza_language_server.project.nearby import Nearby
from waza_language_server.syntax.frames import line_start_of
from waza_language_server.syntax.scalar_writing import plain_or_quoted
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_engine.scoring.cost import ModelPrice
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.cursor import Cursor

_COLON = compiled_later(r"[ \t]*:")
_AFTER_KEY = compiled_later(r"[,:\[\]{}]")
CompletionKind = Literal[
    "key",
    "grader",
    "value",
    "constant",
    "reference",
    "file",
    "folder",
    "model",
    "variable",
    "function",
    "field",
]


@frozen()
class Completion:
    """A completion item. ``documentation`` is Markdown; the span of ``edit`` is on one line of the document.

    Lines of its text after the first are relative to the indentation of that line, as editors insert them.
    ``is_snippet`` says that the text has placeholders.
    """

    label: str
    kind: CompletionKind
    detail: str
    documentation: str
    sort_text: str
    edit: Edit
    is_snippet: bool = False
    filter_text: str | None = None
    deprecated: bool = False
    suggests_more: bool = False
    """True if the first placeholder has completions of its own."""
    command: tuple[str, dict[str, str]] | None = None
    """A command of the server to execute when the item is accepted, with its argument."""

    @property
    def text_without_placeholders(self) -> str:
        """The text for clients without snippets."""
        return plain_text(self.edit.text) if self.is_snippet else self.edit.text


@frozen(slots=False)
class CompletionPoint:
    """The place of a completion, and its context."""

    document: Document
    workspace: Workspace
    offset: int
    cursor: Cursor
    prices: ModelPrices | None = None
    skills: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """The skills of the workspace by the files that define them; empty unless one is named at the cursor."""

    @cached_property
    def nearby(self) -> Nearby:
        """The reference candidates of the document, without the half-typed word at the cursor."""
        document, project, span = self.document, self.workspace.project, self.cursor.replace
        if len(span):
            text = self.text[: span.start] + self.text[span.end :]
            document = document.replaced(text, document.version)
            project = project.with_document(document)
        return Nearby(project, document)

    @cached_property
    def layout(self) -> Layout:
        """How the file is written."""
        return Layout(self.document.tree)

    @cached_property
    def models_listed(self) -> tuple[ModelPrice, ...] | None:
        """The models of the price list, None while it is not known."""
        return self.prices.listed() if self.prices is not None else ()

    @property
    def is_incomplete(self) -> bool:
        """Return whether a required value is not known yet, so that the next list may be longer."""
        return "models_listed" in self.__dict__ and self.models_listed is None

    @property
    def text(self) -> str:
        """The text of the document."""
        return self.document.text

    @cached_property
    def quote(self) -> str:
        """The quote around the cursor, or ""."""
        before = self.text[self.cursor.replace.start - 1 : self.cursor.replace.start]
        return before if before in {'"', "'"} else ""

    @property
    def has_properties(self) -> bool:
        """Return whether an anchor or a tag precedes the word at the cursor, on its line."""
        start = self.cursor.replace.start - bool(self.quote)
        before = self.text[line_start_of(self.text, start) : start].split()
        return bool(before) and before[-1][0] in "&!"

    @property
    def touches_text(self) -> bool:
        """Return whether the cursor touches other text that an inserted value would break."""
        cursor = self.cursor
        node = cursor.node
        if node is not None and node.style in {"literal", "folded"}:
            header = "\n" not in self.text[node.span.start : self.offset]
            return header or (not cursor.prefix and self.text[self.offset : self.offset + 1] == " ")
        if self.quote:
            typed = self.text[cursor.replace.start : self.offset]
            closed = typed.replace("\\" + self.quote, "").replace(self.quote * 2, "").endswith(self.quote)
            return closed and len(cursor.replace) == len(typed)
        if cursor.in_flow or cursor.prefix:
            return False
        rest = self.text[self.offset :].split("\n", 1)[0].strip()
        before = self.text[line_start_of(self.text, self.offset) : self.offset]
        if self.text[self.offset : self.offset + 1] == "#" and (not before or before[-1].isspace()):
            # An inserted value would become one word with the comment.
            return True
        if cursor.role == "value" or (len(cursor.replace) and not rest.startswith("- ")):
            return rest[:1] in {'"', "'"}
        if cursor.role == "key" and self.follows_colon:
            # A value whose key was deleted.
            return False
        return bool(rest) and not (rest.startswith("#") and before.strip())

    def around(self, key: str) -> str | None:
        """Return the value of a key in the nearest mapping around the cursor that has it, else None."""
        root = self.document.tree.root
        path = self.cursor.container_path
        for length in range(len(path), 0, -1):
            holder = root.get(*path[:length]) if root is not None else None
            found = holder.get(key) if holder is not None and holder.kind == "mapping" else None
            if found is not None:
                return found.target.value
        return None

    @property
    def follows_colon(self) -> bool:
        """Return whether a colon follows the replaced text: then only the key itself is written."""
        rest = self.text[self.cursor.replace.end :].removeprefix(self.quote).lstrip(" \t")
        return rest.startswith(":")

    @property
    def is_metadata(self) -> bool:
        """Return whether the cursor is in the free facts of a prompt."""
        return self.document.kind == "prompts" and self.cursor.container_path[1:] == (METADATA,)

    @property
    def keys_are_quoted(self) -> bool:
        """Return whether keys are in double quotes here, as in JSON; for empty braces, look around them."""
        if self.document.tree.is_json:
            return True
        node = self.cursor.node if self.cursor.in_flow else None
        while node is not None:
            first = node.nth_child(0) if node.kind == "mapping" else None
            if first is not None:
                return first.style == "double"
            node = node.parent
        return False

    @cached_property
    def comma(self) -> str:
        """The comma and the space that must follow the inserted text; "" if not needed."""
        end = self.cursor.replace.end + bool(self.quote)
        blank = "" if self.text[end : end + 1].isspace() else " "
        return f",{blank}" if self.cursor.needs_comma else ""

    def quoted_key(self, name: str, value: str = "") -> Edit:
        """Return the edit that writes a key in the quotes around the cursor, its colon, and a value."""
        span, quote = self.cursor.replace, self.quote
        value = f"{value or '$1'}{self.comma}" if self.comma else value
        if _AFTER_KEY.search(self.text, self.offset, span.end):
            # The quotes are not closed yet: the next ones belong to something else.
            span, value = Span(span.start, self.offset), ""
        if _COLON.match(self.text, span.end):
            return Edit(span, f"{name}{quote}")
        if self.text[span.end : span.end + 1] == quote:
            if self.follows_colon:
                return Edit(span, name)
            span = Span(span.start, span.end + 1)
        return Edit(span, f"{name}{quote}: {value}")

    def raw(self, text: str) -> Edit:
        """Return the edit that replaces the word at the cursor with a literal text."""
        return Edit(self.cursor.replace, self.lead(self.cursor.replace) + text + self.comma)

    def value(self, value: str, *, raw: bool = False) -> Edit:
        """Return the edit that writes a scalar, quoted as it must be here; a ``raw`` one stays as it is."""
        span = self.cursor.replace
        if self.quote == '"':
            text = value.replace("\\", "\\\\").replace('"', '\\"') + self._closing
        elif self.quote == "'":
            text = value.replace("'", "''") + self._closing
        else:
            text = value if raw else self.written(value)
            text = self.lead(span) + text + self.comma
        if self.cursor.role == "item" and self.cursor.needs_dash:
            return self.line("- " + text.lstrip())
        return Edit(span, text)

    def written(self, value: str) -> str:
        """Return a string as it is written outside of quotes: in JSON style if the keys are."""
        if self.keys_are_quoted:
            return json.dumps(value, ensure_ascii=False)
        return plain_or_quoted(value, flow=self.cursor.in_flow)

    @property
    def _closing(self) -> str:
        """The closing quote that a string in brackets still lacks, and its comma."""
        end = self.cursor.replace.end
        is_open = self.cursor.in_flow and self.text[end : end + 1] != self.quote
        return self.quote + self.comma if is_open else ""

    def line(self, text: str) -> Edit:
        """Return the edit that writes lines at the column of the cursor's container, which it also corrects.

        Lines after the first are given relative to the column of the first.
        """
        span = self.cursor.replace
        line_start = line_start_of(self.text, span.start)
        before = self.text[line_start : span.start]
        lead = ""
        if not before.strip():
            column = self.cursor.indent
            if len(before) != column:
                # The cursor is in another column than its container's keys: indent the line again.
                return Edit(Span(line_start, span.end), self._lines(" " * column + text, " " * column))
            shift = ""
        else:
            lead = self.lead(span)
            own = len(before) - len(before.lstrip(" "))
            # The text begins after the space that the dash still lacks.
            column = self.cursor.indent + (len(lead) if len(before) == self.cursor.indent else 0)
            shift = " " * max(0, column - own) if before.lstrip().startswith("-") else ""
        return Edit(span, self._lines(lead + text, shift))

    def _lines(self, text: str, indent: str) -> str:
        return text.replace("\n", self.layout.line_break + indent)

    def lead(self, span: Span) -> str:
        """Return the space that a dash, a colon or a comma between entries still lacks."""
        before = self.text[span.start - 1 : span.start] if span.start else ""
        return " " if before in ({":", "-", ","} if self.cursor.in_flow else {":", "-"}) else ""
