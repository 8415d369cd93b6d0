"""Write a suite as prompts of agent-eval-harness, with one grader file and the adapter.

| of a suite | in the new files |
|---|---|
| `id`, prompts, `hint`, `reference`, `metadata`, `timeout_seconds` of a task | a row of `prompts.jsonl` |
| the one `inline` grader of all tasks | that file |
| other graders, and the lists in `expected` | `graders.yaml`, with which `grader.py` grades |
| the files that these graders name | copies |
| `config.adapter` | `adapter.json` |

A grader file is given the prompt, the answer, the steps and a directory: graders that need more are left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any, cast

from waza_engine.boundary import FileError, suite_boundary
from waza_engine.convert.checks import entries_of
from waza_engine.convert.comments import yaml_with
from waza_engine.convert.conversion import SUITE_KEYS, Conversion, dumped, written_values
from waza_engine.graders.base import GraderError
from waza_engine.graders.diff import DiffConfig
from waza_engine.graders.inline import InlineConfig
from waza_engine.graders.json_schema import JsonSchemaConfig
from waza_engine.graders.registry import create
from waza_engine.graders.skill_invocation import SkillInvocationConfig
from waza_engine.results.json_values import strings_in
from waza_engine.runs.agent.trial_workspace import fixture_directory, prompt_of
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteTask
from waza_engine.runs.trials.triggers import has_triggers, trigger_file
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.harness_files import TASK_KEY
from waza_engine.spec.loading import load_adapter_file
from waza_engine.spec.task_file import TaskFile
from waza_engine.vocabulary import MEASURES_JUDGES, unique_names

PROMPTS, GRADER, GRADERS, ADAPTER = "prompts.jsonl", "grader.py", "graders.yaml", "adapter.json"
GRADER_TEXT = '''\
#!/usr/bin/env python3
"""Grade an answer with the graders of graders.yaml: it passes when all of them pass."""

import sys
from pathlib import Path

try:
    from waza_engine.harness.suite_grader import grade_standard_input
except ImportError:
    sys.exit("The Python that runs this file has no waza-engine: `pip install waza-engine` installs it.")

grade_standard_input(Path(__file__).with_name("graders.yaml"))
'''
_CONFIG = {"executor", "adapter", "trials_per_task", "timeout_seconds"}
_TASK = {
    *("id", "name", "description", "enabled", "tags", "inputs", "graders", "expected"),
    *("hint", "reference", "metadata", "timeout_seconds"),
}
_INPUTS = {"prompt", "prompt_file", "follow_up_prompts"}
_GRADER_KEYS = {"grader", "timeout", "protocol"}
_UNKNOWN = ("max_duration_ms", "max_tokens", "duration_ms")
"""Options and names that need the time or the tokens of an answer."""


def to_harness(conversion: Conversion) -> None:
    """Add the files of the harness."""
    suite, config = conversion.source, conversion.source.spec.config
    conversion.lose_others(suite.path, "", written_values(suite.spec), SUITE_KEYS)
    conversion.lose_others(suite.path, "config.", written_values(config), _CONFIG)
    tasks = [(source, prompt) for source in suite.tasks if (prompt := _prompt(conversion, source))]
    names = list(unique_names(source.id for source, _ in tasks))
    alone = _only_grader(conversion, [task for source, _ in tasks if (task := source.task)])
    is_graded = alone is None and _graders(conversion, [source for source, _ in tasks], names)
    rows: list[str] = []
    for (source, prompt), name in zip(tasks, names, strict=True):
        task = cast("TaskFile", source.task)
        metadata = {**task.metadata, **({TASK_KEY: name} if is_graded else {})}
        seconds = task.timeout_seconds
        row = {
            "id": name,
            "input": [prompt, *turns] if (turns := task.inputs.follow_up_prompts) else prompt,
            **({"hint": task.hint} if task.hint else {}),
            **({} if task.reference is None else {"reference": task.reference}),
            **({"metadata": metadata} if metadata else {}),
            **({"timeout": seconds * 1000} if seconds else {}),
        }
        rows.append(json.dumps(row, ensure_ascii=False, default=str) + "\n")
        # A prompt gets its category as a tag.
        titles = {"name": task.name if task.name != name else "", "description": task.description}
        if not is_graded:
            conversion.lose_others(source.path, f"{source.id}: ", titles, ())
        lost = sorted({*task.tags} - {task.metadata.get("category")})
        if lost:
            conversion.lose(source.path, f"{source.id}: tags", f"prompts have none: {', '.join(lost)}")
    if not is_graded:
        titles = written_values(suite.spec)
        titles = {key: titles.get(key) for key in ("name", "description", "skill", "version")}
        conversion.lose_others(suite.path, "", titles, ())
    if rows:
        # An editor shows the first file.
        graders = dict(conversion.files)
        conversion.files.clear()
        conversion.files.update({PROMPTS: "".join(rows), **graders})
        _adapter(conversion)
        _options(conversion)
    if has_triggers(suite):
        conversion.lose(trigger_file(suite), "prompts", "agent-eval-harness has no trigger tests")


def _prompt(conversion: Conversion, source: SuiteTask) -> str:
    """Return the first prompt of a task, "" for one that is left out."""
    found = conversion.task_and_prompt(source, {"": _TASK, "inputs": _INPUTS})
    if found is not None and not found[1]:
        conversion.lose(source.path, source.id, "it has no prompt")
    return "" if found is None else found[1]


def _only_grader(conversion: Conversion, tasks: Sequence[TaskFile]) -> GraderEntry | None:
    """Return the grader that is all that grades any task, if it is a grader file; add its copy."""
    suite = conversion.source
    found = [entry for task in tasks for *_, entry in entries_of(task, suite.spec.graders)]
    first = found[0] if found else None
    if (
        first is None
        or len(found) != len(tasks)
        or any(entry != first for entry in found)
        or any(dumped(task.expected) for task in tasks)
        or not isinstance(create(first).config, InlineConfig)
        or first.binary
        or not first.required
        or first.config.keys() - _GRADER_KEYS
        or first.config.get("protocol") == "waza-json"
    ):
        return None
    written = str(first.config.get("grader"))
    place = suite.directory / written
    try:
        if not suite_boundary(suite.directory).holds(place) or not place.is_file():
            return None
    except OSError:
        return None
    conversion.copies[f"grader{place.suffix}"] = place
    if first.config.get("timeout"):
        why = "`waza-engine harness` gives a grader 30 seconds, agent-eval-harness any time"
        conversion.lose(suite.path, f"graders `{first.name or first.type}`: timeout", why, "differs")
    return first


def _graders(conversion: Conversion, sources: Sequence[SuiteTask], names: Sequence[str]) -> bool:
    """Add the graders and the program that runs them; return whether there are any."""
    suite = conversion.source
    of_suite = _gradable(conversion, suite.path, "", suite.spec.graders, suite.directory / "fixtures")
    listed: list[dict[str, Any]] = []
    for source, name in zip(sources, names, strict=True):
        task = cast("TaskFile", source.task)
        fixtures = fixture_directory(task, suite.directory)
        graders = _gradable(conversion, source.path, f"{source.id}: ", task.graders, fixtures)
        turns = list(task.inputs.follow_up_prompts)
        inputs = {
            "prompt": prompt_of(task, source.path),
            **({"follow_up_prompts": turns} if turns else {}),
        }
        parts = dumped(task, "name", "description", "hint", "reference", "metadata", "expected")
        listed.append({"id": name, **parts, "inputs": inputs, **({"graders": graders} if graders else {})})
    if not of_suite and not any("graders" in task or "expected" in task for task in listed):
        return False
    document = {
        **dumped(suite.spec, "name", "description", "skill", "version"),
        # These graders are given answers; no agent is asked.
        "config": {"trials_per_task": 1, "timeout_seconds": 300, "executor": "replay"},
        "tasks": listed,
        **({"graders": of_suite} if of_suite else {}),
    }
    conversion.files[GRADERS] = yaml_with(document)
    conversion.files[GRADER] = GRADER_TEXT
    return True


def _gradable(
    conversion: Conversion, path: Path, prefix: str, entries: Sequence[GraderEntry], fixtures: Path
) -> list[dict[str, Any]]:
    """Return the graders that can grade what a grader file is given; note the others."""
    found: list[dict[str, Any]] = []
    for index, entry in enumerate(entries):
        place = f"{prefix}graders[{index}] `{entry.name or entry.type}`"
        try:
            why = _why_not(entry)
            if not why:
                _copy(conversion, conversion.source, entry, fixtures)
                if create(entry).needs_workspace:
                    needs = "it needs `--workspace-dir`, or the rows are in error"
                    conversion.lose(path, place, needs, "differs")
        except GraderError as error:
            why = str(error)
        if why:
            conversion.lose(path, place, why)
        else:
            found.append(dumped(entry))
    return found


def _why_not(entry: GraderEntry) -> str:
    """Return why an entry cannot grade what a grader file is given, "" if it can. Raises ``GraderError``."""
    grader = create(entry)
    if grader.judged:
        return "a judge model decides, and a grader file asks none"
    if grader.reviewed or entry.type == MEASURES_JUDGES:
        return "a person decides"
    if grader.judges_skill_use or isinstance(grader.config, SkillInvocationConfig):
        return "a grader file is not told which skills the agent used"
    if any(name in json.dumps(entry.config, default=str) for name in _UNKNOWN):
        return "a grader file is not told how long the agent took, and how many tokens"
    return ""


def copied_graders(
    conversion: Conversion, suite: Suite, entries: Sequence[GraderEntry]
) -> tuple[GraderEntry, ...]:
    """Return graders of a converted suite, and add copies of the files that they name."""
    found: list[GraderEntry] = []
    for entry in entries:
        try:
            _copy(conversion, suite, entry, suite.directory / "fixtures")
            found.append(entry)
        except GraderError as error:
            conversion.lose(suite.path, f"`{entry.name or entry.type}`", str(error))
    return tuple(found)


def _copy(conversion: Conversion, suite: Suite, entry: GraderEntry, fixtures: Path) -> None:
    """Add copies of the files that a grader names. Raises ``GraderError`` for one that has no place."""
    grader, directory = create(entry), suite.directory
    if not (grader.runs_program or isinstance(grader.config, JsonSchemaConfig | DiffConfig)):
        return
    within = suite_boundary(directory)
    places = [(directory, ""), (fixtures, "fixtures/")]
    # Programs are also named from the root of the repository.
    places += [(above, "") for above in directory.parents if grader.runs_program]
    for written in strings_in(entry.config):
        if "\n" in written or Path(written).is_absolute():
            continue
        for folder, prefix in places:
            place = folder / written
            try:
                is_there = within.holds(place) and place.is_file()
            except (OSError, ValueError, FileError):
                is_there = False
            if is_there:
                name = PurePosixPath(prefix, written).as_posix()
                if ".." in PurePosixPath(written).parts:
                    raise GraderError(f"its file `{written}` is outside of the folder of the suite")
                if conversion.copies.setdefault(name, place) != place:
                    raise GraderError(f"its file `{written}` is not the only one with this path")
                break


def _adapter(conversion: Conversion) -> None:
    suite, config = conversion.source, conversion.source.spec.config
    if not config.adapter:
        why = f"`{config.executor}` has no adapter; name that of your agent with `--schema`"
        conversion.lose(suite.path, "config.executor", why)
        return
    try:
        place = suite_boundary(suite.directory).first(
            config.adapter, [suite.directory / config.adapter], "config.adapter"
        )
    except FileError as error:
        conversion.lose(suite.path, "config.adapter", error.why)
        return
    adapter, _ = load_adapter_file(place)
    conversion.copies[ADAPTER] = place
    for part in adapter.command:
        for folder in (place.parent, suite.directory):
            if not Path(part).is_absolute() and ".." not in Path(part).parts and (folder / part).is_file():
                conversion.copies.setdefault(part, folder / part)
                why = f"agent-eval-harness looks for `{part}` in the working directory"
                conversion.lose(place, "command", why, "differs")
                break


def _options(conversion: Conversion) -> None:
    """Note what becomes an option of a command."""
    path, config = conversion.source.path, conversion.source.spec.config
    if config.trials_per_task > 1:
        why = f"it becomes an option: `trials -k {config.trials_per_task}`"
        conversion.lose(path, "config.trials_per_task", why, "differs")
    milliseconds = config.timeout_seconds * 1000
    why = f"it becomes an option, for each turn: `--timeout {milliseconds}`"
    conversion.lose(path, "config.timeout_seconds", why, "differs")
