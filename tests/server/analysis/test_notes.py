"""Lines for readers that lack their `#` become comments; nothing else is made of them."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import TASK, graders, problems
from waza_language_server.syntax.tried_edits import apply

FIRST = "  - {type: text, name: a, config: {contains: [b]}}\n"
SECOND = "  - type: text\n    name: c\n    config: {contains: [d]}\n"


@pytest.mark.parametrize(
    ("note", "marked", "comment"),
    [
        ("// for later", "//", "# for later"),
        ("...", "...", "# ..."),
        ("cheap ones come first", "cheap ones come first", "# cheap ones come first"),
    ],
)
def test_a_note_among_graders_becomes_a_comment(note: str, marked: str, comment: str) -> None:
    text = graders(f"{FIRST}  {note}\n{SECOND}")
    [problem] = problems(text)
    assert text[problem.span.start : problem.span.end] == marked
    [fix] = [fix for fix in problem.fixes if "Insert" not in fix.title]
    assert apply(text, fix.edits) == graders(f"{FIRST}  {comment}\n{SECOND}")


def test_a_sentence_behind_the_file_becomes_a_comment() -> None:
    text = f"{TASK}tags:\n  - a\n\nLet me know if you need more!\n"
    [problem] = problems(text)
    [fix] = problem.fixes
    assert apply(text, fix.edits) == f"{TASK}tags:\n  - a\n\n# Let me know if you need more!\n"


def test_a_text_that_lacks_its_dash_is_no_note() -> None:
    text = f"{TASK}expected:\n  output_contains:\n    the first of all\n    - two\n"
    assert ["comment" in fix.title for each in problems(text) for fix in each.fixes] == [False]
