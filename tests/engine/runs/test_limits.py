"""The largest numbers that a run takes are the same on a command line, in a suite, and in the editor."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main
import yaml

from tests.command_line import engine, stderr_of
from tests.engine.spec.schema_reading import error_paths
from tests.engine.suites import task, write_suite
from tests.server.analysis.drawing import EVAL, problems
from waza_engine.commands.application import application
from waza_engine.commands.parameters import run_settings
from waza_engine.json_rpc import RpcError
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings, setting_rows, settings_from
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


def test_settings_are_the_same_when_written_and_read_again(tmp_path: Path) -> None:
    values = {**GIVEN, "texts": ("a", "*b"), "path": tmp_path}
    settings = RunSettings(tmp_path, **{name: values[row.kind] for name, row in setting_rows().items()})  # type: ignore[arg-type]
    assert settings_from(json.loads(json.dumps(settings.document()))) == settings
    assert RunSettings(tmp_path).document() == {"path": str(tmp_path)}


def test_what_decides_the_numbers_is_told_in_the_results_as_it_was_asked_for(tmp_path: Path) -> None:
    asked = {"tags": ["fast"], "judge_executor": "openai", "max_cost_usd": 0.5, "skip_graders": True}
    settings = RunSettings(
        tmp_path, tags=("fast",), judge_executor="openai", max_cost_usd=0.5, skip_graders=True
    )
    assert settings.recorded() == {
        **asked,
        "max_tokens": None,
        "timeout_seconds": None,
        "fail_under": None,
        "fail_under_trigger": None,
        "cache": False,
        "changed_since": None,
        "prompts": [],
    }


def test_every_setting_with_an_option_is_one_of_the_command() -> None:
    command = cast("Any", typer.main.get_command(application)).commands["run"]
    options = {parameter.name: parameter for parameter in command.params}
    for name, row in setting_rows().items():
        if row.option:
            positive, _, negative = row.option.partition("/")
            assert options[name].opts == [positive]
            assert options[name].secondary_opts == ([negative] if negative else [])
            assert options[name].help == row.help


GIVEN = {
    "texts": ["a", "*b"],
    "text": "name",
    "number": 3,
    "amount": 0.5,
    "choice": False,
    "flag": True,
    "path": "/somewhere",
}


def test_every_setting_with_a_parameter_is_read_from_a_request() -> None:
    rows = {name: row for name, row in setting_rows().items() if row.parameter}
    params = {row.parameter: GIVEN[row.kind] for row in rows.values()}
    found = run_settings({"path": "eval.yaml", **params}, lambda params, key: Path(params[key]))
    for name, row in rows.items():
        value = getattr(found, name)
        assert (list(value) if row.kind == "texts" else str(value) if row.kind == "path" else value) == (
            GIVEN[row.kind]
        )


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"trails": 2}, "`trails` is not known"),
        ({"session_log": True}, "`session_log` is not known"),
        ({"trials": 0}, "`trials` must be a whole number, 1 or more."),
        ({"max_tokens": -1}, "`max_tokens` must be a whole number, 0 or more."),
        ({"parallel": 1}, "`parallel` must be true or false."),
        ({"max_cost": "much"}, "`max_cost` must be a number, 0 or more."),
        ({"tasks": "a"}, "`tasks` must be a list of texts."),
    ],
)
def test_what_is_no_setting_is_refused(params: dict[str, object], complaint: str) -> None:
    with pytest.raises(RpcError, match=complaint):
        run_settings({"path": "eval.yaml", **params}, lambda params, key: Path(params[key]))
