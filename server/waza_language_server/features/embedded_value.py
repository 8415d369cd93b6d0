"""A value in a language of its own: its language, its context, and the positions of its characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.embedded.language import Language, Surroundings
from waza_language_server.embedded.languages import LANGUAGES, LONGEST_VALUE
from waza_language_server.schema.shape import language_kind_of
from waza_language_server.text.scalar_map import ScalarMap

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span


@frozen()
class EmbeddedValue:
    """A value that is short enough to be looked into."""

    language: Language
    scalar: ScalarMap

    @staticmethod
    def of(text: str, node: Node, kind: str | None) -> EmbeddedValue | None:
        """Return the value of a node whose schema states a kind, None when it is in no language."""
        language = language_of(node, kind)
        if language is None or node.kind != "scalar" or len(node.span) > LONGEST_VALUE:
            return None
        return EmbeddedValue(language, ScalarMap.of(text, node))

    def explained(self, offset: int, around: Surroundings) -> tuple[Span, str] | None:
        """Return the explanation of the token at an offset of the document, and its span."""
        found = self.language.hover(self.scalar.value, self.scalar.to_value(offset), around)
        if found is None:
            return None
        span = self.scalar.source_span(found.start, found.end)
        # The quote in front of a name, and the indentation, belong to no character of the value.
        return (span, found.text) if span.contains(offset) else None


def language_of(node: Node, kind: str | None) -> Language | None:
    """Return the language of a node whose schema states a kind."""
    if kind not in LANGUAGES:
        return None
    return LANGUAGES.get(language_kind_of(node, kind) or "")
