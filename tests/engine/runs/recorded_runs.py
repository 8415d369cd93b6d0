"""Runs of public suites as upstream recorded them, repeated by this engine with the mock executor."""

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.shared_corpus import SHARED, VERDICTS
from waza_engine.results.record import RunOutcome
from waza_engine.runs.agent.trial_workspace import fixture_directory
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import read_yaml
from waza_engine.spec.task_file import InputFile, TaskFile

_OPTIONS_OF_THE_FIRST_VERSION = {"assertions", "rubric", "model", "script"}


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded run beside ours: an outcome, or why the suite could not be loaded.

    ``lacking`` are the tasks that are given a file which is in the repository and not in the sample,
    ``older_form`` says that a grader of the suite has options beside its `type`, as the first version wrote
    them.
    """

    record: dict[str, Any]
    outcome: RunOutcome | None
    refused: str = ""
    lacking: frozenset[str] = frozenset()
    older_form: bool = False


def records() -> list[dict[str, Any]]:
    path = VERDICTS / "mock_runs.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def replay(record: dict[str, Any], snapshots: Path) -> Replay:
    """Run the suite of a record; the working directory must be its snapshot's root, as when recorded."""
    path = snapshots / record["snapshot"] / record["path"]
    path.write_text(rewritten(path.read_text("utf-8")), "utf-8")
    try:
        prepared = prepare(RunSettings(path))
    except (SuiteFileError, SuiteError) as error:
        return Replay(record, None, str(error))
    suite = prepared.suite
    root = (snapshots / record["snapshot"]).resolve()
    absent = [root / name for name in listed(record["snapshot"]) if not (root / name).exists()]
    return Replay(
        record,
        prepared.run(lambda _: None, RunCancellation()).outcome,
        lacking=frozenset(
            task.id for task in suite.tasks if task.task is not None and _lacks(task.task, suite, absent)
        ),
        older_form=any(map(_has_older_form, {suite.path, *(task.path for task in suite.tasks)})),
    )


@functools.cache
def listed(snapshot: str) -> tuple[str, ...]:
    """Return every path of the repository that a sample is taken from."""
    return tuple((SHARED / "corpus" / "trees" / f"{snapshot}.txt").read_text("utf-8").splitlines())


def _has_older_form(file: Path) -> bool:
    document: Any = read_yaml(file)
    return any(_OPTIONS_OF_THE_FIRST_VERSION & set(entry) for entry in document.get("graders") or ())


def _lacks(task: TaskFile, suite: Suite, absent: list[Path]) -> bool:
    fixtures = fixture_directory(task, suite.directory)
    given = [
        fixtures / (entry.path if isinstance(entry, InputFile) else entry)
        for entry in task.inputs.files
        if not (isinstance(entry, InputFile) and entry.content)
    ]
    if isinstance(fixture := task.inputs.context.get("fixture"), str):
        given.append(suite.directory / fixture)
    return any(
        file == place.resolve() or place.resolve() in file.parents for place in given for file in absent
    )


def rewritten(text: str) -> str:
    """Apply the changes that were made to the text before recording: the mock executor, one trial."""
    line = r"[ \t]+.*\r?\n|[ \t]*(?:#.*)?\r?\n"
    block = re.search(rf"^config:[ \t]*(#.*)?\r?\n((?:{line})*)", text, re.M)
    if block is None:
        return text
    body = block[2]
    for key, value in (("executor", "mock"), ("trials_per_task", "1")):
        body, found = re.subn(rf"^([ \t]+){key}:.*$", rf"\g<1>{key}: {value}", body, count=1, flags=re.M)
        if not found:
            indent = re.match(r"(?:[ \t]*(?:#.*)?\n)*([ \t]+)", body)
            body = f"{indent[1] if indent else '  '}{key}: {value}\n{body}"
    return text[: block.start(2)] + body + text[block.end(2) :]
