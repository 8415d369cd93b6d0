"""Convert older spellings of suite files to their newest form.

Only rewrites with the same verdicts are made here; the others are quick fixes for the author to review.
"""

from __future__ import annotations

from typing import Any

from waza_engine.spec.checkpoint import Checkpoint
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.task_file import TaskElement, TaskFile
from waza_engine.spec.task_inputs import InputFile, TaskInputs

_INCLUDE = "include:"
_ENTRY_KEYS = ("assertions", "rubric", "model", "script")


def canonical_eval(suite: EvalFile) -> EvalFile:
    """Return the suite with only patterns and whole tasks in ``tasks``, and with graders of one shape.

    ``max_workers`` becomes ``workers``.
    """
    config = suite.config
    if config.max_workers is not None and not config.workers:
        config = config.model_copy(update={"workers": config.max_workers, "max_workers": None})
    tasks: list[str | TaskElement] = []
    for element in suite.tasks:
        if isinstance(element, str):
            tasks.append(_without_include(element))
        elif element.task_files:
            tasks += [_without_include(pattern) for pattern in element.task_files]
        else:
            tasks.append(_canonical_element(element))
    return suite.model_copy(
        update={
            "config": config,
            "tasks": tuple(tasks),
            "graders": tuple(canonical_grader(entry) for entry in suite.graders),
        }
    )


def inline_task(element: TaskElement) -> TaskFile:
    """Return a task written inside ``eval.yaml`` as the task file that it could be."""
    values = {name: getattr(element, name) for name in element.model_fields_set if name != "task_files"}
    return TaskFile.model_construct(_fields_set=set(values), **values)


def canonical_task(task: TaskFile) -> TaskFile:
    """Return the task with ``inputs.files`` as blocks and its graders in one shape."""
    return task.model_copy(update=_task_parts(task, task.inputs))


def canonical_grader(entry: GraderEntry, *, default_type: str = "") -> GraderEntry:
    """Return the grader with every option in ``config``: a key next to ``type`` fills a missing one there."""
    beside = {key: getattr(entry, key) for key in _ENTRY_KEYS if getattr(entry, key) is not None}
    config: dict[str, Any] = {
        **beside,
        **{key: value for key, value in entry.config.items() if value is not None or key not in beside},
    }
    written = entry.type or ("" if entry.ref else default_type)
    return entry.model_copy(update={"type": written, "config": config, **dict.fromkeys(_ENTRY_KEYS)})


def _canonical_element(element: TaskElement) -> TaskElement:
    return (
        element if element.inputs is None else element.model_copy(update=_task_parts(element, element.inputs))
    )


def _task_parts(task: TaskFile | TaskElement, inputs: TaskInputs) -> dict[str, Any]:
    """Return the new parts of a task. A task grader without a type ran as ``code`` in the Python era."""
    files = tuple(InputFile(path=file) if isinstance(file, str) else file for file in inputs.files)
    expected = task.expected.model_copy(
        update={
            "graders": tuple(
                named if isinstance(named, str) else canonical_grader(named, default_type="code")
                for named in task.expected.graders
            )
        }
    )
    return {
        "inputs": inputs.model_copy(update={"files": files}),
        "expected": expected,
        "graders": tuple(canonical_grader(entry, default_type="code") for entry in task.graders),
        "checkpoints": tuple(_checkpoint(checkpoint) for checkpoint in task.checkpoints),
    }


def _checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    graders = tuple(canonical_grader(entry, default_type="code") for entry in checkpoint.graders)
    return checkpoint.model_copy(update={"graders": graders})


def _without_include(pattern: str) -> str:
    return pattern.removeprefix(_INCLUDE).strip() if pattern.startswith(_INCLUDE) else pattern
