"""The newest scores of a suite, from the result files on disk: what the editor shows beside each grader.

Reads documents of this engine and of upstream, journals of runs that go on or were killed, and files of the
Python era. A run of one task or one grader replaces only what it ran; everything else keeps its last known
score.

Architecture invariant: light (the language server imports it): ``json`` and dataclasses, no models. What
reads a file is loaded with the first one.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path

from waza_engine.files import Boundary
from waza_engine.results.places import JOURNAL_SUFFIX, LONGEST_BYTES, results_directory
from waza_engine.results.reading.scores import CheckResult, GraderResult, RunResult, TaskResult
from waza_engine.results.reviews.review_file import reviews_stamp
from waza_engine.spec.boundary import suite_boundary
from waza_engine.steps import finished

__all__ = [
    "CheckResult",
    "GraderResult",
    "RunResult",
    "TaskResult",
    "latest_results",
    "latest_results_in_steps",
    "result_files",
    "results_of",
]

NEWEST_FILES = 40
_LEVELS = 8
_MOST_ENTRIES = 20_000
_UPSTREAM_FOLDERS = ("results",)
_UPSTREAM_FILES = ("results.json", "result.json")


def latest_results(
    suite_dir: Path, *, eval_file: str | None = None, longest_bytes: int = LONGEST_BYTES
) -> RunResult | None:
    """Return the newest scores of each task and grader, None when nothing was ever run.

    ``eval_file`` is the name of the eval file when several lie in the directory. Files that cannot be read or
    are longer than ``longest_bytes`` are skipped.
    """
    return finished(latest_results_in_steps(suite_dir, eval_file=eval_file, longest_bytes=longest_bytes))


def latest_results_in_steps(
    suite_dir: Path, *, eval_file: str | None = None, longest_bytes: int = LONGEST_BYTES
) -> Generator[None, None, RunResult | None]:
    """Do the same with a pause after each file."""
    found: list[RunResult] = []
    files = result_files(suite_dir)
    if files:
        yield
        _reader()
    for path in files:
        yield
        result = _cached(path, longest_bytes)
        if result is not None:
            found.append(result)
    runs = [run for run in found if eval_file is None or run.eval_file in ("", eval_file)]
    runs.sort(key=lambda run: run.timestamp, reverse=True)
    if not runs:
        return None
    tasks: dict[str, TaskResult] = {}
    unrun: dict[str, TaskResult] = {}
    for run in runs:
        for task in run.tasks.values():
            if task.status == "skipped" and not task.trials:
                # A run that was cut short says nothing new of it.
                unrun.setdefault(task.id, task)
                continue
            newest = tasks.get(task.id)
            tasks[task.id] = (
                task if newest is None else replace(newest, graders={**task.graders, **newest.graders})
            )
    return replace(runs[0], tasks={**unrun, **tasks})


def results_of(path: Path) -> RunResult | None:
    """Return what one result file or journal says, None when it is none or cannot be read."""
    return _cached(path)


def result_files(suite_dir: Path) -> list[Path]:
    """Return the newest result files and journals of a suite, newest first; they may be anything."""
    within = suite_boundary(suite_dir)
    paths = set(_listed(results_directory(suite_dir), within, (".json", JOURNAL_SUFFIX), levels=1))
    for folder in _UPSTREAM_FOLDERS:
        paths.update(_listed(suite_dir / folder, within, (".json",), levels=_LEVELS))
    paths.update(path for name in _UPSTREAM_FILES if _is_file(path := suite_dir / name, within))
    dated = sorted(((_modified(path), path) for path in paths), reverse=True)
    return [path for _, path in dated[:NEWEST_FILES]]


def _listed(directory: Path, within: Boundary, endings: tuple[str, ...], *, levels: int) -> Iterator[Path]:
    """Yield the files in a directory and those below; no link to a directory is followed below it."""
    if not within.holds(directory):
        return
    waiting, looked_at = [(directory, levels)], 0
    while waiting:
        place, left = waiting.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    looked_at += 1
                    if looked_at > _MOST_ENTRIES:
                        return
                    if entry.is_dir(follow_symlinks=False):
                        waiting += [(Path(entry.path), left - 1)] if left > 1 else []
                    elif entry.name.endswith(endings) and not entry.name.startswith("."):
                        path = Path(entry.path)
                        if entry.is_file(follow_symlinks=False) or _is_file(path, within):
                            yield path
        except OSError:
            continue


def _is_file(path: Path, within: Boundary) -> bool:
    try:
        return within.holds(path) and path.is_file()
    except OSError:
        return False


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _cached(path: Path, longest_bytes: int = LONGEST_BYTES) -> RunResult | None:
    try:
        state = path.stat()
    except OSError:
        return None
    if state.st_size > longest_bytes:
        return None
    return _read(path, state.st_mtime_ns, state.st_size, reviews_stamp(path))


@functools.lru_cache(maxsize=256)
def _read(path: Path, modified: int, size: int, reviews: tuple[Path, int, int] | None) -> RunResult | None:
    del modified, size, reviews  # part of the cache key only
    return _reader()(path)


def _reader() -> Callable[[Path], RunResult | None]:
    # When there is a file to read: most suites were never run.
    from waza_engine.results.reading.formats import read_result

    return read_result
