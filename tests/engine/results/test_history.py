"""The runs of a suite over time: the index says what the result files say, whatever becomes of it."""

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import GREETS, newest, recorded, run, task, write_suite
from waza_engine.results.reading import history
from waza_engine.results.reading.expenses import RunExpenses, expenses_of
from waza_engine.results.reading.history import RecordedRun, history_of
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.owners import Owner
from waza_engine.results.reports.trend import trend
from waza_engine.results.result_file_names import INDEX_NAME
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = write_suite(tmp_path, {"a": task("a", prompt="Say hello")}, graders=GREETS)
    for number in range(3):
        record = run(path)[0].results_file
        assert record is not None
        document = json.loads(record.read_text("utf-8"))
        document["timestamp"] = f"2026-11-0{number + 1}T10:00:00+00:00"
        record.write_text(json.dumps(document), "utf-8")
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The result files that were read."""
    names: list[str] = []
    really = history.read_recording

    def noted(path: Path) -> Any:
        names.append(path.name)
        return really(path)

    monkeypatch.setattr(history, "read_recording", noted)
    return names


def results(suite: Path) -> Path:
    return suite.parent / ".waza" / "results"


def alter(record: Path, **changes: Any) -> None:
    document = json.loads(record.read_text("utf-8"))
    record.write_text(json.dumps({**document, **changes}), "utf-8")


def days(suite: Path) -> list[int]:
    return [each.started.day for each in history_of(suite).runs]


def test_each_result_file_is_read_once(suite: Path, read: list[str]) -> None:
    assert (days(suite), len(read)) == ([1, 2, 3], 3)
    assert (days(suite), len(read)) == ([1, 2, 3], 3)
    first = history_of(suite).runs[0]
    assert (first.verdict, first.score) == ("passed", 1.0)
    assert [(one.id, one.verdict, one.passed, one.trials) for one in first.tasks] == [("a", "passed", 1, 1)]


def test_a_file_that_was_replaced_is_read_again_and_one_that_is_gone_is_left_out(
    suite: Path, read: list[str]
) -> None:
    oldest, middle = (results(suite) / each.file for each in history_of(suite).runs[:2])
    read.clear()
    alter(middle, timestamp="2026-11-09T10:00:00+00:00")
    oldest.unlink()
    assert days(suite) == [3, 9]
    assert read == [middle.name]


def test_what_cannot_be_read_says_why_and_is_no_run(suite: Path) -> None:
    (results(suite) / "broken.json").write_text("{", "utf-8")
    for _ in range(2):
        found = history_of(suite)
        assert len(found.runs) == 3
        assert ["broken.json" in why for why in found.unread] == [True]


def test_runs_of_another_eval_file_are_not_its_own(suite: Path) -> None:
    assert history_of(suite.with_name("other.yaml")).runs == ()


def lost(index: Path) -> None:
    index.unlink()


def cut(index: Path) -> None:
    index.write_bytes(index.read_bytes()[: index.stat().st_size // 2])


def no_json(index: Path) -> None:
    index.write_text("nothing of the kind" * 100, "utf-8")


def of_another_version(index: Path) -> None:
    index.write_text(index.read_text("utf-8").replace('"version": 9', '"version": 8'), "utf-8")


def with_rows_of_another_form(index: Path) -> None:
    index.write_text(index.read_text("utf-8").replace('"started"', '"begun"'), "utf-8")


def a_link(index: Path) -> None:
    index.unlink()
    (index.parent / "elsewhere").write_text("mine", "utf-8")
    index.symlink_to(index.parent / "elsewhere")


def a_folder(index: Path) -> None:
    index.unlink()
    index.mkdir()


@pytest.mark.parametrize(
    "spoil",
    [
        lost,
        cut,
        no_json,
        of_another_version,
        with_rows_of_another_form,
        a_link,
        a_folder,
    ],
)
def test_an_index_of_no_use_is_made_again_or_done_without(
    suite: Path, read: list[str], spoil: Callable[[Path], None]
) -> None:
    before = history_of(suite)
    index = results(suite) / INDEX_NAME
    spoil(index)
    read.clear()
    assert history_of(suite) == before
    assert len(read) == 3
    again = 3 if spoil in (a_folder, a_link) else 0
    read.clear()
    assert history_of(suite) == before
    assert len(read) == again
    if spoil is a_link:
        assert (results(suite) / "elsewhere").read_text("utf-8") == "mine"


def test_an_index_that_cannot_be_written_is_done_without(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = history_of(suite)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    (results(suite) / INDEX_NAME).unlink()
    monkeypatch.setattr(history, "write_atomically", refuse)
    assert history_of(suite) == before


def test_many_at_once_read_the_same(suite: Path) -> None:
    found: list[tuple[RecordedRun, ...]] = []
    threads = [threading.Thread(target=lambda: found.append(history_of(suite).runs)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[each.started.day for each in runs] for runs in found] == [[1, 2, 3]] * 8


def test_without_results_there_is_no_history_and_no_index(suite: Path) -> None:
    shutil.rmtree(results(suite))
    assert history_of(suite).runs == ()
    assert not results(suite).exists()


def test_a_task_that_fails_since_a_run_passed_before_it(suite: Path) -> None:
    newest = results(suite) / history_of(suite).runs[-1].file
    document = json.loads(newest.read_text("utf-8"))
    trial = document["tasks"][0]["runs"][0]
    trial["validations"]["greets"] |= {"score": 0.0, "passed": False}
    alter(
        newest, tasks=[{**document["tasks"][0], "status": "failed", "runs": [{**trial, "status": "failed"}]}]
    )
    (only,) = trend(history_of(suite).runs)["tasks"]
    assert (only["verdicts"], only["red_since"]) == (["passed", "passed", "failed"], newest.name)
    assert only["passed_in"] == history_of(suite).runs[-2].file


TWO = GREETS + "- {type: text, name: leaves, config: {contains: [bye]}}\n"


def test_a_run_of_a_part_is_no_score_of_the_suite(tmp_path: Path) -> None:
    tasks = {"a": task("a", prompt="Say hello"), "b": task("b", prompt="hello and bye")}
    path = write_suite(tmp_path, tasks, graders=TWO)
    whole = run(path)[0].results_file
    assert whole is not None
    run(path, tasks=("b",))
    run(path, graders=("greets",))
    runs = trend(history_of(path).runs)
    assert [(each["score"], each["part"]) for each in runs["runs"]] == [
        (0.75, None),
        (None, "the task `b` alone"),
        (None, "the grader `greets` alone"),
    ]
    of = {each["id"]: each for each in runs["tasks"]}
    # What passed one of two graders has not passed; and a task that ran alone has its own score.
    assert (of["a"]["scores"], of["a"]["red_since"], of["a"]["judged"]) == ([0.5, None, None], whole.name, 1)
    assert (of["b"]["scores"], of["b"]["red_since"], of["b"]["passed"]) == ([1.0, 1.0, None], None, 2)


def test_a_task_in_error_lowers_the_score_as_in_every_report(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b") + "unknown_key: [\n"}, graders=GREETS)
    record = recorded(path)
    assert history_of(path).runs[0].score == 0.5
    assert json.loads(record.read_text("utf-8"))["summary"]["aggregate_score"] == 0.5


def test_a_task_that_failed_a_chosen_grader_is_red(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", prompt="hello and bye")}, graders=TWO)
    green = run(path)[0].results_file
    write_suite(tmp_path, {"a": task("a", prompt="Say hello")}, graders=TWO)
    red = run(path, graders=("leaves",))[0].results_file
    assert green is not None
    assert red is not None
    (only,) = trend(history_of(path).runs)["tasks"]
    assert (only["red_since"], only["passed_in"], only["scores"]) == (red.name, green.name, [1.0, None])


# --- what trials took ---


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))


def expenses(record: Path) -> list[RunExpenses]:
    return list(expenses_of(record.parents[2], "eval.yaml"))


def changed(record: Path, **values: Any) -> None:
    document = json.loads(record.read_text("utf-8"))
    document["tasks"][0]["runs"][0] |= values
    record.write_text(json.dumps(document), "utf-8")


def test_a_record_of_more_than_32_mb_says_what_it_took(record: Path) -> None:
    before = expenses(record)
    assert len(before[0].tasks["a"]) == 1
    changed(record, final_output="x" * 33_000_000)
    assert expenses(record) == before


def test_an_odd_value_costs_that_value_alone(record: Path) -> None:
    changed(record, session_digest=3, duration_ms=70)
    (found,) = expenses(record)
    assert [trial.duration_ms for trial in found.tasks["a"]] == [70]


# --- whose a recorded run is ---


SUITE = "name: {}\nskill: greeter\ntasks: [tasks/*.yaml]\n"
SAYS = "- {type: text, name: says, config: {contains: [Mock]}}\n"


@pytest.mark.parametrize("name", ["greeter", "'greeter'", '"greeter"  # of all', "greeter # of all"])
def test_a_renamed_eval_file_has_the_runs_of_its_old_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "nightly.yaml").write_text(SUITE.format(name))
    (tmp_path / "other.yaml").write_text(SUITE.format("other"))
    assert Owner(tmp_path, "nightly.yaml").has("eval.yaml", "greeter")
    assert not Owner(tmp_path, "other.yaml").has("eval.yaml", "greeter")
    assert not Owner(tmp_path, "nightly.yaml").has("eval.yaml", "")


def test_it_has_none_of_a_file_that_is_there_or_that_two_could_have_been(tmp_path: Path) -> None:
    for name in ("eval.yaml", "nightly.yaml"):
        (tmp_path / name).write_text(SUITE.format("greeter"))
    assert not Owner(tmp_path, "nightly.yaml").has("eval.yaml", "greeter")
    (tmp_path / "eval.yaml").rename(tmp_path / "weekly.yaml")
    for name in ("nightly.yaml", "weekly.yaml"):
        assert not Owner(tmp_path, name).has("eval.yaml", "greeter")


def test_a_file_that_is_no_suite_is_nobody(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text("id: one\nname: greeter\ninputs: {prompt: Greet}\n")
    (tmp_path / "nightly.yaml").write_text(SUITE.format("greeter"))
    assert Owner(tmp_path, "nightly.yaml").has("eval.yaml", "greeter")


def test_scores_history_and_expenses_follow_a_renamed_eval_file(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS)
    run(path)
    renamed = path.rename(path.with_name("nightly-eval.yaml"))
    found = newest(tmp_path, eval_file=renamed.name)
    assert found.tasks["a"].passed
    assert found.whole is not None
    assert [one.verdict for one in history_of(renamed).runs] == ["passed"]
    assert len(list(expenses_of(tmp_path, renamed.name))) == 1
    assert latest_results(tmp_path, eval_file="third.yaml") is None


def test_a_record_is_graded_again_by_its_eval_file_under_the_name_that_it_has_now(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS)
    run(path)
    (record,) = (tmp_path / ".waza" / "results").glob("*.json")
    renamed = path.rename(path.with_name("nightly-eval.yaml"))
    regrading = prepare_regrading(RegradeRequest(record), ResidentSuites())
    assert regrading.suite.path == renamed
    path.with_name("weekly-eval.yaml").write_text(renamed.read_text())
    with pytest.raises(SuiteError, match="name it with `--suite`"):
        prepare_regrading(RegradeRequest(record), ResidentSuites())
