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
