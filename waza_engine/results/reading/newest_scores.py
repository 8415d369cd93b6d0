"""The newest scores of a suite, from the result files on disk: the editor shows them at each grader.

Reads documents of this engine and of upstream, journals of active or killed runs, and files of the Python
era. Newer ones replace older ones.

Architecture invariant: light (the language server imports it): ``json`` and dataclasses, no models. Modules
that read a whole file are loaded with the first one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.checkpoint import checkpoint
from waza_engine.files import Boundary
from waza_engine.results.json_values import blocks_of
from waza_engine.results.reading.formats import RunHead, head_of, sorting_moment
from waza_engine.results.reading.owners import Owner
from waza_engine.results.reading.scores import (
    MOST_SCORES,
    GraderResult,
    LaterRun,
    PromptResult,
    RunOrigin,
    RunResult,
    TaskResult,
    run_of_nothing,
)
from waza_engine.results.result_file_names import (
    JOURNAL_SUFFIX,
    LONGEST_BYTES,
    results_directory,
    started_by_name,
)
from waza_engine.results.reviews import reviews_stamp
from waza_engine.scoring.task_scores import Graded, composite

log = logging.getLogger(__name__)
NEWEST_FILES = 40
_LEVELS = 8
_MOST_ENTRIES = 20_000
_MOST_CACHED = 1_000
"""Result files that are cached."""
_UPSTREAM_FOLDERS = ("results",)
_UPSTREAM_FILES = ("results.json", "result.json")


def latest_results(suite_dir: Path, *, eval_file: str | None = None) -> RunResult | None:
    """Return the newest scores of each task and grader, None when nothing was ever run.

    ``eval_file`` is the name of the eval file when several lie in the directory. Files that cannot be read or
    are too long are skipped; if there are no others, a run without any task says why.
    """
    runs: list[RunResult] = []
    whole: RunResult | None = None
    cut: RunResult | None = None
    unread: LaterRun | None = None
    size = 0
    for path, head in _newest_first(suite_dir, eval_file, with_unread=True):
        checkpoint()
        result = results_of(path)
        if result is None:
            # Older scores would pass for those of this run.
            unread = unread or (LaterRun(head.started, path) if path.exists() else None)
            continue
        runs.append(result)
        if whole is None and head.is_whole and result.complete:
            whole = result
        elif cut is None and whole is None and head.is_whole:
            cut = result
        size += result.size
        if eval_file is not None and head.is_whole and _judged_all(result):
            break
        if size > MOST_SCORES:
            log.info("Results older than %s are not read: there are enough scores.", path)
            break
    if not runs:
        return None if unread is None else _nothing_readable(unread, eval_file)
    tasks = tasks_of_runs(runs, unread)
    prompts = prompts_of_runs(runs, unread)
    cut = None if cut is None or whole is not None else _ended(cut)
    return replace(runs[0], tasks=tasks, prompts=prompts, whole=whole, later=unread, cut=cut)


def _ended(cut: RunResult) -> RunResult | None:
    """Return an unfinished run with its planned tasks, None while it is active."""
    if not cut.path.name.endswith(JOURNAL_SUFFIX):
        return cut
    # Hardly ever needed: the first run of a suite was killed.
    from waza_engine.results.reading.journals import begun, goes_on

    journal = begun(cut.path)
    return (
        None
        if journal is None or goes_on(journal)
        else replace(cut, planned=len(blocks_of(journal.get("planned"))))
    )


def _nothing_readable(unread: LaterRun, eval_file: str | None) -> RunResult | None:
    """Return a run that says why it is unreadable, None when its record is gone."""
    # Hardly ever needed: most records can be read.
    from waza_engine.results.reading.recordings import why_no_scores

    path = unread.unread
    why = None if path is None else why_no_scores(path)
    if path is None or why is None:
        return None
    reason = f"its results cannot be read: {why}"
    nothing = replace(
        run_of_nothing(path, unread.started, eval_file or "", reason), origin=RunOrigin(path, "", "", "")
    )
    return replace(nothing, whole=nothing)


def newest_result_file(
    suite_dir: Path, *, eval_file: str | None = None, of_prompts: bool = False, readable: bool = False
) -> Path | None:
    """Return the result file or journal of the newest run, None when nothing was ever run.

    An unreadable file of ours counts too, but not with ``readable``. A run of trigger prompts alone counts
    only with ``of_prompts``: it has no task. Only the part before the tasks of a file is read. ``eval_file``
    as for ``latest_results``.
    """
    found = _newest_first(suite_dir, eval_file, with_unread=not readable)
    return next((path for path, head in found if of_prompts or not head.prompts_alone), None)


def _newest_first(
    suite_dir: Path, eval_file: str | None, *, with_unread: bool = False
) -> list[tuple[Path, RunHead]]:
    """Return the result files of an eval file, the newest run first.

    ``with_unread`` includes those that are unreadable except for their time, which is in the name.
    """
    owner = None if eval_file is None else Owner(suite_dir, eval_file)
    found: list[tuple[Path, RunHead]] = []
    for path in result_files(suite_dir):
        checkpoint()
        head = _head_of(path)
        if head is None:
            # Another tool's file has all of that after its tasks.
            result = results_of(path)
            head = result and RunHead(
                result.timestamp, result.eval_file, is_whole=False, suite=result.eval_name
            )
            if result is None and with_unread and (started := started_by_name(path)) is not None:
                head = RunHead(started, "", is_whole=False)
        if head is not None and (owner is None or owner.has(head.eval_file, head.suite)):
            found.append((path, head))
    found.sort(key=lambda file: sorting_moment(file[1].started, file[0]), reverse=True)
    return found


def _judged_all(run: RunResult) -> bool:
    """Return whether older runs are irrelevant: this one is complete, and so is every task."""
    tasks = run.tasks.values()
    return run.complete and bool(tasks) and all(task.was_run and not task.is_cut_short for task in tasks)


def results_of(path: Path) -> RunResult | None:
    """Return the content of a result file or journal, None if it is not one or unreadable."""
    try:
        state = path.stat()
    except OSError:
        return None
    return _read_scores(path, state.st_size, state.st_mtime_ns, reviews_stamp(path))


@lru_cache(maxsize=_MOST_CACHED)
def _read_scores(path: Path, size: int, *_version: object) -> RunResult | None:
    if size > LONGEST_BYTES:
        log.warning("The scores in %s are not shown: the file is too large.", path)
        return None
    # When there is a file to read: most suites were never run.
    from waza_engine.results.reading.file_scores import scores_in_file

    return scores_in_file(path)


def _head_of(path: Path) -> RunHead | None:
    """Return the part of a file before its tasks, None when that is not enough."""
    try:
        state = path.stat()
    except OSError:
        return None
    return _read_head(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=_MOST_CACHED)
def _read_head(path: Path, *_version: object) -> RunHead | None:
    return head_of(path)


def result_files(suite_dir: Path) -> list[Path]:
    """Return the newest result files and journals of a suite, newest first; they may be anything."""
    within = suite_boundary(suite_dir)
    listed = [_listed(results_directory(suite_dir), within, (".json", JOURNAL_SUFFIX), levels=1)]
    listed += [
        _listed(suite_dir / folder, within, (".json",), levels=_LEVELS) for folder in _UPSTREAM_FOLDERS
    ]
    beside = (path for name in _UPSTREAM_FILES if _is_file(path := suite_dir / name, within))
    dated: dict[Path, float] = {}
    for path in chain(*listed, beside):
        dated[path] = _modified(path)
        checkpoint()
    newest = sorted(((modified, path) for path, modified in dated.items()), reverse=True)
    return [path for _, path in newest[:NEWEST_FILES]]


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


def tasks_of_runs(runs: Sequence[RunResult], unread: LaterRun | None = None) -> dict[str, TaskResult]:
    """Return each task's result from some runs, the newest first; pauses if there are many.

    ``unread`` is a newer run whose record cannot be read.
    """
    found: dict[str, _Layers] = {}
    for run in runs:
        for task in run.tasks.values():
            checkpoint()
            found.setdefault(task.id, _Layers()).add(run, task)
    tasks = {name: layers.result() for name, layers in found.items()}
    if unread is not None:
        for name, task in tasks.items():
            if not task.is_unrun and (task.later is None or task.later.started < unread.started):
                tasks[name] = replace(task, later=unread)
    return {name: task for name, task in tasks.items() if task.is_unrun} | tasks


def prompts_of_runs(runs: Sequence[RunResult], unread: LaterRun | None = None) -> tuple[PromptResult, ...]:
    """Return the newest result of each trigger prompt, down to the newest run that tried all of them."""
    found: dict[tuple[str, bool], PromptResult] = {}
    for run in runs:
        for prompt in run.prompts:
            found.setdefault((prompt.prompt, prompt.should_trigger), replace(prompt, later=unread))
        # A run that was ended may not have tried all of them.
        if run.prompts and not run.chosen_prompts and run.complete and run.status != "error":
            break
    return tuple(found.values())


def with_newer_graders(task: TaskResult, newer: Mapping[str, GraderResult]) -> TaskResult:
    """Return a task with the verdicts of newer graders, which have judged another answer."""
    updated = replace(
        task,
        graders={**task.graders, **{name: newer[name] for name in newer if name not in task.checkpoints}},
        checkpoints={name: newer.get(name, one) for name, one in task.checkpoints.items()},
    )
    against = {one.status for one in newer.values() if not one.passed}
    if not task.status or task.status == "failed" or not against & {"graded", "error"}:
        return updated
    graded = [Graded(one.score, one.passed, one.weight) for one in updated.graders.values() if one.counts]
    score = composite(graded).weighted_score
    status = "failed" if "graded" in against else "error"
    return replace(updated, status=status, score=score, passed_trials=0)


class _Layers:
    """The results of one task in the runs, the newest first."""

    def __init__(self) -> None:
        self._unrun: TaskResult | None = None
        self._so_far: TaskResult | None = None
        self._whole: TaskResult | None = None
        self._parts: list[tuple[TaskResult, Sequence[str]]] = []
        """The newer results by some graders alone, with the names of these."""
        self._parts_since_so_far = 0

    def add(self, run: RunResult, task: TaskResult) -> None:
        if self._whole is not None:
            return
        if task.is_unrun:
            self._unrun = self._unrun or task
        elif run.partial:
            self._parts.append((task, run.graders))
        elif not task.is_cut_short:
            self._whole = task
        elif self._so_far is None:
            self._so_far, self._parts_since_so_far = task, len(self._parts)

    def result(self) -> TaskResult:
        if self._whole is not None:
            newest = with_newer_graders(self._whole, self._newer(self._whole, self._parts))
        elif self._so_far is not None:
            newer = self._newer(self._so_far, self._parts[: self._parts_since_so_far])
            newest = with_newer_graders(self._so_far, newer)
        elif self._parts:
            newest = self._of_graders_alone()
        else:
            assert self._unrun is not None
            return self._unrun
        passed_over = [
            task.timestamp
            for task in (self._unrun, self._so_far)
            if task is not None and task.timestamp > newest.timestamp
        ]
        return replace(newest, later=LaterRun(max(passed_over))) if passed_over else newest

    def _of_graders_alone(self) -> TaskResult:
        """Return a task that was never judged by all of its graders: it has no verdict, unless it broke."""
        newest = self._parts[0][0]
        verdicts = self._newer(None, self._parts)
        graders = {name: one for name, one in verdicts.items() if name not in newest.checkpoints}
        return replace(newest, status="error" if newest.status == "error" else "", graders=graders)

    @staticmethod
    def _newer(
        whole: TaskResult | None, parts: Sequence[tuple[TaskResult, Sequence[str]]]
    ) -> dict[str, GraderResult]:
        """Return the newest verdict of each grader that has judged the task by itself since."""
        found: dict[str, GraderResult] = {}
        for task, asked in reversed(parts):
            if task.status == "error" and whole is not None:
                # A broken answer has no verdict of its graders.
                found |= {name: _broken(one, task) for name, one in whole.graders.items() if name in asked}
            found |= {**task.graders, **task.checkpoints}
        return found


def _broken(grader: GraderResult, task: TaskResult) -> GraderResult:
    return replace(
        grader,
        status="error",
        score=0.0,
        passed=False,
        scores=(),
        passes=(),
        feedback=task.error,
        checks=(),
        timestamp=task.timestamp,
        origin=task.origin,
        reviewed=None,
    )
