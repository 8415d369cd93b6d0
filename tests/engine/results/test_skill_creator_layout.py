"""The layout of skill-creator's workspaces: what its viewer and its statistics read."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.runs.test_skill_evals import NEVER, SAYS, skill_with
from tests.engine.suites import CONFIG, GREETS, run, task, write_suite
from waza_engine.commands.run import run_command
from waza_engine.commands.skill_creator_layout import write_layout
from waza_engine.executors.executor import Cancellation, ExecutionRequest, ExecutionResponse
from waza_engine.executors.mock import MockExecutor
from waza_engine.masking import read_environment
from waza_engine.results.writing.transcripts import file_stem
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.runs.settings.table import RunSettings


@pytest.fixture(autouse=True)
def _kept_workspaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workspaces").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "workspaces"))


def written(path: Path, **options: Any) -> Path:
    report, _ = run(path, keep_workspace=True, **options)
    return write_layout(load_suite(path), report.outcome)


def read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def test_one_trial_lies_directly_in_the_folder_of_its_configuration(tmp_path: Path) -> None:
    case = {"expected_output": "A cup.", "assertions": [SAYS, "It is hot.", NEVER], "slug": "brew"}
    folder = written(skill_with(tmp_path, case))
    assert folder == tmp_path / "skills" / "tea-workspace" / "iteration-1"
    trial = folder / "eval-brew" / "with_skill"
    grading = read(trial / "grading.json")
    assert [(each["text"], each["passed"]) for each in grading["expectations"]] == [
        ("says", True),
        ("It is hot.", False),
        ("must_not: coffee", True),
    ]
    assert grading["expectations"][1]["evidence"].startswith("Not judged: ")
    assert grading["summary"] == {"passed": 2, "failed": 1, "total": 3, "pass_rate": 0.6667}
    assert set(read(trial / "timing.json")) == {"total_tokens", "duration_ms", "total_duration_seconds"}
    assert "Brew tea" in (trial / "outputs" / "answer.md").read_text("utf-8")
    assert read(folder / "eval-brew" / "eval_metadata.json") == {
        "eval_id": 1,
        "eval_name": "brew",
        "prompt": "Brew tea",
        "assertions": ["says", "It is hot.", "must_not: coffee"],
    }


def test_a_credential_in_the_name_of_a_task_is_in_no_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as environment:
        environment.setenv("OPENAI_API_KEY", "sk-proj-Zq8vX2mN4bK7wRtY")
        read_environment()
        folder = written(
            skill_with(tmp_path, {"assertions": [SAYS], "slug": "brew sk-proj-Zq8vX2mN4bK7wRtY"})
        )
        assert file_stem("Brew sk-proj-Zq8vX2mN4bK7wRtY") == "brew-"
    read_environment()
    assert [each.name for each in folder.iterdir() if each.is_dir()] == ["eval-brew----"]


def test_several_trials_and_the_baseline_have_folders_of_their_own(tmp_path: Path) -> None:
    path = skill_with(tmp_path, {"assertions": [SAYS]}, {"id": "two", "assertions": [NEVER]})
    folder = written(path, trials=2, baseline=True)
    found = sorted(file.parent.relative_to(folder).as_posix() for file in folder.rglob("grading.json"))
    sides = [f"{side}/run-{number}" for side in ("with_skill", "without_skill") for number in (1, 2)]
    assert found == [f"eval-{name}/{side}" for name in ("1", "two") for side in sides]
    assert read(folder / "eval-1" / "with_skill" / "run-2" / "eval_metadata.json")["eval_id"] == "1"
    benchmark = read(folder / "benchmark.json")
    assert benchmark["metadata"]["evals_run"] == ["1", "two"]
    assert benchmark["metadata"]["runs_per_configuration"] == 2
    assert len(benchmark["runs"]) == 8
    assert benchmark["runs"][0]["result"] | {"time_seconds": 0} == {
        "passed": 1,
        "failed": 0,
        "total": 1,
        "pass_rate": 1.0,
        "time_seconds": 0,
        "tokens": 0,
        "tool_calls": 0,
        "errors": 0,
    }
    assert benchmark["run_summary"]["with_skill"]["pass_rate"]["mean"] == 1.0
    assert benchmark["run_summary"]["delta"]["pass_rate"] == "+0.00"
    assert written(path) == folder.with_name("iteration-2")


def test_the_files_of_the_agent_are_outputs(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    writes = "hooks: {before_task: [{command: 'true'}]}\n"
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS, more=writes)
    report, _ = run(path, keep_workspace=True)
    trial = report.outcome.tasks[0].trials[0]
    workspace = Path(trial.workspace)
    (workspace / "out").mkdir()
    (workspace / "out" / "a.txt").write_text("made")
    (workspace / "answer.md").symlink_to("/etc/passwd")
    object.__setattr__(
        trial, "files_changed", type(trial.files_changed)(created=("out/a.txt", "answer.md", "gone"))
    )
    folder = write_layout(load_suite(path), report.outcome)
    outputs = folder / "eval-Task-a" / "with_skill" / "outputs"
    assert sorted(file.relative_to(outputs).as_posix() for file in outputs.rglob("*") if file.is_file()) == [
        "answer.md",
        "out/a.txt",
    ]
    assert [each["text"] for each in read(outputs.parent / "grading.json")["expectations"]] == ["greets"]


@pytest.mark.parametrize("keep", [False, True])
def test_workspaces_are_removed_unless_they_are_asked_for(tmp_path: Path, keep: bool) -> None:
    path = skill_with(tmp_path, {"assertions": [SAYS]})
    settings = RunSettings(path, trials=2, baseline=True, keep_workspace=keep)
    assert run_command([path], settings, None, "json", layout="skill-creator") == 0
    assert (tmp_path / "skills" / "tea-workspace" / "iteration-1" / "benchmark.json").is_file()
    assert len(list((tmp_path / "workspaces").iterdir())) == (4 if keep else 0)


def test_the_workspaces_of_earlier_attempts_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def fails_at_first(
        _: MockExecutor, request: ExecutionRequest, cancellation: Cancellation
    ) -> ExecutionResponse:
        del cancellation
        asked.append(request.workspace)
        return ExecutionResponse(output="hello" if len(asked) == 2 else "bye", session="s")

    monkeypatch.setattr(MockExecutor, "execute", fails_at_first)
    path = write_suite(
        tmp_path, {"a": task("a")}, graders=GREETS, config=CONFIG.replace("}", ", max_attempts: 2}")
    )
    report, _ = run(path, keep_workspace=True)
    trial = report.outcome.tasks[0].trials[0]
    assert (trial.status, trial.attempts) == ("passed", 2)
    assert list((tmp_path / "workspaces").iterdir()) == [Path(trial.workspace)] == asked[1:]
    asked.clear()
    assert run_command([path], RunSettings(path), None, "json", layout="skill-creator") == 0
    assert list((tmp_path / "workspaces").iterdir()) == [Path(trial.workspace)]
