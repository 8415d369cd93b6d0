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
    "a tool": (
        "tool\n    name: a\n    config:\n      tool_name: bash\n      min_calls: 1\n",
        "tool_calls\n    name: a\n    config:\n      required_tools: [bash]\n",
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
    "a comparison": (
        "llm_comparison\n    name: a\n    config:\n      reference: |\n        It is.\n\n        Good.\n"
        "  - type: code\n    name: b\n    config: {assertions: [output]}\n",
        "prompt\n    name: a\n    config:\n      rubric: |\n"
        "        Rate from 1 to 5 how far the answer means the same as this reference.\n"
        "        1: something else. 3: the same in part. 5: the same.\n        Reference:\n"
        "          It is.\n\n          Good.\n"
        "  - type: code\n    name: b\n    config: {assertions: [output]}\n",
    ),
    "a tool with an argument": (
        "tool\n    name: a\n    config:\n      tool_name: my.tool\n      argument_match:\n"
        "        command: it's\n      min_calls: 1\n",
        "tool_calls\n    name: a\n    config:\n"
        "      expect: [{tool: '^my\\.tool$', args: {command: {contains: 'it''s'}}}]\n",
    ),
    "calls of one tool": (
        "tool\n    name: a\n    config:\n      tool_name: bash\n      min_calls: 2\n      max_calls: 4\n",
        "code\n    name: a\n    config:\n      assertions: ["
        "\"len([call for call in tool_calls if call['name'] == 'bash']) >= 2\", "
        "\"len([call for call in tool_calls if call['name'] == 'bash']) <= 4\"]\n",
    ),
    "a script beside the type": (
        "script\n    name: a\n    script: graders/x.py # mine\n",
        "program\n    name: a\n    config:\n      command: python3\n      args: [graders/x.py]\n"
        "      protocol: waza-json # mine\n",
    ),
    "a script": (
        "script\n    name: a\n    config: {script: graders/x.py}\n",
        "program\n    name: a\n    config: {command: python3, args: [graders/x.py], protocol: waza-json}\n",
    ),
    "a script of one's own": (
        "custom\n    name: a\n    config:\n      script: graders/x.py\n",
        "program\n    name: a\n    config:\n      command: python3\n      args: [graders/x.py]\n"
        "      protocol: waza-json\n",
    ),
}


@pytest.mark.parametrize(("written", "converted"), CASES.values(), ids=CASES)
def test_an_older_grader_becomes_its_successor(written: str, converted: str) -> None:
    kind = "unknown-grader-type" if written.startswith(("tool", "custom")) else "deprecated-grader-type"
    assert fixed(_entry(written), kind) == _entry(converted)


@pytest.mark.parametrize(
    "written",
    [
        "keyword\n    name: a\n    config:\n      keywords: [a, b, c]\n      min_matches: 2\n",
        "regex\n    name: a\n    config:\n      must_match: [x]\n      skip_if_no_match: true\n",
        "tool\n    name: a\n    config:\n      tool_name: bash\n      timeout: 3\n",
        "regex\n    name: a\n    config:\n      must_match: [x]\n      should_match: false\n",
        "keyword\n    name: a\n    config:\n      keywords: [a]\n      must_contain: *more\n",
        "script\n    name: a\n    script: |\n      a\n      b\n",
    ],
    ids=[
        "two of three words",
        "an option without a counterpart",
        "another option of a tool",
        "patterns that must match and must not",
        "a list that stands elsewhere",
        "a program in the suite",
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


@pytest.mark.parametrize(
    ("written", "converted"),
    [
        (
            "contains\n    name: a\n    value: Please # now\n",
            "text\n    name: a\n    config:\n      contains_cs:\n        - Please # now\n",
        ),
        (
            "not-icontains\n    value: 'a: b'\n    weight: 2\n",
            "text\n    config:\n      not_contains:\n        - 'a: b'\n    weight: 2\n",
        ),
        (
            "contains_all\n    value: [a, b]\n",
            "text\n    config:\n      contains_cs: [a, b]\n",
        ),
        (
            "python\n    value: len(output) > 3\n",
            "code\n    config:\n      assertions:\n        - len(output) > 3\n",
        ),
    ],
)
def test_an_assertion_of_another_tool_becomes_a_grader(written: str, converted: str) -> None:
    assert fixed(_entry(written), "unknown-grader-type") == _entry(converted)


def test_an_assertion_of_another_tool_in_brackets_becomes_a_grader_in_brackets() -> None:
    text = _entry("python\n").replace("- type: python", "- {type: icontains, name: a, value: Please}")
    meant = text.replace("icontains", "text").replace("value: Please", "config: {contains: [Please]}")
    assert fixed(text, "unknown-grader-type") == meant


@pytest.mark.parametrize(
    "written",
    [
        "contains\n    value: a\n    transform: output.trim()\n",
        "contains\n    value: |\n      a\n      b\n",
        "contains\n    value: &x a\n",
        "contains\n    value: # why\n      a\n",
        "contains-all\n    value:\n      - a\n",
        "javascript\n    value: output.length\n",
        "contains\n    value:\n",
    ],
)
def test_an_assertion_with_more_to_it_is_left_to_the_author(written: str) -> None:
    found = [fix.title for problem in problems(_entry(written)) for fix in problem.fixes if fix.edits]
    assert not [title for title in found if title.startswith("Convert")]
