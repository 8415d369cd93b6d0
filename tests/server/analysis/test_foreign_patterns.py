"""Patterns that are written as another language has them look for something else than is meant."""

import pytest

from tests.server.analysis.drawing import fixed, graders, problems


def written(pattern: str) -> str:
    return graders(f"  - {{type: text, name: c, config: {{regex_match: ['{pattern}']}}}}\n")


@pytest.mark.parametrize(
    ("pattern", "right"),
    [
        ("/deployed to \\w+/i", "(?i)deployed to \\w+"),
        ("/a\\/b/gm", "(?m)a/b"),
        ("/ab/g", "ab"),
        (r"took \\d+ \\w{2}", r"took \d+ \w{2}"),
    ],
)
def test_what_is_meant_is_offered(pattern: str, right: str) -> None:
    (problem,) = problems(written(pattern))
    assert (problem.code, problem.severity) == ("unlikely-value", "information")
    assert fixed(written(pattern), "unlikely-value") == written(right)


@pytest.mark.parametrize(
    "pattern", ["/usr/lib/i", "/api/v1/", "a/b/i", r"C:\\windows", r"\\d", r"\d+\\", "/ab/x"]
)
def test_other_patterns_are_left_alone(pattern: str) -> None:
    assert problems(written(pattern)) == ()


@pytest.mark.parametrize(
    ("pattern", "right"),
    [
        ("costs $5", r"costs \$5"),
        (r"^\$a$b|[$x]$", r"^\$a\$b|[$x]$"),
        ("${HOME}", r"\${HOME}"),
    ],
)
def test_a_sign_of_the_end_in_the_middle(pattern: str, right: str) -> None:
    (problem,) = problems(written(pattern))
    assert (problem.code, problem.severity) == ("unlikely-value", "warning")
    assert fixed(written(pattern), "unlikely-value") == written(right)


@pytest.mark.parametrize("pattern", ["^a$|^b$", r"a$\n^b", "[a$b]", r"\$5", "a$b?"])
def test_an_end_behind_which_something_may_be_nothing(pattern: str) -> None:
    assert problems(written(pattern)) == ()


@pytest.mark.parametrize("raw", ["r'(a|b)'", 'r"(a|b)"'])
def test_a_raw_text_of_python(raw: str) -> None:
    text = graders(f"  - type: text\n    name: c\n    config:\n      regex_match:\n        - {raw}\n")
    (problem,) = problems(text)
    assert (problem.code, problem.severity) == ("unlikely-value", "warning")
    assert fixed(text, "unlikely-value") == text.replace(raw, "(a|b)")


def test_what_only_begins_like_a_raw_text_is_a_pattern() -> None:
    rows = "".join(f"        - {pattern}\n" for pattern in ("r'a'|r'b'", "rb'", "\"r'x'\"", "r'"))
    assert problems(graders(f"  - type: text\n    name: c\n    config:\n      regex_match:\n{rows}")) == ()
