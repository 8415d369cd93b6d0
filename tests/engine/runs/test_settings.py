"""The settings of a run are one table: the command line, JSON-RPC and written requests are made from it."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main

from waza_engine.commands.application import application
from waza_engine.commands.parameters import run_settings
from waza_engine.json_rpc import RpcError
from waza_engine.runs.settings.table import RunSettings, setting_rows, settings_from


def test_settings_are_the_same_when_written_and_read_again(tmp_path: Path) -> None:
    values = {
        "texts": ("a", "*b"),
        "text": "name",
        "number": 3,
        "amount": 0.5,
        "choice": False,
        "flag": True,
        "path": tmp_path,
    }
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
