"""Which parsed files are eval files of other tools, by their content."""

from pathlib import Path

import pytest

from waza_engine.spec.foreign_evals import Dialect, foreign_eval
from waza_engine.spec.reading.yaml_reader import parse_yaml


def dialect(text: str) -> Dialect | None:
    found = foreign_eval(parse_yaml(text, Path("x.yaml")).value)
    return None if found is None else found.dialect


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{skill_name: x, evals: []}", "evals.json"),
        ("{skill_name: x, schema_version: 1, evals: [{id: 1, prompt: p, assertions: [a]}]}", "evals.json"),
        ("{skill_name: x, evals: [{id: a, prompt: p, expectations: [a], files: [f]}]}", "evals.json"),
        ("[{query: q, should_trigger: true}, {query: r, should_trigger: false}]", "trigger list"),
        ("[{query: q, should_trigger: true}, {query: q}]", "trigger list"),
        ("{evals: [{prompt: q, should_trigger: true}]}", "trigger list"),
        ("{skill_name: x, evals: [{prompt: q, should_trigger: false}]}", "trigger list"),
        ("{name: v, stimuli: [{name: a, prompt: p}]}", "vally"),
        ("{config: {runs: 2}, graders: [{type: completed}], stimuli: [{name: a, turns: [p, q]}]}", "vally"),
        ("{environment: dotnet, scoring: {threshold: 0.8}, stimuli: [{prompt: p}]}", "vally"),
        ("{scenarios: [{name: a, prompt: p, assertions: [{type: exit_success}]}]}", "skill-validator"),
        ("{name: e, evals: [a.yaml], vary: [/d], baseline: a, variants: {a: {}, b: {}}}", "vally experiment"),
        (
            "{name: e, evals: [a.yaml], baseline: {m: a}, matrix: {/defaults/model: [a, b]}}",
            "vally experiment",
        ),
    ],
)
def test_eval_files_of_other_tools_are_recognized(text: str, expected: Dialect) -> None:
    assert dialect(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        # Suites, also with a key of others.
        "{name: x, skill: y, config: {trials_per_task: 1}, tasks: [tasks/*.yaml]}",
        "{name: x, skill: y, config: {trials_per_task: 1}, scenarios: [{name: a, prompt: p}]}",
        "{name: x, skill: y, config: {trials_per_task: 1}, stimuli: [{name: a, prompt: p}]}",
        "{tasks_from: rows.csv, stimuli: [{name: a}]}",
        "{id: t, inputs: {prompt: p}}",
        "{skill: x, should_trigger_prompts: [{prompt: p}]}",
        # Half of a form.
        "stimuli:",
        "stimuli: []",
        "stimuli: [a, b]",
        "stimuli: {a: {prompt: p}}",
        "scenarios: [{name: login, steps: [open]}]",
        "{skill_name: x}",
        "{skill_name: x, evals: {a: b}}",
        "{skill_name: [x], evals: []}",
        "{evals: [{prompt: p}]}",
        "[{query: q, should_trigger: 'yes'}]",
        "[{query: 1, should_trigger: true}]",
        "{evals: [a.yaml], variants: {a: {}}}",
        # Other tools.
        "{prompts: [x], providers: [y], tests: [{vars: {x: hi}}]}",
        "{description: d, targets: [x], scenarios: [{config: [{a: b}], tests: [{vars: {}}]}]}",
        "{task: t, dataset_path: squad, doc_to_text: q, metric_list: [{metric: acc}]}",
        "{my-eval: {id: a, metrics: [accuracy]}, a: {class: Match}}",
        "{name: eval, on: push, jobs: {eval: {strategy: {matrix: {os: [a]}}, runs-on: x}}}",
        "{matrix: {os: [a, b]}, steps: [{run: x}]}",
        "{variants: {dark: {}}, baseline: light}",
        "{name: p, model: m, messages: [{role: user}], testData: [{input: a}], evaluators: [{name: e}]}",
        "{version: '3', services: {web: {image: x}}}",
        "{openapi: 3.0.0, paths: {}, components: {}}",
        "{apiVersion: v1, kind: ConfigMap, data: {a: b}}",
        "{name: x, version: 1.0.0, scripts: {test: jest}, dependencies: {}}",
        "{$schema: x, type: object, properties: {evals: {type: array}}}",
        "{scenarios: {ui: {executor: constant-vus, vus: 10}}}",
        "{config: {target: x, phases: [{duration: 60}]}, scenarios: [{flow: [{get: {url: /}}]}]}",
        "[{name: a, query: select 1}]",
        "- hosts: all\n  tasks: [{name: a}]",
        "[one, two]",
        "[]",
        "just text",
        "12",
        "",
    ],
)
def test_suites_and_files_of_other_tools_are_not(text: str) -> None:
    assert dialect(text) is None


def test_what_is_said_of_a_file() -> None:
    one = foreign_eval({"skill_name": "x", "evals": [{}]})
    two = foreign_eval({"scenarios": [{"name": "a", "prompt": "p"}, {"name": "b"}]})
    assert one is not None
    assert (one.runs, one.title) == (True, "an evals.json file (skill `x`, 1 case)")
    assert two is not None
    assert not two.runs
    assert two.refusal == "a skill-validator eval file (2 scenarios), which waza does not run"
