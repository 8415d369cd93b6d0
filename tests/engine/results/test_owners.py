"""Whose a recorded run is, also behind a change of the name of its eval file."""

from pathlib import Path

import pytest

from tests.engine.suites import run, task, write_suite
from waza_engine.results.reading.expenses import expenses_of
from waza_engine.results.reading.history import history_of
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.owners import Owner
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites

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
    found = latest_results(tmp_path, eval_file=renamed.name)
    assert found is not None
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
