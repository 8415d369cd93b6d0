"""Substrings and patterns in the answer: `text`, and its ancestors `regex` and `keyword`.

The tables hold the worked examples of all three.
"""

from typing import Any

import pytest

from tests.engine.graders.grading import failed_paths, grade, refused, result

pytestmark = pytest.mark.usefixtures("pattern_library")


@pytest.mark.parametrize(
    ("config", "output", "expected"),
    [
        ({"regex_match": ["hello", "missing"]}, "hello world", (0.5, False)),
        ({"regex_match": ["[invalid"]}, "anything", (0.0, False)),
        ({"regex_not_match": ["[invalid"]}, "anything", (0.0, False)),
        ({"contains": ["hello", "WORLD"]}, "Hello World", (1.0, True)),
        ({"contains_cs": ["hello"]}, "Hello World", (0.0, False)),
        ({"not_contains": ["ERROR"]}, "found an error here", (0.0, False)),
        ({"not_contains_cs": ["ERROR"]}, "found an error here", (1.0, True)),
        ({"contains": ["something"]}, "", (0.0, False)),
        ({"contains": [""]}, "", (1.0, True)),
        ({"contains": ["a", "a", "b"]}, "b", (0.3333, False)),
        ({"contains": [200, True, 2.5]}, "200 true 2.5", (1.0, True)),
        ({"regex_match": ["^b$"]}, "a\nb", (0.0, False)),
        ({"regex_match": ["(?m)^b$"]}, "a\nb", (1.0, True)),
        ({"regex_match": ["a$"]}, "a\n", (0.0, False)),
        ({"regex_match": [r"\d"]}, "٣", (0.0, False)),
        ({"contains": ["ΟΔΟΣ"]}, "οδοσ", (1.0, True)),
        ({"contains": ["istanbul"]}, "İSTANBUL", (1.0, True)),
        ({"regex_match": [r"foo(?!bar)"]}, "foobaz", (1.0, True)),
        pytest.param({"regex_match": ["(a+)+$"]}, "a" * 5000 + "b", (0.0, False), id="in linear time"),
        pytest.param({"regex_match": ["done"]}, "\ud83c done", (1.0, True), id="half an emoji"),
        ({"must_match": ["hello", r"\d+"]}, "hello world 123", (1.0, True)),
        ({"must_not_match": ["error"]}, "An error occurred", (0.0, False)),
        ({"must_not_match": ["error", "fail"]}, "success", (1.0, True)),
        ({"must_match": ["hello", "missing"]}, "hello world", (0.5, False)),
        ({"must_match": ["HELLO"]}, "hello", (0.0, False)),
    ],
)
def test_scores(config: dict[str, Any], output: str, expected: tuple[float, bool]) -> None:
    type_name = "regex" if next(iter(config)).startswith("must") else "text"
    assert result(grade(type_name, config, output=output)) == expected


def test_half_of_six_checks_of_every_kind() -> None:
    config = {
        "contains": ["hello"],
        "not_contains": ["WORLD"],
        "contains_cs": ["HELLO"],
        "not_contains_cs": ["world"],
        "regex_match": ["^hello"],
        "regex_not_match": ["zzz"],
    }
    verdict = grade("text", config, output="hello world")
    assert result(verdict) == (0.5, False)
    assert failed_paths(verdict) == [("not_contains", 0), ("contains_cs", 0), ("not_contains_cs", 0)]
    assert verdict.feedback == (
        'forbidden text: "WORLD"; missing text (upper and lower case differ): "HELLO";'
        ' forbidden text (upper and lower case differ): "world"'
    )


@pytest.mark.parametrize("type_name", ["text", "keyword"])
def test_a_text_that_is_missing_is_quoted(type_name: str) -> None:
    key = "contains" if type_name == "text" else "keywords"
    verdict = grade(type_name, {key: ["no match", 'a "b"\nc']}, output="hello")
    assert verdict.feedback == 'missing text: "no match"; missing text: "a \\"b\\"\\nc"'


def test_a_pattern_that_does_not_match_is_quoted() -> None:
    verdict = grade("text", {"regex_match": ["a b"], "regex_not_match": ["l+"]}, output="hello")
    assert verdict.feedback == "no match for the pattern `a b`; the forbidden pattern matches: `l+`"


def test_every_check_leads_to_its_line_of_the_config() -> None:
    verdict = grade("text", {"contains": ["a", "b"], "regex_match": ["c"]}, output="b")
    assert [(check.path, check.passed) for check in verdict.checks] == [
        (("contains", 0), False),
        (("contains", 1), True),
        (("regex_match", 0), False),
    ]


@pytest.mark.parametrize(
    ("config", "told"),
    [
        *((config, "nothing to check") for config in (None, {}, {"contains": []}, {"contains": None})),
        ({"must_match_any": ["x"]}, "nothing to check"),
        ({"contains": "hello"}, "`config.contains` must be a list"),
        ({"contains": ["a", None]}, "`config.contains[1]` must be text"),
    ],
)
def test_texts_that_cannot_be_graded(config: dict[str, Any] | None, told: str) -> None:
    with refused(told, "`contains`" if told == "nothing to check" else ""):
        grade("text", config)


def test_a_pattern_that_backtracks_without_end_is_a_failed_check() -> None:
    verdict = grade("text", {"regex_match": [r"(?=a)((a|aa)+)+$"]}, output="a" * 60 + "b")
    assert result(verdict) == (0.0, False)
    assert "took longer" in verdict.feedback


def test_invalid_patterns_write_nothing_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    grade("text", {"regex_match": ["(unclosed"]})
    assert capfd.readouterr().err == ""


def test_keyword_checks_both_spellings_without_case() -> None:
    config = {"must_contain": ["Azure"], "keywords": ["DEPLOY"], "must_not_contain": ["password"]}
    verdict = grade("keyword", config, output="deploy to azure with a PASSWORD")
    assert result(verdict) == (0.6667, False)
    assert failed_paths(verdict) == [("must_not_contain", 0)]


@pytest.mark.parametrize(
    ("pattern", "output", "passed"),
    [
        pytest.param(r"\C", "a", False, id="any byte is refused"),
        pytest.param(r"\\C", r"\C", True, id="a backslash and a letter"),
        pytest.param(r"\Q\C\E", r"\C", True, id="literal text"),
        pytest.param(r"^\pL{1000}$", "ä" * 1000, True, id="many letters of any script"),
        pytest.param(r"(?i)^\x{212A}$", "k", True, id="letters that fold together"),
    ],
)
def test_patterns_are_those_of_upstream(pattern: str, output: str, passed: bool) -> None:
    assert grade("text", {"regex_match": [pattern]}, output=output).passed == passed
