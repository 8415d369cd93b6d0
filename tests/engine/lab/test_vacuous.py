"""Graders that cannot fail are found, and those that can are not taken for them."""

import json
from pathlib import Path

import pytest

from tests.engine.lab.recorded import record, strengths, trial
from tests.engine.lab.vacuous import vacuous_graders

pytestmark = pytest.mark.check

ANSWERS = {
    "deploys": [
        trial('{"status": "deployed", "replicas": 3, "urls": ["https://a.example"]}', "bash", "view"),
        trial('{"status": "deployed", "replicas": 2, "urls": []}', "bash"),
    ],
    "bills": [trial('{"status": "open", "total": 12.5, "customer": {"name": "Ada"}}', "view", "edit")],
}

WORKING = r"""
- {type: text, name: mentions, config: {contains: [status]}}
- {type: text, name: forbids, config: {not_contains: [password, 'rm -rf /']}}
- type: text
  name: forbids-pattern
  config: {regex_not_match: ['(?i)\bfatal error\b|crashed', '^Traceback']}
- {type: text, name: pattern, config: {regex_match: ['"status": "(deployed|open)"']}}
- {type: keyword, name: words, config: {must_not_contain: [secret]}}
- {type: code, name: long-enough, config: {assertions: ['len(output) > 20']}}
- {type: code, name: short-enough, config: {assertions: ['len(output) < 5000']}}
- {type: code, name: no-errors, config: {assertions: ['len(errors) == 0']}}
- {type: code, name: no-trace, config: {assertions: ["'Traceback' not in output"]}}
- {type: code, name: quick, config: {assertions: ['duration_ms < 600000']}}
- {type: code, name: no-deletes, config: {assertions: ["not any(c['name'] == 'delete' for c in tool_calls)"]}}
- {type: code, name: not-matched, config: {assertions: ["re.search(r'(?i)drop\\s+table', output) is None"]}}
- {type: tool_calls, name: few, config: {max_calls: 20}}
- {type: tool_calls, name: harmless, config: {forbidden_tools: [delete]}}
- type: tool_constraint
  name: no-force
  config: {reject_tools: [{tool: '^bash$', command_pattern: 'rm\s+-rf'}]}
- {type: behavior, name: frugal, config: {max_tool_calls: 20, max_tokens: 100000, max_duration_ms: 600000}}
- {type: skill_invocation, name: no-skill, config: {forbidden_skills: [azure-delete]}}
- type: json_schema
  name: shape
  config: {schema: {type: object, required: [status]}}
- type: json_schema
  name: optional-but-typed
  config: {schema: {type: object, properties: {note: {type: string}}}}
"""


def test_graders_that_cannot_fail_are_found(tmp_path: Path) -> None:
    graders = list(vacuous_graders(200, seed=11))
    written = "\n".join(f"- {json.dumps(grader)}" for grader in graders)
    found = strengths(record(tmp_path, ANSWERS, written))
    missed = [
        (grader["type"], grader["config"], found[grader["name"]])
        for grader in graders
        if found[grader["name"]].finding != "never fails"
    ]
    assert len(found) == 200
    assert len(missed) <= 10, missed


def test_graders_that_can_fail_are_not_called_weak(tmp_path: Path) -> None:
    found = strengths(record(tmp_path, ANSWERS, WORKING))
    assert len(found) == WORKING.count("name: ")
    assert [each for each in found.values() if each.finding or each.weak_checks or each.not_measured] == []
    assert [name for name, each in found.items() if not each.strength] == []


@pytest.mark.parametrize("seed", [1, 2])
def test_the_generator_makes_the_same_graders_of_the_same_seed(seed: int) -> None:
    assert list(vacuous_graders(30, seed)) == list(vacuous_graders(30, seed))
