"""Files of agent-eval-harness are claimed by content, name and suite; the JSON of other tools never is."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.server.project.files import EVAL, opened, project_with, put
from waza_language_server.project.claim import claim

CAPTURE = {"id": "a", "input": "x", "output": "y", "trajectory": [], "metadata": {}, "timing": {}}
TRIALS = {"id": "a", "input": "x", "k": 2, "trials": []}
ADAPTER = {"version": 1, "name": "a", "command": ["a"], "sessionMode": "stream"}


def kind(name: str, *rows: object, text: str | None = None) -> str | None:
    return claim(PurePosixPath("/repo", name), "\n".join(map(json.dumps, rows)) if text is None else text)


@pytest.mark.parametrize(
    ("name", "row", "expected"),
    [
        ("prompts.jsonl", {"id": "a", "input": "x"}, "prompts"),
        ("prompts.ndjson", {"id": 1, "input": "x", "expected": "y"}, "prompts"),
        ("coding-prompts.jsonl", {"id": "a", "input": ["x"]}, "prompts"),
        ("prompts.easy.jsonl", {"id": "a", "input": ["x"]}, "prompts"),
        ("cases.jsonl", {"id": "a", "input": "x", "hint": "y"}, "prompts"),
        ("cases.ndjson", {"id": "a", "input": "x", "reference": "y", "metadata": {}}, "prompts"),
        ("anything.jsonl", CAPTURE, "captures"),
        ("prompts.jsonl", CAPTURE, "captures"),
        ("anything.ndjson", TRIALS, "trials"),
        ("claude.json", ADAPTER, "adapter"),
        ("adapters/claude.json", {"sessionMode": "stream"}, "adapter"),
        ("claude.json", {"version": 2, "command": "a", "session_mode": "x"}, "adapter"),
    ],
)
def test_files_of_the_harness_are_claimed(name: str, row: object, expected: str) -> None:
    assert kind(name, row) == expected
    assert (
        kind(name, text=f"\ufeff\r\n{json.dumps(row)}\r\n" if name[-4:] != "json" else json.dumps(row))
        == expected
    )


@pytest.mark.parametrize("text", ["", "\n", "{", '{"id": "a", "input": ', '{"id": "a" "input": "b"}\n{}'])
def test_a_file_of_prompts_that_begins_is_claimed_by_its_name_alone(text: str) -> None:
    assert kind("prompts.jsonl", text=text) == "prompts"
    assert kind("data.jsonl", text=text) is None


def test_a_suite_claims_the_files_that_it_names(tmp_path: Path) -> None:
    names = {"rows.jsonl": "prompts", "old/r.jsonl": "captures", "a/claude.json": "adapter"}
    text = EVAL.replace("tasks:\n      - tasks/*.yaml", "tasks_from: ./rows.jsonl")
    text = text.replace(
        "config:\n", "config:\n      adapter: a/claude.json\n      recording: old/r.jsonl\n", 1
    )
    suite = put(tmp_path, "eval.yaml", text)
    project = project_with(roots=(tmp_path,))
    for name, expected in names.items():
        assert project.claim(put(tmp_path, name, "{\n")) == expected
        assert project.claim(tmp_path / name, "") == expected
    assert project.claim(put(tmp_path, "other.jsonl", "{\n")) is None
    renamed = opened(suite, "eval").replaced(suite.read_text().replace("rows.jsonl", "other.jsonl"), 2)
    project = project.with_document(renamed)
    assert project.claim(tmp_path / "other.jsonl") == "prompts"
    assert project.claim(tmp_path / "rows.jsonl") is None


def foreign() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the names and the objects of ordinary files of other tools."""
    chance = random.Random(7)
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]

    def word() -> str:
        return chance.choice(words)

    def number() -> int:
        return chance.randrange(1_000)

    rows: dict[str, Callable[[], dict[str, Any]]] = {
        "train": lambda: {"messages": [{"role": "user", "content": word()}]},
        "finetune": lambda: {"prompt": word(), "completion": word()},
        "batch": lambda: {"custom_id": word(), "method": "POST", "url": "/v1", "body": {"input": word()}},
        "alpaca": lambda: {"instruction": word(), "input": word(), "output": word()},
        "inspect": lambda: {"id": number(), "input": word(), "target": word(), "metadata": {}},
        "braintrust": lambda: {"id": word(), "input": word(), "expected": word(), "metadata": {}},
        "scored": lambda: {"id": word(), "input": word(), "output": word(), "scores": {"x": 1}},
        "embeddings": lambda: {"id": word(), "input": word()},
        "squad": lambda: {"id": word(), "question": word(), "context": word(), "answers": {"text": []}},
        "log": lambda: {"ts": number(), "level": "info", "msg": word(), "timing": {"total": 1}},
        "trace": lambda: {"id": word(), "name": word(), "parent": None, "duration": number()},
        "swe": lambda: {"instance_id": word(), "trajectory": [{"action": word()}], "info": {}},
        "robot": lambda: {"trajectory": [[1, 2]], "timing": {"dt": 1}, "robot": word()},
        "hyper": lambda: {"k": number(), "trials": [{"lr": 0.1}], "study": word()},
        "preference": lambda: {"prompt": word(), "chosen": word(), "rejected": word()},
        "hint": lambda: {"id": word(), "question": word(), "hint": word()},
        "promptfoo": lambda: {"vars": {"x": word()}, "assert": [], "prompts": [word()]},
        "prompts": lambda: {"prompt": word(), "category": word()},
        "system-prompts": lambda: {"id": word(), "text": word(), "role": "system"},
        "prompts.train": lambda: {"id": word(), "input": word(), "target": word()},
    }
    for name, row in rows.items():
        for number_of_rows in range(10):
            yield (
                f"data/{name}.{chance.choice(['jsonl', 'ndjson'])}",
                [row() for _ in range(number_of_rows + 1)],
            )
    settings: dict[str, Callable[[], dict[str, Any]]] = {
        "package": lambda: {
            "name": word(),
            "version": "1.0.0",
            "scripts": {"test": word()},
            "command": word(),
        },
        "tsconfig": lambda: {"compilerOptions": {"strict": True}, "include": [word()]},
        "mcp": lambda: {"mcpServers": {word(): {"command": "npx", "args": [word()]}}},
        "tasks": lambda: {"version": "2.0.0", "command": word(), "tasks": [{"label": word()}]},
        "launch": lambda: {"version": "0.2.0", "configurations": [{"command": word()}]},
        "openapi": lambda: {"openapi": "3.1.0", "info": {"version": "1"}, "paths": {}},
        "manifest": lambda: {"manifest_version": 3, "version": "1", "commands": {}},
        "compose": lambda: {"version": 3, "services": {"a": {"command": ["x"]}}},
        "session": lambda: {"version": 1, "sessionMode": "dark", "theme": word()},
        "events": lambda: {"version": 1, "outputEvents": [word()], "name": word()},
        "renovate": lambda: {"$schema": "x", "extends": [word()]},
    }
    for name, data in settings.items():
        for _ in range(10):
            yield f"config/{name}.json", [data()]


FOREIGN = list(foreign())


def test_three_hundred_files_of_other_tools_are_left_alone() -> None:
    assert len(FOREIGN) >= 300
    assert [(name, rows[0]) for name, rows in FOREIGN if kind(name, *rows) is not None] == []
