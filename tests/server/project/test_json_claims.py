"""JSON files: evals of skills are claimed by their content, the JSON of other tools never."""

import json
from itertools import chain
from pathlib import Path, PurePosixPath

import pytest

from waza_language_server.project.claim import claim

ROOT = Path(__file__).resolve().parents[3]
CASES = '"evals": [{"id": 1, "prompt": "a", "expected_output": "b"}]'


def kind(text: str, name: str = "skills/s/evals/evals.json") -> str | None:
    return claim(PurePosixPath("/repo", name), text)


@pytest.mark.parametrize("name", ["evals.json", "s.evals.json", "cases.json"])
def test_a_skill_name_and_a_list_of_evals_are_claimed_whatever_the_name(name: str) -> None:
    assert kind(f'{{"skill_name": "s", {CASES}}}', name) == "evals_json"


@pytest.mark.parametrize(
    "text",
    [
        '{"skill": "s", ' + CASES + "}",
        '{"skill_name": "s", "evals": [{"id": 1, "prompt": "a" "files": [}]',
        '{"skill_name": "s", "evals": [',
        "{'skill_name': 's', \"evals\": []}",
    ],
)
def test_a_file_with_mistakes_stays_claimed(text: str) -> None:
    assert kind(text) == "evals_json"


@pytest.mark.parametrize("text", ["", "\n", "{", "{}", "{\n}\n"])
def test_a_file_that_begins_is_claimed_by_its_name_alone(text: str) -> None:
    assert kind(text) == "evals_json"
    assert kind(text, "evals/cases.json") is None


@pytest.mark.parametrize(
    "text",
    [
        '[{"query": "a", "should_trigger": true}, {"qery": "b", "should_trigger": 1}]',
        '{"evals": [{"prompt": "a", "should_trigger": false}]}',
        '[{"query": "a", "should_trigger": "yes"},',
    ],
)
def test_trigger_lists_are_claimed(text: str) -> None:
    assert kind(text, "evals/trigger-cases.json") == "trigger_list"


@pytest.mark.parametrize(
    "data",
    [
        {"name": "x", "version": "1.0.0", "scripts": {"evals": "run", "test": "jest"}},
        {"compilerOptions": {"strict": True}, "include": ["evals"]},
        {"[yaml]": {"editor.tabSize": 2}, "evals": True},
        {"cells": [{"cell_type": "code", "source": ['"evals"']}], "nbformat": 4},
        {"openapi": "3.1.0", "paths": {"/evals": {"get": {}}}},
        {"evals": ["a.yaml", "b.yaml"], "baseline": "x", "variants": {}},
        {"evals": [{"name": "accuracy", "score": 0.5}], "model": "m"},
        {"evals": [{"prompt": "a", "completion": "b"}], "data_source": {}},
        {"skill_name": "s", "evals": {"passed": 3}},
        {"skill_name": "s", "runs": [{"eval_id": 1}]},
        [{"query": "select 1", "params": []}],
        [{"prompt": "a", "ideal": "b"}],
        {"tasks": [{"label": "evals", "type": "shell"}], "version": "2.0.0"},
        [],
        {},
        "evals",
    ],
)
def test_json_of_other_tools_is_left_alone(data: object) -> None:
    assert kind(json.dumps(data, indent=2), "config/settings.json") is None


def test_no_json_file_of_installed_packages_is_claimed() -> None:
    folders = (ROOT / "vscode-extension" / "node_modules", ROOT / ".venv")
    files = sorted(path for folder in folders for path in chain(folder.rglob("*.json")) if path.is_file())[
        :1500
    ]
    claimed = [path for path in files if claim(path, path.read_text("utf-8", errors="replace")) is not None]
    assert claimed == []
