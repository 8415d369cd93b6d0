"""One trigger prompt alone: what is tried, what its run comes to, and what is known of the others then."""

import json
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.engine.suites import CONFIG, present, recorded, run, task, write_prompts, write_suite
from waza_engine.commands.result_arguments import record_of
from waza_engine.results.reading.formats import head_of
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.runs.choosing import choose_tasks, estimate_run
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.settings.table import RunSettings

METRIC = "metrics: [{name: trigger_accuracy, threshold: 0.9}]\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = write_suite(tmp_path, {"a": task("a")}, config=CONFIG, more=METRIC)
    write_prompts(tmp_path, "Write a text", "Write [more]", should_not=["Add two numbers"])
    return path


def tried(suite: Path, *prompts: str, **options: object) -> list[str]:
    report, _ = run(suite, prompts=prompts, **options)
    return [found.prompt for found in report.outcome.triggers]


def test_a_prompt_is_tried_alone_by_its_text(suite: Path) -> None:
    report, events = run(suite, prompts=("Write a text",))
    assert [found.prompt for found in report.outcome.triggers] == ["Write a text"]
    assert not report.outcome.tasks
    assert [event.prompt for event in events if event.kind == "tried"] == ["Write a text"]


def test_prompts_are_chosen_by_pattern_and_a_text_that_looks_like_one_is_itself(suite: Path) -> None:
    assert tried(suite, "Write*") == ["Write a text", "Write [more]"]
    assert tried(suite, "Write [more]") == ["Write [more]"]
    assert tried(suite, "Add*", "Write a*") == ["Write a text", "Add two numbers"]


def test_tasks_that_are_asked_for_run_beside_them(suite: Path) -> None:
    report, _ = run(suite, prompts=("Add*",), tasks=("a",))
    assert ([found.id for found in report.outcome.tasks], len(report.outcome.triggers)) == (["a"], 1)


def test_a_prompt_that_is_not_there_is_an_error(suite: Path) -> None:
    with pytest.raises(SuiteError, match="No trigger prompt matches `Sing`"):
        run(suite, prompts=("Sing",))
    (suite.parent / "trigger_tests.yaml").unlink()
    with pytest.raises(SuiteError, match="There are no trigger prompts"):
        run(suite, prompts=("Add*",))


def test_a_part_has_no_figures_of_the_suite_and_says_so(suite: Path) -> None:
    report, _ = run(suite, prompts=("Write a text",))
    assert report.outcome.trigger_metrics is None
    assert not report.outcome.metrics
    assert report.results_file is not None
    head = present(head_of(report.results_file))
    assert not head.is_whole
    told = engine("report", report.results_file).stdout
    assert "triggers: 1 of 1 prompt right" in told
    assert "only some trigger prompts were selected" in told
    # Nothing counts tasks where there are none, and there is no task to grade.
    assert "passed: 1 of 1 trigger prompt right" in told
    assert ": trigger prompts, mock" in told
    assert "0 task" not in told
    markdown = engine("report", report.results_file, "--format", "markdown").stdout
    assert markdown.splitlines()[0].endswith(": 1 of 1 trigger prompt right")
    assert "has results of trigger prompts alone" in engine("grade", suite).stderr


def test_a_part_that_was_interrupted_has_no_figures_at_all(suite: Path) -> None:
    record = recorded(suite, prompts=("*",))
    document = json.loads(record.read_text("utf-8"))
    document["metadata"]["engine"]["status"] = "canceled"
    document["trigger_results"] = [{**document["trigger_results"][0], "did_trigger": False}]
    record.write_text(json.dumps(document), "utf-8")
    told = engine("report", record).stdout
    assert "the run ended after 1 trigger prompt, 1 of them answered wrongly: there is no verdict" in told
    assert "interrupted: no task was run" in told
    assert "F1" not in told


def test_the_command_ends_as_the_prompt_does(suite: Path, tmp_path: Path) -> None:
    done = engine("run", suite, "--prompt", "Write a text")
    assert done.returncode == 0, done.stdout
    recorded = next((tmp_path / ".waza/results").glob("*.json"))
    document = json.loads(recorded.read_text())
    document["trigger_results"][0]["did_trigger"] = False
    document["metadata"]["engine"]["status"] = "failed"
    (tmp_path / "wrong.json").write_text(json.dumps(document))
    told = engine("report", tmp_path / "wrong.json").stdout
    assert "1 of 1 trigger prompt answered wrongly" in told
    assert "✗ failed" in told


def test_the_others_keep_the_word_of_their_own_run(suite: Path) -> None:
    run(suite)
    before = present(latest_results(suite.parent))
    run(suite, prompts=("Add two numbers",))
    after = present(latest_results(suite.parent))
    then = {found.prompt: found.timestamp for found in before.prompts}
    now = {found.prompt: found.timestamp for found in after.prompts}
    assert now.keys() == then.keys()
    assert now["Add two numbers"] > then["Add two numbers"]
    assert now["Write a text"] == then["Write a text"]
    assert present(after.whole).path == before.path


def test_what_the_newest_whole_run_did_not_try_is_forgotten(suite: Path) -> None:
    run(suite, prompts=("Write*",))
    write_prompts(suite.parent, "Write [more]", should_not=["Add two numbers"])
    run(suite)
    found = present(latest_results(suite.parent))
    assert sorted(one.prompt for one in found.prompts) == ["Add two numbers", "Write [more]"]


def test_what_grades_again_takes_the_newest_run_with_tasks(suite: Path) -> None:
    record = recorded(suite)
    run(suite, prompts=("Write*",))
    assert record_of(suite.parent) == record
    assert record_of(suite.parent, of_prompts=True) != record


def test_an_estimate_is_of_the_chosen_prompts(suite: Path) -> None:
    settings = RunSettings(suite, prompts=("Write*",))
    assert not choose_tasks(settings).tasks
    assert estimate_run(settings).run.prompts == 2
