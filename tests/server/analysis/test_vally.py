"""Eval files and project files of Vally: none is wrong in its own version, and every mistake is found."""

import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.analysis.drawing import drawn, fixed, problems, problems_in
from tests.server.project.files import workspace_with
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.vally.grader_options import GRADERS
from waza_engine.spec.vally.versions import CHANGES, VERSIONS, is_slug, slug_of
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.failures import failures_noted
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import Document

GRADED = "stimuli:\n  - name: a\n    prompt: Go\n    graders: [{type: completed}]\n"


def vally(text: str) -> tuple[Problem, ...]:
    return problems(dedent(text), "vally_eval")


def codes(text: str) -> list[str]:
    return [problem.code for problem in vally(text)]


def errors(text: str) -> list[str]:
    return [f"{each.code}: {each.message}" for each in vally(text) if each.severity == "error"]


def in_folder(folder: Path, text: str) -> tuple[Problem, ...]:
    return problems_in(folder, "a.eval.yaml", text, "vally_eval")


OLD = """\
    name: azure-tool-eval
    description: Routing of prompts
    type: capability
    version: "1.0"
    config:
      runs: 5
      timeout: "120s"
      model: claude-sonnet-4.5
      judge_model: gpt-5
      executor: copilot-sdk
    environment: azure
    scoring:
      weights:
        skill-invocation: 1.0
        output-matches: 1.5
        prompt: 5
      threshold: 0.95
    stimuli:
      - name: Which tool is right?
        prompt: |
          List my resources
        tags: {area: routing, tier: [smoke, nightly], slow: false}
        rubric:
          - "Uses the tool for resources"
        constraints:
          max_turns: 8
          max_tokens: 60000
          max_tool_calls: 10
          max_duration: 90s
          expect_tools: [azure-mcp]
          reject_tools: ["*"]
          expect_skills: [azure]
          reject_skills: ["*"]
        graders:
          - type: skill-invocation
            name: Skill is used
            config: {required: [azure-resources]}
          - type: output-matches
            name: Mentions the group
            config: {pattern: "(?i)resource[- ]group"}
          - type: prompt
            name: Judge
            config: {prompt: "Is it right?", scoring: scale_1_5, threshold: 0.75}
      - name: pairs
        prompt: Compare
        graders:
          - type: skill-invocation
            config: {disallowed: [other]}
          - {type: prompt}
          - {type: output-matches, config: {pattern: '^(?!.*(foo)).*\\1?$', negate: true}}
"""
NEW = """\
    # vally: 0.19
    name: docs
    defaults:
      runs: 3
      timeout: 5m
      executor: {name: copilot-sdk, config: {stream: true}}
      reasoning_effort: xhigh
      judge_reasoning_effort: low
      judge_provider: {type: azure}
    agent_environment:
      skills: [../../skills/docs, ../../skills/other/SKILL.md]
      files: [{src: fixtures/app, dest: .}]
      commands: [npm ci]
      commandTimeout: 90s
      mcpServers:
        docs: {type: http, url: "https://example.com/mcp", timeout: 30s}
        local: {type: stdio, command: node, args: [server.js], env: {A: "1"}, cwd: .}
      git: {type: clone, url: "https://example.com/r.git", ref: main, shallow: true, sparse: [docs]}
    grading_environment: {commands: [pip install pytest]}
    tags: {team: docs}
    graders:
      - type: completed
        name: completed
    scoring:
      weights: {completed: 0.25, file-contains: 0.25, program: 0.25, tool-calls: 0.25}
      timeout: 10m
    stimuli:
      - name: writes-a-page
        turns:
          - Write a page.
          - prompt: Add a table.
        runs: 1
        timeout: 90s
        config: {model: gpt-5}
        environment: {skills: [../../skills/more], files: [{src: a.md, dest: docs/a.md}]}
        expect_activation: true
        artifacts: {include: ["**/*.md"], exclude: [node_modules]}
        attachments: [image.png]
        simulation:
          tool_overrides: {web_fetch: [{arguments: {url: x}, result: y}]}
        graders:
          - type: file-contains
            name: has-a-table
            turn: 1
            required: true
            config: {path: "docs/**/*.md", value: "| --- |"}
          - type: program
            name: builds
            config: {program: npm, args: [run, build], timeout: 60s, env: {CI: "1"}}
          - type: tool-calls
            name: edits
            config:
              required:
                - edit|create
                - {name: ^bash$, command: npm, args: {cwd: docs}, min_count: 2, before_step: 9}
              disallowed: [{name: web, read_only: true}]
              sequence: [view, edit]
"""


@pytest.mark.parametrize("text", [OLD, NEW, GRADED])
def test_a_valid_file_has_no_error_and_no_warning(text: str) -> None:
    assert [p.message for p in vally(text) if p.severity in ("error", "warning")] == []


@pytest.mark.parametrize("version", [0, *VERSIONS])
def test_each_grader_type_is_valid_in_the_versions_that_have_it(version: int) -> None:
    absent = {row.name for row in CHANGES if row.block == "type" and not row.is_taken_by(version or 19)}
    for keyword, row in GRADERS.items():
        if keyword in absent:
            continue
        options = f"\n{row.example}".replace("\n", "\n          ") if row.example else " {}"
        text = f"{GRADED.partition('    graders')[0]}    graders:\n      - type: {keyword}\n"
        text += f"        config:{options}\n"
        assert errors(f"# vally: 0.{version}\n{text}" if version else text) == [], keyword


def test_the_file_chooses_its_version() -> None:
    text = "config:\n  runs: 2\n" + GRADED
    assert [p.severity for p in vally(text)] == ["information"]
    assert [p.severity for p in vally(f"# vally: 0.14\n{text}")] == ["information"]
    assert [p.severity for p in vally(f"# vally: 0.15\n{text}")] == ["error"]
    message = "Vally 0.15 and newer refuse `config`; write `defaults`."
    assert f"config:\n^^^^^^ error vally-version: {message}" in drawn(f"# vally: 0.15\n{text}", "vally_eval")


def test_the_project_chooses_the_version(tmp_path: Path) -> None:
    text = "config: {runs: 2}\n" + GRADED
    (tmp_path / "package.json").write_text('{"devDependencies": {"@microsoft/vally-cli": "^0.15.2"}}')
    assert [p.severity for p in in_folder(tmp_path, text)] == ["error"]
    (tmp_path / ".vally.yaml").write_text("# vally: 0.12\npaths: {evals: .}\n")
    assert [p.severity for p in in_folder(tmp_path, text)] == ["information"]
    (tmp_path / ".vally.yaml").unlink()
    (tmp_path / "package.json").write_text("{broken")
    assert [p.severity for p in in_folder(tmp_path, text)] == ["information"]


def test_what_an_older_version_does_not_know() -> None:
    text = f"# vally: 0.12\n{GRADED}    simulation: {{tool_overrides: {{}}}}\n"
    assert [(p.severity, p.message) for p in vally(text)] == [
        ("warning", "`simulation` needs Vally 0.17; this file is for 0.12.")
    ]
    text = f"# vally: 0.12\n{GRADED.replace('completed', 'step-count, config: {max: 1}')}"
    assert errors(text) == [
        "vally-version: The grader type `step-count` needs Vally 0.15; this file is for 0.12."
    ]


def test_unknown_keys_of_a_stimulus_are_refused_since_0_17() -> None:
    text = f"{GRADED}    surface: 1\n"
    (error,) = errors(f"# vally: 0.17\n{text}")
    assert error.endswith("has no key `surface`; it has no effect, and Vally 0.17 refuses it.")
    assert [p.severity for p in vally(f"# vally: 0.16\n{text}")] == ["warning"]
    # A file that no version is chosen for may be an older one, unless it has something newer.
    assert [p.severity for p in vally(text)] == ["warning"]
    assert [p.severity for p in vally(f"{text}    simulation: {{}}\n")] == ["error"]


@pytest.mark.parametrize("text", [OLD, NEW])
def test_no_rule_fails_on_a_text_that_is_being_written(text: str) -> None:
    written = dedent(text)
    for end in range(0, len(written), 41):
        document = Document("untitled:a.eval.yaml", 0, written[:end], "vally_eval")
        with failures_noted() as failures:
            diagnose(document, workspace_with())
        assert failures == [], end


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("config:\n  runs: 2\n", "defaults:\n  runs: 2\n"),
        ("defaults:\n  timeout: 120\n", "defaults:\n  timeout: 120s\n"),
        ('defaults:\n  timeout: "120"\n', 'defaults:\n  timeout: "120s"\n'),
        (
            "environment:\n  files:\n    - src: fixtures/app\n",
            "environment:\n  files:\n    - src: fixtures/app\n      dest: app\n",
        ),
        (
            "graders:\n  - type: completed\n    name: It is Done!\n",
            "graders:\n  - type: completed\n    name: it-is-done\n",
        ),
        (
            "graders:\n  - type: completed\n    name: itIsDone\n",
            "graders:\n  - type: completed\n    name: it-is-done\n",
        ),
        (
            "graders:\n  - type: prompt\n    config:\n      threshold: 1\n      output_delivery: inline\n",
            "graders:\n  - type: prompt\n    config:\n      threshold: 1\n",
        ),
    ],
)
def test_older_spellings_are_migrated(before: str, after: str) -> None:
    old, new = (f"# vally: 0.19\n{each}{GRADED}" for each in (before, after))
    assert fixed(old, "vally-version", "vally_eval") == new
    assert "vally-version" not in codes(new)


@pytest.mark.parametrize(
    ("milliseconds", "duration"), [("90000", "90s"), ("120000", "2m"), ("1500", "1500ms"), ("7200000", "2h")]
)
def test_milliseconds_become_a_duration(milliseconds: str, duration: str) -> None:
    text = f"{GRADED}    constraints:\n      max_duration_ms: {milliseconds}\n"
    assert fixed(text, "vally-version", "vally_eval") == text.replace("_ms", "").replace(
        milliseconds, duration
    )


@given(st.text(max_size=80))
def test_a_slug_is_always_one_that_vally_takes(name: str) -> None:
    slug = slug_of(name)
    assert is_slug(slug) or (not slug and not re.search("[A-Za-z0-9]", name))
    assert slug_of(slug) == slug


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"scoring: {{threshold: 80}}\n{GRADED}", "out-of-range"),
        (f"type: regresion\n{GRADED}", "value-not-allowed"),
        (f"defaults: {{runs: -1}}\n{GRADED}", "out-of-range"),
        (f"defaults: {{timeout: 2 minutes}}\n{GRADED}", "wrong-form"),
        (f"defaults: {{timeout: soon}}\n{GRADED}", "wrong-form"),
        (f"defaults: {{}}\nconfig: {{}}\n{GRADED}", "conflicting-keys"),
        (f"default: {{runs: 1}}\n{GRADED}", "unknown-key"),
        ("name: x\nstimuli: []\n", "empty-value"),
        ("name: x\n", "missing-key"),
        ("stimuli:\n  - prompt: Go\n    graders: [{type: completed}]\n", "missing-key"),
        ("stimuli:\n  - name: a\n    graders: [{type: completed}]\n", "nothing-checked"),
        (GRADED.replace("prompt: Go", "prompt: Go\n    turns: [a]"), "conflicting-keys"),
        (f"{GRADED}{GRADED.removeprefix('stimuli:')[1:]}", "duplicate-stimulus"),
        ("stimuli:\n  - name: a\n    prompt: Go\n", "nothing-checked"),
        (GRADED.replace("completed", "complete"), "unknown-grader-type"),
        (GRADED.replace("type: completed", "kind: completed"), "unknown-key"),
        (GRADED.replace("completed", "completed, turn: 1"), "turn-never-comes"),
        (GRADED.replace("completed", "output-matches"), "missing-key"),
        (GRADED.replace("completed", "output-matches, config: {pattern: '['}"), "invalid-pattern"),
        (GRADED.replace("completed", "output-contains, config: {}"), "nothing-checked"),
        (GRADED.replace("completed", "output-contains, config: {substring: [a]}"), "wrong-type"),
        (GRADED.replace("completed", "token-budget, config: {max: -1}"), "out-of-range"),
        (GRADED.replace("completed", "wall-time, config: {max: 90}"), "vally-version"),
        (GRADED.replace("completed", "prompt, config: {scoring: scale_1_6}"), "value-not-allowed"),
        (GRADED.replace("completed", "diff-contains, config: {value: a, pattern: b}"), "conflicting-keys"),
        (GRADED.replace("completed", "tool-calls, config: {requird: [a]}"), "unknown-key"),
        (
            GRADED.replace("completed", "skill-invocation, config: {required: [a], disallowed: [a]}"),
            "contradiction",
        ),
        (f"scoring: {{weights: {{prompt: 1}}}}\n{GRADED}", "key-without-effect"),
        (f"scoring: {{weights: {{prompt: 1}}}}\n{GRADED}", "weights-not-one"),
        (f"scoring: {{weights: {{completed: 3}}}}\n{GRADED}", "weights-not-one"),
        (f"{GRADED}    rubric:\n      - Uses: the tool\n", "wrong-type"),
        (f"{GRADED}    constraints: {{max_turns: many}}\n", "wrong-type"),
        (f"{GRADED}   bad: indent\n", "bad-indentation"),
    ],
)
def test_every_mistake_is_found(text: str, expected: str) -> None:
    found = codes(text)
    assert expected in found or (expected == "bad-indentation" and found)


def test_names_of_graders_are_unique_in_a_stimulus_and_may_recur_in_others() -> None:
    text = """\
        graders: [{type: completed, name: done}]
        stimuli:
          - name: a
            prompt: Go
            graders: [{type: exit-success, name: exits}]
          - name: b
            prompt: Go
            graders: [{type: exit-success, name: exits}, {type: diff-empty, name: done}]
        """
    found = [(each.code, dedent(text)[each.span.start : each.span.end]) for each in vally(text)]
    assert found == [("duplicate-grader-name", "done")]


def test_a_type_of_a_plug_in_is_no_mistake() -> None:
    text = GRADED.replace("completed", "shell-command-invoked, config: {any: 1}")
    assert [(each.code, each.severity) for each in vally(text)] == [("unknown-grader-type", "information")]


def test_named_environments_and_paths(tmp_path: Path) -> None:
    (tmp_path / ".vally.yaml").write_text("environments:\n  dotnet: {commands: [dotnet restore]}\n")
    (tmp_path / "skills" / "a").mkdir(parents=True)
    good = f"environment: dotnet\n{GRADED}"
    assert in_folder(tmp_path, good) == ()
    assert [each.code for each in in_folder(tmp_path, f"environment: dotnett\n{GRADED}")] == [
        "vally-environment"
    ]
    paths = f"environment:\n  skills: [skills/a, ./skills/b]\n  files: [{{src: no/x, dest: x}}]\n{GRADED}"
    assert [each.code for each in in_folder(tmp_path, paths)] == ["missing-file", "missing-file"]


PROJECT = """\
paths:
  skills: [skills, plugins/*/skills]
  evals: evals
  evalFilenames: ["*.eval.yaml"]
  results: results
environments:
  dotnet:
    skills: [skills/dotnet]
    mcpServers: {docs: {type: http, url: http://127.0.0.1:1}}
suites:
  pr:
    description: For pull requests
    filter: {area: [docs, api], tier: smoke}
    evals: ["evals/**/*.yaml"]
plugins: {graders: [./graders/x.js]}
metadata: {team: docs}
"""


def test_a_project_file() -> None:
    assert problems(PROJECT, "vally_project") == ()
    assert problems("# Nothing yet\n", "vally_project") == ()
    wrong = PROJECT.replace("filter", "filters").replace("environments", "enviroments")
    assert [each.code for each in problems(wrong, "vally_project")] == ["unknown-key", "unknown-key"]


def test_a_run_reports_a_misspelt_type_as_the_editor_does(tmp_path: Path) -> None:
    text = GRADED.replace("type: completed", "type: complete")
    (problem,) = in_folder(tmp_path, text)
    with pytest.raises(SuiteFileError) as error:
        load_suite(tmp_path / "a.eval.yaml")
    assert error.value.message == "There is no grader type `complete`; did you mean `completed`?"
    assert problem.message.startswith(f"{error.value.message} The types are ")
    assert error.value.line == 4
