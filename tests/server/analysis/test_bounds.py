"""Files that are made to cost: what is said of them is bounded, and the work between checkpoints."""

import sys
from pathlib import Path

import pytest

from tests.server.project.files import workspace_with
from waza_engine.checkpoint import watch_checkpoints
from waza_engine.spelling import MOST_MEANT
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document
from waza_language_server.syntax.aliases import aliased_nodes

TASK = "id: t\nname: T\ninputs:\n  prompt: Go\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in ("ab", "bc", "cd", "de", "ef")
)
MOST_CALLS_OF_A_STEP = 100_000
"""Calls of functions between two checkpoints: a step makes up to 26,000, a file up to 750,000."""

LONG_FILES = {
    "misspelt keys": "graders:\n- type: text\n  name: a\n  config:\n    contains: [a]\n"
    + "".join(f"    containz{at}: [x]\n" for at in range(2_000)),
    "wrong items": "checkpoints:\n" + "- after: 1\n" * 1_000,
    "bare graders": "graders:\n" + "- type: text\n" * 1_000,
    "graders of one name": "graders:\n" + "- {type: text, name: a, config: {contains: [a]}}\n" * 1_000,
    "wrong assertions": "graders:\n- type: code\n  name: a\n  config:\n    assertions:\n"
    + "".join(f"    - 'outpt == {at}'\n" for at in range(1_000)),
}


@pytest.mark.parametrize("text", LONG_FILES.values(), ids=LONG_FILES.keys())
def test_the_rules_have_a_checkpoint_often(text: str) -> None:
    document = Document("untitled:t", 1, TASK + text, "task")
    assert document.tree.root is not None
    calls = [0]

    def count(_frame: object, event: str, _argument: object) -> None:
        calls[-1] += event == "call"

    watch_checkpoints(lambda: calls.append(0))
    profiled = sys.getprofile()
    sys.setprofile(count)
    try:
        diagnose(document, workspace_with())
    finally:
        sys.setprofile(profiled)
        watch_checkpoints(None)
    assert len(calls) > 1_000
    assert max(calls) < MOST_CALLS_OF_A_STEP


def test_aliases_that_multiply_are_counted_without_following_them() -> None:
    root = Document("untitled:t", 1, BOMB, "task").tree.root
    assert root is not None
    assert aliased_nodes(root.green) > 1_000_000


def test_a_file_that_multiplies_itself_has_one_problem() -> None:
    document = Document("untitled:t", 1, TASK + BOMB + "graders: *f\n", "task")
    assert [problem.code for problem in diagnose(document, workspace_with())] == ["too-many-aliases"]


def test_a_word_as_long_as_the_file_is_nobodys_typo() -> None:
    document = Document("untitled:t", 1, f"{TASK}graders:\n- type: {'a' * 300_000}\n", "task")
    (problem,) = diagnose(document, workspace_with())
    assert not problem.fixes


UNKNOWN_WORDS = {
    "unknown-code": f"{TASK}" + "".join(f"# waza: ignore[unkown-key{at % 10}]\n" for at in range(200)),
    "unknown-grader-name": "name: e\ngraders:\n- {type: text, name: judge, config: {contains: [a]}}\n"
    + "".join(
        f"- {{type: human_calibration, name: h{at}, config: {{calibrate_grader: judg}}}}\n"
        for at in range(200)
    ),
}


@pytest.mark.parametrize("code", UNKNOWN_WORDS)
def test_all_unknown_words_are_reported_and_the_first_have_a_fix(tmp_path: Path, code: str) -> None:
    is_task = UNKNOWN_WORDS[code].startswith(TASK)
    uri = (tmp_path / ("t.yaml" if is_task else "eval.yaml")).as_uri()
    document = Document(uri, 1, UNKNOWN_WORDS[code], "task" if is_task else "eval")
    found = [problem for problem in diagnose(document, workspace_with(document)) if problem.code == code]
    assert len(found) == 200
    assert [bool(problem.fixes) for problem in found] == [at < MOST_MEANT for at in range(200)]
