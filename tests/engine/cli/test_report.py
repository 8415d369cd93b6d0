import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_line import engine, stderr_of, stdout_of
from tests.engine.suites import GREETS, present, recorded, run, task, write_suite
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.suite_conclusion import conclude_suite
from waza_engine.results.result_file_names import JOURNAL_SUFFIX


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))


def test_markdown_goes_to_the_file_that_is_asked_for(record: Path, tmp_path: Path) -> None:
    found = engine("report", record, "--format", "markdown", "-o", tmp_path / "out" / "comment.md")
    assert (found.returncode, found.stdout) == (0, "")
    assert "1 of 1 task passed" in (tmp_path / "out" / "comment.md").read_text("utf-8")


def test_another_json_file_beside_a_suite_is_not_taken_for_its_results(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}).parent
    (suite / "adapter.json").write_text("{}")
    assert "has no results yet" in stderr_of("report", suite)


@pytest.mark.parametrize("content", [b"", b'{"schemaVersion": "1.4", "eval_', b"[]"])
def test_an_older_run_does_not_stand_for_the_newest_that_cannot_be_read(record: Path, content: bytes) -> None:
    newest = record.with_name("20990101T000000Z-abcdef.json")
    newest.write_bytes(content)
    for command in (("report",), ("grade",), ("gate", "--baseline", record, "--current")):
        found = engine(*command, record.parents[2])
        assert (found.returncode, found.stdout) == (3 if command[0] == "gate" else 2, "")
        assert "cannot be read, so name a result file. " in found.stderr
        assert newest.name in found.stderr
    assert engine("report", record).returncode == 0


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "it is empty"), (b"\xff\xfe\x00", "it is not UTF-8 text"), (b"[]", "it has no list `tasks`")],
)
@pytest.mark.parametrize("command", ["report", "grade", "history", "review"])
def test_results_that_cannot_be_read_are_not_said_to_be_missing(
    record: Path, command: str, content: bytes, why: str
) -> None:
    record.write_bytes(content)
    found = engine(command, record.parents[2])
    if command != "review":  # which passes over them
        assert found.returncode == 2
        assert "has no results that can be read" in found.stderr
    assert why in found.stderr
    assert "no results yet" not in found.stderr


def test_a_folder_of_results_that_is_a_link_or_a_file_is_named(
    record: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    suite, elsewhere = record.parents[2], tmp_path_factory.mktemp("other") / "elsewhere"
    record.parent.rename(elsewhere)
    record.parent.symlink_to(elsewhere, target_is_directory=True)
    for command in ("report", "grade", "history"):
        assert "is not looked into: a link leads out of" in stderr_of(command, suite)
    record.parent.unlink()
    record.parent.write_text("")
    assert "is a file, where a folder belongs" in engine("report", suite).stderr
    record.parents[1].rename(elsewhere.with_name("gone"))
    record.parents[1].write_text("")
    assert ".waza is a file, where a folder belongs" in engine("report", suite).stderr


def test_without_a_format_people_read_it(record: Path) -> None:
    found = engine("report", record)
    assert (found.returncode, found.stderr) == (0, "")
    assert "suite: 1 task, mock" in found.stdout
    assert "✓ a  1.00" in found.stdout
    assert "1 of 1 task passed" in found.stdout


def test_a_suite_stands_for_its_newest_results(record: Path) -> None:
    for place in (record.parents[2], record.parents[2] / "eval.yaml"):
        assert "1 of 1 task passed" in engine("report", place).stdout


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """What a process leaves that was killed when one of three tasks had passed."""
    record = recorded(write_suite(tmp_path, {name: task(name) for name in "abc"}, graders=GREETS))
    document = json.loads(record.read_text())
    planned = [{"test_id": name, "display_name": f"Task {name}"} for name in "abc"]
    head = {key: document[key] for key in ("schemaVersion", "eval_id", "eval_name", "timestamp", "config")}
    lines = [head | {"planned": planned}, {"task": document["tasks"][0]}]
    path = record.with_name(f"killed{JOURNAL_SUFFIX}")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("form", ["text", "markdown", "junit", "json"])
def test_a_killed_run_is_never_a_pass(journal: Path, form: str) -> None:
    found = stdout_of("report", journal, "--format", form, code=1)
    assert "was interrupted" in found
    assert "not run" in found
    assert "1 of 1" not in found
    match form:
        case "text":
            assert "interrupted: 1 of 3 tasks passed, 2 not run" in found
        case "markdown":
            assert found.startswith("## ❌ `suite`: 1 of 3 tasks passed")
        case "junit":
            suite = present(ElementTree.fromstring(found).find("testsuite"))
            assert (suite.get("errors"), suite.get("skipped")) == ("1", "2")
        case _:
            assert [task["status"] for task in json.loads(found)["tasks"]] == [
                "passed",
                "skipped",
                "skipped",
            ]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("text", "✗ trigger_accuracy is 0.50, below 0.9"),
        ("markdown", "## ❌ `suite`: 1 of 1 task passed"),
        ("markdown", "❌ `trigger_accuracy` is 0.50, below 0.9"),
        ("junit", '<failure message="trigger_accuracy is 0.50, below 0.9"'),
    ],
)
def test_a_run_that_fails_by_a_metric_alone_is_no_pass(tmp_path: Path, form: str, said: str) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    document = json.loads(record.read_text())
    document["metrics"] = {
        "trigger_accuracy": {"value": 0.5, "threshold": 0.9, "passed": False, "weight": 1},
        "tool_accuracy": {"value": 1.0, "threshold": 0.9, "passed": True, "weight": 1},
    }
    record.write_text(json.dumps(document))
    found = engine("report", record, "--format", form).stdout
    assert said in found
    assert "tool_accuracy" not in found


def test_why_a_task_does_not_pass_is_told(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a", prompt="Bye"), "b": "id: ["}, graders=GREETS)
    run(suite)
    found = engine("report", suite)
    assert "✗ greets  0.00" in found.stdout
    assert "b.yaml:" in found.stdout
    assert "0 of 2 tasks passed, 1 failed, 1 in error" in found.stdout


def test_what_a_task_expects_is_told_as_it_is_written(tmp_path: Path) -> None:
    expected = "expected: {output_contains: [hello, gone]}\n"
    suite = write_suite(tmp_path, {"a": task("a", expected)}, graders=GREETS)
    told = [engine(*words, suite).stdout for words in (("run",), ("run",), ("report",), ("grade",))]
    told.append(engine("bisect", suite, "a").stdout)
    assert [
        ("expected.output_contains" in text, " _output" in text, "`_output" in text) for text in told
    ] == [(True, False, False)] * len(told)


def test_json_is_the_document_in_todays_layout(record: Path) -> None:
    assert json.loads(engine("report", record, "--format", "json").stdout) == json.loads(record.read_text())


def test_a_killed_run_is_in_the_history_before_the_next_one_makes_a_file_of_it(journal: Path) -> None:
    for whole in journal.parent.glob("*.json"):
        whole.unlink()
    found = engine("history", journal.parents[2])
    assert (found.returncode, found.stderr) == (0, "")
    assert "the only run" in found.stdout
    assert ", interrupted" in found.stdout
    assert json.loads(engine("history", journal.parents[2], "-f", "json").stdout)["tasks"][0]["passed"] == 1


def test_what_waits_for_a_review_is_named_and_has_no_score(tmp_path: Path) -> None:
    asks = "- {type: human, name: eye, config: {}}\n"
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=asks))
    found = stdout_of("report", record)
    assert "◷ a\n" in found
    assert "◷ eye  Pending" in found
    assert "nothing was judged: 1 task waits for a review" in found
    assert "score" not in found
    markdown = engine("report", record, "--format", "markdown").stdout
    assert "Score:" not in markdown
    assert "| ⏭️ | `a` |  |  |" in markdown


def test_a_red_task_says_its_cause(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS.replace("hello", "adieu")))
    assert (
        "not known: `mock` answered instead of an agent with the skill; `greets` found the answer wrong."
        in stdout_of("report", record, code=1)
    )


def test_a_run_that_a_hook_ended_before_its_first_task_has_a_report(tmp_path: Path) -> None:
    hooks = "hooks: {before_run: [{command: python3 -c exit(3), error_on_fail: true}]}\n"
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS, more=hooks))
    found = engine("report", record)
    assert (found.returncode, found.stderr) == (1, "")
    assert "exited with 3" in found.stdout
    assert "not run to its end: 0 of 2 tasks passed, 2 not run" in found.stdout
    suite = ElementTree.fromstring(engine("report", record, "--format", "junit").stdout)[0]
    assert (suite.get("errors"), suite.get("skipped")) == ("1", "2")


@pytest.mark.parametrize("edited", ["the task", "the trial", "the verdict"])
def test_a_record_that_was_edited_is_as_red_as_its_worst_part(tmp_path: Path, edited: str) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    document = json.loads(record.read_text("utf-8"))
    (of_task,) = document["tasks"]
    (trial,) = of_task["runs"]
    match edited:
        case "the task":
            of_task["status"] = "failed"
        case "the trial":
            trial["status"] = "failed"
        case _:
            trial["validations"]["greets"] |= {"passed": False, "score": 0.0}
    record.write_text(json.dumps(document), "utf-8")
    assert "failed: 0 of 1 task passed, 1 failed" in stdout_of("report", record, code=1)
    markdown = engine("report", record, "--format", "markdown").stdout
    _, _, details = markdown.partition("</summary>")
    assert details.partition("</details>")[0].strip()
    newest = present(latest_results(tmp_path))
    assert conclude_suite(newest).verdict == "failed"
