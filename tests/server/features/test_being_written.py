"""What is not shown as a problem while the cursor is there; ``<CURSOR>`` is where the last edit ended."""

import pytest

from tests.server.features.completing import CURSOR, taken
from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.completion.being_written import without_unfinished
from waza_language_server.project.document import Document

SUITE = """\
name: x
skill: y
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks:
  - id: a
    inputs:
      prompt: hi
"""


def shown(source: str) -> list[str]:
    """Return the codes of the problems that are shown in a suite that ends with what is written."""
    source = SUITE + source
    offset = source.index(CURSOR)
    document = Document("file:///nowhere/eval.yaml", 1, source.replace(CURSOR, ""), "eval")
    workspace = workspace_with(document)
    problems = diagnose(document, workspace)
    return [problem.code for problem in without_unfinished(document, workspace, offset, problems)]


@pytest.mark.parametrize(
    "written",
    [
        "gra<CURSOR>",
        "graders:\n  -<CURSOR>",
        "graders:\n  - <CURSOR>",
        "graders:\n  - ty<CURSOR>",
        "graders:\n  - type:<CURSOR>",
        "graders:\n  - type: co<CURSOR>",
        "graders:\n  - type: code<CURSOR>",
        "graders:\n  - type: code\n    <CURSOR>",
        "graders:\n  - type: code\n    na<CURSOR>",
        "graders:\n  - type: code\n    name: b\n    config:\n      ass<CURSOR>",
        "graders:\n  - type: code\n    name: b\n    config:\n      assertions:\n        - <CURSOR>",
    ],
)
def test_what_may_still_become_right_is_not_wrong(written: str) -> None:
    assert shown(written) == []


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("grados<CURSOR>", ["yaml-syntax"]),
        ("graders:\n  - type: codex<CURSOR>", ["unknown-grader-type"]),
        ("containz:<CURSOR>", ["unknown-key"]),
        ("graders:\n  - type: text\n    name: b\n    config:\n      containz: a<CURSOR>", ["unknown-key"]),
    ],
)
def test_what_cannot_become_right_is_shown_at_once(written: str, codes: list[str]) -> None:
    assert [code for code in shown(written) if code in codes] == codes


def test_what_was_left_is_shown() -> None:
    assert shown("graders:\n  - type: code\n    name: b\nbaseline: false<CURSOR>") == ["missing-key"]
    assert shown("graders:\n  - ty\nbaseline: false<CURSOR>") == ["wrong-type"]


def test_inside_of_what_is_written_nothing_is_held_back() -> None:
    assert "missing-key" in shown("graders:\n  - type: <CURSOR>code\n    name: b\n")


@pytest.mark.parametrize("key", ["graders", "skill", "config", "tasks"])
def test_a_key_that_is_taken_from_the_list_is_not_red(key: str) -> None:
    written = taken("name: x\n<CURSOR>", key)
    document = Document("file:///nowhere/eval.yaml", 1, written, "eval")
    workspace = workspace_with(document)
    found = without_unfinished(document, workspace, len(written), diagnose(document, workspace))
    begin = written.index(key)
    assert [
        problem.code for problem in found if problem.span.start >= begin and problem.severity == "error"
    ] == []


@pytest.mark.parametrize(
    "written", ["name: My evals", "name: x\nskill: y\n", "name: x\ntasks:\n  - a.yaml\n"]
)
def test_keys_of_a_file_that_was_begun_empty_are_to_come(written: str) -> None:
    document = Document("file:///nowhere/eval.yaml", 1, written, "eval")
    workspace = workspace_with(document)
    problems = diagnose(document, workspace)
    assert "missing-key" in {problem.code for problem in problems}
    for offset in (len("name: x"), len(written)):
        found = without_unfinished(document, workspace, offset, problems, begun=True)
        assert {problem.code for problem in found if problem.severity == "error"} <= {"missing-file"}
