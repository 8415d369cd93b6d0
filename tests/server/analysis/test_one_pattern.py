"""Keys that mean "one of these" become one pattern."""

import pytest

from tests.server.analysis.drawing import drawn, fixed, graders, problems

HEAD = "  - type: text\n    name: a\n    config:\n"


def test_match_any_is_said_by_one_pattern() -> None:
    text = graders(f"{HEAD}      match_any: [done, 'all \\d+ tests']\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "      match_any: [done, 'all \\d+ tests']\n"
        "      ^^^^^^^^^ error unknown-key: `config` has no key `match_any`; "
        "`regex_match: ['(?:done)|(?:all \\d+ tests)']` says it. Without it nothing is checked.\n"
        "        = fix: Write one pattern in `regex_match`\n"
    )


@pytest.mark.parametrize(
    ("written", "pattern"),
    [
        ("match_any: [a, b]", "(?:a)|(?:b)"),
        ("must_match_any:\n        - a\n        - it's", "(?:a)|(?:it''s)"),
        ("must_match_any: a|b", "(?:a|b)"),
        ("contains_any: [a.b, C++]", "(?i)(?:a\\.b)|(?:C\\+\\+)"),
        ("contains_any: [10, 'x y']", "(?i)(?:10)|(?:x y)"),
    ],
)
def test_the_fix_keeps_the_meaning(written: str, pattern: str) -> None:
    repaired = fixed(graders(f"{HEAD}      {written}\n      contains: [c]\n"), "unknown-key")
    assert repaired == graders(f"{HEAD}      regex_match: ['{pattern}']\n      contains: [c]\n")
    assert problems(repaired) == ()


def test_patterns_that_are_there_are_not_written_over() -> None:
    text = graders(f"{HEAD}      match_any: [a, b]\n      regex_match: [c]\n")
    (problem,) = problems(text)
    assert (problem.severity, problem.fixes) == ("warning", ())


def test_an_empty_list_has_nothing_to_say() -> None:
    (problem,) = problems(graders(f"{HEAD}      match_any: []\n      contains: [c]\n"))
    assert "regex_match: [" not in problem.message
