"""Whole runs with a command-line agent, and the same runs replayed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine
from tests.engine.executors.agents import write_agent
from waza_engine.results.reports.descriptions import describe_spending

pytestmark = pytest.mark.check

AGENT = """
    import pathlib
    prompt = sys.argv[-1]
    resumed = '--resume' in sys.argv
    say(type='init', session_id='S')
    say(type='think', text='a plan')
    if not resumed:
        say(type='tool', id='1', name='skill', status='pending', input={'skill': 'writer'})
        say(type='tool', id='1', status='completed', output='loaded')
        say(type='tool', id='2', name='Bash', status='pending', input={'command': 'npm test'})
        say(type='tool', id='2', status='failed', output='no tests')
        pathlib.Path('report.md').write_text('# Report')
    say(type='text', text='You said ' + prompt)
    usage = {'in': 100, 'out': 20, 'cost': 0.01}
    say(type='result', **usage) if prompt != 'break' else sys.exit(3)
"""
EXTENSIONS = {"usage": {"input_tokens": "$.in", "output_tokens": "$.out", "cost_usd": "$.cost"}}
GRADERS = """\
graders:
- {type: text, name: echoes, config: {contains: [You said]}}
- {type: text, name: polite, config: {contains: [please]}}
- {type: tool_calls, name: calls, config: {expect: [{tool: Bash, args: {command: {contains: npm}}}]}}
- {type: tool_constraint, name: no_curl, config: {reject_tools: [{tool: Bash, command_pattern: curl}]}}
- {type: skill_invocation, name: skills, config: {mode: in_order, required_skills: [writer]}}
- {type: behavior, name: budget, config: {max_tokens: 300, max_tool_calls: 3, max_duration_ms: 60000}}
- type: action_sequence
  name: actions
  config: {expected_actions: [skill, Bash], matching_mode: exact_match}
- {type: code, name: failures, config: {assertions: ["any('no tests' in e['content'] for e in errors)"]}}
"""
CONFIG = "config: {trials_per_task: 2, timeout_seconds: 30, executor: command, adapter: adapter.json}\n"


def suite(directory: Path) -> Path:
    resume = {"flag": "--resume", "sessionIdPath": "$.session_id"}
    write_agent(directory, AGENT, resume=resume, **{"x-waza": EXTENSIONS})
    (directory / "tasks").mkdir()
    for name, inputs in (
        ("one", "{prompt: please}"),
        ("two", "{prompt: first, follow_up_prompts: [second]}"),
        ("broken", "{prompt: break}"),
    ):
        (directory / "tasks" / f"{name}.yaml").write_text(f"id: {name}\nname: {name}\ninputs: {inputs}\n")
    path = directory / "eval.yaml"
    path.write_text(f"name: suite\nskill: writer\n{CONFIG}tasks: ['tasks/*.yaml']\n{GRADERS}")
    return path


def run(path: Path, *options: str, code: int = 1) -> dict[str, Any]:
    output = path.parent / "out.json"
    done = engine("run", path, "-o", output, *options)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(output.read_text("utf-8"))


def verdicts(document: dict[str, Any]) -> dict[str, list[Any]]:
    return {
        task["test_id"]: [
            (
                trial["status"],
                trial.get("error_msg"),
                {
                    name: (v["score"], v["passed"], v["feedback"])
                    for name, v in (trial["validations"] or {}).items()
                },
            )
            for trial in task["runs"]
        ]
        for task in document["tasks"]
    }


def passes(document: dict[str, Any], task: str) -> dict[str, bool]:
    return {name: passed for name, (_, passed, _) in verdicts(document)[task][0][2].items()}


def test_a_run_grades_what_the_agent_did_and_is_replayed_with_the_same_verdicts(tmp_path: Path) -> None:
    path = suite(tmp_path)
    first = run(path)
    good = dict.fromkeys(("echoes", "calls", "no_curl", "skills", "budget", "actions", "failures"), True)
    assert passes(first, "one") == {**good, "polite": True}
    assert passes(first, "two") == {**good, "polite": False}
    assert verdicts(first)["broken"][0][:2] == ("error", "the agent ended with exit code 3")
    usage = first["tasks"][2]["runs"][0]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["cost_usd"]) == (200, 40, 0.02)

    again = run(path, "--executor", "replay")
    assert again["config"]["engine_type"] == "replay"
    assert verdicts(again) == verdicts(first)
    third = run(path, "--executor", "replay")
    assert verdicts(third) == verdicts(first)


def test_what_an_agent_said_before_it_gave_up_is_graded_and_silence_is_not(tmp_path: Path) -> None:
    path = suite(tmp_path)
    assert set(verdicts(run(path))["broken"][0][2]) >= {"echoes", "polite"}
    write_agent(tmp_path, "sys.stderr.write('no credits'); sys.exit(7)")
    said = "the agent ended with exit code 7: no credits"
    silent = run(path, "--task", "one", code=4)
    assert verdicts(silent)["one"] == [("error", said, {})] * 2


def test_dollars_limit_an_agent_that_reports_them_whatever_its_model_is(tmp_path: Path) -> None:
    path = suite(tmp_path)
    path.write_text(path.read_text().replace("executor: command", "executor: command, model: no-such-model"))
    done = engine("run", path, "--max-cost", "0.02")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "the limit of $0.0200 is reached: $0.0200 are spent" in done.stderr


def test_a_cost_that_an_agent_reports_without_tokens_is_told(tmp_path: Path) -> None:
    path = suite(tmp_path)
    resume = {"flag": "--resume", "sessionIdPath": "$.session_id"}
    write_agent(tmp_path, AGENT, resume=resume, **{"x-waza": {"usage": {"cost_usd": "$.cost"}}})
    document = run(path, "--task", "two")
    # Two trials of two turns.
    assert document["summary"]["cost"] == {"tokens": 0, "usd": 0.04}
    assert describe_spending(document) == "$0.0400"
