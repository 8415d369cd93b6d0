"""Write a suite as an ``evals.json``, and its trigger prompts as a trigger list.

| of a suite | in ``evals.json`` | verdicts |
|---|---|---|
| ``text``, ``file`` (patterns, files that must exist), ``expected`` lists | typed assertions | the same |
| ``prompt`` with ``criteria`` | sentences | the same question |
| other ``prompt`` graders, ``skill_invocation``, files that must not exist | sentences | a judge decides |
| other graders, settings, checkpoints, mocks, hooks | left out | – |
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from waza_engine.convert.checks import (
    Condition,
    conditions_of,
    entries_of,
    expected_conditions,
    score_decides,
)
from waza_engine.convert.conversion import SUITE_KEYS, Conversion, written_values
from waza_engine.graders.base import GraderError
from waza_engine.graders.prompt import PromptConfig
from waza_engine.graders.registry import create
from waza_engine.graders.score import ScoreGrader
from waza_engine.graders.skill_invocation import SkillInvocationConfig
from waza_engine.runs.agent.trial_workspace import WorkspaceError, files_below
from waza_engine.runs.loading.suite_on_disk import SuiteTask
from waza_engine.runs.trials.triggers import trigger_file, trigger_tests_of
from waza_engine.spec.task_file import TaskFile
from waza_engine.spec.trigger_tests import TriggerTests
from waza_engine.vocabulary import EXPECTED_LISTS

_CONFIG = {"timeout_seconds", "executor"}
_TASK = {
    *("id", "name", "description", "enabled", "tags", "inputs", "graders", "expected", "context_dir"),
    *("hint", "reference", "metadata"),
}
_NO_OTHER = ", and used no skill besides and none more often."
_WRITTEN = ("evals.json", "triggers.json", "converted.json")
_MARKERS = ("set_waza_grade_pass", "set_waza_grade_fail")


def to_evals_json(conversion: Conversion) -> None:
    """Add ``evals.json``, and ``triggers.json`` for trigger prompts."""
    suite = conversion.source
    spec = suite.spec
    written = written_values(spec)
    conversion.lose_others(suite.path, "", written, SUITE_KEYS)
    config = written_values(spec.config)
    # A suite of Vally without skills is loaded with `none`, which its author has not written.
    config = {key: value for key, value in config.items() if value != ("none",)}
    known = _CONFIG if spec.config.trials_per_task > 1 else {*_CONFIG, "trials_per_task"}
    conversion.lose_others(suite.path, "config.", config, known)
    cases = [case for task in suite.tasks for case in _case(conversion, task)]
    if cases:
        document = {
            "skill_name": spec.skill or spec.name or suite.directory.name,
            **({"description": spec.description} if spec.description else {}),
            **({"version": spec.version} if spec.version else {}),
            "evals": cases,
        }
        conversion.files["evals.json"] = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    tests = trigger_tests_of(suite)
    if tests is not None:
        _triggers(conversion, tests)


def _case(conversion: Conversion, source: SuiteTask) -> Iterator[dict[str, Any]]:
    known = {"": _TASK, "expected": EXPECTED_LISTS, "inputs": {"prompt", "prompt_file", "files"}}
    read = conversion.task_and_prompt(source, known)
    if read is None:
        return
    task, prompt = read
    result = task.hint or task.reference or ""
    if task.hint and task.reference:
        conversion.lose(source.path, f"{source.id}: reference", "the `hint` is the expected output")
    assertions = list(_assertions(conversion, source, task))
    if not assertions and not result:
        result = task.description
    if not assertions and not result:
        conversion.lose(source.path, source.id, "nothing of it can be checked, and it describes no result")
        return
    case = {
        "id": int(source.id) if source.id.isdecimal() and source.id == str(int(source.id)) else source.id,
        "name": task.name if task.name != source.id else "",
        "description": task.description if result != task.description else "",
        "prompt": prompt,
        "expected_output": result,
        "files": _files(conversion, source.path, task),
        "assertions": assertions,
        "tags": list(task.tags),
        "metadata": dict(task.metadata),
    }
    yield {key: value for key, value in case.items() if value not in ("", [], {})}


def _files(conversion: Conversion, path: Path, task: TaskFile) -> list[object]:
    """Return the input files. Fixtures are copied next to ``evals.json``, where it finds them."""
    found: list[object] = []
    for file, start in conversion.input_files(path, task):
        if start is None:
            found.append({"path": file.path, "content": file.content})
            continue
        try:
            # A folder becomes its files.
            sources = list(files_below(start)) if start.is_dir() else [start]
        except WorkspaceError as error:
            conversion.lose(path, f"inputs.files: {file.path}", str(error))
            continue
        for each in sources:
            name = PurePosixPath(file.path, each.relative_to(start)).as_posix()
            if name in _WRITTEN or conversion.copies.setdefault(name, each) != each:
                conversion.lose(path, f"inputs.files: {name}", "another file has this path")
                continue
            found.append(name)
    return found


def _assertions(conversion: Conversion, source: SuiteTask, task: TaskFile) -> Iterator[object]:
    decided = score_decides(task, conversion.source.spec.graders)
    for where, index, entry in entries_of(task, conversion.source.spec.graders):
        path = source.path if where == "task" else conversion.source.path
        place = f"graders[{index}] `{entry.name or entry.type}`"
        try:
            grader = create(entry)
        except GraderError as error:
            conversion.lose(path, place, str(error))
            continue
        conditions = conditions_of(grader)
        if isinstance(grader, ScoreGrader):
            if grader.config.threshold is not None:
                why = f"a score of {grader.config.threshold:g} passes there, here each assertion must hold"
                conversion.lose(path, place, why, "differs")
        elif not (entry.required or decided):
            conversion.lose(path, place, "it is not required, and every assertion is")
        elif conditions is not None:
            for condition in conditions:
                yield _typed_assertion(
                    conversion, path, place, condition, entry.name if len(conditions) == 1 else ""
                )
        elif isinstance(grader.config, PromptConfig):
            yield from _judged_sentences(conversion, path, place, grader.config)
        elif isinstance(grader.config, SkillInvocationConfig):
            conversion.lose(path, place, "a judge decides by the tool calls of the agent", "differs")
            yield from _skill_sentences(grader.config)
        else:
            conversion.lose(path, place, f"`{entry.type}` has no counterpart")
    for condition in expected_conditions(task):
        yield _typed_assertion(conversion, source.path, "expected", condition, "")


def _typed_assertion(
    conversion: Conversion, path: Path, place: str, condition: Condition, name: str
) -> object:
    if condition.kind == "exists" and not condition.wanted:
        conversion.lose(path, place, "a judge decides that a file does not exist", "differs")
        return condition.sentence
    if condition.globs and condition.has_glob:
        conversion.lose(path, place, "a judge decides about the files of a glob", "differs")
        return condition.sentence
    found = {"name": name, "description": condition.sentence}
    if condition.kind == "exists":
        found |= {"type": "file_exists", "path": condition.path}
    else:
        found |= {"type": "content" if condition.wanted else "must_not", "pattern": condition.pattern}
        found |= {"path": condition.path}
    return {key: value for key, value in found.items() if value}


def _judged_sentences(conversion: Conversion, path: Path, place: str, config: PromptConfig) -> Iterator[str]:
    yield from config.criteria
    text = "\n".join(filter(None, (config.prompt, config.rubric)))
    if text:
        conversion.lose(path, place, "its instructions become a sentence for another judge", "differs")
        lines = [line for line in text.splitlines() if not any(marker in line for marker in _MARKERS)]
        yield "\n".join(lines).strip() or text.strip()


def _skill_sentences(config: SkillInvocationConfig) -> Iterator[str]:
    names = config.required_skills
    if config.mode == "any_order":
        times = Counter(names)
        for name, count in times.items():
            yield f"The agent used the skill {name}" + (f" at least {count} times." if count > 1 else ".")
    elif names:
        strictly = config.mode == "exact_match"
        listed = f"skill {names[0]}" if len(names) == 1 else f"skills {', '.join(names)}, in this order"
        yield f"The agent used the {listed}{_NO_OTHER if strictly else '.'}"
    yield from (f"The agent did not use the skill {name}." for name in config.forbidden_skills)


def _triggers(conversion: Conversion, tests: TriggerTests) -> None:
    sides = ((True, tests.should_trigger_prompts), (False, tests.should_not_trigger_prompts))
    listed = [
        {"query": prompt.prompt, "should_trigger": should}
        | ({"reason": prompt.reason} if prompt.reason else {})
        for should, prompts in sides
        for prompt in prompts
    ]
    if any(prompt.confidence for _, prompts in sides for prompt in prompts):
        conversion.lose(trigger_file(conversion.source), "confidence", "it has no counterpart")
    document = {"skill_name": tests.skill, "evals": listed}
    conversion.files["triggers.json"] = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
