"""In a ``SKILL.md`` the suites that test its skill can be run, and show how they came out."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.server.features.results import RUN_AT, grade, write_results
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.features.runnables.skill_suites import (
    skill_hints,
    skill_lenses,
    skill_runnables,
)
from waza_language_server.features.scores.inlay_hints import InlayHint
from waza_language_server.features.scores.marks import marks_of
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.skill_file import SkillFile
from waza_language_server.project.suites import Suite
from waza_language_server.project.suites_of_skills import SuitesOfSkills
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace

SKILL = "---\nname: pdf-filler\ndescription: Fills forms.\n---\n# PDF filler\n"
EVAL = """\
name: forms
skill: pdf-filler
config: {executor: copilot-sdk, model: some-model}
tasks: [tasks/*.yaml]
"""


@pytest.fixture
def skill(tmp_path: Path) -> SkillFile:
    path = put(tmp_path, "skills/pdf-filler/SKILL.md", SKILL)
    return SkillFile(uri_of(path), path, SKILL)


def suites_of(skill: SkillFile, workspace: Workspace) -> tuple[Suite, ...]:
    return SuitesOfSkills().of(skill, workspace.project)


def lenses(skill: SkillFile, workspace: Workspace, running: set[RunnableId] | None = None) -> list[str]:
    suites = suites_of(skill, workspace)
    return [lens.title for lens in skill_lenses(skill, suites, workspace, running or ())]


def hints(skill: SkillFile, workspace: Workspace) -> tuple[InlayHint, ...]:
    return skill_hints(skill, suites_of(skill, workspace), workspace)


def test_the_suite_of_a_skill_is_run_from_its_first_line(tmp_path: Path, skill: SkillFile) -> None:
    suite = put(tmp_path, "evals/pdf-filler/eval.yaml", EVAL)
    workspace = workspace_with(roots=(tmp_path,))
    (lens,) = skill_lenses(skill, suites_of(skill, workspace), workspace)
    assert (lens.title, lens.command, lens.span.start) == ("▶ Run evals of this skill", "waza.run", 0)
    assert lens.argument == {"id": suite.as_posix()}
    assert lenses(skill, workspace, {RunnableId(suite)}) == ["✗ Cancel"]


def test_each_of_several_suites_is_named_the_nearest_first(tmp_path: Path, skill: SkillFile) -> None:
    put(tmp_path, "evals/pdf-filler/eval.yaml", EVAL)
    near = put(tmp_path, "skills/pdf-filler/evals/eval.yaml", EVAL)
    put(tmp_path, "evals/other/eval.yaml", EVAL.replace("pdf-filler", "other"))
    workspace = workspace_with(roots=(tmp_path,))
    assert lenses(skill, workspace) == [
        "▶ Run evals of this skill in evals/eval.yaml",
        "▶ Run evals of this skill in pdf-filler/eval.yaml",
    ]
    assert skill_runnables(suites_of(skill, workspace))[0].id == RunnableId(near)


def test_a_skill_without_a_suite_is_offered_one(tmp_path: Path, skill: SkillFile) -> None:
    workspace = workspace_with(roots=(tmp_path,))
    (lens,) = skill_lenses(skill, suites_of(skill, workspace), workspace)
    assert (lens.title, lens.command) == ("New suite for skill pdf-filler", "waza.newSuite")
    assert lens.argument == {"skill": skill.uri}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("evals/evals.json", '{"skill_name": "pdf-filler", "evals": [{"id": 1, "prompt": "p"}]}'),
        ("eval.yaml", "stimuli: [{name: a, prompt: p}]"),
    ],
)
def test_evals_of_other_tools_are_run(tmp_path: Path, skill: SkillFile, name: str, text: str) -> None:
    path = put(tmp_path, f"skills/pdf-filler/{name}", text)
    (lens,) = skill_lenses(skill, (), workspace_with(roots=(tmp_path,)))
    assert (lens.title, lens.argument) == ("▶ Run evals of this skill", {"id": path.as_posix()})
    path.write_text("{}")
    assert lenses(skill, workspace_with(roots=(tmp_path,))) == ["New suite for skill pdf-filler"]


def test_a_suite_that_is_open_says_itself_what_it_tests(tmp_path: Path, skill: SkillFile) -> None:
    path = put(tmp_path, "evals/pdf-filler/eval.yaml", EVAL)
    edited = opened(path, "eval", EVAL.replace("pdf-filler", "other"))
    assert lenses(skill, workspace_with(edited, roots=(tmp_path,))) == ["New suite for skill pdf-filler"]


def test_of_two_skills_of_one_name_a_suite_tests_the_nearer(tmp_path: Path, skill: SkillFile) -> None:
    put(tmp_path, "copy/skills/pdf-filler/SKILL.md", SKILL)
    put(tmp_path, "copy/evals/eval.yaml", EVAL)
    assert lenses(skill, workspace_with(roots=(tmp_path,))) == ["New suite for skill pdf-filler"]


def test_a_skill_that_the_suite_lists_is_meant_wherever_it_lies(tmp_path: Path, skill: SkillFile) -> None:
    put(tmp_path, "evals/skills/pdf-filler/SKILL.md", SKILL)
    listed = EVAL.replace("{executor", "{skill_directories: [../../skills/pdf-filler], executor")
    put(tmp_path, "evals/pdf-filler/eval.yaml", listed)
    assert lenses(skill, workspace_with(roots=(tmp_path,))) == ["▶ Run evals of this skill"]


def test_the_name_is_read_as_it_is_typed_whatever_its_case(tmp_path: Path, skill: SkillFile) -> None:
    put(tmp_path, "evals/pdf-filler/eval.yaml", EVAL.replace("pdf-filler", "PDF-Reader"))
    typed = SkillFile(skill.uri, skill.path, SKILL.replace("pdf-filler", "pdf-reader"))
    assert lenses(typed, workspace_with(roots=(tmp_path,))) == ["▶ Run evals of this skill"]


def test_the_last_run_stands_at_the_first_line(tmp_path: Path, skill: SkillFile) -> None:
    suite = put(tmp_path, "evals/pdf-filler/eval.yaml", EVAL)
    put(suite.parent, "tasks/one.yaml", "id: one\ninputs: {prompt: Do it}\n")
    workspace = workspace_with(roots=(tmp_path,))
    assert hints(skill, workspace) == ()
    failed = {"metadata": {"engine": {"eval_file": "eval.yaml", "status": "failed"}}}
    write_results(suite, {"one": [[grade("a", 0.0)]]}, model="some-model", more=failed)
    (hint,) = hints(skill, workspace_with(roots=(tmp_path,)))
    assert (hint.label, hint.offset) == ("✗ 1 of 1 task", len("---"))
    assert [(mark.state, mark.stale) for mark in marks_of([hint], skill.lines)] == [("failed", False)]


def test_the_verdict_of_a_suite_that_was_changed_since_is_stale(tmp_path: Path, skill: SkillFile) -> None:
    suite = put(tmp_path, "evals/pdf-filler/eval.yaml", EVAL)
    passed = {"metadata": {"engine": {"eval_file": "eval.yaml", "status": "completed"}}}
    write_results(suite, {"one": [[grade("a", 1.0)]]}, at=RUN_AT - timedelta(days=1), more=passed)
    suite.write_text(EVAL.replace("some-model", "another"), "utf-8")
    (hint,) = hints(skill, workspace_with(roots=(tmp_path,)))
    assert hint.label == "✓ 1/1 task · stale"
