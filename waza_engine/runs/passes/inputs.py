"""The inputs of a run at its start: digests of its files, and their texts to compare with later."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.files import read_bytes
from waza_engine.masking import masked
from waza_engine.results.inputs import InputFile, InputFolder, RunInputs, inputs_document
from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.agent.skills import suite_skills
from waza_engine.runs.loading.suite import Suite
from waza_engine.runs.passes.deciding_files import DecidingFiles, files_at
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.terminal import json_text

MOST_FILES = 2_000
MOST_BYTES = 64 * 2**20
"""The most bytes of all files together; further files are skipped."""
LONGEST_TEXT = 256 * 2**10
MOST_TEXT = 2 * 2**20
"""The most bytes of text that are stored for one run."""


def kept_inputs(inputs: RunInputs) -> bytes:
    """Return the stored form of a run's inputs."""
    return json_text(inputs_document(inputs)).encode()


def inputs_today(suite: Suite, tasks: Sequence[SelectedTask]) -> RunInputs:
    """Return the current inputs of these tasks.

    Files that cannot be read, and those beyond the limits, are left out.
    """
    return _Reader(suite).read(tasks, AgentSetup(suite, "", suite_skills(suite)))


class _Reader:
    """Reads the files that the tasks of a run depend on, each once."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._within = suite_boundary(suite.directory)
        self._known: dict[Path, tuple[str, int] | None] = {}
        self._texts: dict[str, str] = {}
        self._left = MOST_BYTES
        self._text_left = MOST_TEXT

    def read(self, tasks: Sequence[SelectedTask], agent: AgentSetup) -> RunInputs:
        """Return the files, and the contents of those that are text and not too long.

        A folder is listed by its files: one that is added later counts as new.
        """
        reads = DecidingFiles(self._suite, agent)
        listed: dict[Path, list[Path]] = {}
        used: dict[Path, set[str]] = {self._suite.path: {task.source.id for task in tasks}}
        folders: dict[Path, set[str]] = {}
        for task in tasks:
            places = {task.source.path} - {self._suite.path}
            if task.trial is not None:
                places |= reads.places(task.source, task.trial)
            for place in sorted(places):
                if place not in listed:
                    listed[place] = self._files_at(place)
                if place.is_dir():
                    folders.setdefault(place, set()).add(task.source.id)
                for file in listed[place]:
                    used.setdefault(file, set()).add(task.source.id)
        every = len(tasks)
        files: list[InputFile] = []
        told: set[Path] = set()
        # The suite, its skills and fixtures first: files that decide most tasks are stored first.
        for file in sorted(used, key=lambda file: (-len(used[file]), file)):
            if len(files) == MOST_FILES:
                break
            name = self._name(file)
            content = self._content(file, name)
            if content is not None:
                of = () if len(used[file]) == every else tuple(sorted(used[file]))
                files.append(InputFile(name, *content, of))
                told.add(file)
        whole = (
            InputFolder(self._name(place), () if len(of) == every else tuple(sorted(of)))
            for place, of in sorted(folders.items())
            if len(listed[place]) < MOST_FILES and told.issuperset(listed[place])
        )
        return RunInputs(tuple(files), tuple(whole), self._texts)

    def _files_at(self, place: Path) -> list[Path]:
        found: list[Path] = []
        try:
            for file, _ in files_at(place, self._suite.directory):
                found.append(file)
                if len(found) == MOST_FILES:
                    break
        except OSError:
            pass
        return found

    def _name(self, file: Path) -> str:
        try:
            return Path(os.path.relpath(file, self._suite.directory)).as_posix()
        except ValueError:  # On another drive.
            return file.as_posix()

    def _content(self, file: Path, name: str) -> tuple[str, int] | None:
        try:
            content = read_bytes(file, self._left, within=self._within)
        except OSError:
            return None
        self._left -= len(content)
        if len(content) <= min(LONGEST_TEXT, self._text_left):
            try:
                self._texts[name] = masked(content.decode("utf-8"))
            except UnicodeDecodeError:
                pass
            else:
                self._text_left -= len(content)
        return hashlib.sha256(content).hexdigest(), len(content)
