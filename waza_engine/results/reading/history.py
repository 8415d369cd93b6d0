"""All recorded runs of a suite, as their conclusions: each file is read once and indexed next to it.

The result files stay the source of truth. The index (SQLite) holds the conclusion of each, with the
fingerprint of the file: a new, replaced or deleted one is noticed, and so is a review. An index that is
missing, broken, of another version, or not writable is created again or not used, which takes longer and
gives the same results.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

import msgspec

from waza_engine.boundary import suite_boundary
from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import conclude, part_of
from waza_engine.results.places import INDEX_NAME, JOURNAL_SUFFIX, results_directory
from waza_engine.results.reading.formats import sorting_moment
from waza_engine.results.reading.owners import Owner
from waza_engine.results.reading.recordings import Recording, RecordingError, read_recording
from waza_engine.results.reviews import reviews_stamp
from waza_engine.scoring.statistics import mean
from waza_engine.vocabulary import Commit

INDEX_VERSION = 7
"""Another number for another table, another form of its rows, and another way to conclude."""
MOST_RUNS = 2_000
"""If there are more files, the newest by modification time count."""
_PATIENCE_SECONDS = 5.0
_BESIDE_INDEX = ("-wal", "-shm", "-journal")
_LARGEST_BYTES = 256 * 1024 * 1024
_OTHERS_FAULT = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_TABLE = "CREATE TABLE runs (file TEXT PRIMARY KEY, stamp TEXT NOT NULL, run TEXT NOT NULL) WITHOUT ROWID"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """The result of a task in a run. ``score`` is 0..1, None when no answer was judged.

    ``passed`` of ``trials`` trials passed; ``flaky`` is true if others failed.
    """

    id: str
    verdict: str
    score: float | None
    passed: int
    trials: int
    flaky: bool

    @property
    def judged(self) -> bool:
        """Return whether its answers were found right or wrong."""
        return self.score is not None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recorded run. ``file`` is its name in the folder of results, ``started`` has a time zone.

    ``score`` is the mean of the judged tasks, 0..1, None without any, and for a run of a part of the suite:
    ``part`` says which, "" for all of it. With ``chosen_graders`` a pass is not a verdict of all graders.
    ``commit`` is that of the suite's repository, None if none was recorded. ``suite`` is the name of the
    suite then.
    """

    file: str
    started: datetime
    eval_file: str
    model: str
    executor: str
    verdict: str
    score: float | None
    tasks: tuple[RecordedTask, ...]
    commit: Commit | None = None
    part: str = ""
    chosen_graders: bool = False
    suite: str = ""

    def task(self, identifier: str) -> RecordedTask | None:
        """Return a task's result, None when it is not in this run; of several with one id the last."""
        return next((task for task in reversed(self.tasks) if task.id == identifier), None)


@dataclass(frozen=True, slots=True)
class History:
    """The runs of an eval file, oldest first; ``unread`` holds why each other file is left out."""

    runs: tuple[RecordedRun, ...] = ()
    unread: tuple[str, ...] = ()


def history_of(eval_file: Path) -> History:
    """Return the recorded runs of an eval file."""
    directory = results_directory(eval_file.parent)
    if not suite_boundary(eval_file.parent).holds(directory):
        # Through a link that leads out nothing is read, and no index is written.
        return History()
    stamps = _stamps(directory)
    found = [*(_found(directory, stamps) if stamps else ()), *_cut_short(directory)]
    runs = [one for one in found if isinstance(one, RecordedRun)]
    owner = Owner(eval_file.parent, eval_file.name)
    own = [run for run in runs if owner.has(run.eval_file, run.suite)]
    return History(
        tuple(sorted(own, key=lambda run: (sorting_moment(run.started, directory / run.file), run.file))),
        tuple(sorted(one for one in found if isinstance(one, str))),
    )


def runs_in(files: Sequence[Path]) -> tuple[RecordedRun, ...]:
    """Return the runs of result files, oldest first; a run's ``file`` is the whole path.

    Raises ``RecordingError`` for a file that is not a record of a run.
    """
    runs = [replace(recorded_run(read_recording(file)), file=str(file)) for file in files]
    return tuple(sorted(runs, key=lambda run: sorting_moment(run.started, Path(run.file))))


def recorded_run(recording: Recording) -> RecordedRun:
    """Return the results of a recorded run."""
    found = conclude(run_of(recording.document))
    tasks = tuple(
        RecordedTask(
            id=task.id,
            verdict=task.verdict,
            # Without all graders it is not the score that other runs have.
            score=task.score if task.judged and not recording.header.graders else None,
            passed=task.passed_trials,
            trials=task.ended_trials,
            flaky=task.flaky,
        )
        for task in found.tasks
    )
    scores = [task.score for task in tasks if task.score is not None]
    header = recording.header
    part = part_of(header)
    return RecordedRun(
        file=recording.path.name,
        started=header.started,
        eval_file=header.eval_file,
        model=header.model,
        executor=header.executor,
        verdict=found.verdict,
        score=mean(scores) if scores and not part else None,
        tasks=tasks,
        commit=header.commit,
        part=part,
        chosen_graders=bool(header.graders),
        suite=header.eval_name,
    )


def _found(directory: Path, stamps: Mapping[str, str]) -> list[RecordedRun | str]:
    if len(stamps) == 1:
        return [_read(directory / name) for name in stamps]
    try:
        with closing(_opened(directory / INDEX_NAME)) as index:
            return _through(index, directory, stamps)
    except (sqlite3.Error, OSError) as error:
        log.info("The history of %s is read without its index: %s", directory, error)
    return [_read(directory / name) for name in stamps]


def _through(
    index: sqlite3.Connection, directory: Path, stamps: Mapping[str, str]
) -> list[RecordedRun | str]:
    """Return the runs in some files; files missing in the index are read and entered."""
    known: dict[str, RecordedRun | str] = {}
    gone: list[tuple[str]] = []
    for name, stamp, text in index.execute("SELECT file, stamp, run FROM runs"):
        if name not in stamps:
            gone.append((name,))
        elif stamps[name] == stamp:
            with suppress(ValueError, msgspec.ValidationError):
                # `json` reads the half surrogate pairs that msgspec refuses.
                known[name] = msgspec.convert(json.loads(text), RecordedRun | str)
    new: list[tuple[str, str, str]] = []
    for name in stamps.keys() - known.keys():
        found = known[name] = _read(directory / name)
        row = found if isinstance(found, str) else asdict(found)
        new.append((name, stamps[name], json.dumps(row, default=datetime.isoformat)))
    if new or gone:
        # A run that cannot be entered is read again the next time.
        with suppress(sqlite3.OperationalError), index:
            index.executemany("DELETE FROM runs WHERE file = ?", gone)
            index.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", new)
    return list(known.values())


def _cut_short(directory: Path) -> Iterator[RecordedRun]:
    """Yield the runs that were killed: until the next run of the suite all there is of them is a journal."""
    for path in sorted(directory.glob(f"*{JOURNAL_SUFFIX}")):
        with suppress(RecordingError):
            recording = read_recording(path)
            if not recording.goes_on:
                yield recorded_run(recording)


def _read(path: Path) -> RecordedRun | str:
    """Return the results in a result file, or why it cannot be read."""
    try:
        return recorded_run(read_recording(path))
    except RecordingError as error:
        return str(error)


def _stamps(directory: Path) -> dict[str, str]:
    """Return, by name, a fingerprint of each result file and its reviews."""
    reviews = reviews_stamp(directory / "results.json")
    reviewed = "" if reviews is None else str(reviews)
    found: list[tuple[int, str, str]] = []
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(".json"):
                with suppress(OSError):
                    status = os.stat(entry.path)  # noqa: PTH116 - of the file, on all systems
                    of_file = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                    if stat.S_ISREG(status.st_mode):
                        found.append((status.st_mtime_ns, entry.name, f"{of_file} {reviewed}"))
    return {name: stamp for _, name, stamp in sorted(found)[-MOST_RUNS:]}


def _opened(path: Path) -> sqlite3.Connection:
    """Return the index, a new one if there is no usable one. Raises ``OSError`` and ``sqlite3.Error``."""
    try:
        found = _usable(path)
    except sqlite3.DatabaseError as error:
        # The low byte of a code is its kind; an error of Python's own module has none.
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CANTOPEN) & 0xFF in _OTHERS_FAULT:
            raise
        found = None
    if found is not None:
        return found
    for suffix in ("", *_BESIDE_INDEX):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    index = _connected(path)
    try:
        index.execute("PRAGMA journal_mode = WAL")
        with index:
            index.execute(_TABLE)
            index.execute(f"PRAGMA user_version = {INDEX_VERSION}")
    except sqlite3.Error:
        index.close()
        raise
    return index


def _usable(path: Path) -> sqlite3.Connection | None:
    """Return the index that is there, if this very program could have made it."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_BYTES or status.st_nlink > 1:
        return None
    # SQLite follows links.
    if any(path.with_name(path.name + suffix).is_symlink() for suffix in _BESIDE_INDEX):
        return None
    index = _connected(path)
    try:
        version = index.execute("PRAGMA user_version").fetchone()
        tables = index.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    except sqlite3.Error:
        index.close()
        raise
    if (version, tables) == ((INDEX_VERSION,), [(_TABLE,)]):
        return index
    index.close()
    return None


def _connected(path: Path) -> sqlite3.Connection:
    index = sqlite3.connect(path, timeout=_PATIENCE_SECONDS)
    index.execute("PRAGMA trusted_schema = OFF")
    # Entries lost in a power failure are read again.
    index.execute("PRAGMA synchronous = OFF")
    return index
