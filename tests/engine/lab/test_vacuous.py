"""Graders that cannot fail are found, and those that can are not taken for them."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.lab.recorded import record, strengths, trial

pytestmark = pytest.mark.check

Grader = dict[str, Any]
_WORDS = ("deployed", "status", "error", "service", "region", "done", "invoice", "token")
_PATTERNS = (
    ".*", "(?s).*", "^", "$", "", "x*", "(?i).*", r"\s*", ".{0,}", "(deployed)?", "[a-z]*", "a|", "|b",
    "(?:ok)*", r"^.*", r".*$", r"\d*", r"(?m)^", r"(error|)", r"\w*?", r"^\s*", "(?i)(done|)",
)  # fmt: skip


def vacuous_graders(count: int, seed: int) -> Iterator[Grader]:
    """Yield graders that pass whatever an agent does; the same seed yields the same."""
    rng = random.Random(seed)
    makers: list[Callable[[random.Random], Grader]] = [
        _pattern, _pattern, _pattern, _empty_text, _assertion, _assertion, _assertion, _assertion,
        _no_limit_of_calls, _limit_out_of_reach, _schema, _schema,
    ]  # fmt: skip
    for number in range(count):
        yield {"name": f"vacuous-{number}", **makers[number % len(makers)](rng)}


def _pattern(rng: random.Random) -> Grader:
    pattern = rng.choice(_PATTERNS)
    if rng.random() < 0.3:
        return {"type": "regex", "config": {"must_match": [pattern, rng.choice(_PATTERNS[:3])]}}
    return {"type": "text", "config": {"regex_match": [pattern]}}


def _empty_text(rng: random.Random) -> Grader:
    key = rng.choice(("contains", "contains_cs"))
    return {"type": "text", "config": {key: [""] * rng.randint(1, 2)}}


def _assertion(rng: random.Random) -> Grader:
    word, other, number = rng.choice(_WORDS), rng.choice(_WORDS), rng.randint(1, 50)
    forms = (
        "len(output) >= 0",
        f"len(output) > -{number}",
        f"True or '{word}' in output",
        f"'{word}' in output or True",
        f"'{word}' in output.lower() or '{word}' not in output.lower()",
        f"len(output) > {number} or len(output) <= {number}",
        "len(tool_calls) >= 0",
        "duration_ms >= 0",
        "len(errors) >= 0",
        "len([t for t in transcript if t.get('type') == 'tool_call']) >= 0",
        "output is not None",
        "output == output",
        f"output.count('{word}') >= 0",
        f"output.find('{word}') >= -1",
        "str(output) == output",
        f"re.search(r'{word}|', output) is not None",
        f"re.search(r'.*', output) or '{other}' in output",
        f"not ('{word}' in output and '{word}' not in output)",
        "outcome == {}",
        "True",
        f"{number} > 0",
        "'' in output",
        "output.startswith('')",
        "any([True, len(output) > 10])",
        "all([])",
        f"'{word}'",
    )
    chosen = rng.sample(forms, rng.choice((1, 1, 1, 2)))
    return {"type": "code", "config": {"assertions": chosen}}


def _no_limit_of_calls(rng: random.Random) -> Grader:
    if rng.random() < 0.5:
        return {"type": "tool_calls", "config": {"min_calls": 0}}
    return {"type": "tool_calls", "config": {"min_calls": 0, "max_calls": rng.choice((10**6, 10**8))}}


def _limit_out_of_reach(rng: random.Random) -> Grader:
    limits = {"max_tool_calls": 10**7, "max_tokens": 10**11, "max_duration_ms": 10**12}
    chosen = rng.sample(sorted(limits), rng.randint(1, 3))
    return {"type": "behavior", "config": {key: limits[key] for key in chosen}}


def _schema(rng: random.Random) -> Grader:
    word = rng.choice(_WORDS)
    schemas: tuple[dict[str, Any], ...] = (
        {},
        {"properties": {}},
        {"type": "object", "properties": {f"{word}x": {}}},
        {"properties": {f"{word}x": {"description": "What came out"}}},
        {"type": "object"},
        {"required": []},
        {"type": "object", "additionalProperties": True},
        {"type": ["object", "array", "string", "number", "boolean", "null"]},
        {"anyOf": [{"type": "object"}, {"required": [word]}]},
        {"minProperties": 0},
        {"properties": {word: {"type": ["string", "number", "boolean", "object", "array", "null"]}}},
    )
    return {"type": "json_schema", "config": {"schema": rng.choice(schemas)}}


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
