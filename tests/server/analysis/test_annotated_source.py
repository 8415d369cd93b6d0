"""The drawing that the other tests and ``show`` use puts carets, lenses and hints where an editor does."""

import pytest

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


WIDE = "日本: 'é😋' x"
GRADER = "graders:\n  - name: a\n"
DRAWINGS: dict[str, tuple[str, tuple[Mark, ...], str]] = {
    "a range": (
        "name: demo\ntype: txt\n",
        (Caret(Span(17, 20), "no such type"),),
        "name: demo\ntype: txt\n      ^^^ no such type\n",
    ),
    "an empty range": ("config:", (Caret(Span(7, 7), "no value"),), "config:\n       ^ no value\n"),
    "tabs": ("a:\tb c", (Caret(Span(3, 4), "here"),), "a:  b c\n    ^ here\n"),
    "wide characters": (
        WIDE,
        (Caret(span_of(WIDE, "é😋"), "two"), Caret(span_of(WIDE, "x"), "one")),
        f"{WIDE}\n       ^^^ two\n            ^ one\n",
    ),
    "combining marks": ("e\u0301a b", (Caret(Span(4, 5), "b"),), "e\u0301a b\n   ^ b\n"),
    "carriage returns": ("a: 1\r\nb: 2\r\n", (Caret(Span(9, 10), "two"),), "a: 1\nb: 2\n   ^ two\n"),
    "lenses above the line and hints at its end": (
        GRADER,
        (Lens(13, "▶ Run grader"), Lens(13, "↻ Re-grade"), Hint(13, "✓ 1.00")),
        "graders:\n  ▶ Run grader | ↻ Re-grade\n  - name: a  ‹✓ 1.00›\n",
    ),
    "a range over several lines": (
        "a: |\n  one\n  two\n",
        (Caret(Span(3, 16), "all of it"),),
        "a: |\n   ^⋯ all of it\n  one\n  two\n",
    ),
}


@pytest.mark.parametrize(("text", "marks", "drawing"), DRAWINGS.values(), ids=DRAWINGS)
def test_marks_are_drawn_at_their_characters(text: str, marks: tuple[Mark, ...], drawing: str) -> None:
    assert drawn(text, *marks) == f"\n{drawing}"


def test_only_the_lines_around_the_marks() -> None:
    text = "".join(f"k{number}: v\n" for number in range(1, 13))
    marks = Caret(span_of(text, "k2"), "second"), Caret(span_of(text, "k11"), "eleventh")
    assert drawn(text, *marks, context=0) == "\n⋯\nk2: v\n^^ second\n⋯\nk11: v\n^^^ eleventh\n"


def test_problems_show_severity_code_message_and_fixes() -> None:
    fix = Fix("Rename it", (Edit(Span(0, 3), "b"),))
    problem = Problem("unknown-key", Span(0, 3), "no such key", "warning", (fix,))
    expected = "\nabc: 1\n^^^ warning unknown-key: no such key\n  = fix: Rename it\n"
    assert drawn("abc: 1\n", *carets_of([problem], fixes=True)) == expected
