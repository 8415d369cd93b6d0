"""Store results on disk, never showing a half-written file.

While a run is active, every finished task, and every trial of an active one, is appended to a journal
(``….partial.jsonl``) and flushed to the disk, so nothing finished is lost when the machine or the process
dies; so is each answer that was paid for, as it arrives, and each trigger prompt. At the end the whole
document is written next to it and renamed in one step; then the journal is deleted. The journal reserves room
for the reason why there is no document, because a full disk takes no more.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import IO, TypeVar

import psutil

from waza_engine import files
from waza_engine.boundary import Boundary, suite_boundary
from waza_engine.files import copy_file, names_in, opened_to_append, remove_file
from waza_engine.masking import masked
from waza_engine.results.attachments import attachment_directory, mark_of, without_long_texts
from waza_engine.results.codec.run_documents import (
    header_document,
    spending_document,
    summary_document,
    trigger_document,
)
from waza_engine.results.codec.summary_blocks import task_document
from waza_engine.results.codec.trials import answer_document, trial_document
from waza_engine.results.inputs import inputs_directory
from waza_engine.results.json_values import Block, Json, block_of, nonempty, plain
from waza_engine.results.reading.formats import read_document
from waza_engine.results.reading.journals import goes_on, this_process, unended_document
from waza_engine.results.reading.run_store_entries import (
    is_held,
    note_in,
    remove_run_store,
    run_store_of_journal,
    workers_in,
)
from waza_engine.results.record import (
    ArrivedAnswer,
    RunHeader,
    RunOutcome,
    TaskOutcome,
    TrialOutcome,
    TriggerOutcome,
)
from waza_engine.results.result_file_names import (
    JOURNAL_SUFFIX,
    NAME_FORMAT,
    boundary_beside,
    file_segment,
    results_directory,
    run_store_directory,
    workspace_prefix,
)
from waza_engine.scoring.cost import Spending
from waza_engine.spec.foreign_evals import is_named_as_evals
from waza_engine.terminal import json_text, write_whole
from waza_engine.user_state import state_folder

WATCHED_AFTER_SECONDS = 0.03
"""How long an editor may take to begin to watch a folder that is new."""
_YAML_SUFFIXES = frozenset({".yaml", ".yml"})
_PROBED_BYTES = 64 * 1024
_RESERVED_BYTES = 4096
_REASON_CHARACTERS = 600


class ResultsError(Exception):
    """Results cannot be written; the message says where and why."""


class ResultStore:
    """The results of one run. Methods may be called from several threads."""

    def __init__(
        self,
        suite_directory: Path,
        header: RunHeader,
        planned: Mapping[str, str] | None = None,
        spent_before: Spending | None = None,
    ) -> None:
        """``planned`` are the names of the tasks that will run by their ids, in order.

        ``spent_before`` is what earlier runs spent with which this one goes on, but for the trials that it
        takes over from them.
        """
        self._directory = results_directory(suite_directory)
        self.within = suite_boundary(suite_directory)
        self._header = header
        self._planned = [{"test_id": id_, "display_name": name} for id_, name in (planned or {}).items()]
        self._spent_before = spent_before
        self._stem = f"{header.started:{NAME_FORMAT}}-{secrets.token_hex(3)}"
        self._journal: IO[bytes] | None = None
        self._failure = ""
        self._lock = threading.Lock()
        self._reserved = 0
        self._began = time.monotonic()

    @property
    def path(self) -> Path:
        """The file that will hold the results."""
        return self._directory / f"{self._stem}.json"

    @property
    def journal_path(self) -> Path:
        """The file that holds the finished tasks of a run that has not ended."""
        return self._directory / f"{self._stem}{JOURNAL_SUFFIX}"

    def open(self) -> None:
        """Start the journal. Raises ``ResultsError``."""
        with clear_errors(self._directory):
            self._check_writable()
            if not self._directory.exists():
                files.make_folder(self._directory.parent, within=self.within)
                # Editors are notified of a new folder and only then watch its content.
                time.sleep(WATCHED_AFTER_SECONDS)
            files.make_folder(self._directory, within=self.within)
            keep_out_of_git(self._directory.parent, within=self.within)
        with clear_errors(self.journal_path):
            self._journal = files.create_file(self.journal_path, within=self.within)
        try:
            self._begin(self._journal)
        except ResultsError:
            # An empty journal would stay forever, because its run may be about to begin.
            self.discard()
            raise

    def discard(self) -> None:
        """Remove the journal of a run that is not to begin."""
        with self._lock:
            self._close()
        with contextlib.suppress(OSError):
            files.remove_file(self.journal_path, within=self.within)

    def _begin(self, journal: IO[bytes]) -> None:
        before = self._spent_before and spending_document(self._spent_before)
        line = {**header_document(self._header), "process": this_process(), "planned": self._planned}
        self._append({**line, **nonempty(spent_before=before)})
        with clear_errors(self.journal_path):
            self._reserved = journal.tell()
        self._write(_reserved_line(""))

    def add(self, task: TaskOutcome, *, baseline: bool = False) -> None:
        """Store a finished task. Raises ``ResultsError``; the tasks before it stay readable."""
        self._append_timed({"baseline_task" if baseline else "task": task_document(task)})

    def add_trial(self, task_id: str, trial: TrialOutcome, *, baseline: bool = False) -> None:
        """Store a trial of an active task, finished or not: it would be lost if the run is killed.

        The latest of a number counts. Raises ``ResultsError``.
        """
        line = {"test_id": task_id, "run": plain(trial_document(trial))}
        self._append_timed({"baseline_trial" if baseline else "trial": line})

    def add_asked(self, task_id: str, trial: int, *, baseline: bool = False) -> None:
        """Note that the agent is asked in a trial: it may be paid for. Raises ``ResultsError``."""
        self._append_timed(
            {"asked": {"test_id": task_id, "run_number": trial, **nonempty(baseline=baseline)}}
        )

    def add_asked_prompt(self, prompt: str) -> None:
        """Note that a trigger prompt is sent: it may be paid for. Raises ``ResultsError``."""
        self._append_timed({"asked": {"prompt": prompt}})

    def add_answer(self, answer: ArrivedAnswer) -> None:
        """Store a paid answer, until its trial or its task is stored. Raises ``ResultsError``."""
        self._append_timed({"answer": plain(answer_document(answer))})

    def add_trigger(self, trigger: TriggerOutcome) -> None:
        """Store the result of a trigger prompt. Raises ``ResultsError``."""
        self._append_timed({"trigger": plain(trigger_document(trigger))})

    def finish(self, outcome: RunOutcome) -> Path:
        """Write the document, drop the journal; return its path.

        Raises ``ResultsError``.
        """
        try:
            with clear_errors(self.path):
                self._check_writable()
                # Somebody may have removed it all while the run went on.
                files.make_folder(self._directory, within=self.within)
                keep_out_of_git(self._directory.parent, within=self.within)
            write_atomically(self.path, encoded_run(outcome), within=self.within)
        except ResultsError as error:
            with self._lock:
                self._close(str(error))
            raise
        with self._lock:
            self._close()
        with contextlib.suppress(OSError):
            files.remove_file(self.journal_path, within=self.within)
        self._remove_run_store()
        return self.path

    def _remove_run_store(self) -> None:
        """Remove the folder that the workers of a cluster shared; most runs have none."""
        place = run_store_directory(self._directory.parent.parent, self._header.run_id)
        if place.is_dir():
            _remove_run_store(place, self.within)

    def _check_writable(self) -> None:
        """Raise ``OSError`` when a file is in the way, or links lead out of the suite.

        Directories outside the suite are not ours to write to.
        """
        self.within.resolved(self._directory)
        _existing(self._directory)

    def _append_timed(self, entry: Json) -> None:
        # Only this line says how long a killed run took.
        elapsed = time.monotonic() - self._began
        self._append({**entry, "elapsed_ms": round(elapsed * 1000)})

    def _append(self, entry: Json) -> None:
        line = b"" if self._journal is None else json_text(entry).encode() + b"\n"
        with self._lock:
            if self._failure:
                raise ResultsError(self._failure)
            self._write(line)

    def _write(self, line: bytes) -> None:
        if self._journal is None:
            return
        try:
            with clear_errors(self.journal_path):
                write_whole(self._journal, line)
                os.fsync(self._journal.fileno())
        except ResultsError as error:
            # A torn last line is skipped by readers; another line after it would be lost with it.
            self._failure = str(error)
            self._close(self._failure)
            raise

    def _close(self, why: str = "") -> None:
        """Close the journal; ``why`` is the reason that prevents a document."""
        if self._journal is not None:
            with contextlib.suppress(OSError):
                if why and self._reserved:
                    self._journal.seek(self._reserved)
                    self._journal.write(_reserved_line(why))
                    os.fsync(self._journal.fileno())
                self._journal.close()
            self._journal = None


def _reserved_line(why: str) -> bytes:
    line = json_text({"broke": why[:_REASON_CHARACTERS]}).encode()
    return line.ljust(_RESERVED_BYTES - 1) + b"\n"


def encoded(document: Json | list[Json]) -> bytes:
    """Return the document, or several, as upstream writes it: two spaces of indentation, UTF-8."""
    return _indented(document).encode() + b"\n"


def encoded_run(outcome: RunOutcome) -> Iterator[bytes]:
    """Yield the document of a run as ``encoded`` writes it, task by task: no memory holds all of it."""
    yield from (text.encode() for text in _run_in_parts(outcome, "\n"))
    yield b"\n"


def _run_in_parts(outcome: RunOutcome, line: str) -> Iterator[str]:
    """Yield the document of a run; each line of it begins with ``line``."""
    beginning = "{"
    for key, value in summary_document(outcome).items():
        yield f"{beginning}{line}  {json_text(key)}: "
        beginning = ","
        if key == "tasks":
            yield from _tasks_in_parts(outcome.tasks, f"{line}  ")
        elif key == "baseline_outcome" and outcome.baseline is not None:
            yield from _run_in_parts(outcome.baseline, f"{line}  ")
        else:
            yield _indented(value).replace("\n", f"{line}  ")
    yield f"{line}}}"


def _tasks_in_parts(tasks: Iterable[TaskOutcome], line: str) -> Iterator[str]:
    beginning = "["
    for task in tasks:
        yield f"{beginning}{line}  " + _indented(task_document(task)).replace("\n", f"{line}  ")
        beginning = ","
    yield "[]" if beginning == "[" else f"{line}]"


def _indented(value: object) -> str:
    import msgspec

    try:
        # Python's own way to indent takes ten times as long.
        return msgspec.json.format(json_text(value), indent=2)
    except (msgspec.DecodeError, RecursionError):
        # Half a surrogate pair, as in a file name that is not UTF-8, is JSON all the same.
        return json_text(value, indent=2)


def write_output(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write to a path that a person has named: a terminal or a pipe is written into, a file is replaced.

    Waits for the reader of a pipe. Raises ``ResultsError``.
    """
    check_no_suite(path)
    with clear_errors(path):
        target = path.resolve()
        if _is_device(target):
            with target.open("wb") as device:
                device.writelines(_parts(content))
            return
    write_atomically(path, content)


def check_no_suite(path: Path) -> None:
    """Raise ``ResultsError`` for a file that a person wrote: no result and no report is YAML."""
    with clear_errors(path):
        target = path.resolve()
        is_file = target.is_file()
    if is_file and (target.suffix.lower() in _YAML_SUFFIXES or is_named_as_evals(target.name)):
        raise ResultsError(f"{path} is a file of a suite; name another file for results.")


def opened_output(path: Path, *, append: bool = False) -> IO[bytes]:
    """Return a path that a person has named, opened without a buffer; the old content of a file goes.

    Waits for the reader of a pipe. Raises ``ResultsError``.
    """
    check_no_suite(path)
    with clear_errors(path):
        target = path.resolve()
        if _is_device(target):
            return target.open("wb", buffering=0)
        files.make_folder(target.parent)
        file = opened_to_append(target)
        if not append:
            file.truncate(0)
        return file


def is_persistent(path: Path) -> bool:
    """Return whether a written file persists, unlike a terminal or a pipe."""
    return not _is_device(path.resolve())


def write_atomically(path: Path, content: bytes | Iterable[bytes], *, within: Boundary | None = None) -> None:
    """Replace or create a file as ``files.write_atomically`` does. Raises ``ResultsError``."""
    with clear_errors(path):
        files.write_atomically(path, _parts(content), within=within)


def write_new(path: Path, content: bytes, *, within: Boundary | None = None) -> bool:
    """Create a file; return False, and touch nothing, when the name is taken.

    The name is taken first, so that two writers never share one: if killed between the two steps it stays
    empty. Raises ``ResultsError``.
    """
    with clear_errors(path):
        try:
            files.create_file(path, within=within).close()
        except FileExistsError:
            return False
    try:
        write_atomically(path, content, within=within)
    except ResultsError:
        with contextlib.suppress(OSError):
            files.remove_file(path, within=within)
        raise
    return True


def check_results_writable(suite_directory: Path) -> None:
    """Check whether the results of a suite can be stored, and leave nothing behind.

    Raises ``ResultsError``.
    """
    directory = results_directory(suite_directory)
    with clear_errors(directory):
        suite_boundary(suite_directory).resolved(directory)
        with tempfile.TemporaryFile(dir=_existing(directory)) as file:
            file.write(b"0" * _PROBED_BYTES)
            file.flush()


def _existing(directory: Path) -> Path:
    """Return a folder, or the nearest above it that is there. Raises ``OSError`` when that is a file."""
    existing = next(place for place in (directory, *directory.parents) if place.exists())
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{existing} is a file, where a folder belongs")
    return existing


def check_writable(path: Path, suite: Path | None = None) -> None:
    """Find out before a long run whether ``write_output`` can write there, and not over this suite.

    Raises ``ResultsError``.
    """
    with clear_errors(path):
        if suite is not None and path.exists() and path.samefile(suite):
            raise ResultsError(f"{path} is the suite itself; name another file for its results.")
        check_no_suite(path)
        target = path.resolve()
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a directory; name a file")
        if _is_device(target):
            return
        temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
        files.create_file(temporary).close()
        files.remove_file(temporary)


@contextlib.contextmanager
def clear_errors(path: Path) -> Generator[None]:
    """Raise ``ResultsError`` for errors of the disk; it names the path."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise ResultsError(f"Results cannot be written to {path}: {reason}.") from error


def keep_out_of_git(folder: Path, *, within: Boundary | None = None) -> None:
    """Make the folder ignore itself: results are generated, so they do not belong in a commit."""
    with (
        contextlib.suppress(FileExistsError),
        files.create_file(folder / ".gitignore", within=within) as ignore,
    ):
        ignore.write(b"*\n")


def _parts(content: bytes | Iterable[bytes]) -> Iterable[bytes]:
    return (content,) if isinstance(content, bytes) else content


def _is_device(path: Path) -> bool:
    """Return whether it is a terminal, a pipe or the like: something to write into, never to replace."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_copy(directory: Path, outcome: RunOutcome, *, within: Boundary) -> Path:
    """Write the results as upstream's ``--output-dir`` does, ``<UTC time>/<model>.json``; return the path.

    Raises ``ResultsError``.
    """
    header = outcome.header
    started = header.started.astimezone(UTC)
    folder = directory / f"{started:%Y-%m-%dT%H%M%S}.{started.microsecond // 1000:03}"
    path = folder / f"{file_segment(header.model or header.executor)}.json"
    kept = Attachments(path, within=within).of_run(outcome)
    write_atomically(path, encoded_run(kept), within=within)
    return path


MOST_KEPT = 100
"""Files of inputs; the oldest go first."""


def keep_inputs(results: Path, digest: str, content: bytes) -> None:
    """Store the inputs of the run of a result file. Raises ``ResultsError``."""
    directory = inputs_directory(results)
    within = suite_boundary(results.parents[2])
    place = directory / f"{digest}.json"
    if not write_new(place, content, within=within):
        # It is the newest again.
        with contextlib.suppress(OSError), opened_to_append(place, within=within) as file:
            os.utime(file.fileno() if os.utime in os.supports_fd else place)
    with contextlib.suppress(OSError):
        kept = [directory / name for name in names_in(directory, within=within) if name.endswith(".json")]
        kept.sort(key=lambda file: file.lstat().st_mtime, reverse=True)
        for old in kept[MOST_KEPT:]:
            remove_file(old, within=within)


ValueT = TypeVar("ValueT")


class Attachments:
    """The long strings of one result file. Equal strings share a file."""

    def __init__(self, results: Path, *, within: Boundary | None = None) -> None:
        """``within`` is the boundary of results whose path was not given by a person."""
        self._within = within
        self._directory = attachment_directory(results)
        self._written: set[str] = set()

    def of_run(self, run: RunOutcome) -> RunOutcome:
        """Return a run with marks for the long strings of its tasks. Raises ``ResultsError``."""
        baseline = None if run.baseline is None else self.of_run(run.baseline)
        tasks = tuple(map(self.of, run.tasks))
        return replace(run, tasks=tasks, triggers=self.of(run.triggers), baseline=baseline)

    def of(self, value: ValueT) -> ValueT:
        """Return any value with marks for its long strings, which are stored now. Raises ``ResultsError``."""
        return without_long_texts(value, self._attached)

    def _attached(self, text: str) -> str:
        shown = masked(text)
        name, mark = mark_of(shown)
        if name not in self._written:
            write_new(self._directory / name, shown.encode("utf-8", "replace"), within=self._within)
            self._written.add(name)
        return mark


def write_run(path: Path, run: RunOutcome) -> None:
    """Write the document of a run to a path that a person has named. Raises ``ResultsError``."""
    write_output(path, encoded_run(Attachments(path).of_run(run) if is_persistent(path) else run))


def copy_attachments(results: Path, copy: Path) -> None:
    """Copy the long strings of a result file to its copy. Raises ``ResultsError``."""
    source, target = attachment_directory(results), attachment_directory(copy)
    if source.is_dir() and source.resolve() != target.resolve():
        with clear_errors(target):
            target.mkdir(parents=True, exist_ok=True)
            within = boundary_beside(results)
            for name in names_in(source, within=within):
                if name.endswith(".txt"):
                    copy_file(source / name, target / name, within=within)


def stored_run_folders(suite_directory: Path) -> Iterator[Path]:
    """Yield the folders of killed runs whose trials are in an object store."""
    directory, within = results_directory(suite_directory), suite_boundary(suite_directory)
    for journal in sorted(directory.glob(f"*{JOURNAL_SUFFIX}")) if within.holds(directory) else ():
        entry = read_document(journal)
        place = None if entry is None or goes_on(entry) else run_store_of_journal(journal, entry)
        if place is not None and note_in(place, within):
            yield place


def recover_journals(suite_directory: Path) -> list[Path]:
    """Write the documents of dead processes' journals, remove their workspaces, and return the paths.

    Raises ``ResultsError``.
    """
    directory = results_directory(suite_directory)
    recovered: list[Path] = []
    within = suite_boundary(suite_directory)
    if not within.holds(directory):
        # A link leads out of the suite: neither are these its journals, nor may they be removed.
        return recovered
    for journal in sorted(directory.glob(f"*{JOURNAL_SUFFIX}")):
        entry = read_document(journal)
        # Leave unreadable files alone: one may be a journal that another run is about to start.
        if entry is None or goes_on(entry):
            continue
        place = run_store_of_journal(journal, entry)
        if place is not None and is_held(place, within):
            # Its coordinator is gone, and workers still execute trials that are paid for.
            continue
        path = directory / f"{journal.name.removesuffix(JOURNAL_SUFFIX)}.json"
        document = unended_document(entry, "the run was interrupted")
        if (document["tasks"] or document.get("trigger_results")) and not path.exists():
            write_atomically(path, encoded(document), within=within)
            recovered.append(path)
        _remove_workspaces(entry)
        with contextlib.suppress(OSError):
            remove_file(journal, within=within)
        if place is not None:
            _remove_run_store(place, within)
    return recovered


def _remove_run_store(place: Path, within: Boundary) -> None:
    for worker in workers_in(place, within):
        _remove_workspaces(worker)
    remove_run_store(place, within)


def _remove_workspaces(entry: Block) -> None:
    """Remove the workspaces of a killed process, unless its number belongs to another one now."""
    process: object = block_of(entry, "process").get("pid")
    if isinstance(process, int) and _is_gone(process):
        remove_workspaces_of(process)


def remove_workspaces_of(process: int) -> None:
    """Remove the workspaces of a process, and what else it has in the temporary directory."""
    for place in Path(tempfile.gettempdir()).glob(f"{workspace_prefix(process)}*"):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)


def _is_gone(pid: int) -> bool:
    """Return whether there is no process of this number, or only a zombie."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, ValueError, OverflowError):
        # A journal from elsewhere may record a number that no process can have.
        return True
    except psutil.Error:
        return False


def rescued_to(name: str, outcome: RunOutcome) -> str:
    """Write the results below the user's state, else in a new temporary folder; return where."""
    for folder in _folders():
        path = folder / name
        with contextlib.suppress(ResultsError):
            write_atomically(path, encoded_run(Attachments(path).of_run(outcome)))
            return f"The results are kept in {path}."
        with contextlib.suppress(OSError):
            folder.rmdir()
    return "The results are lost: nothing could be written elsewhere."


def _folders() -> Iterator[Path]:
    yield state_folder() / "results"
    with contextlib.suppress(OSError):
        yield Path(tempfile.mkdtemp(prefix="waza-results-"))
