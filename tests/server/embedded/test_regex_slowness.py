"""Patterns that Python cannot refuse in time are reported; those that it can are not."""

import pytest

from tests.server.analysis.drawing import drawn, graders
from waza_language_server.embedded.regex.patterns import is_catastrophic


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
