"""Suites as prompts of agent-eval-harness and back, recorded runs as captures and back."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.command_line import engine
from tests.engine.convert.test_verdicts import ANSWERS, EXPECTED, GRADERS, SLOW, passes, written
from tests.engine.harness.test_captures_as_records import capture, regraded, trials
from tests.engine.harness.test_captures_as_records import written as written_rows
from tests.engine.suites import GREETS, recorded, task, write_suite
from waza_engine.convert.conversion import ConversionError
from waza_engine.convert.convert import changes_since, convert, write_conversion
from waza_engine.graders.programs.program_output import UnusableAnswerError
from waza_engine.harness.suite_grader import score_of_answer
from waza_engine.results.reading.recordings import read_recording
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.schemas.harness_schemas import schema_of
from waza_engine.vocabulary import Target

EXAMPLES = Path(__file__).parents[3] / "examples"
FILE = "- {type: inline, name: own, config: {grader: graders/own.py}}\n"
OWN = """\
#!/usr/bin/env python3
import json, sys
answer = json.load(sys.stdin)
print(json.dumps({"pass": answer.get("hint", "") in answer["output"], "score": 1}))
"""


def converted(source: Path, directory: Path, to: Target | None = None, **files: Path) -> list[str]:
    """Convert, write the files, and return the losses."""
    conversion = convert(source, to, directory, **files)
    write_conversion(conversion, force=False)
    return [f"{loss.kind}: {loss.place}: {loss.why}" for loss in conversion.losses]


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_tasks_become_prompts_and_graders_one_program(repository: Path) -> None:
    more = """\
        hint: Ada
        metadata: {category: basics}
        tags: [basics, slow]
        timeout_seconds: 7
        graders: [{type: text, name: names, config: {contains: [Ada]}}]
        """
    turns = "id: b\nname: b\ninputs: {prompt: one, follow_up_prompts: [two]}\n"
    source = write_suite(repository / "s", {"a": task("a", more), "b": turns}, graders=GREETS)
    losses = converted(source, repository / "out", "harness")
    assert rows_of(repository / "out" / "prompts.jsonl") == [
        {
            "id": "a",
            "input": "Say hello",
            "hint": "Ada",
            "metadata": {"category": "basics", "wazaTask": "a"},
            "timeout": 7000,
        },
        {"id": "b", "input": ["one", "two"], "metadata": {"wazaTask": "b"}},
    ]
    assert losses == [
        "left out: tasks/a.yaml: a: tags: prompts have none: slow",
        "left out: eval.yaml: config.executor: "
        "`mock` has no adapter; name that of your agent with `--schema`",
        "differs: eval.yaml: config.timeout_seconds: it becomes an option, for each turn: `--timeout 20000`",
    ]
    assert os.access(repository / "out" / "grader.py", os.X_OK)
    graders = repository / "out" / "graders.yaml"
    answer = {"output": "hello Ada", "metadata": {"wazaTask": "a"}, "trajectory": []}
    found = score_of_answer(graders, answer)
    assert (found["pass"], found["score"]) == (True, 1)
    found = score_of_answer(graders, {**answer, "output": "hello"})
    assert (found["pass"], found["score"]) == (False, 0.5)
    assert {name: each["pass"] for name, each in found["outcome"].items()} == {"greets": True, "names": False}


def test_the_command_converts_to_each_format(repository: Path) -> None:
    source = write_suite(repository / "s", {"a": task("a")}, graders=GREETS)
    for target in set(get_args(Target)) - {"waza"}:
        made = engine("convert", source, "--to", target, "-o", repository / target)
        assert (made.returncode, made.stderr) == (0, ""), target


@pytest.mark.parametrize(
    ("grader", "why"),
    [
        ("{type: prompt, config: {prompt: Is it good?}}", "a judge model decides"),
        ("{type: human, config: {criteria: [good]}}", "a person decides"),
        (
            "{type: skill_invocation, config: {required_skills: [a], mode: any_order}}",
            "which skills the agent used",
        ),
        ("{type: behavior, config: {max_duration_ms: 5}}", "how long the agent took"),
        ("{type: code, config: {assertions: [duration_ms < 5]}}", "how long the agent took"),
        ("{type: text, config: {contains: [README.md], regex_match: ['a']}}", ""),
        ("{type: inline, config: {grader: ../outside.py}}", "outside of the folder of the suite"),
    ],
)
def test_a_grader_that_needs_more_than_an_answer_is_left_out(repository: Path, grader: str, why: str) -> None:
    (repository / "outside.py").write_text(OWN, "utf-8")
    source = write_suite(repository / "s", {"a": task("a")}, graders=f"- {grader}\n{GREETS}")
    losses = [each for each in converted(source, repository / "out", "harness") if "graders[0]" in each]
    assert (why in losses[0] and losses[0].startswith("left out")) if why else not losses


def test_parts_without_a_counterpart_are_listed_with_their_place(repository: Path) -> None:
    more = """\
        inputs: {prompt: x, files: [{path: a.txt, content: hi}]}
        checkpoints: [{after_turn: 1, graders: [{type: text, config: {contains: [a]}}]}]
        """
    config = "config: {trials_per_task: 3, timeout_seconds: 20, executor: mock, skill_directories: [x]}\n"
    hooks = "hooks: {before_run: [{command: 'true'}]}\n"
    text = "id: a\nname: a\n"
    source = write_suite(repository / "s", {"a": text + "\n".join(map(str.strip, more.splitlines()))})
    (repository / "s" / "eval.yaml").write_text(
        f"name: suite\nskill: writer\n{config}{hooks}tasks: ['tasks/*.yaml']\n", "utf-8"
    )
    losses = converted(source, repository / "out", "harness")
    for place in ("hooks", "config.skill_directories", "a: checkpoints", "a: inputs.files"):
        assert any(f": {place}: it has no counterpart" in each for each in losses), place
    assert any("`trials -k 3`" in each for each in losses)
    assert [path.name for path in (repository / "out").iterdir() if path.name.startswith("grader")] == []


def test_one_grader_file_and_the_adapter_are_copied(repository: Path) -> None:
    config = "config: {trials_per_task: 1, timeout_seconds: 20, executor: command, adapter: agent.json}\n"
    source = write_suite(repository / "s", {"a": task("a", "hint: x\n")}, graders=FILE, config=config)
    (repository / "s" / "graders").mkdir()
    (repository / "s" / "graders" / "own.py").write_text(OWN, "utf-8")
    adapter = (EXAMPLES / "adapters" / "text.json").read_text("utf-8")
    (repository / "s" / "agent.json").write_text(adapter, "utf-8")
    losses = converted(source, repository / "out", "harness")
    assert [each for each in losses if "executor" in each or "adapter" in each] == []
    assert (repository / "out" / "grader.py").read_text("utf-8") == OWN
    assert (repository / "out" / "adapter.json").read_text("utf-8") == adapter
    assert rows_of(repository / "out" / "prompts.jsonl") == [{"id": "a", "input": "Say hello", "hint": "x"}]
    converted(repository / "out", repository / "back")
    suite = yaml.safe_load((repository / "back" / "eval.yaml").read_text("utf-8"))
    assert suite["config"]["executor"] == "command"
    assert suite["config"]["adapter"] == "adapter.json"
    assert suite["graders"][0]["config"] == {"grader": "graders/grader.py"}


@settings(max_examples=12, deadline=None, suppress_health_check=SLOW)
@given(st.lists(GRADERS, min_size=1, max_size=3), EXPECTED, ANSWERS)
def test_verdicts_stay_as_a_program_and_after_the_way_back(
    graders: list[dict[str, Any]], expected: dict[str, Any], answers: list[tuple[str, dict[str, str]]]
) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        source = written(folder, graders, expected)
        assert not [
            each for each in converted(source, folder / "out", "harness") if "left out: eval.yaml: t" in each
        ]
        converted(folder / "out", folder / "back")
        before, after = load_suite(source), load_suite(folder / "back" / "eval.yaml")
        for number, (answer, files) in enumerate(answers):
            workspace = folder / f"workspace-{number}"
            workspace.mkdir()
            for name, content in files.items():
                (workspace / name).parent.mkdir(exist_ok=True)
                (workspace / name).write_text(content, "utf-8")
            verdict = passes(before, answer, workspace)
            assert passes(after, answer, workspace) == verdict
            given = {"output": answer, "cwd": str(workspace), "metadata": {"wazaTask": "t"}}
            try:
                found = score_of_answer(folder / "out" / "graders.yaml", given)["pass"]
            except UnusableAnswerError:
                found = False
            assert found == verdict, (answer, files)


TEXT = st.text('abé "\\{}:\n', min_size=1, max_size=6).filter(str.strip)
PROMPT = st.fixed_dictionaries(
    {"input": TEXT | st.lists(TEXT, min_size=1, max_size=3)},
    optional={
        "hint": TEXT,
        "reference": TEXT,
        "metadata": st.dictionaries(TEXT, TEXT | st.integers() | st.lists(TEXT), min_size=1, max_size=2),
        "timeout": st.integers(1, 9).map(lambda seconds: seconds * 1000),
    },
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PROMPT, min_size=1, max_size=4))
def test_rows_stay_after_the_way_to_a_suite_and_back(prompts: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        (folder / ".git").mkdir()
        rows = [{"id": f"p{9 - number}", **prompt} for number, prompt in enumerate(prompts)]
        # One turn in a list is the same conversation.
        rows = [
            {**row, "input": row["input"][0]}
            if isinstance(row["input"], list) and len(row["input"]) == 1
            else row
            for row in rows
        ]
        (folder / "in").mkdir()
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "in" / "prompts.jsonl").write_text(lines, "utf-8")
        (folder / "in" / "grader.py").write_text(OWN, "utf-8")
        assert converted(folder / "in", folder / "suite")
        converted(folder / "suite", folder / "back", "harness")
        assert rows_of(folder / "back" / "prompts.jsonl") == rows
        assert (folder / "back" / "grader.py").read_text("utf-8") == OWN


def test_rows_that_no_task_can_say_are_listed_with_their_line(repository: Path) -> None:
    rows = [
        {"id": "a", "input": "x", "expected": "old", "extra": 1, "timeout": 1500},
        {"id": "b", "input": []},
        {"id": "a", "input": "y", "hint": ""},
    ]
    path = repository / "prompts.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n\n" for row in rows), "utf-8")
    losses = converted(path, repository / "out")
    for loss in (
        "left out: prompts.jsonl: line 1: extra: it is not a key of a prompt",
        "differs: prompts.jsonl: line 1: timeout: it is rounded up to whole seconds",
        "left out: prompts.jsonl: line 5: hint: it is empty",
        "differs: prompts.jsonl: a: another prompt has this id; it becomes `a-2`",
    ):
        assert loss in losses
    assert any(each.startswith("left out: prompts.jsonl: line 3: `input`") for each in losses)
    tasks = load_suite(repository / "out" / "eval.yaml").tasks
    assert [(each.id, each.task and each.task.hint) for each in tasks] == [("a", "old"), ("a-2", "")]


def test_a_changed_grader_of_the_prompts_is_found(repository: Path) -> None:
    (repository / "prompts.jsonl").write_text('{"id": "a", "input": "x"}\n', "utf-8")
    (repository / "grader.py").write_text(OWN, "utf-8")
    converted(repository / "prompts.jsonl", repository / "out")
    assert changes_since(repository / "prompts.jsonl", repository / "out") == []
    (repository / "grader.py").write_text("", "utf-8")
    assert changes_since(repository / "prompts.jsonl", repository / "out") == ["../grader.py has changed"]


@pytest.mark.parametrize("count", [1, 2])
def test_a_recorded_run_becomes_rows_with_its_verdicts(repository: Path, count: int) -> None:
    suite = write_suite(
        repository, {"a": task("a", "hint: h\n"), "b": task("b", prompt="Bye")}, graders=GREETS
    )
    record = recorded(suite, trials=count)
    assert converted(record, repository / "out", "harness") == []
    path = repository / "out" / "results.jsonl"
    schema = schema_of("CaptureResult" if count == 1 else "TrialResult")
    for row in rows_of(path):
        Draft202012Validator(schema).validate(row)
    first = rows_of(path)[0]
    assert (first["id"], first["input"], first["hint"]) == ("a", "Say hello", "h")
    before, after = read_recording(record), read_recording(path)
    assert [
        [(trial.outcome.status, trial.outcome.output) for trial in each.trials] for each in before.tasks
    ] == [[(trial.outcome.status, trial.outcome.output) for trial in each.trials] for each in after.tasks]


@pytest.mark.parametrize("row", [capture("p", score={"pass": True, "score": 0.5}), trials("p", {}, {})])
def test_rows_become_a_result_file(repository: Path, row: dict[str, Any]) -> None:
    path = written_rows(repository, row)
    assert converted(path, repository / "out") == []
    found = read_recording(repository / "out" / "results.json")
    assert found.tasks[0].scores == read_recording(path).tasks[0].scores
    with pytest.raises(ConversionError, match="captures become a result file"):
        convert(path, "vally", repository / "other")


def test_a_broken_file_of_rows_says_its_line(repository: Path) -> None:
    path = written_rows(repository, capture("p"))
    path.write_text(path.read_text("utf-8") + "{\n", "utf-8")
    with pytest.raises(ConversionError, match=r":2: the line must be a JSON object"):
        convert(path, None, repository / "out")


ANSWERED = (
    "",
    "hello",
    "The answer is 42. See README.md, and `run_tests`.\n\n1. yes\n2. no\n",
    "error: failed",
)
EXAMPLE_SUITES = sorted(EXAMPLES.glob("*/eval.yaml"))


@pytest.mark.parametrize("source", EXAMPLE_SUITES, ids=lambda path: path.parent.name)
def test_examples_keep_their_verdicts(tmp_path: Path, source: Path) -> None:
    assert same_verdicts(source, tmp_path)


def same_verdicts(source: Path, folder: Path) -> int:
    """Return how many verdicts stay the same on the way to prompts and back; all must.

    A grader that is left out has none; programs, judges and people are not asked.
    """
    folder.mkdir(exist_ok=True)
    suite = load_suite(source, {"executor": "replay"}, disabled=True)
    losses = converted(source, folder / "out", "harness")
    if not (folder / "out" / "grader.py").exists():
        return 1
    converted(folder / "out", folder / "back")
    names = [row["id"] for row in rows_of(folder / "out" / "prompts.jsonl")]
    assert len(names) == len([each for each in suite.tasks if each.task and each.task.enabled]) or losses
    rows = [capture(name, output=output) for output in ANSWERED for name in names]
    record = written_rows(folder, *rows)
    before, after = regraded(record, source), regraded(record, folder / "back" / "eval.yaml")
    is_program = (folder / "out" / "graders.yaml").exists()
    checked = 0
    for name in names:
        then = before[name]["graders"]
        for grader, found in after[name]["graders"].items():
            # The only grader file gets another name.
            verdict = then[grader] if is_program else next(iter(then.values()))
            now, earlier = (found["passed"], found["score"]), (verdict["passed"], verdict["score"])
            assert (name, grader, now) == (name, grader, earlier)
            checked += 1
    return checked
