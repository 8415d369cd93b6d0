"""The evals of a skill as a suite: a case of ``evals.json`` is a task, a trigger list has trigger prompts.

A case passes when all of its assertions do. The format defines no verdict, only a rate.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from waza_engine.boundary import suite_boundary
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.evals_json import AssertionObject, EvalCase, EvalsFile, TriggerList
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.skill_file import SKILL_FILE, load_skill_file
from waza_engine.spec.trigger_tests import TriggerPrompt, TriggerTests
from waza_engine.vocabulary import unique_names

JUDGED = "assertions"
"""The name of the grader that judges all assertions of a case that are sentences."""
REPETITIONS = 3
"""How often a trigger list asks each prompt, as skill-creator does."""
AS_EXPECTED = "The result is as described under “Expected result”."
_LEVELS = 3
_CONFIG = {"timeout_seconds": 300, "executor": "mock"}


def suite_of(
    document: EvalsFile | TriggerList, path: Path, given: Mapping[str, object], files: SuiteFiles = DISK
) -> EvalFile:
    """Return the suite of a document at a path. ``given`` are keys of ``config`` that replace the defaults.

    That of a trigger list has no task; its prompts are ``trigger_tests_of_list``. Raises ``SuiteFileError``.
    """
    if isinstance(document, TriggerList):
        skill = _skill_of(document, path, files)
        metric = {"name": "trigger_accuracy", "threshold": 1.0}
        config = {"trials_per_task": REPETITIONS, **_CONFIG, **given}
        suite = {"name": f"{skill} triggers", "skill": skill, "config": config, "metrics": [metric]}
        # An eval file must have tasks.
        return EvalFile.model_validate({**suite, "tasks": ["-"]}).model_copy(update={"tasks": ()})
    config = {"trials_per_task": 1, **_CONFIG, **given}
    tasks = [task_of_case(case, path, files) for case in document.evals]
    name = f"{document.skill_name} evals"
    return EvalFile.model_validate(
        {
            "name": name,
            "description": document.description,
            "skill": document.skill_name,
            "version": document.version,
            "config": config,
            "tasks": tasks,
        }
    )


def task_of_case(
    case: EvalCase,
    path: Path,
    files: SuiteFiles = DISK,
    judge: Callable[[Sequence[str]], Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return a case as the data of a task. ``judge`` returns the config of the grader of its sentences."""
    plain = [each for each in case.files if isinstance(each, str)]
    home = _home(plain, path, files) if plain else ""
    # A missing fixture is only a warning, as upstream has it; a missing source stops the trial.
    listed = [
        {"path": each, "copy_from": f"{home}/{each}"} if isinstance(each, str) else each.model_dump()
        for each in case.files
    ]
    tags = [*case.tags, *([case.case_set] if case.case_set else [])]
    task = {
        "id": case.id,
        "name": case.name or case.slug or case.id,
        "description": case.description,
        "hint": case.expected_output,
        "tags": tags,
        "metadata": case.metadata,
        "context_dir": home,
        "inputs": {"prompt": case.prompt, **({"files": listed} if listed else {})},
        "graders": [grader for _, grader in graders_of_case(case, judge or _criteria)],
    }
    return {key: value for key, value in task.items() if value}


def graders_of_case(
    case: EvalCase, judge: Callable[[Sequence[str]], Mapping[str, Any]]
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the graders of a case, each with the assertions that it decides, in their order."""
    assertions = case.all_assertions
    sentences = [each for each in map(_sentence, assertions) if each is not None]
    if not assertions:
        sentences = [AS_EXPECTED]
    if sentences:
        yield tuple(sentences), {"name": JUDGED, "type": "prompt", "config": dict(judge(sentences))}
    typed = [
        (position, each)
        for position, each in enumerate(assertions, 1)
        if isinstance(each, AssertionObject) and each.type is not None
    ]
    names = unique_names([JUDGED, *(each.name or f"assertion-{position}" for position, each in typed)])
    next(names)
    for name, (_, each) in zip(names, typed, strict=True):
        yield (each.sentence,), {"name": name, **_grader_of_assertion(each)}


def trigger_tests_of_list(document: TriggerList, path: Path, files: SuiteFiles = DISK) -> TriggerTests:
    """Return the prompts of a trigger list. Raises ``SuiteFileError`` when no skill is known."""
    prompts = {
        should: tuple(
            TriggerPrompt(prompt=each.words, reason=each.reason)
            for each in document.queries
            if each.should_trigger == should
        )
        for should in (True, False)
    }
    return TriggerTests(
        skill=_skill_of(document, path, files),
        should_trigger_prompts=prompts[True],
        should_not_trigger_prompts=prompts[False],
    )


def skill_folder(path: Path, files: SuiteFiles = DISK) -> Path | None:
    """Return the nearest folder of a skill, from that of a file upwards; None without one nearby."""
    above = path.absolute().parents[:_LEVELS]
    return next((folder for folder in above if files.is_named(folder / SKILL_FILE)), None)


def _sentence(assertion: str | AssertionObject) -> str | None:
    """Return an assertion that a judge has to decide, None for another one."""
    if isinstance(assertion, str):
        return assertion
    return assertion.sentence if assertion.type is None else None


def _criteria(sentences: Sequence[str]) -> Mapping[str, Any]:
    return {"criteria": list(sentences)}


def _grader_of_assertion(assertion: AssertionObject) -> dict[str, Any]:
    if assertion.type == "file_exists":
        return {"type": "file", "config": {"must_exist": [assertion.path]}}
    wanted = assertion.type == "content"
    if assertion.path:
        key = "must_match" if wanted else "must_not_match"
        return {
            "type": "file",
            "config": {"content_patterns": [{"path": assertion.path, key: [assertion.pattern]}]},
        }
    return {
        "type": "text",
        "config": {"regex_match" if wanted else "regex_not_match": [assertion.pattern]},
    }


def _home(written: Sequence[str], path: Path, files: SuiteFiles) -> str:
    """Return the folder of the input files, relative to that of the document.

    skill-creator writes them from the folder of the skill, the guide from that of ``evals.json``: the one
    that has most of them, the skill's folder if none does.
    """
    beside = path.absolute().parent
    skill = skill_folder(path, files) or (beside.parent if beside.name == "evals" else beside)

    def has(folder: Path) -> int:
        return sum(files.is_there(folder / each) for each in written)

    return os.path.relpath(beside if has(beside) > has(skill) else skill, beside).replace(os.sep, "/")


def _skill_of(document: TriggerList, path: Path, files: SuiteFiles) -> str:
    if document.skill_name:
        return document.skill_name
    folder = skill_folder(path, files)
    if folder is None:
        raise SuiteFileError(
            path,
            1,
            f"the trigger list names no skill, and no folder above it has a {SKILL_FILE}; move it into the "
            'folder of the skill, or write `{"skill_name": …, "evals": […]}`',
        )
    within = suite_boundary(path.absolute().parent)
    return load_skill_file(folder / SKILL_FILE, within=within).name.strip() or folder.name
