"""A suite and its tasks over their last runs, behind their names."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.server.features.results import grade, write_results
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.features.scores.inlay_hints import InlayHint, inlay_hints
from waza_language_server.project.document import DocumentKind
from waza_language_server.project.histories import history_of

NOW = datetime(2026, 11, 9, 12, tzinfo=UTC)
EVAL = "name: forms\nskill: pdf-filler\nconfig: {executor: mock, model: some-model}\ntasks: [tasks/*.yaml]\n"


def run(day: int, score: float | None) -> dict[str, Any]:
    started = f"2026-11-0{day}T12:00:00+00:00"
    return {"file": f"r{day}.json", "started": started, "model": "m", "verdict": "passed", "score": score}


def over(*scores: float | None, **more: Any) -> dict[str, Any]:
    judged = [score for score in scores if score is not None]
    return {
        "id": "one",
        "scores": list(scores),
        "verdicts": [],
        "passed": judged.count(1.0),
        "judged": len(judged),
        "flaky": False,
        "passed_trials": 0,
        "trials": 0,
        "red_since": None,
        "passed_in": None,
        **more,
    }


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "tasks/one.yaml", "id: one\ninputs: {prompt: Do it}\n")
    path = put(tmp_path, "eval.yaml", EVAL)
    write_results(path, {"one": [[grade("a", 0.0)]]}, model="some-model")
    return path


def hints(suite: Path, path: Path, kind: DocumentKind, answer: dict[str, Any]) -> list[InlayHint]:
    document = opened(path, kind, path.read_text("utf-8"))
    workspace = workspace_with(document, roots=(suite.parent,))
    workspace.project.scores.histories.take(suite, history_of(answer))
    return [hint for hint in inlay_hints(document, workspace, now=NOW) if hint.kind == "history"]


def of_task(suite: Path, **task: Any) -> list[InlayHint]:
    scores = task.pop("scores", (1.0, 0.5, 0.0))
    runs = [run(day, 1.0) for day in range(1, len(scores) + 1)]
    answer = {"runs": runs, "tasks": [over(*scores, **task)]}
    return hints(suite, suite.parent / "tasks" / "one.yaml", "task", answer)


def test_a_suite_has_its_last_scores_and_a_dash_where_nothing_was_judged(suite: Path) -> None:
    answer = {"runs": [run(1, 0.0), run(2, None), run(3, 0.5), run(4, 1.0)], "tasks": []}
    (hint,) = hints(suite, suite, "eval", answer)
    assert (hint.label, hint.offset) == ("… – → 0.50 → 1.00", EVAL.index("\n"))
    assert hint.tooltip.splitlines()[2] == "- 1.00: the run of 5 days ago (`r4.json`, `m`)"
    assert "- not judged: the run of 7 days ago" in hint.tooltip


def test_a_run_of_a_part_says_so_instead_of_a_score(suite: Path) -> None:
    part = {**run(3, None), "part": "the grader `says` alone"}
    (hint,) = hints(suite, suite, "eval", {"runs": [run(1, 0.0), run(2, 1.0), part], "tasks": []})
    assert "- the grader `says` alone: the run of 6 days ago" in hint.tooltip


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ((1.0,), []),
        ((1.0, 1.0), []),
        ((1.0, None, 0.0), ["1.00 → – → 0.00"]),
        ((1.0, 1.0, 1.0), ["1.00 → 1.00 → 1.00"]),
    ],
)
def test_two_runs_that_came_to_the_same_have_no_history(
    suite: Path, scores: tuple[float | None, ...], labels: list[str]
) -> None:
    assert [hint.label for hint in of_task(suite, scores=scores)] == labels


def test_a_task_says_since_which_run_it_is_newly_red(suite: Path) -> None:
    (hint,) = of_task(suite, red_since="r2.json", passed_in="r1.json")
    assert (hint.label, hint.offset) == ("1.00 → 0.50 → 0.00", len("id: one"))
    assert "- passed in 1 of 3 runs that judged it" in hint.tooltip
    assert (
        "- newly red since the run of 7 days ago (`r2.json`, `m`); it passed in the run before"
        in hint.tooltip
    )


def test_a_task_says_at_which_commit_it_turned_red_and_passed_last(suite: Path) -> None:
    commits = ({"hash": "a" * 40, "dirty": False}, {"hash": "b" * 40, "dirty": True}, None)
    runs = [{**run(day, 1.0), "commit": commit} for day, commit in enumerate(commits, 1)]
    answer = {"runs": runs, "tasks": [over(1.0, 0.5, 0.0, red_since="r2.json", passed_in="r1.json")]}
    (hint,) = hints(suite, suite.parent / "tasks" / "one.yaml", "task", answer)
    assert (
        "- newly red since the run of 7 days ago (`r2.json`, `m`, commit `bbbbbbb with uncommitted changes`)"
        "; it passed in the run before (commit `aaaaaaa`)"
    ) in hint.tooltip


def test_what_was_red_as_long_as_is_known_is_not_newly_so(suite: Path) -> None:
    (hint,) = of_task(suite, red_since="r1.json")
    assert "- red since the run of 8 days ago" in hint.tooltip
    assert "newly" not in hint.tooltip


def test_a_flaky_task_has_its_counts(suite: Path) -> None:
    (hint,) = of_task(suite, flaky=True, passed_trials=7, trials=9)
    assert hint.label == "1.00 → 0.50 → 0.00 flaky 7/9"
    assert "7 of 9 passed there" in hint.tooltip


def test_what_was_judged_once_has_no_history(suite: Path) -> None:
    assert of_task(suite, scores=(None, 1.0)) == []


@pytest.mark.parametrize("answer", [None, [], {"runs": 1}, {"runs": []}, {"runs": [{"started": "soon"}]}])
def test_what_is_no_answer_is_no_history(answer: object) -> None:
    assert history_of(answer) is None
