"""Lenses, scores and the test tree of ``evals.json`` and trigger lists, with records of the engine itself."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.server.features.results import RUN_AT, date, grade, write_results
from tests.server.project.files import opened, put, workspace_with
from waza_engine import api
from waza_language_server.features.runnables.code_lens import code_lenses
from waza_language_server.features.runnables.runnables import children, suites
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.uris import path_of
from waza_language_server.project.workspace import Workspace

SKILL = "---\nname: csv\ndescription: Charts of CSV files.\n---\n"
EVALS = """\
{
  "skill_name": "csv",
  "evals": [
    {"id": 1, "prompt": "Name the total", "assertions": [
      {"type": "content", "pattern": "tota[l]"},
      {"type": "must_not", "pattern": "Name"},
      {"type": "must_not", "pattern": "Name"},
      {"type": "content", "pattern": "tota[l]", "name": "assertions"}
    ]},
    {"id": "two", "prompt": "x", "expected_output": "y"}
  ]
}
"""
TRIGGERS = (
    '[\n  {"query": "Chart this", "should_trigger": true},\n  {"query": "Hi", "should_trigger": false}\n]\n'
)


def workspace_of(path: Path, kind: DocumentKind) -> tuple[Document, Workspace]:
    document = opened(path, kind)
    return document, workspace_with(document, roots=(path.parents[2],))


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    put(tmp_path, "csv/SKILL.md", SKILL)
    return put(tmp_path, "csv/evals/evals.json", EVALS)


def by_line(document: Document, workspace: Workspace) -> list[tuple[int, str]]:
    """Return the line (from 1) and the label of each hint."""
    hints = inlay_hints(document, workspace)
    return [(document.lines.line_of(hint.offset) + 1, hint.label) for hint in hints]


def lenses_of(document: Document, workspace: Workspace) -> list[tuple[int, str, str]]:
    """Return the line (from 1), the title and the id below the file of each lens."""
    lines, start = document.lines, str(path_of(document.uri))
    return [
        (lines.line_of(lens.span.start) + 1, lens.title, lens.argument["id"].removeprefix(start))
        for lens in code_lenses(document, workspace)
    ]


def test_each_assertion_has_the_verdict_of_the_run(evals: Path) -> None:
    api.run(evals, tasks="1")
    document, workspace = workspace_of(evals, "evals_json")
    assert by_line(document, workspace) == [(4, "✗ 0.67"), (5, "✓"), (6, "✗"), (8, "✓")]


def test_each_sentence_has_the_verdict_of_the_judge(tmp_path: Path) -> None:
    put(tmp_path, "csv/SKILL.md", SKILL)
    text = """\
{"skill_name": "csv", "evals": [
{"id": 1, "prompt": "p", "expectations": ["B"], "assertions": [
"A",
"B",
{"description": "C"}
]}]}
"""
    path = put(tmp_path, "csv/evals/evals.json", text)
    checks: list[tuple[list[str | int], bool, str]] = [
        (["criteria", 0], True, ""),
        (["criteria", 1], False, "There is no B."),
        (["criteria", 2], True, ""),
    ]
    write_results(path, {"1": [[grade("assertions", 0.67, "", checks)]]})
    document, workspace = workspace_of(path, "evals_json")
    hints = [hint for hint in inlay_hints(document, workspace) if hint.kind == "check"]
    assert [(document.lines.line_of(hint.offset) + 1, hint.label) for hint in hints] == [
        (3, "✓"),
        (4, "✗"),
        (5, "✓"),
    ]
    assert "There is no B." in hints[1].tooltip


def test_a_case_that_was_edited_since_is_stale(evals: Path) -> None:
    write_results(evals, {"1": [[grade("assertion-1", 1.0)]], "two": [[grade("assertions", 1.0)]]})
    date(evals, RUN_AT - timedelta(hours=1))
    _, workspace = workspace_of(evals, "evals_json")
    edited = opened(evals, "evals_json").replaced(EVALS.replace('"x"', '"z"'), 2)
    labels = [label for _, label in by_line(edited, workspace.with_document(edited))]
    assert [label.partition(" · ")[2][:5] for label in labels if "1.00" in label] == ["", "stale"]


def test_lenses_run_the_file_and_each_case(evals: Path) -> None:
    assert lenses_of(*workspace_of(evals, "evals_json")) == [
        (2, "▶ Run all", ""),
        (4, "▶ Run case", "::1"),
        (10, "▶ Run case", "::two"),
    ]


def test_a_trigger_list_has_lenses_and_verdicts_of_its_prompts(evals: Path) -> None:
    path = put(evals.parent, "triggers.json", TRIGGERS)
    assert [each[:2] for each in lenses_of(*workspace_of(path, "trigger_list"))] == [
        (1, "▶ Run all"),
        (2, "▶ Run prompt"),
        (3, "▶ Run prompt"),
    ]
    api.run(path)
    assert by_line(*workspace_of(path, "trigger_list")) == [(2, "✓"), (3, "✓")]


def run_of(case: object, configuration: str, rate: object) -> dict[str, Any]:
    """Return a run of a benchmark."""
    return {"eval_id": case, "configuration": configuration, "result": {"pass_rate": rate}}


def test_cases_have_the_rates_of_the_newest_benchmark_of_skill_creator(evals: Path) -> None:
    newest = [run_of(1, "with_skill", 1), run_of(1, "with_skill", 0.5), run_of(1, "old_skill", 0.25)]
    for iteration, runs in (("9", [run_of(1, "with_skill", 0)]), ("10", [*newest, run_of("two", "x", 1)])):
        name = f"csv-workspace/iteration-{iteration}/benchmark.json"
        put(evals.parents[2], name, json.dumps({"runs": runs}))
    document, workspace = workspace_of(evals, "evals_json")
    assert by_line(document, workspace) == [(4, "with skill 0.75 · without 0.25")]
    (hint,) = inlay_hints(document, workspace)
    assert "csv-workspace/iteration-10" in hint.tooltip


def test_without_runs_of_cases_in_the_benchmark_the_gradings_count(evals: Path) -> None:
    files = {
        "benchmark.json": {"run_summary": {"with_skill": {"pass_rate": {"mean": 1}}}},
        "eval-0/eval_metadata.json": {"eval_id": 1, "eval_name": "chart"},
        "eval-0/with_skill/run-1/grading.json": {"summary": {"pass_rate": 1}},
        "eval-0/with_skill/run-2/grading.json": {"summary": {"pass_rate": 0.5}},
        "eval-0/without_skill/grading.json": {"summary": {"pass_rate": 0}},
        "eval-two/old_skill/grading.json": {"summary": {"pass_rate": 0.5}},
        "eval-two/with_skill/grading.json": {"summary": {"pass_rate": None}},
        "eval-two/with_skill/run-1/grading.json": [],
    }
    for name, content in files.items():
        put(evals.parents[2], f"csv-workspace/iteration-2/{name}", json.dumps(content))
    put(
        evals.parents[2],
        "csv-workspace/iteration-1/eval-1/with_skill/grading.json",
        '{"summary": {"pass_rate": 0}}',
    )
    document, workspace = workspace_of(evals, "evals_json")
    assert [label for _, label in by_line(document, workspace)] == [
        "with skill 0.75 · without 0.00",
        "without 0.50",
    ]


@pytest.mark.parametrize("runs", [1, [1], [run_of(1, "with_skill", "x")], [run_of(1, "with_skill", None)]])
def test_a_benchmark_of_another_form_shows_nothing(evals: Path, runs: object) -> None:
    put(evals.parents[2], "csv-workspace/iteration-1/benchmark.json", json.dumps({"runs": runs}))
    assert by_line(*workspace_of(evals, "evals_json")) == []


def test_the_test_tree_has_the_evals_of_skills(evals: Path) -> None:
    put(evals.parent, "triggers.json", TRIGGERS)
    put(evals.parents[2], "package.json", '{"evals": []}')
    _, workspace = workspace_of(evals, "evals_json")
    (suite,) = suites(workspace.project)
    assert (suite.label, suite.id) == ("csv", str(evals))
    assert [item.label for item in children(workspace.project, RunnableId(evals))] == ["1", "two"]
