"""The type of a grader: unknown, missing, out of use."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, drawn, fixed, graders, problems
from tests.server.project.files import project_with, put
from waza_engine.spec.loading import load_task_file
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog


def test_an_unknown_type_is_one_problem() -> None:
    text = graders("  - type: tekst\n    name: a\n    config:\n      contains: [done]\n      whatever: 1\n")
    assert [problem.code for problem in problems(text)] == ["unknown-grader-type"]


def test_a_type_of_the_first_python_api_is_deprecated() -> None:
    schema = {"type": "object", "deprecated": True, "x-waza-deprecation": "import from `new` instead."}
    document = Document("untitled:test", 0, graders("  - type: oldest\n    name: a\n"), "task")
    workspace = Workspace(project_with(document), default_catalog().with_types({"oldest": schema}))
    (problem,) = diagnose(document, workspace)
    assert (problem.code, problem.severity, problem.tag) == (
        "deprecated-grader-type",
        "information",
        "deprecated",
    )
    assert problem.message == "The grader type `oldest` is deprecated: import from `new` instead."


@pytest.mark.parametrize("before", ["config:\n      ", ""])
def test_a_task_grader_with_assertions_runs_without_a_type(before: str, tmp_path: Path) -> None:
    entry = f"  - name: a\n    {before}assertions: ['len(output) > 1']\n"
    found = {each.code: each.severity for each in problems(graders(entry))}
    assert found == {"missing-grader-type": "warning"}
    assert load_task_file(put(tmp_path, "t.yaml", graders(entry)))[0].graders[0].type == "code"
    after = fixed(graders(entry), "missing-grader-type")
    assert {each.severity for each in problems(after)} <= {"warning"}
    task = graders(entry).rstrip().replace("\n", "\n    ")
    inline = EVAL.replace(" [tasks/*.yaml]\n", f"\n  - {task}\n")
    assert {each.severity for each in problems(inline, "eval")} == {"warning"}
    of_suite = {each.code: each.severity for each in problems(f"{EVAL}graders:\n{entry}", "eval")}
    assert of_suite["missing-grader-type"] == "error"


def test_an_empty_type_is_reported_at_the_key() -> None:
    text = graders("  - name: a\n    type:\n    config:\n      contains: [done]\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
    type:
    ^^^^ error missing-grader-type: This grader has no `type`; without one a run cannot grade.
      = fix: Insert `type: text`
"""
    )


def test_a_misspelt_type_key_is_renamed() -> None:
    text = graders("  - tyoe: text\n    name: a\n    config:\n      contains: [done]\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
  - tyoe: text
    ^^^^ error unknown-key: This grader has no key `tyoe`; did you mean `type`? Without it the run fails.
      = fix: Change to `type`
"""
    )


def test_a_null_type_is_a_missing_one() -> None:
    text = graders("  - name: a\n    type: null\n    config:\n      contains: [done]\n")
    assert problems(fixed(text, "missing-grader-type")) == ()


def test_the_options_tell_which_type_another_tools_name_means() -> None:
    text = graders("  - name: a\n    type: custom\n    config:\n      assertions: ['output']\n")
    assert "did you mean `code`?" in drawn(text)


def test_an_inserted_config_checks_something() -> None:
    text = graders("  - type: code\n    name: a\n")
    assert problems(fixed(text, "missing-key")) == ()


def test_a_type_among_the_options_moves_out_of_them() -> None:
    text = graders("  - name: a\n    config:\n      type: text # this\n      contains: [x]\n")
    meant = graders("  - name: a\n    type: text # this\n    config:\n      contains: [x]\n")
    [problem] = problems(text)
    assert problem.message == "`type` belongs next to `config`, not under it. Without it the run fails."
    assert fixed(text, "misplaced-key") == meant
