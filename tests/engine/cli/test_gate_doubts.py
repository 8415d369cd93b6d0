"""What a gate says beside its verdict: of a baseline, or a run, that is worth little to compare."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine
from tests.engine.suites import GREETS, present, run, task, write_suite

_Edit = Callable[[dict[str, Any]], object]


def recorded(directory: Path, to: str, edit: _Edit = lambda _: None, **options: object) -> Path:
    suite = write_suite(
        directory, {"a": task("a", "golden: true\n"), "b": task("b", prompt="Bye")}, graders=GREETS
    )
    report, _ = run(suite, **options)
    document = json.loads(present(report.results_file).read_text())
    edit(document)
    path = directory / to
    path.write_text(json.dumps(document))
    return path


def warned(baseline: Path, current: Path, *more: str) -> tuple[int, list[tuple[str, str]]]:
    found = engine("gate", "--format", "json", "--baseline", baseline, "--current", current, *more)
    told = json.loads(found.stdout)
    return found.returncode, [(issue["kind"], issue["message"]) for issue in told.get("warnings", ())]


def test_a_baseline_that_was_cut_short_is_no_measure(tmp_path: Path) -> None:
    def cut(document: dict[str, Any]) -> None:
        document["metadata"]["engine"]["status"] = "canceled"

    good = recorded(tmp_path, "good.json")
    code, told = warned(recorded(tmp_path, "cut.json", cut), good)
    assert (code, [kind for kind, _ in told]) == (0, ["incomplete_baseline"])
    assert told[0][1].startswith("the baseline is no whole run: ")
    assert warned(good, good) == (0, [])


def broken(document: dict[str, Any]) -> None:
    """Let every task break."""
    for found in document["tasks"]:
        found["status"] = "error"
        for trial in found["runs"]:
            trial |= {"status": "error", "error_msg": "no login", "validations": None}


def test_beside_a_baseline_in_which_everything_broke_nothing_can_be_worse(tmp_path: Path) -> None:
    code, told = warned(recorded(tmp_path, "broken.json", broken), recorded(tmp_path, "good.json"))
    assert (code, told) == (
        0,
        [("incomplete_baseline", "no answer of the baseline was judged: 2 tasks in error")],
    )


def test_a_run_of_one_grader_says_so_at_the_gate(tmp_path: Path) -> None:
    good = recorded(tmp_path, "good.json")

    def chosen(document: dict[str, Any]) -> None:
        document["metadata"]["engine"]["graders"] = ["greets"]

    part = recorded(tmp_path, "part.json", chosen)
    words = "only the grader `greets` was run: no verdict of the suite"
    assert warned(good, part) == (0, [("partial", f"the current run is a part of its suite: {words}")])


def test_a_metric_that_is_missed_as_before_does_not_pass_in_silence(tmp_path: Path) -> None:
    def missed(document: dict[str, Any]) -> None:
        metric = {"value": 0.2, "threshold": 0.9, "passed": False, "weight": 1}
        document["metrics"]["trigger_accuracy"] = {"identifier": "trigger_accuracy", **metric}

    both = recorded(tmp_path, "missed.json", missed)
    words = "the current run is no pass by itself: trigger_accuracy is 0.20, below 0.9"
    assert warned(both, both) == (0, [("no_pass", words)])
    assert words in engine("gate", "--baseline", both, "--current", both).stdout


def test_of_two_golden_tasks_with_one_id_each_must_pass(tmp_path: Path) -> None:
    def twice(document: dict[str, Any]) -> None:
        first, second = document["tasks"]
        document["tasks"] = [{**second, "test_id": "a", "golden": True}, first]

    good, twins = recorded(tmp_path, "good.json"), recorded(tmp_path, "twins.json", twice)
    assert warned(good, twins, "--golden-must-pass", "--max-regression-pct", "100")[0] == 2


def test_a_baseline_of_one_grader_says_so_and_a_comparison_too(tmp_path: Path) -> None:
    part = recorded(tmp_path, "part.json", graders=("greets",))
    good = recorded(tmp_path, "good.json")
    words = "only the grader `greets` was run: no verdict of the suite"
    assert warned(part, good) == (0, [("partial", f"the baseline is a part of its suite: {words}")])
    assert f"⚠ B: {words}" in engine("compare", good, part).stdout
    # What a mock says is no model's.
    assert "(" not in engine("compare", good, good).stdout.splitlines()[0]


def test_a_gate_may_ask_for_a_share_of_the_trigger_prompts(tmp_path: Path) -> None:
    def tried(document: dict[str, Any]) -> None:
        prompts = [(True, True), (True, False), (False, False)]
        document["trigger_results"] = [
            {"prompt": str(number), "should_trigger": should, "did_trigger": did}
            for number, (should, did) in enumerate(prompts)
        ]
        document["trigger_metrics"] = {"true_positives": 1, "false_negatives": 1, "true_negatives": 1}

    both = recorded(tmp_path, "both.json", tried)
    assert warned(both, both)[0] == warned(both, both, "--fail-under-trigger", "0.6")[0] == 0
    assert warned(both, both, "--fail-under-trigger", "0.7")[0] == 1
    said = engine("gate", "--baseline", both, "--current", both, "--fail-under-trigger", "0.7").stdout
    assert "1 of 3 trigger prompts misclassified: 0.67 classified correctly, below 0.7" in said


def failures(baseline: Path, current: Path, *more: str) -> tuple[int, list[str]]:
    found = engine("gate", "--format", "json", "--baseline", baseline, "--current", current, *more)
    return found.returncode, [issue["message"] for issue in json.loads(found.stdout).get("failures", ())]


def test_a_run_in_error_does_not_pass_although_the_baseline_was_as_bad(tmp_path: Path) -> None:
    def without_the_other(document: dict[str, Any]) -> None:
        del document["tasks"][1]
        broken(document)

    both = recorded(tmp_path, "both.json", without_the_other)
    assert failures(both, both) == (1, ["the current run is in error: 1 task in error"])
    shown = engine("gate", "--baseline", both, "--current", both).stdout
    assert shown.startswith("gate: FAIL\n")
    assert "✗ the current run is in error" in shown


def test_a_failed_task_hides_no_error_of_another_one(tmp_path: Path) -> None:
    def failing_and_broken(document: dict[str, Any]) -> None:
        broken({"tasks": document["tasks"][:1]})

    both = recorded(tmp_path, "both.json", failing_and_broken)
    assert failures(both, both) == (1, ["the current run is in error: 1 task in error"])


def test_an_interrupted_run_of_some_graders_does_not_pass(tmp_path: Path) -> None:
    def cut(document: dict[str, Any]) -> None:
        document["metadata"]["engine"] |= {"graders": ["greets"], "status": "canceled"}

    code, told = failures(recorded(tmp_path, "good.json"), recorded(tmp_path, "cut.json", cut))
    assert (code, [message.partition(":")[0] for message in told]) == (1, ["the current run is no whole run"])


def test_a_score_that_fell_by_more_than_chance_is_no_pass(tmp_path: Path) -> None:
    def scored(count: int, score: float) -> Path:
        def edit(document: dict[str, Any]) -> None:
            first = json.dumps(document["tasks"][0])
            document["tasks"] = [json.loads(first.replace('"a"', f'"a{number}"')) for number in range(count)]
            for found in document["tasks"]:
                for key in ("avg_score", "avg_weighted_score", "min_score", "max_score"):
                    found["stats"][key] = score
                for trial in found["runs"]:
                    trial["weighted_score"] = score
                    for verdict in trial["validations"].values():
                        verdict["score"] = score

        return recorded(tmp_path, f"{count}-{score}.json", edit)

    words = "the mean score of 6 tasks fell from 1.0000 to 0.8000 (p = 0.031)"
    assert failures(scored(6, 1.0), scored(6, 0.8)) == (1, [words])
    assert failures(scored(6, 1.0), scored(6, 0.8), "--max-regression-pct", "30") == (0, [])
    assert failures(scored(6, 0.8), scored(6, 1.0)) == (0, [])
    # Five tasks may fall together by chance.
    assert failures(scored(5, 1.0), scored(5, 0.8)) == (0, [])


def test_a_golden_task_that_was_left_out_has_not_passed(tmp_path: Path) -> None:
    good = recorded(tmp_path, "good.json")
    part = recorded(tmp_path, "part.json", tasks=("b",))
    code, told = warned(good, part, "--max-regression-pct", "100")
    assert code == 0
    assert (
        "partial",
        "the current run is a part of its suite: only tasks that match `b` were selected",
    ) in told
    found = engine("gate", "--format", "json", "--baseline", good, "--current", part, "--golden-must-pass")
    document = json.loads(found.stdout)
    assert (found.returncode, document["verdict"]) == (2, "golden-failure")
    assert document["failures"][-1]["message"] == "golden task `a` is missing in the current results"
    assert [(task["task_id"], task["status"]) for task in document["golden_failures"]] == [("a", "n/a")]


def test_a_run_of_a_tag_is_a_part_of_its_suite(tmp_path: Path) -> None:
    def tagged(document: dict[str, Any]) -> None:
        document["metadata"]["engine"]["settings"]["tags"] = ["fast"]

    good, part = recorded(tmp_path, "good.json"), recorded(tmp_path, "part.json", tagged)
    words = "the current run is a part of its suite: only tasks with the tag `fast` were selected"
    assert warned(good, part) == (0, [("partial", words)])


def ungraded(*ids: str) -> _Edit:
    """Return an edit by which these tasks have no grader any more."""

    def edit(document: dict[str, Any]) -> None:
        for found in document["tasks"]:
            for trial in found["runs"] if found["test_id"] in ids else ():
                trial["validations"] = {}

    return edit


def test_a_golden_task_that_lost_its_grader_has_not_passed(tmp_path: Path) -> None:
    good, lost = recorded(tmp_path, "good.json"), recorded(tmp_path, "lost.json", ungraded("a"))
    found = engine("gate", "--format", "json", "--baseline", good, "--current", lost, "--golden-must-pass")
    document = json.loads(found.stdout)
    assert (found.returncode, document["verdict"]) == (2, "golden-failure")
    assert [task["task_id"] for task in document["golden_failures"]] == ["a"]
    assert "golden task `a` did not pass: skipped" in [each["message"] for each in document["failures"]]
    words = "golden task `a`: nothing was judged: it has no grader"
    assert warned(lost, lost, "--golden-must-pass") == (0, [("unjudged", words)])


def skipped(*ids: str) -> _Edit:
    def edit(document: dict[str, Any]) -> None:
        for found in document["tasks"]:
            if found["test_id"] in ids:
                for each in (found, *found["runs"]):
                    each["status"] = "skipped"

    return edit


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (ungraded("a"), "nothing was judged: it has no grader"),
        (skipped("a"), "its answers were not graded"),
    ],
)
def test_a_task_that_is_no_longer_judged_is_treated_as_a_removed_one(
    tmp_path: Path, edit: _Edit, reason: str
) -> None:
    good, lost = recorded(tmp_path, "good.json"), recorded(tmp_path, "lost.json", edit)
    words = f"task `a` was judged in the baseline; now {reason}"
    assert warned(good, lost, "--max-regression-pct", "100") == (0, [("unjudged", words)])
    policy = ("--max-regression-pct", "100", "--on-removed-tasks", "fail")
    assert failures(good, lost, *policy) == (1, [words])
    assert warned(lost, lost) == (0, [])


def test_a_run_of_skipped_tasks_fails_even_when_its_trigger_prompts_pass(tmp_path: Path) -> None:
    def prompts_only(document: dict[str, Any]) -> None:
        skipped("a", "b")(document)
        document["trigger_results"] = [{"prompt": "Hi", "should_trigger": True, "did_trigger": True}]

    good, none = recorded(tmp_path, "good.json"), recorded(tmp_path, "none.json", prompts_only)
    code, found = failures(good, none)
    assert (code, found[0].startswith("in the current run ")) == (1, True)
