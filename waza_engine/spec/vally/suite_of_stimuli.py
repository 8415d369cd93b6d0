"""A Vally eval file as an eval file of this engine: its stimuli become tasks.

Verdicts are Vally's. Each trial ends with a ``score`` grader: it passes when all others do or, with a
``scoring.threshold``, when the weighted score reaches it, and a grader in error makes the trial an error. The
graders of a type share its weight. Parts without a counterpart are refused before anything runs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, cast

from pydantic import ValidationError

from waza_engine.spec.explain import Location, key_path_text, location_of, sentence
from waza_engine.spec.fields import plain_text
from waza_engine.spec.limits import LONGEST_SECONDS
from waza_engine.spec.problems import SuiteFileError, SuiteFileWarning
from waza_engine.spec.reading.yaml_reader import YamlFile
from waza_engine.spec.vally.blocks import VallyBlock
from waza_engine.spec.vally.counterparts import COUNTERPARTS, NoCounterpartError, Options, seconds_of
from waza_engine.spec.vally.eval_models import Defaults, Environment, Stimulus, Turn, VallyEval, VallyGrader
from waza_engine.spec.vally.grader_options import (
    GRADERS,
    Max,
    MaxTime,
    MaxToolCalls,
    SkillOptions,
    ToolCallOptions,
)
from waza_engine.spec.vally.name_checks import (
    VERDICT,
    grader_names,
    misspelt_type_words,
    task_ids,
    type_for_skills,
)

_NEGLIGIBLE = 1e-9
"""The weight of a type that does not count: a weight of zero means 1."""


@dataclass(frozen=True, slots=True)
class _Source:
    """The file that is converted, and its parts without a counterpart: phrases with their places."""

    file: YamlFile
    vally: VallyEval
    environments: Mapping[str, Environment]
    warnings: list[SuiteFileWarning]
    refused: dict[str, Location] = field(default_factory=dict[str, Location])

    @property
    def defaults(self) -> Defaults:
        return self.vally.defaults or self.vally.config or Defaults()

    def refuse(self, phrase: str, at: Location, value: object = True) -> None:
        """Note a part that has no counterpart, unless its value is empty."""
        if value:
            self.refused.setdefault(phrase, at)

    def environment(self, written: str | Environment, at: Location) -> Environment:
        """Return an environment by its name or as it is written. Raises ``SuiteFileError``."""
        if isinstance(written, str):
            if written and written not in self.environments:
                message = f"`.vally.yaml` has no environment `{written}`"
                raise SuiteFileError(self.file.path, self.file.line_of(at), message)
            written = self.environments[written] if written else Environment()
        self.refuse("`environment.commands`", at, written.commands)
        self.refuse("`environment.git`", at, written.git)
        return written


def suite_of(
    file: YamlFile,
    vally: VallyEval,
    environments: Mapping[str, Environment],
    warnings: list[SuiteFileWarning],
    left_out: dict[str, Location] | None = None,
) -> dict[str, Any]:
    """Return the content of the eval file that runs a Vally eval file.

    ``environments`` are those of ``.vally.yaml``. Options without effect add to ``warnings``. Raises
    ``SuiteFileError``, which names everything that has no counterpart; with ``left_out`` that is added there,
    and left out.
    """
    source = _Source(file, vally, environments, warnings, {} if left_out is None else left_out)
    defaults, executor = source.defaults, source.defaults.executor
    key = "agent_environment" if vally.agent_environment else "environment"
    root = source.environment(vally.agent_environment or vally.environment, (key,))
    source.refuse("`grading_environment`", ("grading_environment",), vally.grading_environment)
    source.refuse("`judge_provider`", ("defaults",), defaults.judge_provider)
    ids = task_ids(each.name for each in vally.stimuli)
    tasks = [
        {"id": ids[each.name], **_task(each, source, root, ("stimuli", at))}
        for at, each in enumerate(vally.stimuli)
    ]
    if source.refused and left_out is None:
        first = min(file.line_of(at) for at in source.refused.values())
        parts = ", ".join(source.refused)
        message = f"waza has no counterpart for parts of this Vally eval file, so nothing runs: {parts}"
        raise SuiteFileError(file.path, first, message)
    for at, (task, each) in enumerate(zip(tasks, vally.stimuli, strict=True)):
        if left_out is None and not (task["graders"] or task["checkpoints"]):
            message = f"nothing checks the stimulus `{each.name}`; give it a grader or a constraint"
            raise SuiteFileError(file.path, file.line_of(("stimuli", at)), message)
    config = {
        "trials_per_task": max(1, defaults.runs),
        "timeout_seconds": _seconds(defaults.timeout),
        "executor": executor if isinstance(executor, str) else executor.name,
        "model": defaults.model,
        "judge_model": defaults.judge_model,
        "reasoning_effort": defaults.reasoning_effort,
        "judge_reasoning_effort": defaults.judge_reasoning_effort,
        # Vally finds no other skills than those of the environment.
        "skill_directories": _skill_folders(root) or ["none"],
        "mcp_servers": {name: _server_data(server) for name, server in root.mcp_servers.items()},
        "pass_score": vally.scoring.threshold if vally.scoring else None,
    }
    skill = _skill_folders(root)[0] if len(root.skills) == 1 else ""
    return {
        "name": vally.name or file.path.name.partition(".")[0],
        "description": vally.description,
        "skill": PurePosixPath(skill).name,
        "version": vally.version,
        "config": {name: value for name, value in config.items() if value not in (None, "", {})},
        "tasks": tasks,
    }


def _task(stimulus: Stimulus, source: _Source, root: Environment, at: Location) -> dict[str, Any]:
    defaults, own = source.defaults, source.environment(stimulus.environment, (*at, "environment"))
    settings = stimulus.config or Defaults()
    runs = stimulus.runs if stimulus.runs is not None else _set(settings, "runs") or defaults.runs
    timeout = stimulus.timeout or _set(settings, "timeout")
    of_stimulus = f"of `{stimulus.name}`"
    source.refuse(f"`runs` {of_stimulus}", at, runs != defaults.runs)
    for key in sorted(settings.model_fields_set - {"runs", "timeout"}):
        source.refuse(f"`config.{key}` {of_stimulus}", at)
    source.refuse(f"`environment.mcpServers` {of_stimulus}", at, own.mcp_servers)
    source.refuse(f"`attachments` {of_stimulus}", at, stimulus.attachments)
    source.refuse(f"`simulation` {of_stimulus}", at, stimulus.simulation)
    prompts = [turn.prompt if isinstance(turn, Turn) else turn for turn in stimulus.turns]
    prompts = prompts or [stimulus.prompt or ""]
    graders, checkpoints = _graders(stimulus, source, root, len(prompts), at)
    tags = {**source.vally.tags, **stimulus.tags}
    return {
        "name": stimulus.name,
        "description": stimulus.description,
        "tags": [f"{key}:{each}" for key, value in tags.items() for each in _as_texts(value)],
        **({"timeout_seconds": _seconds(timeout)} if timeout else {}),
        **({"skill_directories": [*_skill_folders(root), *_skill_folders(own)]} if own.skills else {}),
        "inputs": {
            "prompt": prompts[0],
            "follow_up_prompts": prompts[1:],
            "files": [
                {"path": each.dest or PurePosixPath(each.src).name, "copy_from": each.src}
                for each in (*root.files, *own.files)
            ],
        },
        "graders": graders,
        "checkpoints": [{"after_turn": turn, "graders": each} for turn, each in sorted(checkpoints.items())],
    }


def _graders(
    stimulus: Stimulus, source: _Source, root: Environment, turns: int, at: Location
) -> tuple[list[Options], dict[int, list[Options]]]:
    """Return the graders at the end of a trial, and those after earlier turns, which count from 1."""
    found: list[tuple[str, Options]] = []
    checkpoints: defaultdict[int, list[Options]] = defaultdict(list)
    threshold = source.vally.scoring.threshold if source.vally.scoring else None
    checks = list(_checks(stimulus, source, root, at))
    names = grader_names((grader.name, grader.type) for grader, _, _ in checks)
    for name, (grader, options, place) in zip(names, checks, strict=True):
        phrase = f"`{grader.type}` (grader `{name}` of `{stimulus.name}`)"
        row = COUNTERPARTS.get(grader.type)
        if row is None or options is None:
            source.refuse(phrase, place)
            continue
        try:
            config = row.options(options, stimulus)
        except NoCounterpartError as error:
            source.refuse(f"{error} in {phrase}", place)
            continue
        entry = {"name": name, "type": row.type, "binary": not row.rates, "config": config}
        if grader.turn is None or grader.turn >= turns - 1:
            # Without a threshold every grader must pass, so that none of them only advises.
            found.append((grader.type, {**entry, "required": threshold is None or grader.required}))
        else:
            checkpoints[grader.turn + 1].append(entry)
            source.refuse(f"`turn` beside a threshold in {phrase}", place, threshold is not None)
    weights = source.vally.scoring.weights if source.vally.scoring else {}
    count = Counter(keyword for keyword, _ in found)
    for keyword, entry in found if weights else ():
        entry["weight"] = weights.get(keyword, 0) / count[keyword] or _NEGLIGIBLE
    decides = {
        "name": VERDICT,
        "type": "score",
        "config": {} if threshold is None else {"threshold": threshold},
    }
    return [*(entry for _, entry in found), *([decides] if found else [])], checkpoints


def _checks(
    stimulus: Stimulus, source: _Source, root: Environment, at: Location
) -> Iterator[tuple[VallyGrader, VallyBlock | None, Location]]:
    """Yield graders, and constraints as the graders that they mean, with their options; None for a plug-in.

    Raises ``SuiteFileError`` for a misspelt type, and for options that cannot be used.
    """
    for place, graders in (((), source.vally.graders), (at, stimulus.graders)):
        for number, grader in enumerate(graders):
            where = (*place, "graders", number)
            row = GRADERS.get(grader.type)
            if row is None and (words := misspelt_type_words(grader.type, GRADERS)):
                at_type = (*where, "type")
                raise SuiteFileError(source.file.path, source.file.line_of(at_type), words, at_type)
            yield grader, None if row is None else _options(row.options, grader, source, where), where
    for keyword, options in _constraints(stimulus, root):
        yield VallyGrader(type=keyword), options, (*at, "constraints")


def _options(model: type[VallyBlock], grader: VallyGrader, source: _Source, at: Location) -> VallyBlock:
    found: list[str] = []
    try:
        options = model.model_validate(grader.config, context={"warnings": found})
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        place = (*at, "config", *location_of(finding, grader.config))
        line = source.file.line_of(place)
        raise SuiteFileError(source.file.path, line, sentence(finding, place), place) from None
    for each in found:
        place = (*at, "config")
        line, message = source.file.line_of(place), f"{key_path_text(place)}: {each}"
        source.warnings.append(SuiteFileWarning(source.file.path, line, message))
    return options


def _constraints(stimulus: Stimulus, root: Environment) -> Iterator[tuple[str, VallyBlock]]:
    limits = stimulus.constraints
    if limits is not None:
        if limits.max_turns is not None:
            yield "turn-count", Max(max=limits.max_turns)
        if limits.max_tokens is not None:
            yield "token-budget", Max(max=limits.max_tokens)
        if limits.max_tool_calls is not None:
            yield "tool-call-count", MaxToolCalls(max=limits.max_tool_calls)
        if longest := limits.max_duration or (limits.max_duration_ms and f"{limits.max_duration_ms}ms"):
            yield "wall-time", MaxTime(max=longest)
        for key, names in (("required", limits.expect_tools), ("disallowed", limits.reject_tools)):
            if names:
                patterns = ["." if name == "*" else f"^{re.escape(name)}$" for name in names]
                yield "tool-calls", ToolCallOptions.model_validate({key: patterns})
        for key, names in (("required", limits.expect_skills), ("disallowed", limits.reject_skills)):
            if names:
                yield _of_skills(key, names)
    if stimulus.expect_activation is not None:
        names = [PurePosixPath(skill).name for skill in _skill_folders(root)] or ["*"]
        yield _of_skills("required" if stimulus.expect_activation else "disallowed", names)


def _of_skills(key: str, names: Sequence[str]) -> tuple[str, VallyBlock]:
    """Return the grader for skills."""
    keyword = type_for_skills(names)
    if keyword == "tool-calls":
        return keyword, ToolCallOptions.model_validate({key: ["^skill$"]})
    return keyword, SkillOptions.model_validate({key: list(names)})


def _set(settings: Defaults, key: str) -> Any:
    return getattr(settings, key) if key in settings.model_fields_set else None


def _skill_folders(environment: Environment) -> list[str]:
    folders = [each.removesuffix("SKILL.md").rstrip("/") or "." for each in environment.skills]
    return list(dict.fromkeys(folders))


def _server_data(server: VallyBlock) -> Options:
    return server.model_dump(mode="json", exclude_unset=True)


def _as_texts(value: object) -> list[object]:
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return [plain_text(each) for each in values]


def _seconds(duration: str) -> int:
    return min(seconds_of(duration), LONGEST_SECONDS)
