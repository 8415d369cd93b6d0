"""The drawing that the other tests and ``show`` use puts carets, lenses and hints where an editor does."""

from waza_language_server.analysis.problem import Problem
from waza_language_server.features.annotated_source import (
    Caret,
    Hint,
    Lens,
    Mark,
    annotate_source,
    carets_of,
)
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span


def drawn(text: str, *marks: Mark, context: int | None = None) -> str:
    return "\n" + annotate_source(text, marks, context=context)


def span_of(text: str, part: str) -> Span:
    return Span(text.index(part), text.index(part) + len(part))


def test_carets_stand_under_the_range() -> None:
    text = "name: demo\ntype: txt\n"
    assert (
        drawn(text, Caret(span_of(text, "txt"), "no such type"))
        == """
name: demo
type: txt
      ^^^ no such type
"""
    )


def test_an_empty_range_gets_one_caret() -> None:
    assert (
        drawn("config:", Caret(Span(7, 7), "a value is missing"))
        == """
config:
       ^ a value is missing
"""
    )


def test_tabs_reach_the_next_stop_under_the_caret_too() -> None:
    text = "a:\tb c"
    assert (
        drawn(text, Caret(span_of(text, "b"), "here"))
        == """
a:  b c
    ^ here
"""
    )


def test_wide_characters_and_emoji_take_two_columns() -> None:
    text = "日本: 'é😋' x"
    assert (
        drawn(text, Caret(span_of(text, "é😋"), "two"), Caret(span_of(text, "x"), "one"))
        == """
日本: 'é😋' x
       ^^^ two
            ^ one
"""
    )


def test_combining_marks_take_no_column() -> None:
    text = "e\u0301a b"
    assert drawn(text, Caret(span_of(text, "b"), "b")) == "\ne\u0301a b\n   ^ b\n"


def test_lenses_stand_above_the_line_and_hints_at_its_end() -> None:
    text = "graders:\n  - name: a\n"
    at = text.index("name")
    assert (
        drawn(text, Lens(at, "▶ Run grader"), Lens(at, "↻ Re-grade"), Hint(at, "✓ 1.00"))
        == """
graders:
  ▶ Run grader | ↻ Re-grade
  - name: a  ‹✓ 1.00›
"""
    )


def test_a_range_over_several_lines_is_drawn_on_its_first() -> None:
    text = "a: |\n  one\n  two\n"
    assert (
        drawn(text, Caret(Span(3, len(text) - 1), "all of it"))
        == """
a: |
   ^⋯ all of it
  one
  two
"""
    )


def test_only_the_lines_around_the_marks() -> None:
    text = "".join(f"k{number}: v\n" for number in range(1, 13))
    marks = Caret(span_of(text, "k2"), "second"), Caret(span_of(text, "k11"), "eleventh")
    assert (
        drawn(text, *marks, context=0)
        == """
⋯
k2: v
^^ second
⋯
k11: v
^^^ eleventh
"""
    )


def test_problems_show_severity_code_message_and_fixes() -> None:
    problem = Problem(
        "unknown-key", Span(0, 3), "no such key", "warning", (Fix("Rename it", (Edit(Span(0, 3), "b"),)),)
    )
    assert (
        drawn("abc: 1\n", *carets_of([problem], fixes=True))
        == """
abc: 1
^^^ warning unknown-key: no such key
  = fix: Rename it
"""
    )


def test_carriage_returns_do_not_disturb_the_drawing() -> None:
    text = "a: 1\r\nb: 2\r\n"
    assert drawn(text, Caret(span_of(text, "2"), "two")) == "\na: 1\nb: 2\n   ^ two\n"
