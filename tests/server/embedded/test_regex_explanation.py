"""Patterns in words, true of the engine that searches; slow ones are reported."""

import pytest

from tests.server.analysis.drawing import drawn, graders
from waza_language_server.embedded.regex.explanation import explained
from waza_language_server.embedded.regex.patterns import is_catastrophic

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


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"^(\w+\s?)*!(?=x)",
        r"(?<!x)(a*)*b",
        r"(x|y+)*\d\1",
        r"(?:(?:a+)+c)",
        r"(?=(a+)+$)x",
        r"((a+)?)+$",
    ],
)
def test_a_repeat_of_a_repeat_is_slow_where_something_can_fail_behind_it(pattern: str) -> None:
    assert is_catastrophic(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+",
        r"(,\w+)*$",
        r"(\w+,)+$",
        r"(?=.*a)(?=.*b).*c",
        r"(ab){2,}$",
        r"(a{1,3})+$",
        r"(?:a|b)*c",
        r"(\d+)\.\1$",
        r"(?<!not )done$",
        r"(a",
    ],
)
def test_other_patterns_are_not(pattern: str) -> None:
    assert not is_catastrophic(pattern)


def test_only_what_python_searches_is_marked() -> None:
    source = graders(
        "  - type: text\n    name: x\n    config:\n      regex_match:\n"
        "        - '(a+)+$'\n        - '(?<!x)(a+)+$'\n"
    )
    assert drawn(source).count("run time of this pattern") == 1
