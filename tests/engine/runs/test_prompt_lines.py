"""Tasks from ``prompts.jsonl``."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.engine.suites import CONFIG, run
from waza_engine.runs.loading.suite import Suite, load_suite
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.task_file import TaskFile

ROOT = Path(__file__).parents[3]


def suite_of(directory: Path, lines: str | bytes, more: str = "", name: str = "prompts.jsonl") -> Path:
    (directory / name).write_bytes(lines.encode() if isinstance(lines, str) else lines)
    path = directory / "eval.yaml"
    path.write_text(f"name: suite\nskill: writer\n{CONFIG}tasks_from: {name}\n{more}")
    return path


def loaded(directory: Path, lines: str | bytes, more: str = "") -> Suite:
    return load_suite(suite_of(directory, lines, more))


def tasks(suite: Suite) -> list[TaskFile]:
    found = [task.task for task in suite.tasks]
    assert None not in found
    return [task for task in found if task is not None]


def line(identifier: str = "a", **keys: object) -> str:
    return json.dumps({"id": identifier, "input": "Hi", **keys}) + "\n"


def test_each_line_is_a_task_and_runs(tmp_path: Path) -> None:
    report, _ = run(suite_of(tmp_path, line("a", input="Say one") + line("b", input=["two", "three"])))
    assert [(task.id, task.name, task.status) for task in report.outcome.tasks] == [
        ("a", "a", "passed"),
        ("b", "b", "passed"),
    ]
    assert "Say one" in report.outcome.tasks[0].trials[0].output
    assert "three" in report.outcome.tasks[1].trials[0].output


@pytest.mark.parametrize(
    "lines",
    [
        line("a") + "\n  \n" + line("b"),
        "\ufeff" + (line("a") + line("b")).replace("\n", "\r\n"),
    ],
)
def test_blank_lines_a_byte_order_mark_and_carriage_returns_are_none(tmp_path: Path, lines: str) -> None:
    assert [task.id for task in tasks(loaded(tmp_path, lines))] == ["a", "b"]


def test_a_list_is_a_conversation_and_the_time_limit_is_in_milliseconds(tmp_path: Path) -> None:
    written = line(input=["Hi", "How are you?", "Bye"], timeout=120000) + line("b", timeout=1500)
    first, second = tasks(loaded(tmp_path, written))
    assert (first.inputs.prompt, first.inputs.follow_up_prompts) == ("Hi", ("How are you?", "Bye"))
    assert (first.timeout_seconds, second.timeout_seconds) == (120, 2)


def test_facts_for_graders_reach_the_task(tmp_path: Path) -> None:
    facts = {"category": "math", "difficulty": "easy"}
    (task,) = tasks(loaded(tmp_path, line(hint="4", reference="It is 4.", metadata=facts)))
    assert (task.hint, task.reference, dict(task.metadata)) == ("4", "It is 4.", facts)
    assert task.tags == ("math",)


def test_a_prompt_is_sent_as_it_is_written(tmp_path: Path) -> None:
    (task,) = tasks(loaded(tmp_path, line(input="{{.Vars.x}} {{ y }}")))
    assert task.inputs.prompt == "{{.Vars.x}} {{ y }}"


def test_the_older_name_of_hint_is_read_with_a_warning(tmp_path: Path) -> None:
    suite = loaded(tmp_path, line(expected="4"))
    assert tasks(suite)[0].hint == "4"
    assert any("prompts.jsonl:1: `expected` is the older name of `hint`" in text for text in suite.warnings)


def test_an_unknown_key_has_no_effect_and_says_what_was_meant(tmp_path: Path) -> None:
    suite = loaded(tmp_path, line() + line("b", meta={}))
    assert any(
        "prompts.jsonl:2: `meta` is not an option here" in text and "`metadata`" in text
        for text in suite.warnings
    )


@pytest.mark.parametrize(
    ("chosen", "ids"),
    [("[2, 3]", ["b", "c"]), ("[3, 9]", ["c"]), ("[0, 0]", ["a", "b", "c"])],
)
def test_a_range_counts_prompts_not_lines(tmp_path: Path, chosen: str, ids: list[str]) -> None:
    suite = loaded(tmp_path, line("a") + "\n\n" + line("b") + line("c"), f"range: {chosen}\n")
    assert [task.id for task in suite.tasks] == ids


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"id":"t1"}\n', "prompts.jsonl:1: `input` is missing"),
        (line("a") + '{"id": oops}\n' + line("c"), "prompts.jsonl:2: this is not JSON (column 8)"),
        (line("a") + "\n" + '{"id":"b",}\n', "prompts.jsonl:3: this is not JSON"),
        (line("a") + "[]\n", "prompts.jsonl:2: the line must be a JSON object"),
        (line("a") + line("b") + line("a"), "prompts.jsonl:3: the id `a` is taken by line 1"),
        (
            line(input=[]),
            "prompts.jsonl:1: `input` must be a string that is not blank, or a list of such strings",
        ),
        (line(timeout="5"), "prompts.jsonl:1: `timeout` must be a number"),
        ("", "prompts.jsonl:1: the dataset has no tasks"),
        (b'{"id": "\xff"}', "prompts.jsonl"),
        ("[" * 100_000, "prompts.jsonl:1: "),
    ],
)
def test_a_line_that_is_no_prompt_says_where(tmp_path: Path, written: str | bytes, said: str) -> None:
    with pytest.raises(SuiteFileError, match=re.escape(said)):
        loaded(tmp_path, written)


def test_a_range_beyond_the_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteFileError, match="starts at line 5 of 1"):
        loaded(tmp_path, line(), "range: [5, 6]\n")


def test_everything_that_is_wrong_with_a_line_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SuiteFileError) as caught:
        loaded(tmp_path, '{"id":1,"input":["a",2],"hint":null}\n')
    assert caught.value.message == (
        "`id` must be text; `input` must be a string that is not blank, or a list of such strings; "
        "`hint` must be text"
    )


def test_the_example_runs_and_picks_by_category(tmp_path: Path) -> None:
    example = ROOT / "examples" / "prompts-file"
    shutil.copytree(example, tmp_path / "suite", ignore=shutil.ignore_patterns(".waza"))
    report, _ = run(tmp_path / "suite" / "eval.yaml")
    assert [(found.id, found.status) for found in report.outcome.tasks] == [
        ("explain-recursion", "passed"),
        ("explain-closures", "passed"),
        ("write-then-test", "passed"),
    ]
    basics, _ = run(tmp_path / "suite" / "eval.yaml", tags=("basics",))
    assert [found.id for found in basics.outcome.tasks] == ["explain-recursion"]


@pytest.mark.parametrize(("language", "suffix", "count"), [("json", "jsonl", 2), ("csv", "csv", 2)])
def test_the_files_in_the_guide_are_read(tmp_path: Path, language: str, suffix: str, count: int) -> None:
    guide = (ROOT / "docs" / "datasets.md").read_text("utf-8")
    (block,) = re.findall(rf"```{language}\n(.*?)```", guide, re.DOTALL)
    (tmp_path / f"tasks.{suffix}").write_text(block, "utf-8")
    path = tmp_path / "eval.yaml"
    path.write_text(f"name: guide\nskill: a\n{CONFIG}tasks_from: tasks.{suffix}\n", "utf-8")
    suite = load_suite(path)
    assert (len(suite.tasks), suite.warnings) == (count, ())
    assert not any(found.error for found in suite.tasks)
