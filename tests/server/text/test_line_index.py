"""Offsets and editor positions are the same places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_language_server.text.line_index import Encoding, LineIndex
from waza_language_server.text.span import Span


def test_only_the_three_line_breaks_of_the_protocol_count() -> None:
    lines = LineIndex("a\nb\r\nc\rd\x0ce\x85f\u2028g")
    assert lines.line_count == 4
    assert [lines.line_span(line) for line in range(4)] == [Span(0, 1), Span(2, 3), Span(5, 6), Span(7, 14)]


def test_the_line_behind_the_last_break_exists() -> None:
    lines = LineIndex("a: 1\n")
    assert lines.line_count == 2
    assert lines.offset(1, 0) == 5
    assert lines.position(5) == (1, 0)


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)])
def test_columns_count_code_units(encoding: Encoding, column: int) -> None:
    lines = LineIndex("é😋x\n")
    assert lines.position(2, encoding) == (0, column)
    assert lines.offset(0, column, encoding) == 2


@pytest.mark.parametrize(
    ("text", "offset", "position"),
    [
        ("abc\n", -5, (0, 0)),
        ("abc\n", 99, (1, 0)),
        ("ab\r\nc", 3, (0, 2)),
        ("\ufeffa", 1, (0, 1)),
    ],
)
def test_every_offset_has_a_position(text: str, offset: int, position: tuple[int, int]) -> None:
    assert LineIndex(text).position(offset) == position


@pytest.mark.parametrize(
    ("text", "line", "column", "offset"),
    [
        ("abc\r\nd", -1, 2, 0),
        ("abc\r\nd", 7, 2, 6),
        ("abc\r\nd", 0, 99, 3),
        ("😋x", 0, 1, 0),
    ],
)
def test_every_position_has_an_offset(text: str, line: int, column: int, offset: int) -> None:
    assert LineIndex(text).offset(line, column) == offset


def test_widths_in_bytes() -> None:
    assert LineIndex("\ud83dx").position(2, "utf-8") == (0, 4)
    assert LineIndex("abc\r\nd").offset(0, 10**9, "utf-8") == 3


@given(st.text(st.sampled_from("ab\r\n\x85é😋\u2028")), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_every_offset_comes_back(text: str, encoding: Encoding) -> None:
    lines = LineIndex(text)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] == "\r\n":
            continue
        assert lines.offset(*lines.position(offset, encoding), encoding) == offset


@given(st.text(st.sampled_from("ab\r\n\x85😋")))
def test_lines_and_their_breaks_make_up_the_text(text: str) -> None:
    lines = LineIndex(text)
    spans = [lines.line_span(line) for line in range(lines.line_count)]
    ends = [*(span.start for span in spans[1:]), len(text)]
    assert "".join(text[span.start : end] for span, end in zip(spans, ends, strict=True)) == text
    assert all(
        text[span.end : end] in {"", "\n", "\r", "\r\n"} for span, end in zip(spans, ends, strict=True)
    )
