"""Ordinary YAML files of other tools are no eval files, whatever their names and their style."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.server.project.files import put, small_suite
from waza_engine.spec.foreign_evals import foreign_eval_in
from waza_language_server.check import check_paths
from waza_language_server.project.claim import claim

_WRITTEN = """\
=== .github/workflows/ci.yml
name: CI
on: {push: {branches: [main]}}
jobs:
  test:
    runs-on: ubuntu-latest
    strategy: {matrix: {python: ['3.11', '3.12']}}
    steps: [{uses: actions/checkout@v4}, {run: make test}]
=== action.yml
name: Greet
description: Greets
inputs: {who: {description: Who, required: true}}
runs:
  using: composite
  steps: [{run: echo, shell: bash}]
=== .gitlab-ci.yml
stages: [test]
variables: {A: b}
test:
  stage: test
  script: [make]
  environment: staging
=== azure-pipelines.yml
trigger: [main]
pool: {vmImage: ubuntu-latest}
steps: [{script: make, displayName: Test}]
=== .circleci/config.yml
version: 2.1
jobs: {build: {docker: [{image: 'cimg/base:1'}], steps: [checkout]}}
workflows: {all: {jobs: [build]}}
=== compose.yaml
name: shop
services:
  web: {image: nginx, environment: {A: b}, depends_on: [db]}
  db: {image: postgres}
volumes: {data: {}}
=== deploy.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  template: {spec: {containers: [{name: web, image: nginx}]}}
=== job.yaml
apiVersion: batch/v1
kind: Job
metadata: {name: eval}
spec: {template: {spec: {containers: [{name: a}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {eval.yaml: 'tasks: []'}
=== openapi.yaml
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /evals:
    get: {responses: {'200': {description: ok}}}
components: {schemas: {Eval: {type: object}}}
=== mkdocs.yml
site_name: Docs
theme: {name: material}
nav: [{Home: index.md}]
plugins: [search]
=== values.yaml
replicaCount: 1
image: {repository: nginx, tag: '1'}
config: {timeout_seconds: 30, model: small}
tags: [a]
=== Chart.yaml
apiVersion: v2
name: shop
description: A chart
type: application
version: 0.1.0
=== playbook.yml
- name: Web
  hosts: web
  vars: {a: b}
  tasks:
    - {name: Install, apt: {name: nginx}}
  handlers: []
=== roles/web/tasks/main.yml
- name: Install
  ansible.builtin.apt: {name: nginx}
  tags: [web]
- name: Start
  service: {name: nginx}
=== Taskfile.yml
version: '3'
tasks:
  build: {desc: Build, cmds: [make], deps: [lint]}
  lint: {cmds: [ruff check]}
=== promptfooconfig.yaml
description: Tea
prompts: ['Brew {{kind}}']
providers: [openai:gpt-5]
tests:
  - vars: {kind: oolong}
    assert: [{type: contains, value: hot}]
=== promptfoo_tests.yaml
- description: one
  vars: {question: "Why?"}
  assert: [{type: llm-rubric, value: It is kind}]
=== lm_eval_task.yaml
task: tea
dataset_path: json
output_type: generate_until
doc_to_text: '{{question}}'
metric_list: [{metric: exact_match, aggregation: mean}]
group: [drinks]
=== registry/evals/tea.yaml
tea:
  id: tea.dev.v0
  metrics: [accuracy]
tea.dev.v0:
  class: evals.elsuite.basic.match:Match
  args: {samples_jsonl: tea/samples.jsonl}
=== tea.prompt.yml
name: Tea
model: openai/gpt-5
messages: [{role: user, content: 'Brew {{kind}}'}]
testData: [{input: oolong, expected: hot}]
evaluators: [{name: has, string: {contains: hot}}]
=== experiment.yaml
name: stroop
trials: 20
stimuli:
  - {word: red, color: blue, duration: 500}
  - {word: blue, color: blue}
=== scenarios.yaml
scenarios:
  - {name: peak, users: 100, steps: [{get: /}], assertions: [{status: 200}]}
environment: staging
=== ragas.yaml
dataset: tea.jsonl
metrics: [faithfulness, answer_relevancy]
evaluator: {model: gpt-5, temperature: 0}
=== mlflow_eval.yaml
experiment: tea
data: tea.csv
scorers: [{name: correctness}]
model_uri: models:/tea/1
=== agents.yaml
researcher:
  role: Researcher
  goal: Find out
  backstory: Curious
writer: {role: Writer, goal: Write}
=== environment.yml
name: lab
channels: [conda-forge]
dependencies: [python=3.11, {pip: [ruff]}]
=== .pre-commit-config.yaml
repos:
  - {repo: 'https://x.org/ruff', rev: v1, hooks: [{id: ruff, args: [--fix]}]}
=== alerts.yaml
groups:
  - name: web
    rules: [{alert: Down, expr: up == 0, for: 5m, labels: {severity: page}}]
"""
FILES: Mapping[str, str] = {
    name: text for name, _, text in (part.partition("\n") for part in _WRITTEN.split("=== ")[1:])
}


def _as_flow(text: str) -> str:
    documents = [yaml.dump(each, default_flow_style=True, width=10_000) for each in yaml.safe_load_all(text)]
    return "---\n".join(documents)


STYLES: Mapping[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "with a comment": lambda text: f"# eval: of graders, stimuli and tasks\n---\n{text}",
    "with carriage returns": lambda text: text.replace("\n", "\r\n"),
    "in braces": _as_flow,
}


def files_of(usual: str) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of a file: in each style, by its own name and by those of eval files."""
    for style, written in STYLES.items():
        folder = f"{usual.replace('/', '-')}/{style.replace(' ', '-')}"
        for name in (usual, "eval.yaml", "tea.eval.yaml"):
            yield f"{folder}/{name}", written(FILES[usual])


@pytest.mark.parametrize("usual", FILES)
def test_a_file_of_another_tool_is_no_eval_file(tmp_path: Path, usual: str) -> None:
    suite = small_suite(tmp_path / "suite").parent
    for name, text in files_of(usual):
        path = put(tmp_path, name, text)
        assert claim(path, text, ["README.md"]) is None, name
        assert foreign_eval_in(text, path) is None, name
    reported = {report.path for report in check_paths([tmp_path])}
    assert reported == {suite / "eval.yaml", suite / "tasks" / "first.yaml"}


@pytest.mark.parametrize(
    "usual", ["promptfooconfig.yaml", "lm_eval_task.yaml", "mlflow_eval.yaml", ".github/workflows/ci.yml"]
)
def test_an_eval_file_of_another_tool_is_left_alone_beside_a_skill_too(usual: str) -> None:
    assert claim(Path("/repo/evals/x/eval.yaml"), FILES[usual], ["SKILL.md"]) is None


_ADAPTER = '{"version": 1, "command": [], "sessionMode": "stream"}'


def test_adapters_that_no_suite_names_are_checked_with_their_folder(tmp_path: Path) -> None:
    put(tmp_path, "rows/prompts.jsonl", '{"id": "a", "input": "x"}')
    found = [
        put(tmp_path, name, _ADAPTER)
        for name in ("alone/adapter.json", "rows/agent.json", "rows/adapters/other.json")
    ]
    put(tmp_path, "alone/agent.json", _ADAPTER)
    put(tmp_path, "alone/adapter-settings.json", '{"version": 1, "command": "x"}')
    put(tmp_path, "rows/package.json", '{"name": "x", "version": "1.0.0"}')
    reports = {report.path: report for report in check_paths([tmp_path])}
    assert reports.keys() == {*found, tmp_path / "rows" / "prompts.jsonl"}
    assert all("empty-value" in {each.code for each in reports[path].findings} for path in found)
