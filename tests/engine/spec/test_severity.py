"""Which mistakes are errors: only those that break or void a run. The rows are mistakes of real suites."""

from pathlib import Path
from typing import Any, cast

import pytest

from tests.engine.spec.schema_reading import error_paths, missing_keys, schema_of, warning_paths
from waza_engine.spec.reading.yaml_reader import parse_yaml

EVAL = """
name: explainer
skill: explainer
version: "1.0"
config:
  trials_per_task: 1
  timeout_seconds: 300
  executor: mock
  model: gpt-5
metrics:
  - {name: task_completion, weight: 1.0, threshold: 0.8}
graders:
  - {type: text, name: polite, config: {contains: [please]}}
tasks: ["tasks/*.yaml"]
"""
TASK = """
id: explain
name: Explain
inputs: {prompt: Explain this}
expected:
  output_contains: [loop]
  behavior: {max_tool_calls: 5}
  outcomes: [{type: task_completed}]
graders:
  - {type: text, name: polite, config: {contains: [please]}}
"""
TRIGGERS = """
skill: explainer
should_trigger_prompts:
  - {prompt: Explain this, reason: direct, confidence: high}
should_not_trigger_prompts:
  - {prompt: Write a poem}
"""
PROJECT = """
paths: {skills: skills/, evals: evals/}
defaults: {engine: copilot-sdk, model: claude-sonnet-4.6, timeout: 300}
tokens: {warningThreshold: 2500, limits: {defaults: {"*.md": 2000}}}
"""
SOURCES = {"eval": EVAL, "task": TASK, "trigger_tests": TRIGGERS, "project_config": PROJECT}
GONE = object()


def changed(kind: str, path: str, value: Any) -> dict[str, Any]:
    """Return the good file of a kind with one value replaced, added or (``GONE``) deleted."""
    document: Any = read(SOURCES[kind])
    *around, key = [int(part) if part.isdigit() else part for part in path.split("/")]
    block = document
    for part in around:
        block = block[part]
    if value is GONE:
        del block[key]
    else:
        block[key] = value
    return document


def read(text: str) -> dict[str, Any]:
    return cast("dict[str, Any]", parse_yaml(text, Path("test.yaml")).value)


@pytest.mark.parametrize("kind", SOURCES)
def test_a_usual_file_has_no_finding(kind: str) -> None:
    assert error_paths(kind, read(SOURCES[kind])) == []
    assert warning_paths(kind, read(SOURCES[kind])) == []


@pytest.mark.parametrize(
    ("kind", "path", "value", "place"),
    [
        ("eval", "config", GONE, ()),
        ("eval", "config/trials_per_task", GONE, ("config",)),
        ("eval", "config/trials_per_task", 0, ("config", "trials_per_task")),
        ("eval", "config/timeout_seconds", GONE, ("config",)),
        ("eval", "config/timeout_seconds", "300s", ("config", "timeout_seconds")),
        ("eval", "config/executor", GONE, ("config",)),
        ("eval", "config/first_event_timeout_seconds", -1, ("config", "first_event_timeout_seconds")),
        ("eval", "tasks", GONE, ()),
        ("eval", "tasks", [], ()),
        ("eval", "tasks", "tasks/*.yaml", ("tasks",)),
        ("eval", "schemaVersion", "3.0", ("schemaVersion",)),
        ("eval", "schemaVersion", "2.0", ()),
        ("eval", "schemaVersion", "1", ("schemaVersion",)),
        ("eval", "adversarial", {"packs": []}, ("adversarial", "packs")),
        ("eval", "hooks", {"before_run": [{"command": " "}]}, ("hooks", "before_run", 0, "command")),
        ("eval", "mcp_mocks", [{"tools": {}}], ("mcp_mocks", 0)),
        ("eval", "graders/0", {"name": "no_type"}, ("graders", 0)),
        ("task", "inputs", GONE, ()),
        ("task", "inputs", {}, ("inputs",)),
        ("task", "inputs/prompt_file", "prompt.md", ("inputs",)),
        ("task", "inputs", {"prompt_file": "../prompt.md"}, ("inputs", "prompt_file")),
        ("task", "inputs/workdir", "/abs", ("inputs", "workdir")),
        ("task", "inputs/context", "a story", ("inputs", "context")),
        ("task", "inputs/files", [{"content": "x"}], ("inputs", "files", 0)),
        ("task", "expected", ["loop"], ("expected",)),
        ("task", "expected/output_contains", "loop", ("expected", "output_contains")),
        ("task", "checkpoints", [{"after_turn": 0, "graders": []}], ("checkpoints", 0, "after_turn")),
        ("task", "checkpoints", [{"after_turn": 1, "graders": []}], ("checkpoints", 0, "graders")),
        ("trigger_tests", "skill", GONE, ()),
        ("trigger_tests", "shouldTriggerPrompts", ["Explain"], ()),
        (
            "trigger_tests",
            "should_trigger_prompts/0/confidence",
            "low",
            ("should_trigger_prompts", 0, "confidence"),
        ),
        ("trigger_tests", "should_trigger_prompts/0/prompt", GONE, ("should_trigger_prompts", 0)),
        ("trigger_tests", "should_trigger_prompts/0", "Explain this", ("should_trigger_prompts", 0)),
        ("project_config", "tokens/warningTreshold", 1, ("tokens",)),
        ("project_config", "files", {"evalFile": "evals/eval.yaml"}, ("files", "evalFile")),
    ],
)
def test_what_breaks_or_voids_a_run_is_an_error(
    kind: str, path: str, value: Any, place: tuple[Any, ...]
) -> None:
    assert place in error_paths(kind, changed(kind, path, value))


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("eval", "metrics", GONE),
        ("eval", "version", GONE),
        ("eval", "name", GONE),
        ("eval", "skill", GONE),
        ("eval", "config/model", GONE),
        ("eval", "graders", GONE),
        ("eval", "graders", None),
        ("eval", "schemaVersion", "1.2"),
        ("eval", "schemaVersion", 1.1),
        (
            "eval",
            "tasks",
            ["tasks/a.yaml", {"task_files": ["more/*.yaml"]}, {"id": "a", "inputs": {"prompt": "Hi"}}],
        ),
        ("eval", "baseline", True),
        ("eval", "adversarial", {"packs": ["scope-bypass"]}),
        ("eval", "config/max_attempts", 0),
        ("eval", "config/inject_skill_body", False),
        ("eval", "mcp_mocks", [{"name": "github", "fixtures": "mocks"}]),
        ("task", "id", GONE),
        ("task", "name", GONE),
        ("task", "inputs/prompt", ""),
        ("task", "inputs/prompt", 42),
        ("task", "inputs/files", ["app.py", {"path": "b.py"}]),
        ("task", "inputs/context", {"anything": {"goes": 1}}),
        ("task", "expected", GONE),
        ("task", "expected", None),
        ("task", "expected/output_contains", [404, True]),
        ("task", "expected/output_contains_any", ["a"]),
        (
            "task",
            "expected/graders",
            ["polite", {"type": "text", "name": "b", "config": {"contains": ["b"]}}],
        ),
        ("task", "golden", True),
        ("task", "golden", "yes"),
        (
            "task",
            "checkpoints",
            [{"after_turn": 1, "graders": [{"type": "behavior", "config": {"max_tokens": 1}}]}],
        ),
        ("task", "graders/0", {"type": "tool_calls", "name": "t", "config": {"required_tools": ["bash"]}}),
        ("task", "graders/0", {"type": "prompt", "name": "t", "config": {"rubric": "groundedness"}}),
        ("task", "graders/0", {"type": "code", "name": "t", "assertions": ["len(output) > 1"]}),
        ("task", "graders/0", {"type": "llm", "name": "t", "rubric": "Rate it", "model": "gpt-4o-mini"}),
        ("trigger_tests", "should_trigger_prompts/0/should_trigger", True),
        ("project_config", "defaults/workers", 0),
    ],
)
def test_what_a_run_accepts_has_no_finding(kind: str, path: str, value: Any) -> None:
    document = changed(kind, path, value)
    assert error_paths(kind, document) == []
    assert warning_paths(kind, document) == []


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("eval", "config/executor", "claude"),
        ("eval", "config/workers", -1),
        ("eval", "config/group_by", "tags"),
        ("eval", "version", 1.0),
        ("eval", "metrics/0/threshold", 80),
        ("eval", "graders/0/weight", 0),
        ("eval", "config/timeout", 300),
        ("eval", "task_patterns", ["**/*.yaml"]),
        ("task", "expected/behavior/max_iterations", -1),
        ("task", "expected/skill_activated", True),
        ("task", "expected/outcomes/0/tool_name", "bash"),
        ("task", "inputs/repo_id", "a/b"),
        ("task", "prompt", "Explain"),
        ("task", "graders/0/config/must_match", ["x"]),
    ],
)
def test_what_upstream_ignores_is_a_warning(kind: str, path: str, value: Any) -> None:
    document = changed(kind, path, value)
    assert error_paths(kind, document) == []
    assert warning_paths(kind, document) != []


@pytest.mark.parametrize(
    ("grader", "errors"),
    [
        ({"type": "text", "config": {"match_any": ["a"]}}, True),
        ({"type": "text", "config": {"contains": ["a"], "match_any": ["a"]}}, False),
        ({"type": "text"}, True),
        ({"type": "text", "config": {"regex_match": "a"}}, True),
        ({"type": "code"}, True),
        ({"type": "code", "config": {"assertions": []}}, True),
        ({"type": "behavior", "config": {"max_tool_calls": 0}}, True),
        ({"type": "skill_invocation", "config": {"required_skills": [], "mode": "exact_match"}}, True),
        ({"type": "skill_invocation", "config": {"forbidden_skills": ["a"]}}, False),
        ({"type": "action_sequence", "config": {"expected_actions": ["a"], "matching_mode": "all"}}, True),
        ({"type": "human"}, False),
    ],
)
def test_a_grader_that_checks_nothing_is_an_error(grader: dict[str, Any], errors: bool) -> None:
    assert bool(error_paths(f"grader:{grader['type']}", {"name": "a", **grader})) is errors


def test_missing_names_are_less_than_errors() -> None:
    assert missing_keys("eval", {}) == {"name": "hint", "skill": "hint"}
    assert missing_keys("eval", {}, "config") == {"model": "hint"}
    assert missing_keys("task", {}) == {"id": "warning", "name": "warning"}
    assert missing_keys("grader:text", {}) == {"name": "warning"}


@pytest.mark.parametrize(
    ("kind", "pointer", "wrong", "right"),
    [
        ("eval", "config", "timeout", "timeout_seconds"),
        ("eval", "config", "engine_type", "executor"),
        ("eval", "config", "runs_per_test", "trials_per_task"),
        ("task", "expected", "output_excludes", "output_not_contains"),
        ("task", "expected", "skill_activated", "should_trigger"),
        ("task", "expected", "output_contains_all", "output_contains"),
        ("task", "expected", "output_includes", "output_contains"),
        ("task", "inputs", "input", "prompt"),
        ("task", "inputs", "content", "prompt"),
        ("task", "", "title", "name"),
        ("eval", "", "task_files", "tasks"),
        ("eval", "", "skill_name", "skill"),
        ("eval", "config", "time_limit", "timeout_seconds"),
        ("task", "inputs", "cwd", "workdir"),
        ("trigger_tests", "", "shouldTriggerPrompts", "should_trigger_prompts"),
        ("grader:text", "config", "must_match", "regex_match"),
        ("grader:text", "config", "not_regex_match", "regex_not_match"),
    ],
)
def test_names_of_other_dialects_lead_to_the_right_key(
    kind: str, pointer: str, wrong: str, right: str
) -> None:
    schema = schema_of(kind)
    block = schema["properties"][pointer] if pointer else schema
    assert block["x-waza-misspellings"][wrong] == right
