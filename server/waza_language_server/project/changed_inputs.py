"""The input files of a run that have changed since, by the digests in its record.

The text of an open document counts instead of the file. Suite files are left out: for them
``project/document_scores.py`` knows which part has changed. Each version of a file is read once.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.files import FileError, is_named, read_bytes
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code
from waza_engine.masking import masked
from waza_language_server.project.claim import SKILL_NAME
from waza_language_server.project.disk import MAX_BYTES, content_of, stamp_of

if TYPE_CHECKING:
    from waza_engine.results.inputs import InputFile, RunInputs
    from waza_engine.results.reading.scores import LaterRun, RunOrigin
    from waza_language_server.project.disk import Disk
    from waza_language_server.project.document import Document

MAX_FILES = 2_000
MAX_RECORDS = 8
"""Records of inputs that are remembered: each may hold megabytes of text."""
_FILES_PER_CHECKPOINT = 20
_ID_LINE = compiled_later(r"^id[ \t]*:(.*)$", re.MULTILINE)
EVERY = ""
"""Placeholder for all tasks: no task has this id."""


@frozen()
class ChangedInput:
    """A file that has changed since a run. ``recorded`` is its path in the record of ``results``.

    A ``new`` file did not exist then, and is in a folder whose files are all inputs.

    ``added`` and ``removed`` count lines; both are None when the text of then is not known. ``tasks`` are
    those that it decides, all of them when empty.
    """

    path: Path
    results: Path
    recorded: str
    added: int | None
    removed: int | None
    gone: bool
    tasks: frozenset[str]
    new: bool = False

    @property
    def words(self) -> str:
        """The file and how much of it changed: ``SKILL.md +12 −3``."""
        name = self.recorded.rsplit("/", 1)[-1][:60]
        if self.gone:
            return f"{name} gone"
        if self.new:
            return f"{name} added"
        return f"{name} changed" if self.added is None else f"{name} +{self.added} −{self.removed}"


@frozen()
class CurrentFiles:
    """The current content of files: the text of open documents, the disk for the others."""

    disk: Disk
    documents: Mapping[Path, Document]


class InputTexts:
    """A cache of the texts and digests of input files, recorded and current."""

    def __init__(self) -> None:
        self._digests: dict[Path, tuple[object, str | None]] = {}
        self._records: dict[tuple[Path, str], RunInputs] = {}

    def recorded(self, origin: RunOrigin) -> RunInputs:
        """Return the recorded inputs of a run; empty if they were not stored."""
        key = origin.results.parent, origin.inputs
        if key not in self._records:
            # Imported here, since most suites were never run.
            from waza_engine.results.inputs import inputs_of

            if len(self._records) >= MAX_RECORDS:
                del self._records[next(iter(self._records))]
            self._records[key] = inputs_of(origin.results, origin.inputs)
        return self._records[key]

    def text_then(self, origin: RunOrigin, recorded: str) -> str | None:
        """Return the text of a file at a run, with credentials masked; None if it was not stored."""
        return self.recorded(origin).texts.get(recorded)

    def moved(
        self, origin: RunOrigin, suite: Path, paths: Sequence[Path], task_in: Callable[[Path], str]
    ) -> Mapping[Path, InputFile]:
        """Return the recorded files of tasks that had another name in a run, by their current ``paths``.

        ``task_in`` returns the id of the task in a file.
        """
        recorded = self.recorded(origin).files[:MAX_FILES]
        known: dict[Path, InputFile] = {}
        for number, file in enumerate(recorded):
            if not number % _FILES_PER_CHECKPOINT:
                checkpoint()
            known[recorded_file_path(suite, file.path)] = file
        gone: list[InputFile] | None = None
        found: dict[Path, InputFile] = {}
        for path in paths:
            if path not in known:
                checkpoint()
                if gone is None:
                    gone = [file for place, file in known.items() if stamp_of(place) is None]
                task = task_in(path)
                files = (file for file in gone if file.tasks in ((), (task,)))
                before = next((file for file in files if self._says(origin, file, task)), None)
                found |= {} if before is None else {path: before}
        return found

    def _says(self, origin: RunOrigin, file: InputFile, task: str) -> bool:
        """Return whether a recorded file has the ``id`` of a task."""
        lines = _ID_LINE.findall(self.text_then(origin, file.path) or "")
        return any(line.split(" #", 1)[0].strip() in (task, f"'{task}'", f'"{task}"') for line in lines)

    def digest_now(self, path: Path, today: CurrentFiles) -> str | None:
        """Return the current SHA-256 of a file, "" if it does not exist, None if unknown."""
        return self._digest(None, path, today)

    def changed(
        self, origin: RunOrigin, suite: Path, today: CurrentFiles, is_suite_file: Callable[[Path], bool]
    ) -> tuple[ChangedInput, ...]:
        """Return the changed inputs since a run, those of all tasks first."""
        found: list[ChangedInput] = []
        for number, file in enumerate(self.recorded(origin).files[:MAX_FILES]):
            if not number % _FILES_PER_CHECKPOINT:
                checkpoint()
            path = recorded_file_path(suite, file.path)
            if not is_suite_file(path):
                changed = self._changed(origin, file, path, today)
                found += [] if changed is None else [changed]
        found += self._added(origin, suite, today, is_suite_file)
        return tuple(found)

    def _added(
        self, origin: RunOrigin, suite: Path, today: CurrentFiles, is_suite_file: Callable[[Path], bool]
    ) -> list[ChangedInput]:
        """Return the files that were added to the input folders of a run since, each once."""
        recorded = self.recorded(origin)
        if not recorded.folders:
            return []
        known = {recorded_file_path(suite, file.path) for file in recorded.files}
        new: dict[Path, set[str]] = {}
        for folder in recorded.folders:
            for file in _files_below(recorded_file_path(suite, folder.path), suite, today):
                if file not in known and not is_suite_file(file):
                    new.setdefault(file, set()).update(folder.tasks or {EVERY})
        return [
            ChangedInput(
                path,
                origin.results,
                Path(os.path.relpath(path, suite.parent)).as_posix(),
                added=None,
                removed=None,
                gone=False,
                tasks=frozenset() if EVERY in tasks else frozenset(tasks),
                new=True,
            )
            for path, tasks in new.items()
        ]

    def _changed(
        self, origin: RunOrigin, file: InputFile, path: Path, today: CurrentFiles
    ) -> ChangedInput | None:
        digest = self._digest(file, path, today)
        if digest is None or digest == file.sha256:
            return None
        tasks = frozenset(map(str, file.tasks))
        if not digest:
            return ChangedInput(path, origin.results, file.path, None, None, gone=True, tasks=tasks)
        then, now = self.text_then(origin, file.path), _text_now(path, today)
        added = removed = None
        if then is not None and now is not None:
            added, removed = _changed_lines(then, masked(now))
        return ChangedInput(path, origin.results, file.path, added, removed, gone=False, tasks=tasks)

    def _digest(self, file: InputFile | None, path: Path, today: CurrentFiles) -> str | None:
        """Return the current digest of a file, "" if it does not exist, None if unknown."""
        opened = today.documents.get(path)
        if opened is not None:
            return hashlib.sha256(content_of(path, opened.text)).hexdigest()
        stamp = stamp_of(path)
        if stamp is None:
            return "" if not is_named(path) else None
        if isinstance(stamp, str):
            return None
        known = self._digests.get(path)
        if known is None or known[0] != stamp:
            known = self._digests[path] = stamp, _digest_on_disk(file, path, today)
        return known[1]


def _files_below(place: Path, suite: Path, today: CurrentFiles) -> list[Path]:
    """Return the files of a folder that a run would record."""
    from waza_engine.results.inputs import is_left_by_programs, is_unread

    found: list[Path] = []
    waiting = [place]
    while waiting and len(found) < MAX_FILES:
        checkpoint()
        folder = waiting.pop()
        listed = today.disk.names(folder).value
        in_skill = (SKILL_NAME, False) in listed
        for name, is_folder in listed:
            path = folder / name
            if not is_folder:
                found += [] if is_left_by_programs(name) else [path]
            elif not is_unread(name, in_skill=in_skill) and path != suite.parent and not path.is_symlink():
                waiting.append(path)
    return found


def recorded_file_path(suite: Path, recorded: str) -> Path:
    """Return the path of a recorded file."""
    return Path(os.path.normpath(suite.parent / recorded))


def _digest_on_disk(file: InputFile | None, path: Path, today: CurrentFiles) -> str | None:
    try:
        content = read_bytes(path, MAX_BYTES, within=today.disk.boundaries.around(path.parent))
    except FileError as error:
        # A file that is too large to read is compared by its size.
        grown = file is not None and error.kind == "too large" and file.size <= MAX_BYTES
        return "other size" if grown else None
    return hashlib.sha256(content).hexdigest()


def _text_now(path: Path, today: CurrentFiles) -> str | None:
    opened = today.documents.get(path)
    if opened is not None:
        return opened.text
    fact = today.disk.text(path)
    return fact.value if fact.state == "known" else None


def _changed_lines(then: str, now: str) -> tuple[int | None, int | None]:
    """Return how many lines were added and removed, both None if only their order has changed."""
    old, new = Counter(then.splitlines()), Counter(now.splitlines())
    added, removed = (new - old).total(), (old - new).total()
    return (added, removed) if added or removed else (None, None)


REWRITTEN = "the {} was changed after the run"
"""The graded text has changed since, or is unknown."""
TASK_REWRITTEN = "a task of it was changed after the run"
SUITE_REWRITTEN = "settings of the suite were changed after the run"
TASK_ADDED = "the run had no task {}"
PROMPTS_REWRITTEN = "the trigger prompts were changed after the run"
SUITE_GRADER_REWRITTEN = "a grader of the suite was changed after the run"
JUDGE_REWRITTEN = "the grader was changed after it graded"
A_JUDGE_REWRITTEN = "a grader was changed after it graded"
SUITE_REWRITTEN_AGAIN = "the suite was changed after it was graded again"
FILE_REWRITTEN = "{} was changed after it graded"
RUNS_AGAIN = "it runs again, and this run has not judged it yet"
RUNS_ELSEWHERE = "it is running elsewhere, in another window or a terminal"
GRADED_SINCE = "a grader of it was run again since"
PASSED_OVER = "a later run ended before it reached this task"
UNREAD = "the record of a later run, {}, cannot be read"
CUT_SHORT = "a later run was ended before it was done"
RUN_SINCE = "a part of it was run again since"
ASKED_SINCE = "a part of it was requested since, and nothing ran"
_MOST_LISTED = 20
"""Changed files that are named."""


def describe_later_run(later: LaterRun | None) -> str:
    """Return why a later run makes an older result uncertain, in Markdown; "" without such a run."""
    if later is None:
        return ""
    return PASSED_OVER if later.unread is None else UNREAD.format(code(later.unread.name))


def why_stale(
    *,
    written: str = "",
    changes: Sequence[ChangedInput] = (),
    agent: str = "",
    awaited: bool = False,
    elsewhere: bool = False,
    since: str = "",
) -> str:
    """Return the first reason why a result may be stale, in Markdown; "" if it is fresh.

    ``written`` is the part of the suite that has changed since, ``changes`` are the changed files; ``agent``
    is the agent that answered, if today's executor or model differs; ``awaited`` says that an active run has
    not judged it yet, ``elsewhere`` that another program runs it, and ``since`` is the reason that later
    finished runs give.
    """
    files = ", ".join(code(change.words) for change in changes[:_MOST_LISTED])
    of_files = f"{files} since the run" if files else ""
    running = RUNS_AGAIN if awaited else RUNS_ELSEWHERE if elsewhere else ""
    return written or of_files or agent or running or since
