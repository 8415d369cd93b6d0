"""Write a suite of another format as ``eval.yaml``, task files and ``trigger_tests.yaml``.

The files are the suite as this engine runs the source, so verdicts are the same. Upstream waza does not read
``criteria``, ``binary``, ``copy_from`` and the ``score`` grader.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from waza_engine.convert.comments import Comments, yaml_with
from waza_engine.convert.conversion import Conversion, dumped
from waza_engine.results.result_file_names import file_segment
from waza_engine.runs.agent.agent_skills import listed_directories
from waza_engine.runs.trials.triggers import trigger_tests_of
from waza_engine.spec.reading.suite_reader import DISK
from waza_engine.spec.skill_evals import skill_folder
from waza_engine.spec.task_file import InputFile, TaskFile
from waza_engine.vocabulary import unique_names

_FIRST = ("id", "name", "description", "tags", "inputs", "hint", "expected", "graders", "checkpoints")
_OURS = {"criteria": "`criteria`", "binary": "`binary`", "copy_from": "`copy_from`"}


def to_waza(conversion: Conversion, comments: Comments) -> None:
    """Add the files of the suite; a trigger list becomes trigger tests alone."""
    suite = conversion.source
    tests = trigger_tests_of(suite) if suite.is_trigger_list else None
    if tests is not None:
        conversion.files["trigger_tests.yaml"] = yaml_with(dumped(tests))
        why = "waza tries each prompt once, a trigger list three times"
        conversion.lose(suite.path, "repetitions", why, "differs")
        return
    spec = suite.spec
    config = dumped(spec.config)
    folders = [conversion.from_here(each) for each in _skill_directories(conversion)]
    written = {
        **dumped(spec, "name", "description", "skill", "version"),
        "config": {**config, **({"skill_directories": folders} if folders else {})},
        "tasks": ["tasks/*.yaml"],
        **dumped(spec, "graders"),
    }
    tasks = [found.task for found in suite.tasks if found.task is not None]
    names = list(unique_names(file_segment(task.id or task.name) for task in tasks))
    files = [f"tasks/{name}.yaml" for name in names]
    if conversion.dialect == "harness" and files != sorted(files):
        # Rows keep their order.
        written["tasks"] = files
    conversion.files["eval.yaml"] = yaml_with(written, {(): comments.head})
    for position, (task, name) in enumerate(zip(tasks, names, strict=True)):
        data = _task(conversion, task)
        places = comments.of_task(position, [grader["name"] for grader in data.get("graders", ())])
        conversion.files[f"tasks/{name}.yaml"] = yaml_with(data, places)
    text = json.dumps([_task(conversion, task) for task in tasks])
    ours = [words for key, words in _OURS.items() if f'"{key}":' in text]
    text += json.dumps(written, default=str)
    ours += ["the `score` grader"] if '"type": "score"' in text else []
    ours += ["the `inline` grader"] if '"type": "inline"' in text else []
    if ours:
        conversion.lose(suite.path, "graders", f"upstream waza does not read {', '.join(ours)}", "upstream")


def _task(conversion: Conversion, task: TaskFile) -> dict[str, Any]:
    data = dumped(task)
    directory = conversion.source.directory
    if task.context_dir:
        data["context_dir"] = conversion.from_here(directory / task.context_dir)
    if task.skill_directories:
        data["skill_directories"] = conversion.skill_folders(task) or ["none"]
    files = [
        _input_file(conversion, task, file, place)
        for file, place in conversion.input_files(conversion.source.path, task)
    ]
    data["inputs"] = {**data["inputs"], "files": files}
    if not files:
        del data["inputs"]["files"]
    return {key: data[key] for key in dict.fromkeys((*_FIRST, *data)) if key in data}


def _input_file(
    conversion: Conversion, task: TaskFile, file: InputFile, place: Path | None
) -> dict[str, Any]:
    data = dumped(file)
    if file.copy_from and place is not None:
        if file.copy_from == f"{task.context_dir}/{file.path}" and place.is_file():
            # A file of the fixture directory needs no key of ours.
            del data["copy_from"]
        else:
            data["copy_from"] = conversion.from_here(place)
    return data


def _skill_directories(conversion: Conversion) -> list[Any]:
    suite = conversion.source
    if not suite.spec.config.skill_directories:
        own = skill_folder(suite.path, DISK)
        return [] if own is None else [own]
    none = TaskFile.model_construct(_fields_set=set(), skill_directories=())
    return listed_directories(suite, none)
