"""A grader of an older type becomes its successor by one fix, when there is one with the same verdicts."""

import pytest

from tests.server.analysis.drawing import fixed, graders, problems


def _entry(text: str) -> str:
    return graders(f"  - type: {text}")


CASES = {
    "patterns": (
        "regex\n    name: a\n    config:\n      must_match: [x]\n      must_not_match: [y]\n",
        "text\n    name: a\n    config:\n      regex_match: [x]\n      regex_not_match: [y]\n",
    ),
    "one pattern": (
        'regex\n    name: a\n    config:\n      pattern: "a b"\n',
        'text\n    name: a\n    config:\n      regex_match:\n        - "a b"\n',
    ),
    "all of the words": (
        "keyword\n    name: a\n    config:\n      keywords: [a, b]\n      must_include_all: true\n",
        "text\n    name: a\n    config:\n      contains: [a, b]\n",
    ),
    "one of the words": (
        "keyword\n    name: a\n    config:\n      keywords: [a, b.c]\n      min_matches: 1\n",
        "text\n    name: a\n    config:\n      regex_match: ['(?i)(?:a)|(?:b\\.c)']\n",
    ),
    "a rating": (
        "llm\n    name: a\n    config:\n      rubric: Rate it from 1 to 5.\n      threshold: 0.5\n",
        "prompt\n    name: a\n    config:\n      rubric: Rate it from 1 to 5.\n      threshold: 0.5\n",
    ),
    "a pattern that must not match": (
        "regex\n    name: a\n    config:\n      pattern: a|b\n      should_match: false\n",
        "text\n    name: a\n    config:\n      regex_not_match:\n        - a|b\n",
    ),
    "options of the successor": (
        "regex\n    name: a\n    config:\n      regex_match: [x]\n      not_contains: [y]\n",
        "text\n    name: a\n    config:\n      regex_match: [x]\n      not_contains: [y]\n",
    ),
    "two lists of words": (
        "keyword\n    name: a\n    config:\n      must_contain:\n        - a\n      keywords:\n"
        "      # these\n      - b # and\n      - c\n",
        "text\n    name: a\n    config:\n      contains:\n        - a\n"
        "        # these\n        - b # and\n        - c\n",
    ),
    "a list in brackets below another list": (
        "keyword\n    name: a\n    config:\n      must_contain:\n        - a # 1\n      keywords: [b] # 2\n",
        "text\n    name: a\n    config:\n      contains:\n        - a # 1\n        - b # 2\n",
    ),
    "two lists of words in brackets": (
        "keyword\n    name: a\n    config: {must_contain: [a], keywords: ['b, c', d]}\n",
        "text\n    name: a\n    config: {contains: [a, 'b, c', d]}\n",
    ),
    "any of the words": (
        "keyword\n    name: a\n    config:\n      keywords: [a, b]\n      must_include_all: false\n",
        "text\n    name: a\n    config:\n      regex_match: ['(?i)(?:a)|(?:b)']\n",
    ),
    "words in this case": (
        "keyword\n    name: a\n    config:\n      keywords: [a, b]\n      case_sensitive: true\n",
        "text\n    name: a\n    config:\n      contains_cs: [a, b]\n",
    ),
    "a question with verdict tools": (
        "llm\n    name: a\n    config:\n      prompt: Is it good?\n      continue_session: true\n",
        "prompt\n    name: a\n    config:\n      prompt: Is it good?\n      continue_session: true\n",
    ),
}


@pytest.mark.parametrize(("written", "converted"), CASES.values(), ids=CASES)
def test_an_older_grader_becomes_its_successor(written: str, converted: str) -> None:
    assert fixed(_entry(written), "deprecated-grader-type") == _entry(converted)


@pytest.mark.parametrize(
    "written",
    [
        "keyword\n    name: a\n    config:\n      keywords: [a, b, c]\n      min_matches: 2\n",
        "regex\n    name: a\n    config:\n      must_match: [x]\n      skip_if_no_match: true\n",
        "regex\n    name: a\n    config:\n      must_match: [x]\n      should_match: false\n",
        "keyword\n    name: a\n    config:\n      keywords: [a]\n      must_contain: *more\n",
        "keyword\n    name: a\n    config:\n      keywords: [a]\n      must_contain:\n      # b\n      - b\n",
        "keyword\n    name: a\n    config:\n      keywords: [a]\n      must_contain:\n        - b # b\n",
        "keyword\n    name: a\n    config:\n      keywords: [a]\n      must_contain: [b] # b\n",
    ],
    ids=[
        "two of three words",
        "an option without a counterpart",
        "patterns that must match and must not",
        "a list that stands elsewhere",
        "a comment above an item, next to brackets",
        "a comment after an item, next to brackets",
        "a comment after brackets, next to brackets",
    ],
)
def test_what_has_no_counterpart_is_not_converted(written: str) -> None:
    found = [fix.title for problem in problems(_entry(written)) for fix in problem.fixes if fix.edits]
    assert not [title for title in found if title.startswith("Convert")]


def test_what_turns_a_pattern_is_not_left_behind_unasked() -> None:
    text = _entry("regex\n    name: a\n    config:\n      pattern: [x]\n      should_match: false\n")
    assert not [fix.title for problem in problems(text) for fix in problem.fixes if fix.preferred]


def test_a_conversion_is_asked_for_and_never_done_unasked() -> None:
    found = [fix for problem in problems(_entry(CASES["patterns"][0])) for fix in problem.fixes]
    assert [(fix.title, fix.preferred) for fix in found] == [("Convert to `text`", False)]
