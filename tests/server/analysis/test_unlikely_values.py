"""Values that fit and can hardly be meant: quotes of print, shell syntax."""

import pytest

from tests.server.analysis.drawing import EVAL, TASK, fixed, graders, problems
from waza_language_server.syntax.tried_edits import apply


def test_a_fraction_beyond_the_limits_of_a_whole_number_is_reported_once() -> None:
    text = EVAL.replace("timeout_seconds: 60", "timeout_seconds: 0.5")
    [problem] = problems(text, "eval")
    assert [apply(text, fix.edits) for fix in problem.fixes] == [text.replace("0.5", "1")]


def test_quotes_of_print_around_an_assertion_are_one_problem() -> None:
    grader = "  - type: code\n    name: a\n    config:\n      assertions:\n        - “len(output) > 0”\n"
    [problem] = problems(graders(grader))
    assert problem.code == "assertion-syntax"
    assert problem.fixes == ()


@pytest.mark.parametrize("text", ['"“done”"', "“a” or “b”", "say “done”", "“"])
def test_quotes_of_print_that_may_be_meant(text: str) -> None:
    assert problems(TASK + f"expected:\n  output_contains:\n    - {text}\n") == ()


def test_an_apostrophe_in_quotes_of_print_is_kept() -> None:
    text = f"{TASK}expected:\n  output_contains:\n    - “it's done”\n"
    assert fixed(text, "unlikely-value") == text.replace("“it's done”", "'it''s done'")


@pytest.mark.parametrize("written", ["“mock”", "‘mock’"])
def test_a_word_of_a_few_with_a_sign_is_one_problem(written: str) -> None:
    right = EVAL
    wrong = right.replace("executor: mock", f"executor: {written}")
    assert wrong != right
    (problem,) = problems(wrong, "eval")
    assert problem.code == "value-not-allowed"
    assert apply(wrong, problem.fixes[0].edits) == right


@pytest.mark.parametrize(
    ("command", "sign"),
    [
        ("npm ci && npm test", "&&"),
        ("cat a | sort", "|"),
        ("make > log", ">"),
        ("npm ci; npm test", ";"),
        ("cp a $HOME", "$HOME"),
        ("cd app", "cd"),
    ],
)
def test_a_hook_that_needs_a_shell(command: str, sign: str) -> None:
    text = f"{EVAL}hooks:\n  before_run:\n    - command: {command}\n"
    [problem] = problems(text, "eval")
    assert (problem.code, problem.severity) == ("unlikely-value", "warning")
    assert text[problem.span.start : problem.span.end] == sign


@pytest.mark.parametrize(
    "command", ["sh script.sh", "git checkout -- a", "python -c print(1>0)", "'echo a&&b'"]
)
def test_a_hook_that_needs_none(command: str) -> None:
    assert problems(f"{EVAL}hooks:\n  before_run:\n    - command: {command}\n", "eval") == ()
