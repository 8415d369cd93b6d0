"""One wrong or lost sign is told once, at its place, and undone by the first fix; the rest stays."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import problems
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

TASK = """\
id: t
name: "T" # its name
inputs:
  prompt: >
    Clean it.
    Then stop.
  files:
    - {path: a.csv, content: "x: y"}
    - path: b.csv
      content: |
        a: b
graders:
- type: text
  name: greets
  config: {contains: [hello], not_contains: ["bye", 'x']}
- name: made
  type: file
  config:
    must_exist: [out.csv]
    content_patterns:
      - path: out.csv
        must_match: ['^id,name$']
"""
TRIGGERS = """\
skill: s
should_trigger_prompts:
  - prompt: Fill this form
    reason: >
      asks for
      filling
  - {prompt: "Which fields has it?", confidence: medium}
"""
JSON = """\
{"name": "s", "skill": "s",
 "config": {"trials_per_task": 1, "timeout_seconds": 9, "executor": "mock", "model": "m"},
 "metrics": [{"name": "task_completion", "weight": 1.0, "threshold": 0.5}],
 "tasks": [{"id": "a", "name": "A", "inputs": {"prompt": "say hello"}}]}
"""
ANCHORED = """\
%YAML 1.2
---
name: s
skill: s
config: &run
  trials_per_task: 1
  timeout_seconds: 9
  executor: mock
  model: m
metrics: [{name: task_completion, weight: 1, threshold: 0.5}]
graders:
  - &base {type: text, name: one, config: &options {contains: [a]}}
  - <<: *base
    name: two
    config:
      <<: *options
      not_contains: [b]
tasks:
  - id: a
    name: A
    inputs: &asked {prompt: p}
  - id: b
    name: B
    inputs:
      <<: *asked
      context: {k: v}
"""


def undone(text: str, right: str, wrong: str, kind: DocumentKind, at: str) -> None:
    assert right in text
    broken = text.replace(right, wrong, 1)
    [problem] = problems(broken, kind)
    assert broken[problem.span.start : problem.span.end].startswith(at)
    assert apply(broken, problem.fixes[0].edits) == text
    assert not problem.fixes[0].preferred


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("right", "wrong", "at"),
    [
        ("- name: made", "-- name: made", "--"),
        ("- name: made", "> name: made", ">"),
        ("- name: made", "-: name: made", "-:"),
        ("- name: made", "2. name: made", "2."),
        ("- path: out.csv", "-- path: out.csv", "--"),
        ("- {path: a.csv", "> {path: a.csv", ">"),
        ("graders:\n- type", "graders\n- type", "graders"),
        ("  prompt: >\n    Clean it.", "  prompt: > Clean it.", "> Clean it."),
        ("  name: greets", "  name: greets:", ":"),
        ("config: {contains", "config: {contains=", "contains="),
        ("config: {contains: [hello], not", "config: {contains: [hello]; not", ";"),
        ("{path: a.csv, content: ", "{path: a.csv; content: ", ";"),
    ],
)
def test_a_sign_of_a_task(right: str, wrong: str, at: str, line_break: str) -> None:
    wrong = wrong.replace("contains=", "contains=[hello]") if wrong.endswith("=") else wrong
    right = right + ": [hello]" if wrong.endswith("[hello]") else right
    text, right, wrong = (each.replace("\n", line_break) for each in (TASK, right, wrong))
    undone(text, right, wrong, "task", at)


@pytest.mark.parametrize(
    ("right", "wrong", "at"),
    [
        ('"id": "a"', '"id: "a"', '"id'),
        ('"inputs": {', '"inputs: {', '"inputs'),
        ('"weight": 1.0, ', '"weight": 1.0; ', ";"),
    ],
)
def test_a_sign_in_json(right: str, wrong: str, at: str) -> None:
    undone(JSON, right, wrong, "eval", at)


@pytest.mark.parametrize(
    ("right", "wrong", "at"),
    [
        ("- <<: *base", "- <<: base", "base"),
        ("      <<: *asked", "      <<: asked", "asked"),
        ("  - <<: *base\n    name: two\n", "  - &base\n  - <<: *base\n    name: two\n", "&base"),
        ("{type: text, name: one, config: &", "{type: text, name: one; config: &", ";"),
    ],
)
def test_a_sign_among_anchors_and_below_a_directive(right: str, wrong: str, at: str) -> None:
    broken = ANCHORED.replace(right, wrong, 1)
    assert broken != ANCHORED
    assert not problems(ANCHORED, "eval")
    [problem] = [each for each in problems(broken, "eval") if each.severity == "error"]
    assert broken[problem.span.start : problem.span.end].startswith(at)
    fixed = apply(broken, problem.fixes[0].edits)
    assert fixed == (ANCHORED if at != "&base" else broken.replace("- &base\n", "- *base\n"))


def test_of_a_merged_value_the_place_of_its_anchor_is_told() -> None:
    broken = ANCHORED.replace("&base {", "&base {weight: [1], ")
    told = [each for each in problems(broken, "eval") if broken[each.span.start :].startswith("*base")]
    assert [each.message for each in told] == [
        "`weight` of `*base` does not fit here; look at its value there."
    ]
    assert not any(each.fixes for each in told)


def test_a_colon_in_a_value_in_braces_wants_quotes() -> None:
    broken = TRIGGERS.replace('"Which fields has it?"', "Which: the fields")
    [problem] = problems(broken, "trigger_tests")
    assert apply(broken, problem.fixes[0].edits) == broken.replace("Which: the fields", "'Which: the fields'")


@pytest.mark.parametrize("glued", ["confidence:medium", "confidence=medium", 'confidence:"medium"'])
def test_a_key_in_braces_that_is_glued_to_its_value(glued: str) -> None:
    broken = TRIGGERS.replace("confidence: medium", glued)
    [problem] = problems(broken, "trigger_tests")
    fixed = apply(broken, problem.fixes[0].edits)
    assert fixed.replace('"medium"', "medium") == TRIGGERS


def test_a_comma_is_lost_rather_than_quotes() -> None:
    broken = TRIGGERS.replace('"Which fields has it?", confidence', "Which confidence")
    [problem] = problems(broken, "trigger_tests")
    assert apply(broken, problem.fixes[0].edits) == broken.replace("Which confidence", "Which, confidence")


def test_a_key_of_an_item_without_its_colon() -> None:
    broken = TRIGGERS.replace(
        "- prompt: Fill this form\n    reason: >\n      asks for\n      filling", "- prompt Fill"
    )
    [problem] = problems(broken, "trigger_tests")
    assert apply(broken, problem.fixes[0].edits) == broken.replace("prompt Fill", "prompt: Fill")
    assert not any(fix.preferred for fix in problem.fixes)


def test_an_item_below_a_text_is_no_line_of_it() -> None:
    undone(TRIGGERS, "  - {prompt", " - {prompt", "trigger_tests", "- {prompt")
    broken = TRIGGERS.replace("fields has", 'fields "has')
    assert all("The text of" not in problem.message for problem in problems(broken, "trigger_tests"))


def test_a_text_of_several_words_may_end_with_a_colon() -> None:
    [problem] = problems(TASK.replace('"T"', "Say this:"))
    assert [fix.title for fix in problem.fixes] == ["Put the value in quotes"]
