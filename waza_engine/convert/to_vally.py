"""Write a suite as a Vally eval file, in the spelling that every version since 0.7 takes.

The table is that of ``spec/vally/counterparts.py``, read the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from waza_engine.convert.checks import (
    Condition,
    conditions_of,
    entries_of,
    expected_conditions,
    score_decides,
)
from waza_engine.convert.comments import Comments, yaml_with
from waza_engine.convert.conversion import SUITE_KEYS, Conversion, written_values
from waza_engine.graders.base import GraderError
from waza_engine.graders.behavior import BehaviorConfig
from waza_engine.graders.matching.tool_patterns import ToolPattern
from waza_engine.graders.prompt import PromptConfig
from waza_engine.graders.registry import create
from waza_engine.graders.score import ScoreGrader
from waza_engine.graders.skill_invocation import SkillInvocationConfig
from waza_engine.graders.tool_constraint import ToolConstraintConfig
from waza_engine.runs.agent.agent_skills import suite_skills
from waza_engine.runs.loading.suite_on_disk import SuiteTask
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.pattern_syntax import literal_pattern
from waza_engine.spec.task_file import TaskFile
from waza_engine.spec.vally.versions import slug_of
from waza_engine.vocabulary import EXPECTED_LISTS, unique_names

_CONFIG = {"trials_per_task", "timeout_seconds", "executor", "model", "judge_model", "skill_directories"}
_EFFORTS = {"reasoning_effort", "judge_reasoning_effort", "mcp_servers", "pass_score"}
_TASK = {
    *("id", "name", "description", "enabled", "tags", "inputs", "graders", "expected", "context_dir"),
    *("timeout_seconds", "skill_directories"),
}
_INPUTS = {"prompt", "prompt_file", "files", "follow_up_prompts"}
_LONGEST_NAME = 55
"""Of 60 characters that Vally takes; a number may follow."""


def to_vally(conversion: Conversion, comments: Mapping[int, Comments], head: list[str]) -> None:
    """Add ``eval.yaml``; ``comments`` are those of the tasks by index."""
    suite = conversion.source
    spec, config = suite.spec, suite.spec.config
    written = written_values(spec)
    conversion.lose_others(suite.path, "", written, SUITE_KEYS)
    of_config = written_values(config)
    conversion.lose_others(suite.path, "config.", of_config, _CONFIG | _EFFORTS)
    defaults = {
        "runs": config.trials_per_task,
        "timeout": f"{config.timeout_seconds}s",
        "executor": config.executor,
        "model": config.model,
        "judge_model": config.judge_model,
        "reasoning_effort": config.reasoning_effort,
        "judge_reasoning_effort": config.judge_reasoning_effort,
    }
    skills = [conversion.from_here(skill.path.parent) for skill in suite_skills(suite).skills]
    environment = {"skills": list(dict.fromkeys(skills)), "mcpServers": dict(config.mcp_servers)}
    stimuli: list[dict[str, Any]] = []
    places: dict[tuple[str | int, ...], Any] = {(): head}
    names = list(unique_names(slug_of(task.id) or task.id for task in suite.tasks))
    for position, (task, name) in enumerate(zip(suite.tasks, names, strict=True)):
        found = _stimulus(conversion, task, name)
        if found is None:
            continue
        origins = found.pop("origins")
        comments_of_task = comments.get(position, Comments()).of_task(0, origins)
        for place, lines in comments_of_task.items():
            places["stimuli", len(stimuli), *place] = lines
        stimuli.append(found)
    data = {
        "name": spec.name,
        "description": spec.description,
        "version": spec.version,
        "defaults": _without_empty(defaults),
        "environment": _without_empty(environment),
        "scoring": {} if config.pass_score is None else {"threshold": config.pass_score},
        "stimuli": stimuli,
    }
    conversion.files["eval.yaml"] = yaml_with(_without_empty(data), places)


def _stimulus(conversion: Conversion, source: SuiteTask, name: str) -> dict[str, Any] | None:
    known = {"": _TASK, "expected": EXPECTED_LISTS, "inputs": _INPUTS}
    read = conversion.task_and_prompt(source, known)
    if read is None:
        return None
    task, prompt = read
    turns = task.inputs.follow_up_prompts
    rubric: list[str] = []
    graders = list(_graders(conversion, source, task, rubric))
    if not graders:
        conversion.lose(source.path, f"{source.id}: graders", "Vally wants one, and none has a counterpart")
    names = unique_names((slug_of(each["name"]) or "grader")[:_LONGEST_NAME] for _, each in graders)
    named = [{**each, "name": name} for (_, each), name in zip(graders, names, strict=True)]
    environment = {"files": _files(conversion, source.path, task), "skills": conversion.skill_folders(task)}
    return {
        "origins": [origin for origin, _ in graders],
        **_without_empty(
            {
                "name": name,
                "description": task.description or (task.name if task.name != name else ""),
                **({"turns": [prompt, *turns]} if turns else {"prompt": prompt}),
                "tags": _tags(conversion, source, task),
                "timeout": f"{task.timeout_seconds}s" if task.timeout_seconds else "",
                "environment": _without_empty(environment),
                "rubric": rubric,
                "graders": named,
            }
        ),
    }


def _graders(
    conversion: Conversion, source: SuiteTask, task: TaskFile, rubric: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the graders, each with the name of the one that it was made of."""
    decided = score_decides(task, conversion.source.spec.graders)
    for where, index, entry in entries_of(task, conversion.source.spec.graders):
        path = source.path if where == "task" else conversion.source.path
        name = entry.name or entry.type
        place = f"graders[{index}] `{name}`"
        if not (entry.required or decided):
            conversion.lose(path, place, "it is not required, and every grader of Vally is")
            continue
        if entry.weight != 1:
            why = "Vally weighs types of graders, not single ones"
            conversion.lose(path, f"{place}: weight", why, "differs")
        try:
            for keyword, options in _counterparts(conversion, path, place, entry, rubric):
                yield name, {"name": name, "type": keyword, "config": options}
        except GraderError as error:
            conversion.lose(path, place, str(error))
    for condition in expected_conditions(task):
        keyword, options = _of_condition(condition)
        yield "", {"name": f"expected-{keyword}", "type": keyword, "config": options}


def _counterparts(
    conversion: Conversion, path: Path, place: str, entry: GraderEntry, rubric: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    grader = create(entry)
    config: Any = grader.config
    conditions = conditions_of(grader)
    if conditions is not None:
        if any(condition.has_glob and not condition.globs for condition in conditions):
            conversion.lose(path, place, "in Vally its paths are globs", "differs")
        yield from map(_of_condition, conditions)
    elif isinstance(config, SkillInvocationConfig) and config.mode == "any_order":
        yield (
            "skill-invocation",
            _without_empty(
                {"required": list(config.required_skills), "disallowed": list(config.forbidden_skills)}
            ),
        )
    elif isinstance(config, ToolConstraintConfig) and not config.allow_only:
        conversion.lose(path, place, "Vally's patterns of tools do not ignore case", "differs")
        calls = {"required": config.expect_tools, "disallowed": config.reject_tools}
        if any(calls.values()):
            yield (
                "tool-calls",
                _without_empty({key: list(map(_call, listed)) for key, listed in calls.items()}),
            )
        yield from _limits({"turn-count": config.max_turns, "token-budget": config.max_tokens})
    elif isinstance(config, BehaviorConfig) and not (config.required_tools or config.forbidden_tools):
        yield from _limits({"tool-call-count": config.max_tool_calls, "token-budget": config.max_tokens})
        if config.max_duration_ms:
            yield "wall-time", {"max": f"{config.max_duration_ms}ms"}
    elif isinstance(config, PromptConfig) and not (config.mode == "pairwise" or config.continue_session):
        conversion.lose(path, place, "Vally's judge is asked in other words", "differs")
        rubric.extend(config.criteria)
        text = "\n".join(filter(None, (config.prompt, config.rubric)))
        rated = bool(config.rubric) and not config.prompt and not config.criteria
        scoring: dict[str, Any] = {"scoring": "scale_1_5" if rated else "binary"}
        scoring |= {"threshold": 0.75 if config.threshold is None else config.threshold} if rated else {}
        yield "prompt", _without_empty({"prompt": text, "model": config.model, **scoring})
    elif not isinstance(grader, ScoreGrader):
        conversion.lose(path, place, f"`{entry.type}` with these options has no counterpart")


def _of_condition(condition: Condition) -> tuple[str, dict[str, Any]]:
    no = "" if condition.wanted else "not-"
    if condition.kind == "exists":
        return ("file-exists" if condition.wanted else "file-not-exists"), {"path": condition.path}
    if condition.path:
        return f"file-{no}matches", {"path": condition.path, "pattern": condition.text}
    if condition.kind == "matches":
        return f"output-{no}matches", {"pattern": condition.text}
    case = {} if condition.ignores_case else {"case_sensitive": True}
    return f"output-{no}contains", {"substring": condition.text, **case}


def _limits(limits: Mapping[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((keyword, {"max": limit}) for keyword, limit in limits.items() if limit)


def _call(entry: str | ToolPattern) -> object:
    if isinstance(entry, str):
        return f"^{literal_pattern(entry)}$"
    if entry.skill_pattern:
        raise GraderError("`skill_pattern` has no counterpart")
    args: dict[str, str] = {}
    for key, matcher in entry.args.items():
        if matcher.model_fields_set != {"regex"} or matcher.regex is None:
            raise GraderError(f"`args.{key}` has no counterpart: Vally takes regular expressions")
        args[key] = matcher.regex
    return _without_empty(
        {"name": entry.tool, "command": entry.command_pattern, "path": entry.path_pattern, "args": args}
    )


def _files(conversion: Conversion, path: Path, task: TaskFile) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for position, (file, start) in enumerate(conversion.input_files(path, task)):
        if start is None:
            name = f"files/{slug_of(task.id) or 'task'}-{position + 1}"
            conversion.files[name] = file.content
            found.append({"src": name, "dest": file.path})
            continue
        found.append({"src": conversion.from_here(start), "dest": file.path})
    return found


def _tags(conversion: Conversion, source: SuiteTask, task: TaskFile) -> dict[str, Any]:
    tags: dict[str, list[str]] = {}
    if plain := [tag for tag in task.tags if ":" not in tag]:
        why = f"Vally's tags have values: `{plain[0]}` becomes `{plain[0]}: true`"
        conversion.lose(source.path, f"{source.id}: tags", why, "differs")
    for tag in task.tags:
        key, colon, value = tag.partition(":")
        tags.setdefault(key, []).append(value if colon else "true")
    return {key: values[0] if len(values) == 1 else values for key, values in tags.items()}


def _without_empty(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if value not in (None, "", [], {}, ())}
