"""A run reads each file of tasks once and builds each grader once, however many tasks it has."""

from collections import Counter
from pathlib import Path

import pytest

from tests.engine.suites import GREETS, run, task, write_suite
from waza_engine.graders.text import TextGrader
from waza_engine.spec.reading import yaml_reader

TASKS = 12


def test_a_grader_of_the_suite_is_built_once_for_all_its_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = Counter[str]()
    create = TextGrader.__init__

    def counted(self: TextGrader, *arguments: object, **options: object) -> None:
        built["text"] += 1
        create(self, *arguments, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(TextGrader, "__init__", counted)
    names = [f"t{number}" for number in range(TASKS)]
    report, _ = run(write_suite(tmp_path, {name: task(name) for name in names}, graders=GREETS))
    assert report.outcome.summary.succeeded == TASKS
    assert built["text"] == 1


def test_a_task_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = Counter[str]()
    parse = yaml_reader.parse_yaml

    def counted(text: str, path: Path) -> yaml_reader.YamlFile:
        parsed[path.name] += 1
        return parse(text, path)

    monkeypatch.setattr(yaml_reader, "parse_yaml", counted)
    report, _ = run(write_suite(tmp_path, {name: task(name) for name in ("a", "b")}, graders=GREETS))
    assert report.outcome.summary.succeeded == 2
    assert {name: count for name, count in parsed.items() if name != "eval.yaml"} == {
        "a.yaml": 1,
        "b.yaml": 1,
    }
