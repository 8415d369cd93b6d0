"""Prompts of agent-eval-harness, with a grader file and an adapter, as a suite.

| of the harness | in the suite |
|---|---|
| a row of `prompts.jsonl` | a task: `id`, prompts, `hint`, `reference`, `metadata`, its category as a tag |
| `timeout` of a row, in milliseconds | `timeout_seconds` of the task, rounded up |
| the grader file | an `inline` grader of all tasks |
| `grader.py` of a converted suite | the graders that it runs, from `graders.yaml` |
| the adapter | `config.adapter` |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from waza_engine.convert.conversion import Conversion, ConversionError
from waza_engine.convert.to_harness import ADAPTER, GRADER, GRADER_TEXT, GRADERS, copied_graders
from waza_engine.harness.rows import HarnessError, Row, read_rows
from waza_engine.runs.loading.dataset import task_of_line
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteTask, load_suite
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.explain import location_of, sentence
from waza_engine.spec.harness_files import TASK_KEY
from waza_engine.spec.loading import load_adapter_file
from waza_engine.spec.program_files import MODULE_SUFFIXES
from waza_engine.spec.reading.yaml_reader import read_text
from waza_engine.spec.task_file import TaskFile
from waza_engine.spec.trigger_tests import PromptLine
from waza_engine.vocabulary import unique_names

_DEFAULT_SECONDS = 60
_OLDER_HINT = "expected"


@dataclass(frozen=True, slots=True)
class HarnessFiles:
    """The files of the harness: prompts, and the grader and the adapter that are used with them."""

    prompts: Path
    grader: Path | None
    adapter: Path | None

    @classmethod
    def around(cls, prompts: Path, grader: Path | None, adapter: Path | None) -> HarnessFiles:
        """Return the files: those that are not named are looked for next to the prompts."""
        folder = prompts.parent
        graders = (folder / f"grader{suffix}" for suffix in (".py", *MODULE_SUFFIXES, ".sh", ""))
        grader = grader or next((each for each in graders if each.is_file()), None)
        adapter = adapter or next((each for each in (folder / ADAPTER,) if each.is_file()), None)
        return cls(prompts, grader, adapter)

    @property
    def listed(self) -> list[Path]:
        """Return the files that are converted."""
        return [path.absolute() for path in (self.prompts, self.grader, self.adapter) if path is not None]


def suite_of_prompts(files: HarnessFiles, directory: Path) -> Conversion:
    """Return a conversion whose source is the suite of the prompts. Raises ``ConversionError``."""
    path = files.prompts.absolute()
    config: dict[str, Any] = {"trials_per_task": 1, "timeout_seconds": _DEFAULT_SECONDS, "executor": "mock"}
    spec: dict[str, Any] = {"name": path.parent.name or path.stem, "config": config}
    empty = EvalFile.model_validate({**spec, "tasks": ["tasks/*.yaml"]})
    conversion = Conversion(Suite(path, path.parent, empty, ()), "harness", directory)
    if files.adapter is None:
        why = "none is named, so the suite has the executor `mock`"
        conversion.lose(path, "adapter", why, "differs")
    else:
        adapter, _ = load_adapter_file(files.adapter)
        conversion.copies[ADAPTER] = files.adapter.absolute()
        config |= {"executor": "command", "adapter": ADAPTER}
        if adapter.timeout:
            config["timeout_seconds"] = max(1, -(-int(adapter.timeout) // 1000))
    exported = _exported_suite(files.grader)
    if files.grader is not None and exported is None:
        name = f"graders/{files.grader.name}"
        conversion.copies[name] = files.grader.absolute()
        spec["graders"] = [{"type": "inline", "name": files.grader.stem, "config": {"grader": name}}]
    try:
        tasks = list(_tasks(conversion, path))
    except HarnessError as error:
        raise ConversionError(str(error)) from None
    if exported is not None:
        spec["graders"] = copied_graders(conversion, exported, exported.spec.graders)
        tasks = [_with_graders(conversion, exported, task) for task in tasks]
    names = unique_names(task.id for task in tasks)
    source = conversion.source
    listed: list[SuiteTask] = []
    for task, name in zip(tasks, names, strict=True):
        if task.id != name:
            conversion.lose(path, task.id, f"another prompt has this id; it becomes `{name}`", "differs")
        listed.append(SuiteTask(name, task.name, path, task.model_copy(update={"id": name})))
    spec |= {"tasks": ["tasks/*.yaml"]}
    conversion.source = replace(source, spec=EvalFile.model_validate(spec), tasks=tuple(listed))
    return conversion


def _tasks(conversion: Conversion, path: Path) -> Iterator[TaskFile]:
    """Yield the task of each prompt; those that no task can say are noted. Raises ``HarnessError``."""
    for row in read_rows(path):
        block = {key: value for key, value in row.block.items() if key != _OLDER_HINT or "hint" in row.block}
        if len(block) != len(row.block):
            block["hint"] = row.block[_OLDER_HINT]
        line = f"line {row.place.rpartition(':')[2]}"
        unknown = sorted(block.keys() - PromptLine.model_fields.keys())
        for key in unknown:
            conversion.lose(path, f"{line}: {key}", "it is not a key of a prompt")
            del block[key]
        try:
            prompt = PromptLine.model_validate(block)
        except ValidationError as error:
            conversion.lose(path, line, _first_finding(error, row))
            continue
        for key in ("hint", "reference", "metadata"):
            if block.get(key) in ("", {}):
                conversion.lose(path, f"{line}: {key}", "it is empty")
        if (prompt.timeout or 0) % 1000:
            conversion.lose(path, f"{line}: timeout", "it is rounded up to whole seconds", "differs")
        yield task_of_line(prompt)


def _first_finding(error: ValidationError, row: Row) -> str:
    finding = error.errors(include_url=False)[0]
    return sentence(finding, location_of(finding, row.block), as_json=True)


def _exported_suite(grader: Path | None) -> Suite | None:
    """Return the suite that a grader file runs, None for a grader file of its own."""
    if grader is None or grader.name != GRADER or read_text(grader) != GRADER_TEXT:
        return None
    return load_suite(grader.with_name(GRADERS), disabled=True, lenient=False)


def _with_graders(conversion: Conversion, exported: Suite, task: TaskFile) -> TaskFile:
    """Return a task with its graders from before it became a prompt."""
    name = task.metadata.get(TASK_KEY)
    found = next((each.task for each in exported.tasks if each.id == name), None)
    if found is None:
        conversion.lose(conversion.source.path, task.id, f"{GRADERS} has no graders for it")
        return task
    metadata = {key: value for key, value in task.metadata.items() if key != TASK_KEY}
    graders = copied_graders(conversion, exported, found.graders)
    update = {"metadata": metadata, "graders": graders, "expected": found.expected}
    return task.model_copy(update={**update, "name": found.name, "description": found.description})
