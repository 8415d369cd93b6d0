"""Suites that stay in memory between requests: a repeated request costs only what has changed since.

A resident suite holds its files as they were loaded, the graders that were built from them, and warm workers.
Nothing is reused unchecked: each request compares the fingerprint of each file, and the open files that it
brings. So the answer to a request is the same whether its suite is resident or not.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from waza_engine.graders.registry import AnyGrader, create
from waza_engine.results.reading.recordings import Recording, read_recording
from waza_engine.results.reviews import reviews_stamp
from waza_engine.runs.grading.grader_cache import GraderCache
from waza_engine.runs.grading.grader_workers import GradingWorkers
from waza_engine.runs.loading.suite_on_disk import Suite, load_suite
from waza_engine.runs.trials.selection import SelectedTask, select
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.reading.file_cache import FileCache
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles, Version

MOST_SUITES = 4
MOST_RECORDINGS = 4


class ResidentSuite:
    """A suite in memory. Thread-safe; ``close`` ends its workers.

    ``files`` and ``graders`` count how often a file was loaded and a grader was built.
    """

    def __init__(self, build: Callable[[GraderEntry], AnyGrader] = create) -> None:
        self.files = FileCache()
        self.graders = GraderCache(build)
        self.workers = GradingWorkers()
        self._lock = threading.Lock()

    def selected(
        self,
        path: Path,
        given: Mapping[str, object],
        files: SuiteFiles,
        tasks: Sequence[str],
        graders: Sequence[str],
    ) -> tuple[Suite, list[SelectedTask], list[str]]:
        """Return the suite as ``load_suite`` does, with the result of ``select``. Raises their errors."""
        with self._lock:
            suite = load_suite(path, given, files=files, cache=self.files)
            chosen, warnings = select(suite, tasks, graders, build=self.graders.create, files=files)
            self.files.forget_unused()
            self.graders.forget_unused()
        return suite, chosen, warnings

    def close(self) -> None:
        """End the workers; can be called twice."""
        self.workers.close()


class ResidentSuites:
    """The suites and records that were requested last. Thread-safe; leaving ``with`` ends their workers.

    ``create`` builds the graders of their entries. With ``settled``, a record that was written just now is
    trusted: results are replaced as a whole, never appended to.
    """

    def __init__(
        self,
        most: int = MOST_SUITES,
        create: Callable[[GraderEntry], AnyGrader] = create,
        *,
        settled: bool = False,
    ) -> None:
        self._settled = settled
        self._most = most
        self._create = create
        self._lock = threading.Lock()
        self._suites: OrderedDict[Path, ResidentSuite] = OrderedDict()
        self._recordings: OrderedDict[Path, tuple[Sequence[Version], Recording]] = OrderedDict()
        self._closed = False

    def __enter__(self) -> ResidentSuites:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def suite(self, path: Path) -> ResidentSuite:
        """Return the suite of an eval file; if there are too many, drop the least recently used one."""
        path, gone = path.absolute(), []
        with self._lock:
            found = self._suites.setdefault(path, ResidentSuite(self._create))
            self._suites.move_to_end(path)
            if self._closed:
                gone = list(self._suites.values())
            elif len(self._suites) > self._most:
                gone = [self._suites.popitem(last=False)[1]]
        for suite in gone:
            suite.close()
        return found

    def recording(self, path: Path) -> Recording:
        """Return the run of a result file as ``read_recording`` does. Raises ``RecordingError``."""
        place, now = path.absolute(), time.time_ns()
        versions = _versions(place)
        with self._lock:
            cached = self._recordings.get(place)
            if cached is not None and cached[0] == versions:
                self._recordings.move_to_end(place)
                return cached[1]
        recording = read_recording(path)
        with self._lock:
            self._recordings.pop(place, None)
            if self._settled or all(version.is_settled(now) for version in versions):
                self._recordings[place] = versions, recording
            if len(self._recordings) > MOST_RECORDINGS:
                self._recordings.popitem(last=False)
        return recording

    def close(self) -> None:
        """End all workers, those at work when their grading ends; can be called twice."""
        with self._lock:
            self._closed = True
            suites = list(self._suites.values())
        for suite in suites:
            suite.close()


def _versions(record: Path) -> list[Version]:
    """Return the versions of a record, including its reviews."""
    reviews = reviews_stamp(record)
    places = [record] if reviews is None else [record, reviews[0]]
    return [version for place in places if (version := DISK.version(place)) is not None]
