"""All recorded runs of a suite, as their conclusions: each file is read once and indexed next to it.

The result files stay the source of truth. The index holds the conclusion of each, with the fingerprint of the
file: a new, replaced or deleted one is noticed, and so is a review. An index that is missing, broken or of
another version is created again; one that cannot be written is not used, which takes longer and gives the
same results.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from waza_engine.boundary import Boundary, suite_boundary
from waza_engine.files import read_bytes, write_atomically
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import conclude, part_of
from waza_engine.results.reading.formats import sorting_moment
from waza_engine.results.reading.owners import Owner
from waza_engine.results.reading.recordings import Recording, RecordingError, read_recording
from waza_engine.results.result_file_names import INDEX_NAME, JOURNAL_SUFFIX, results_directory
from waza_engine.results.reviews import reviews_stamp
from waza_engine.vocabulary import Commit

MOST_RUNS = 2_000
"""If there are more files, the newest by modification time count."""
_LARGEST_BYTES = 256 * 1024 * 1024


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

    ``score`` is that of the run, 0..1, None without a judged task, and for a run of a part of the suite:
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
    directory, within = results_directory(eval_file.parent), suite_boundary(eval_file.parent)
    if not within.holds(directory):
        # Through a link that leads out nothing is read, and no index is written.
        return History()
    stamps = _stamps(directory)
    found = [*(_recorded_runs(directory, stamps, within) if stamps else ()), *_cut_short(directory)]
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
    header = recording.header
    part = part_of(header)
    return RecordedRun(
        file=recording.path.name,
        started=header.started,
        eval_file=header.eval_file,
        model=header.model,
        executor=header.executor,
        verdict=found.verdict,
        score=found.score if found.scored and not part else None,
        tasks=tasks,
        commit=header.commit,
        part=part,
        chosen_graders=bool(header.graders),
        suite=header.eval_name,
    )


@dataclass(frozen=True, slots=True)
class _Index:
    """The runs by file, each with the fingerprint of the file, or why it cannot be read."""

    runs: dict[str, tuple[str, RecordedRun | str]]
    version: Literal[9] = 9
    """Another number for another form of the rows, and for another way to conclude."""


def _recorded_runs(directory: Path, stamps: Mapping[str, str], within: Boundary) -> list[RecordedRun | str]:
    if len(stamps) == 1:
        return [_read(directory / name) for name in stamps]
    place = directory / INDEX_NAME
    rows = {name: row for name, row in _indexed(place, within).items() if stamps.get(name) == row[0]}
    if new := stamps.keys() - rows.keys():
        rows |= {name: (stamps[name], _read(directory / name)) for name in new}
        # A run that cannot be entered is read again the next time.
        with suppress(OSError):
            text = json.dumps(asdict(_Index(rows)), default=datetime.isoformat)
            write_atomically(place, [text.encode()], within=within)
    return [run for _, run in rows.values()]


def _indexed(place: Path, within: Boundary) -> dict[str, tuple[str, RecordedRun | str]]:
    """Return the rows of the index, {} when it is of no use."""
    try:
        # `json` reads the half surrogate pairs that msgspec refuses.
        written = json.loads(read_bytes(place, _LARGEST_BYTES, within=within))
        return msgspec.convert(written, _Index).runs
    except (OSError, ValueError, RecursionError, msgspec.ValidationError):
        return {}


def _cut_short(directory: Path) -> Iterator[RecordedRun]:
    """Yield the runs that were killed: until the next run of the suite all there is of them is a journal."""
    for path in sorted(directory.glob(f"*{JOURNAL_SUFFIX}")):
        with suppress(RecordingError):
            recording = read_recording(path)
            if not recording.goes_on:
                yield recorded_run(recording)


def _read(path: Path) -> RecordedRun | str:
    """Return the run of a result file, or why it cannot be read."""
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
