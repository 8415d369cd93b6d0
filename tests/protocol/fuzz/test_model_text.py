"""The fuzzer's own reading of positions and edits, in examples small enough to check by eye."""

from __future__ import annotations

import pytest

from tests.protocol.fuzz.model_text import Text


def at(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_columns_count_code_units(encoding: str, column: int) -> None:
    text = Text("\U0001f600b", encoding)
    assert text.offset(at(0, column)) == 1
    assert text.position(1) == at(0, column)


def test_every_kind_of_line_break_counts_once() -> None:
    text = Text("a\nb\r\nc\rd\u2028e", "utf-16")
    assert [line for _, line in text.lines] == ["a", "b", "c", "d\u2028e"]
    assert text.position(4) == at(1, 1)


def test_a_place_behind_a_line_or_the_text_is_its_end() -> None:
    text = Text("ab\ncd\n", "utf-16")
    assert text.offset(at(0, 99)) == 2
    assert text.offset(at(99, 0)) == 6


def test_there_is_no_position_inside_a_character_or_behind_a_line() -> None:
    text = Text("\U0001f600\nb", "utf-16")
    assert text.holds(at(0, 2))
    assert not text.holds(at(0, 1))
    assert not text.holds(at(0, 3))
    assert not text.holds(at(2, 0))


def test_the_edits_of_one_answer_refer_to_the_same_text() -> None:
    text = Text("one\ntwo\n", "utf-8")
    first = {"range": {"start": at(0, 0), "end": at(0, 3)}, "newText": "1"}
    second = {"range": {"start": at(1, 0), "end": at(1, 0)}, "newText": ">"}
    assert text.edited([first, second]).content == "1\n>two\n"
