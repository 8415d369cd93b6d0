"""Patterns in words: every word is true of the engine that searches the pattern."""

import pytest

from waza_language_server.embedded.regex.explanation import explained

PARTS = """\
**Regular expression** · searched anywhere in the text by RE2

- the start of the text
- group 1, called `kind`:
  - one of these:
    - alternative 1
      - the text `error`
    - alternative 2
      - the text `warn`
      - optional: group 2:
        - the text `ing`
- once or more: an ASCII whitespace character
- 2 times or more, as few as possible: a character that is none of: `a` to `z`, `_`
- the end of the text"""


def test_groups_alternatives_classes_quantifiers_and_anchors_are_reported() -> None:
    assert explained(r"^(?P<kind>error|warn(ing)?)\s+[^a-z_]{2,}?$") == PARTS
    assert explained(r"^(?<kind>error|warn(ing)?)[[:space:]]+[^a-z_]{2,}?\z") is not None


def test_blanks_of_a_pattern_are_seen() -> None:
    text = explained(r"Total:  \d+ (?:a b )+[ x][^ ]| ") or ""
    assert "the text `Total:␣␣` (`␣` is a space)" in text
    assert "the text `a b␣` (`␣` is a space)" in text
    assert "one of: a space, `x`" in text
    assert "a character other than a space" in text
    assert text.endswith("alternative 2\n    - a space")


def test_what_only_python_reads_says_so_and_means_what_python_means() -> None:
    text = explained(r"(?=\d)a$") or ""
    assert "searched anywhere in the text by Python" in text
    assert "RE2, which upstream uses, refuses this pattern" in text
    assert "- only where followed by:\n  - a digit" in text
    assert "the end of the text, or of its last line" in text


def test_flags_change_the_words_of_the_parts_that_they_are_for() -> None:
    text = explained(r"(?s:.)^.") or ""
    assert "- a group, `.` is a line break, too:\n  - any character\n" in text
    assert text.endswith("- any character but a line break")
    assert "the start of a line" in (explained(r"(?m)^a") or "")


def test_a_count_without_a_least_is_text_for_re2_and_a_count_for_python() -> None:
    assert "the text `a{,3}`" in (explained("a{,3}") or "")
    assert "0 to 3 times" in (explained("(?=x)a{,3}") or "")


def test_what_python_cannot_read_of_re2_is_not_guessed() -> None:
    assert "its parts are not explained" in (explained(r"\pL+") or "")


@pytest.mark.parametrize("pattern", ["", "(", "a" * 3_000, "((a" * 200])
def test_of_what_is_empty_invalid_or_too_long_nothing_is_said(pattern: str) -> None:
    assert explained(pattern) is None
