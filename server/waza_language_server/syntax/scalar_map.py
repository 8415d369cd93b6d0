r"""Mapping between characters of a decoded YAML value and the characters in the source.

Assertions, patterns and globs are checked as decoded values; their problems are reported at the exact
characters in the file. The map supports every style: folded plain text, ``''``, the escapes of double quotes,
and both kinds of block scalars.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field

from waza_engine.frozen import frozen
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.scalar_writing import is_in_flow, is_plain, write_scalar, written_part
from waza_language_server.text.scalar_decoding import Decoded, decode
from waza_language_server.text.span import Span


@frozen()
class ScalarMap:
    """One scalar of a document.

    Value offsets count characters of ``value``, source offsets those of the document.
    """

    value: str
    source: str = field(repr=False)
    node: Node = field(repr=False)
    _decoded: Decoded = field(repr=False)

    @staticmethod
    def of(source: str, node: Node) -> ScalarMap:
        """Return the map of a scalar; an alias or unparsed text maps character by character."""
        decoded = decode(source, node.span, node.style, node.value, raw=node.kind != "scalar")
        return ScalarMap(decoded.value, source, node, decoded)

    def to_source(self, offset: int) -> int:
        """Return the source offset of the character at a value offset; after the last one, its end."""
        starts = self._decoded.starts
        if offset >= len(starts):
            return self._decoded.end
        return starts[max(offset, 0)]

    def source_span(self, start: int, end: int) -> Span:
        """Return the source of ``value[start:end]``; empty for an empty range."""
        start, end = max(start, 0), min(end, len(self.value))
        begin = self.to_source(start)
        if end <= start:
            return Span(begin, begin)
        return Span(begin, max(self._decoded.ends[end - 1], begin))

    def to_value(self, source_offset: int) -> int:
        """Return the value offset of the character at a source offset.

        Inside an escape it is that of the escape, outside the scalar the nearest end, in indentation the next
        character.
        """
        starts, ends = self._decoded.starts, self._decoded.ends
        index = bisect_right(starts, source_offset) - 1
        if index < 0:
            return 0
        return index if source_offset < ends[index] else index + 1

    def write(self, new_value: str) -> str:
        """Return the source of the entire scalar with another value, to replace ``node.span``.

        The style stays if it can represent the value; a string never turns into a number, a boolean or null.
        Lines and escapes stay if what differs is on one line.
        """
        return self._with_difference(new_value) or write_scalar(self.source, self.node, new_value)

    def _with_difference(self, new_value: str) -> str | None:
        """Return the source with only the differing characters replaced, if that has this value."""
        whole, style, old = self.node.span, self.node.style, self.value
        keeps = style == "double" or _has_breaks(self.source[whole.start : whole.end])
        if not self._decoded.is_exact or self.node.kind != "scalar" or not keeps:
            return None
        start = _in_common(old, new_value)
        same = _in_common(old[start:][::-1], new_value[start:][::-1])
        part = written_part(new_value[start : len(new_value) - same], style)
        span = self.source_span(start, len(old) - same)
        if part is None or span.end > whole.end or _has_breaks(self.source[span.start : span.end]):
            return None
        source = self.source[: span.start] + part + self.source[span.end :]
        written = Span(whole.start, whole.end + len(part) - len(span))
        is_same = decode(source, written, style, new_value).is_exact
        if not is_same or (style == "plain" and not is_plain(new_value, flow=is_in_flow(self.node))):
            return None
        return source[written.start : written.end]


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _in_common(one: str, other: str) -> int:
    """Return the number of characters with which both strings begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))
