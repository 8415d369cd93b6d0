"""A live verdict is of the files as they are that it was judged by, and of no others."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.engine.suites import run
from tests.server.project.files import opened, put, workspace_with
from waza_engine.spec.reading.scalars import Json
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.features.scores.stale_results import stale_results
from waza_language_server.project import regraded
from waza_language_server.project.regraded_answers import live_task
from waza_language_server.project.scores import Scores

EVAL = """\
name: my-eval
skill: my-skill
config: {trials_per_task: 1, timeout_seconds: 20, executor: mock, model: some-model}
graders:
  - {type: json_schema, name: shape, config: {schema_file: schema.json}}
tasks: [tasks/*.yaml]
"""
ENTRY: Json = {"type": "json_schema", "name": "shape", "config": {"schema_file": "schema.json"}}
NOTHING: Mapping[str, str] = MappingProxyType({})
THEN, NOW, BETWEEN = '{"type": "object"}', '{"type": "array"}', '{"type": "string"}'


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "schema.json", THEN)
    put(tmp_path, "tasks/a.yaml", "id: a\nname: a\ninputs: {prompt: hello}\n")
    path = put(tmp_path, "eval.yaml", EVAL)
    run(path)
    return path


def take_live(
    scores: Scores, suite: Path, *, passed: bool = False, read: Mapping[str, str] = NOTHING
) -> None:
    """Take a verdict of the grader as the engine tells it when it judges live."""
    recorded = scores.results(suite)
    assert recorded is not None
    (then,) = recorded.tasks.values()
    block = {
        "type": "json_schema",
        "origin": "live",
        "status": "graded",
        "score": float(passed),
        "passed": passed,
        "scores": [float(passed)],
        "passes": [passed],
        "trials": [{"trial": 1, "passed": passed}],
        "read": read,
    }
    verdict = live_task("shape", block, then, {("", "shape"): ENTRY}, datetime.now(UTC))
    assert verdict is not None
    scores.regraded.add(suite, "a", verdict)


def label(suite: Path, judged_by: str | None, schema: str | None = None) -> str:
    """Return the hint of the grader that was judged by a schema; ``schema`` is open with this text."""
    document, workspace = opened(suite, "eval"), workspace_with()
    if schema is not None:
        workspace = workspace.with_document(opened(suite.parent / "schema.json", "project_config", schema))
    workspace = workspace.with_document(document)
    inlay_hints(document, workspace)
    scores = workspace.project.scores
    read: Mapping[str, str] = {}
    if judged_by is not None:
        read = {str(suite.parent / "schema.json"): hashlib.sha256(judged_by.encode()).hexdigest()}
    take_live(scores, suite, read=read)
    (found,) = [hint.label for hint in inlay_hints(document, workspace) if hint.kind == "score"]
    return found


def test_what_was_judged_by_a_schema_of_today_is_not_out_of_date_by_it(suite: Path) -> None:
    put(suite.parent, "schema.json", NOW)
    assert label(suite, NOW) == "⚡ ✗ 1 of 1"
    assert label(suite, THEN, THEN) == "⚡ ✗ 1 of 1"


def test_what_was_judged_by_another_schema_is_no_live_verdict(suite: Path) -> None:
    put(suite.parent, "schema.json", NOW)
    assert label(suite, BETWEEN) == "↻ ✗ 0.00 · stale: schema.json +1 −1"
    assert label(suite, THEN) == "↻ ✗ 0.00 · stale: schema.json +1 −1"
    assert label(suite, NOW, BETWEEN) == "↻ ✗ 0.00 · stale: schema.json +1 −1"


def test_nor_is_it_when_the_schema_is_again_as_it_was_at_the_run(suite: Path) -> None:
    assert label(suite, NOW) == "↻ ✗ 0.00 · stale"
    assert label(suite, THEN) == "⚡ ✗ 1 of 1"


def test_a_file_that_decides_more_than_the_verdict_makes_it_out_of_date(suite: Path) -> None:
    put(suite.parent, "schema.json", NOW)
    assert label(suite, None) == "↻ ✗ 0.00 · stale: schema.json +1 −1"


def test_a_shown_result_is_stale_when_a_live_verdict_differs_from_it(suite: Path) -> None:
    project = workspace_with().project
    recorded = project.scores.results(suite)
    assert recorded is not None
    is_passed = recorded.tasks["a"].graders["shape"].passed
    take_live(project.scores, suite, passed=is_passed)
    assert stale_results(project, suite) == ()
    take_live(project.scores, suite, passed=not is_passed)
    stale = stale_results(project, suite)
    assert [(str(each.id), each.words) for each in stale] == [(str(suite), "stale: judged live")]


def test_a_verdict_of_an_older_text_is_pending_later(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = workspace_with()
    scores = workspace.project.scores
    take_live(scores, suite)
    edited = opened(suite, "eval", EVAL.replace("schema.json}", "other.json}"))

    def shown() -> str:
        hints = inlay_hints(edited, workspace.with_document(edited))
        return next(hint.label for hint in hints if hint.kind == "score")

    assert "stale" in shown()
    scores.regraded.note_edit(suite)
    assert shown() == "⚡ ✗ 1 of 1"
    monkeypatch.setattr(regraded, "PENDING_AFTER_SECONDS", 0.0)
    assert shown() == "⚡ ◷ pending"
    scores.regraded.note_answer(suite)
    assert "stale" in shown()


def test_live_verdicts_of_the_suites_graders_are_marked_in_a_task(suite: Path) -> None:
    document = opened(suite.parent / "tasks/a.yaml", "task")
    workspace = workspace_with(document, opened(suite, "eval"))
    inlay_hints(document, workspace)
    take_live(workspace.project.scores, suite, passed=True)
    assert [hint.label for hint in inlay_hints(document, workspace)][1] == "⚡ ✓ 1 of the suite"
