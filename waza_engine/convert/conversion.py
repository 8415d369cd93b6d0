"""Convert an eval file into another format: the new files, and what of the old one they do not say.

Every conversion reads the source as a suite (``runs/loading``), the form in which it runs, and a writer for
each format writes that: ``to_waza.py``, ``to_evals_json.py``, ``to_vally.py``, ``to_harness.py``. Prompts of
agent-eval-harness become a suite in ``of_harness.py``; recorded runs and captures become each other in
``recorded.py``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from waza_engine.boundary import is_foreign, resolve_suite_path
from waza_engine.runs.agent.trial_workspace import (
    WorkspaceError,
    fixture_directory,
    prompt_of,
    source_of_input,
)
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteTask
from waza_engine.spec.foreign_evals import Dialect
from waza_engine.spec.task_file import InputFile, TaskFile

SUITE_KEYS = {
    *("name", "description", "skill", "version", "schema_version"),
    *("config", "tasks", "tasks_from", "graders"),
}
"""The keys of an eval file that every writer reads."""
LossKind = Literal["left out", "differs", "upstream"]


class ConversionError(Exception):
    """A file that cannot be converted; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A part that the new files do not have (``left out``), or whose verdicts may differ.

    ``upstream`` marks a part that this engine reads and upstream waza does not: no loss here. ``place`` is
    the file and the key, ``why`` a clause.
    """

    kind: LossKind
    place: str
    why: str

    def document(self) -> dict[str, str]:
        """Return it as JSON."""
        return {"kind": self.kind, "place": self.place, "why": self.why}


def written_values(model: BaseModel) -> dict[str, Any]:
    """Return the values that a file gives a block, in the order of its keys."""
    return {key: getattr(model, key) for key in type(model).model_fields if key in model.model_fields_set}


def dumped(model: BaseModel, *keys: str) -> dict[str, Any]:
    """Return what a block says besides its defaults, as a file writes it; ``keys`` are those of interest."""
    written: Mapping[str, Any] = model.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude_none=True, include=set(keys) or None
    )
    return {key: value for key, value in written.items() if value not in ("", [], {})}


@dataclass(slots=True)
class Conversion:
    """A conversion in progress: new files by their paths below ``directory``, and the losses.

    ``copies`` are files that are copied, by their new paths. ``stamp`` says what was converted.
    """

    source: Suite
    dialect: Dialect | Literal["harness"] | None
    directory: Path
    files: dict[str, str] = field(default_factory=dict[str, str])
    copies: dict[str, Path] = field(default_factory=dict[str, Path])
    stamp: dict[str, Any] = field(default_factory=dict[str, Any])
    losses: list[Loss] = field(default_factory=list[Loss])

    def lose(self, path: Path, key: str, why: str, kind: LossKind = "left out") -> None:
        """Note a loss at a key of a file."""
        loss = Loss(kind, f"{self.name_of(path)}: {key}", why)
        if loss not in self.losses:
            self.losses.append(loss)

    def lose_others(
        self, path: Path, prefix: str, written: Mapping[str, Any], known: Collection[str]
    ) -> None:
        """Note the keys that have a value and are not among the known ones."""
        for key, value in written.items():
            if key not in known and value not in (None, "", (), {}, False):
                name = "expected_output" if key == "hint" and self.dialect == "evals.json" else key
                self.lose(path, f"{prefix}{name}", "it has no counterpart")

    def task_and_prompt(
        self, source: SuiteTask, known: Mapping[str, Collection[str]]
    ) -> tuple[TaskFile, str] | None:
        """Return a task and its first prompt, None for one that is left out.

        ``known`` are the keys that a writer reads of the task (``""``) and of its blocks; others are noted.
        """
        task = source.task
        if task is None or not task.enabled:
            why = source.error if task is None else "it is switched off by `enabled: false`"
            self.lose(source.path, source.id, why)
            return None
        for block, keys in known.items():
            place = f"{source.id}: {block}." if block else f"{source.id}: "
            self.lose_others(
                source.path, place, written_values(getattr(task, block) if block else task), keys
            )
        try:
            return task, prompt_of(task, source.path)
        except WorkspaceError as error:
            self.lose(source.path, source.id, str(error))
            return None

    def name_of(self, path: Path) -> str:
        """Return the path of a source file from the folder of the eval file."""
        return os.path.relpath(path, self.source.directory).replace(os.sep, "/")

    def from_here(self, path: Path) -> str:
        """Return the path of a file or folder from the folder of the new files."""
        return os.path.relpath(path, self.directory.absolute()).replace(os.sep, "/")

    def skill_folders(self, task: TaskFile) -> list[str]:
        """Return the skill directories that a task lists, from the folder of the new files.

        Raises ``FileError`` for one that a run refuses.
        """
        listed = [each for each in task.skill_directories if each != "none"]
        places = (resolve_suite_path(self.source.directory, each, "skill_directories") for each in listed)
        return [self.from_here(place) for place in places]

    def input_files(self, path: Path, task: TaskFile) -> Iterator[tuple[InputFile, Path | None]]:
        """Yield the input files of a task and their places, None for ``content``.

        Those that a run refuses are noted at ``path`` and left out. Raises ``FileError``.
        """
        fixtures = fixture_directory(task, self.source.directory)
        for each in task.inputs.files:
            file = each if isinstance(each, InputFile) else InputFile(path=each)
            try:
                if is_foreign(file.path):
                    raise WorkspaceError(f"`{file.path}` names a network share or a device")
                place = source_of_input(file, fixtures, self.source.directory, self.directory)
            except WorkspaceError as error:
                self.lose(path, f"inputs.files: {file.path}", str(error).removeprefix("`inputs.files`: "))
                continue
            yield file, place
