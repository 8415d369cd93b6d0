"""A task's limits beside those of its suites, and weights as shares of the weighted score."""

from pathlib import Path

import pytest

from tests.server.project.files import opened, put, workspace_with
from waza_engine.scoring.task_scores import Graded, composite
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.project.document import DocumentKind

HEAD = "name: s\nskill: k\nconfig: {timeout_seconds: 300, first_event_timeout_seconds: 30}\n"
GRADER = "- {{type: text, name: {}, weight: {}, config: {{contains: [x]}}}}\n"
PLAIN = "- {type: text, name: plain, config: {contains: [x]}}\n"


def hints(path: Path, kind: DocumentKind) -> list[tuple[str, str]]:
    """Return what stands in front of each hint on its line, and the hint."""
    document = opened(path, kind)
    found = inlay_hints(document, workspace_with(document))
    return [(document.text[: hint.offset].rsplit("\n", 1)[-1].strip(), hint.label) for hint in found]


def shares(path: Path, kind: DocumentKind) -> list[str]:
    return [label for _, label in hints(path, kind)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("timeout_seconds: 60", ["300 → 60 here"]),
        ("timeout_seconds: 60 # short", ["300 → 60 here"]),
        ("first_event_timeout_seconds: 0", ["30 → 0 here"]),
        ("timeout_seconds: 300", []),
        ("timeout_seconds: soon", []),
        ("timeout_seconds: [60]", []),
        ("description: 60", []),
    ],
)
def test_a_limit_tells_that_of_the_suite(written: str, expected: list[str], tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", HEAD + "tasks: ['*/*.yaml']\n")
    task = put(tmp_path, "tasks/a.yaml", f"id: a\ninputs: {{prompt: Go}}\n{written}\n")
    assert hints(task, "task") == [(written.partition(" #")[0], each) for each in expected]
    lines = f"- id: a\n  inputs: {{prompt: Go}}\n  {written}\n"
    inline = put(tmp_path, "other/eval.yaml", f"{HEAD}tasks:\n{lines}")
    assert shares(inline, "eval") == expected


def test_a_suite_that_says_no_limit_is_not_told_of(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", "skill: k\ntasks: ['tasks/*.yaml']\n")
    task = put(tmp_path, "tasks/a.yaml", "id: a\ntimeout_seconds: 60\n")
    assert hints(task, "task") == []


def test_the_limits_of_all_suites_are_told_the_nearest_first(tmp_path: Path) -> None:
    text = "skill: k\nconfig: {{timeout_seconds: {}}}\ntasks: ['{}']\n"
    put(tmp_path, "eval.yaml", text.format(300, "sub/tasks/*.yaml"))
    put(tmp_path, "sub/eval.yaml", text.format(90, "tasks/*.yaml"))
    task = put(tmp_path, "sub/tasks/a.yaml", "id: a\ntimeout_seconds: 90\n")
    assert shares(task, "task") == ["90, 300 → 90 here"]


def test_a_weight_is_the_share_that_the_engine_gives_it(tmp_path: Path) -> None:
    graders = "".join(map(GRADER.format, "abc", ("3", "0.5", "-2"))) + PLAIN
    path = put(tmp_path, "eval.yaml", f"{HEAD}graders:\n{graders}tasks: ['tasks/*.yaml']\n")
    weights = (3.0, 0.5, -2.0, 1.0)
    for at, (_, label) in enumerate(hints(path, "eval")):
        graded = [Graded(float(at == number), True, weight) for number, weight in enumerate(weights)]
        assert label == f"= {composite(graded).weighted_score:.0%} of the weights".replace("%", " %")
    assert shares(path, "eval") == ["= 55 % of the weights", "= 9 % of the weights", "= 18 % of the weights"]


def test_graders_of_a_task_count_beside_those_of_the_suite_and_in_place_of_their_names(
    tmp_path: Path,
) -> None:
    suite = GRADER.format("a", 3) + GRADER.format("b", 1)
    own = GRADER.format("b", 2) + GRADER.format("own", 5)
    put(tmp_path, "eval.yaml", f"{HEAD}graders:\n{suite}tasks: ['tasks/*.yaml']\n")
    task = put(tmp_path, "tasks/a.yaml", f"id: a\ngraders:\n{own}")
    assert shares(task, "task") == ["= 20 % of the weights", "= 50 % of the weights"]
    indented = "".join(f"  {line}\n" for line in own.splitlines())
    inline = f"{HEAD}graders:\n{suite}tasks:\n- id: a\n  graders:\n{indented}"
    path = put(tmp_path, "other/eval.yaml", inline)
    assert shares(path, "eval") == [f"= {share} % of the weights" for share in (30, 20, 50)]


@pytest.mark.parametrize(
    "graders",
    [
        GRADER.format("a", 2) + GRADER.format("b", 2),
        GRADER.format("a", 2),
        GRADER.format("a", 2) + GRADER.format("''", 3),
        GRADER.format("a", "much") + GRADER.format("b", 3),
        GRADER.format("a", 2) + "- {ref: some/package}\n",
        "".join(GRADER.format(f"g{number}", number + 1) for number in range(101)),
    ],
)
def test_no_share_is_told_that_says_nothing_or_is_not_known(graders: str, tmp_path: Path) -> None:
    path = put(tmp_path, "eval.yaml", f"{HEAD}graders:\n{graders}tasks: ['tasks/*.yaml']\n")
    assert hints(path, "eval") == []


def test_at_the_suite_the_share_is_a_range_where_tasks_differ(tmp_path: Path) -> None:
    put(tmp_path, "tasks/a.yaml", "id: a\n")
    put(tmp_path, "tasks/b.yaml", f"id: b\ngraders:\n{GRADER.format('own', 6)}")
    suite = f"{HEAD}graders:\n{GRADER.format('a', 3)}{GRADER.format('b', 1)}tasks: ['tasks/*.yaml']\n"
    path = put(tmp_path, "eval.yaml", suite)
    assert shares(path, "eval") == ["= 30 % to 75 % of the weights", "= 10 % to 25 % of the weights"]


def test_what_a_task_expects_counts_in_its_shares(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", f"{HEAD}graders:\n{PLAIN}tasks: ['tasks/*.yaml']\n")
    text = f"id: a\nexpected: {{output_contains: [x]}}\ngraders:\n{GRADER.format('b', 2)}"
    assert shares(put(tmp_path, "tasks/a.yaml", text), "task") == ["= 50 % of the weights"]


def test_what_is_said_at_a_checkpoint_counts_for_nothing(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", f"{HEAD}graders:\n{GRADER.format('a', 3)}tasks: ['tasks/*.yaml']\n")
    inner = "".join(f"  {line}\n" for line in GRADER.format("mid", 7).splitlines())
    text = f"id: a\ngraders:\n{GRADER.format('b', 1)}checkpoints:\n- after_turn: 1\n  graders:\n{inner}"
    assert shares(put(tmp_path, "tasks/a.yaml", text), "task") == ["= 25 % of the weights"]


def test_a_weight_that_is_merged_in_counts(tmp_path: Path) -> None:
    first = "- &base {type: text, name: a, weight: 2, config: {contains: [x]}}\n"
    suite = put(tmp_path, "eval.yaml", f"{HEAD}graders:\n{first}- {{<<: *base, name: b}}\n{PLAIN}")
    assert shares(suite, "eval") == ["= 40 % of the weights"]
