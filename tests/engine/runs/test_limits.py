"""The largest numbers that a run takes are the same on a command line, in a suite, and in the editor."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import engine, stderr_of
from tests.engine.spec.schema_reading import error_paths
from tests.engine.suites import task, write_suite
from tests.server.analysis.drawing import EVAL, problems
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError

IN_A_SUITE = [
    ("trials_per_task", 1_000),
    ("timeout_seconds", 604_800),
    ("workers", 256),
    ("max_workers", 256),
    ("max_attempts", 100),
    ("first_event_timeout_seconds", 604_800),
]


def suite_with(folder: Path, **config: object) -> Path:
    path = write_suite(folder, {"a": task("a")})
    content = yaml.safe_load(path.read_text("utf-8"))
    content["config"] |= config
    path.write_text(yaml.safe_dump(content), "utf-8")
    return path


@pytest.mark.parametrize(("key", "most"), IN_A_SUITE)
def test_a_suite_with_more_is_an_error_of_the_run_and_of_the_editor(
    tmp_path: Path, key: str, most: int
) -> None:
    prepare(RunSettings(suite_with(tmp_path, **{key: most})))
    path = suite_with(tmp_path, **{key: most + 1})
    with pytest.raises(SuiteFileError, match=f"`config.{key}` must be {most} or less"):
        prepare(RunSettings(path))
    assert error_paths("eval", yaml.safe_load(path.read_text("utf-8"))) == [("config", key)]


def test_the_editor_marks_the_number_and_says_the_bound() -> None:
    [problem] = problems(EVAL.replace("config:\n", "config:\n  workers: 257\n", 1), "eval")
    assert (problem.code, problem.severity) == ("out-of-range", "error")
    assert "at most 256" in problem.message


def test_fewer_workers_than_none_stay_a_warning() -> None:
    [problem] = problems(EVAL.replace("config:\n", "config:\n  workers: -1\n", 1), "eval")
    assert (problem.code, problem.severity) == ("out-of-range", "warning")


@pytest.mark.parametrize(
    ("kind", "content", "at"),
    [
        ("task", {"timeout_seconds": 604_801}, ("timeout_seconds",)),
        ("project_config", {"defaults": {"workers": 257}}, ("defaults", "workers")),
        ("project_config", {"graders": {"programTimeout": 604_801}}, ("graders", "programTimeout")),
        ("prompts", {"timeout": 604_800_001}, ("timeout",)),
    ],
)
def test_other_files_have_the_same_limits(kind: str, content: dict[str, Any], at: tuple[str, ...]) -> None:
    assert at in error_paths(kind, content)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--trials", "1001", "`--trials` must be 1000 or less."),
        ("--workers", "257", "`--workers` must be 256 or less."),
        ("--timeout", "9" * 30, "`--timeout` must be 604800 or less."),
        ("--timeout", "0", "`--timeout` must be 1 or more."),
        ("--max-cost", "nan", "`--max-cost` must be 0 or more."),
        ("--max-cost", "inf", "`--max-cost` must be a finite number; leave it out to have no limit."),
        ("--task", "", "`--task` is blank; name one, or leave it out."),
        ("--task", "  ", "`--task` is blank; name one, or leave it out."),
        ("--tags", "", "`--tags` is blank; name one, or leave it out."),
        ("--grader", "", "`--grader` is blank; name one, or leave it out."),
        ("--prompt", "", "`--prompt` is blank; name one, or leave it out."),
        ("--changed-since", "", "`--changed-since` is blank; name one, or leave it out."),
        ("--judge-executor", "", "`--judge-executor` is blank; name one, or leave it out."),
    ],
)
def test_an_option_that_limits_nothing_or_is_too_large_is_refused(
    tmp_path: Path, option: str, value: str, said: str
) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    found = engine("run", path, f"{option}={value}", "--task", "a")
    assert (found.returncode, said in found.stderr) == (2, True), found.stderr
    assert not (tmp_path / ".waza").exists()


@pytest.mark.parametrize("option", ["--task", "--grader"])
@pytest.mark.parametrize("value", ["", " "])
def test_a_blank_filter_of_grading_again_is_refused(tmp_path: Path, option: str, value: str) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    assert engine("run", path).returncode in (0, 1)
    assert f"`{option}` is blank" in stderr_of("grade", path, f"{option}={value}")


def test_settings_that_no_command_line_gave_are_looked_at_too(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    with pytest.raises(SuiteError, match="`--workers` must be 256 or less"):
        prepare(RunSettings(path, workers=257))
    with pytest.raises(SuiteError, match="`--task` is blank"):
        prepare(RunSettings(path, tasks=("a", "")))
