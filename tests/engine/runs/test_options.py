"""What a caller asks for outranks what the suite says."""

import json
from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.suites import (
    config_with,
    only_task,
    only_trial,
    openai_config,
    present,
    recorded,
    run,
    task,
    write_suite,
)
from tests.scripted_model import Slow
from waza_engine.commands.regraded import document, graded
from waza_engine.results.codec.run_documents import counted_document, run_document
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError

SAYS = "- {type: text, name: says, config: {contains: [hello]}}\n"
FAILS = "graders:\n- {type: text, name: fails, config: {contains: [nope]}}\n"


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"tags": ["smoke"]}, ["a", "b"]),
        ({"tags": ["slow", "unknown"]}, ["b", "c"]),
        ({"tags": ["s*"]}, ["a", "b", "c"]),
        ({"tags": ["smoke"], "tasks": ["b", "c"]}, ["b"]),
    ],
)
def test_tags_choose_tasks(tmp_path: Path, options: dict[str, list[str]], ids: list[str]) -> None:
    tags = {"a": "[smoke]", "b": "[smoke, slow]", "c": "[slow]", "d": "[]"}
    path = write_suite(tmp_path, {name: task(name, f"tags: {found}\n") for name, found in tags.items()})
    assert prepare(RunSettings(path, **options)).task_ids == tuple(ids)  # pyright: ignore[reportArgumentType]


def test_an_unknown_tag_names_those_that_there_are(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", "tags: [smoke]\n")})
    with pytest.raises(SuiteError, match=r"tag `nope`; the suite has smoke"):
        prepare(RunSettings(path, tags=("nope",)))
    with pytest.raises(SuiteError, match="cannot be read"):
        prepare(RunSettings(path, tags=("[smoke",)))


def test_a_kept_workspace_is_named_in_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    writes = "inputs: {prompt: hello, files: [{path: made.txt, content: here}]}\n"
    path = write_suite(tmp_path, {"a": f"id: a\n{writes}"})
    report, _ = run(path, keep_workspace=True)
    workspace = Path(only_trial(report).workspace)
    assert (workspace / "made.txt").read_text("utf-8") == "here"
    assert only_trial(run(path)[0]).workspace == ""


def test_fail_fast_can_be_switched_on_and_off(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", FAILS), "b": task("b")})
    assert [found.status for found in run(path, fail_fast=True)[0].outcome.tasks] == ["failed", "skipped"]
    eager = write_suite(
        tmp_path / "eager",
        {"a": task("a", FAILS), "b": task("b")},
        config=config_with("fail_fast: true"),
    )
    assert [found.status for found in run(eager, fail_fast=False)[0].outcome.tasks] == ["failed", "passed"]


def test_the_time_limit_holds_for_tasks_with_their_own(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(Slow(90))
    config = openai_config(model.base_url, seconds=70)
    path = write_suite(tmp_path, {"a": task("a", "timeout_seconds: 75\n")}, config=config)
    report, _ = run(path, timeout_seconds=1)
    assert only_trial(report).status == "error"
    assert report.outcome.summary.duration_ms < 60_000


def test_fixtures_are_found_where_the_caller_says(tmp_path: Path) -> None:
    for name in ("theirs", "own"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text(f"from {name}", "utf-8")
    reads = "inputs: {prompt: hello, files: [notes.txt]}\n"
    tasks = {"a": f"id: a\n{reads}", "b": f"id: b\n{reads}context_dir: own\n"}
    report, _ = run(write_suite(tmp_path, tasks), context_directory=tmp_path / "theirs")
    first, second = (found.trials[0].output for found in report.outcome.tasks)
    assert "from theirs" in first
    assert "from own" in second


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"timeout_seconds": 0}, "1 or more"),
        ({"trials": 0}, "1 or more"),
        ({"context_directory": Path("/nowhere")}, "no context directory"),
    ],
)
def test_an_option_that_makes_no_sense_is_told(tmp_path: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(SuiteError, match=said):
        prepare(RunSettings(write_suite(tmp_path, {"a": task("a")}), **options))  # pyright: ignore[reportArgumentType]


def test_answers_that_were_not_graded_can_be_graded_later(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", "expected: {output_contains: [hello]}\n")}, graders=SAYS)
    report, events = run(path, skip_graders=True)
    found = only_task(report)
    assert (found.status, found.statistics) == ("skipped", None)
    assert found.trials[0].status == "skipped"
    assert found.trials[0].output.startswith("Mock response")
    assert not [event for event in events if event.kind == "graded"]
    assert report.outcome.status == "completed"
    with ResidentSuites() as suites:
        regrading = prepare_regrading(RegradeRequest(present(report.results_file), path), suites)
        (again,) = document(regrading, graded(regrading, RunCancellation()))["tasks"]
    assert again["status"] == "passed"
    assert set(again["runs"][0]["validations"]) == {"says", "_output_contains"}


def test_results_are_grouped_by_the_model(tmp_path: Path) -> None:
    path = write_suite(
        tmp_path,
        {"a": task("a"), "b": task("b", FAILS)},
        graders=SAYS,
        config=config_with("group_by: model, model: small"),
    )
    record = recorded(path)
    written = json.loads(record.read_text("utf-8"))
    assert [found["group"] for found in written["tasks"]] == ["small", "small"]
    assert written["summary"]["groups"] == [{"name": "small", "passed": 1, "total": 2, "avg_score": 0.75}]


def test_a_task_that_did_not_run_is_no_zero_of_its_group_either_when_it_is_counted_again(
    tmp_path: Path,
) -> None:
    config = config_with("group_by: model, model: small, fail_fast: true")
    tasks = {"a": task("a", FAILS), "b": task("b")}
    report, _ = run(write_suite(tmp_path, tasks, graders=SAYS, config=config))
    written = run_document(report.outcome)
    assert written["summary"]["groups"] == [{"name": "small", "passed": 0, "total": 2, "avg_score": 0.5}]
    assert counted_document(written, written["tasks"])["summary"]["groups"] == written["summary"]["groups"]


def test_transcripts_are_written_where_the_caller_says(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS)
    run(path, transcript_directory=tmp_path / "said")
    (file,) = (tmp_path / "said").iterdir()
    written = json.loads(file.read_text("utf-8"))
    assert (written["task_id"], written["prompt"]) == ("a", "Say hello")


def test_defaults_of_the_project_count_where_the_suite_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text(
        "defaults: {judgeModel: judge, workers: 3, parallel: true}\n", "utf-8"
    )
    path = write_suite(tmp_path, {"a": task("a")})
    header = prepare(RunSettings(path)).header
    assert (header.judge_model, header.settings["workers"]) == ("judge", 3)
    alone = write_suite(tmp_path, {"a": task("a")}, config=config_with("judge_model: own, parallel: false"))
    header = prepare(RunSettings(alone)).header
    assert (header.judge_model, header.settings["workers"]) == ("own", 1)


def test_an_option_is_enough_where_the_suite_does_not_say_who_answers(tmp_path: Path) -> None:
    config = "config: {trials_per_task: 1, timeout_seconds: 20}\n"
    path = write_suite(tmp_path, {"a": task("a")}, config=config)
    report, _ = run(path, executor="mock")
    assert report.outcome.status == "completed"
    with pytest.raises(SuiteFileError, match=r"`config\.executor` is missing"):
        prepare(RunSettings(path))


def test_trials_and_time_limit_that_are_missing_are_those_of_the_first_version(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, config="config:\n  executor: mock\n")
    prepared = prepare(RunSettings(path))
    assert (prepared.trials, prepared.suite.spec.config.timeout_seconds) == (1, 300)
    assert [warning.partition("yaml:")[2] for warning in prepared.warnings] == [
        "3: `config.trials_per_task` is missing; 1 is taken",
        "3: `config.timeout_seconds` is missing; 300 is taken",
    ]
    assert prepare(RunSettings(path, trials=2, timeout_seconds=9)).warnings == ()
