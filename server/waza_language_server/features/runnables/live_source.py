"""The lens above ``graders:`` that names the run which live verdicts are judged on, and changes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.moments import SOME_TIME_AGO, local_time
from waza_language_server.features.runnables.code_lens import CodeLens
from waza_language_server.features.scores.live_text import LIVE
from waza_language_server.project.runnable_id import RunnableId

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import TaskResult
    from waza_language_server.project.document import Document

TEST_BED = "waza.testBed"


@frozen()
class RecordedBaseline:
    """The recorded baseline of live verdicts of a suite: result files with the tasks in them.

    ``started`` is when their run began, None for several; with ``gone`` the file does not exist any more.
    ``trial`` is the one of each task that counts, None for all.
    """

    suite: Path
    records: Mapping[Path, Mapping[str, TaskResult]]
    started: datetime | None
    trial: int | None = None
    gone: bool = False


def baseline_lens(document: Document, baseline: RecordedBaseline) -> CodeLens | None:
    """Return the lens of an eval file; None where it has no graders of its own."""
    root = document.tree.root
    graders = root.entry("graders") if root is not None and root.kind == "mapping" else None
    if graders is None or document.kind != "eval":
        return None
    argument = {"id": str(RunnableId(baseline.suite))}
    return CodeLens(graders.key.span, _title(baseline), TEST_BED, argument, "testBed")


def _title(baseline: RecordedBaseline) -> str:
    run = f"the last answers of {counted(len(baseline.records), 'run')}"
    if baseline.started is not None:
        run = f"run of {local_time(baseline.started) or SOME_TIME_AGO}"
    if baseline.gone:
        return f"{LIVE}test bed: {run} is gone, so nothing is evaluated live"
    tasks = [task for held in baseline.records.values() for task in held.values()]
    count = "1 task" if len(tasks) == 1 else f"{len(tasks)} tasks"
    trials = max((task.trials for task in tasks), default=0)
    if baseline.trial is not None:
        return f"{LIVE}test bed: {run}, {count}, trial {baseline.trial} alone"
    return f"{LIVE}test bed: {run}, {count} × {'1 trial' if trials == 1 else f'{trials} trials'}"
