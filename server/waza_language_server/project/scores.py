"""The last scores of the graders in a document, and whether they still tell about what is written there.

A score is stale when the grader or the task was changed since it was recorded. When the file's time stamp
shows that it was not touched since, what the grader said at that moment is remembered; from then on a
change is known exactly, and taking it back makes the score fresh again.

Architecture invariant: answered from memory. The disk is looked at again when told (``forget``), or after
``RECHECK_SECONDS``; no run is started here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.results.reading import GraderResult, RunResult, TaskResult, latest_results
from waza_engine.spec.scalars import Json
from waza_language_server.project.disk import stamp_of
from waza_language_server.project.outline import grader_entries, outline_of
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.tree import parse

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.nodes import Node

RECHECK_SECONDS = 2.0
CLOCK_SLACK_SECONDS = 1.0
"""Result files of other programs carry whole seconds."""

MAX_RESULT_BYTES = 50_000_000
_TOOLS_USED = re.compile(r'"tools_used":\s*\[([^\]]*)\]')
_TOOL_NAME = re.compile(r'"([^"\\]+)"')

Values = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One grader of one task. ``stale`` says in words why the score may no longer hold, "" when it does.

    ``graded`` is the grader entry as it was graded, None when that is not known.
    """

    task: TaskResult
    result: GraderResult
    stale: str = ""
    graded: Json = None


@dataclass(frozen=True, slots=True)
class Score:
    """The last outcomes of one grader entry: one for a grader of a task, one a task for one of the suite."""

    name: str
    run: RunResult
    outcomes: tuple[Outcome, ...]

    @property
    def stale(self) -> str:
        """Why the score may no longer hold; "" when all of it does."""
        return next((outcome.stale for outcome in self.outcomes if outcome.stale), "")


class Scores:
    """The memory of results, shared by all views of a project."""

    def __init__(self) -> None:
        self._results: dict[Path, tuple[float, RunResult | None]] = {}
        self._graded: dict[tuple[Path, datetime], Values] = {}
        self._tools: dict[tuple[Path, datetime], tuple[str, ...]] = {}

    def results(self, suite: Path) -> RunResult | None:
        """Return the last results of a suite, None when it was never run."""
        known = self._results.get(suite)
        now = time.monotonic()
        if known is None or now - known[0] > RECHECK_SECONDS:
            known = now, latest_results(suite.parent, eval_file=suite.name)
            self._results[suite] = known
        return known[1]

    def tools(self, suite: Path) -> tuple[str, ...]:
        """Return the tools that the newest run of a suite called, in order of their first call."""
        run = self.results(suite)
        if run is None:
            return ()
        key = run.path, run.timestamp
        if key not in self._tools:
            self._tools[key] = _tools_in(run.path)
        return self._tools[key]

    def forget(self) -> None:
        """Look at the disk again: a result file has changed."""
        self._results.clear()

    def of_grader(self, document: Document, project: Project, entry: Node) -> Score | None:
        """Return the score of a grader entry of this document, None when it was never graded."""
        path = path_of(document.uri)
        name = entry.get("name")
        if path is None or name is None or not name.target.value.strip():
            return None
        found = [
            score
            for suite in project.suites_of(path)
            if (score := self._of_suite(suite, document, path, project, entry, name.target.value.strip()))
        ]
        return max(found, key=lambda score: score.outcomes[0].result.timestamp, default=None)

    def _of_suite(
        self, suite: Suite, document: Document, path: Path, project: Project, entry: Node, name: str
    ) -> Score | None:
        run = self.results(suite.path)
        if run is None:
            return None
        task_id = _inline_task(entry)
        if document.kind == "task":
            task_id = outline_of(document).id or path.stem
        overridden = _tasks_with_own(project, suite, name) if task_id is None else frozenset[str]()
        outcomes = tuple(
            self._outcome(path, run, task, task.graders[name], entry, suite)
            for task in run.tasks.values()
            if name in task.graders and task.id not in overridden and task_id in {None, task.id}
        )
        return Score(name, run, outcomes) if outcomes else None

    def _outcome(
        self, path: Path, run: RunResult, task: TaskResult, result: GraderResult, entry: Node, suite: Suite
    ) -> Outcome:
        then = self._values_then(path, result.timestamp)
        if then is None:
            return Outcome(task, result, "the file was changed after the run")
        place = _inline_task(entry) or ""
        graded = then.get(f"{place}::{result.name}")
        model = suite.outline.model
        stale = ""
        if graded != entry.to_python():
            stale = "the grader was changed after the run"
        elif then.get(place) != _inputs(entry):
            stale = "the task was changed after the run"
        elif result.timestamp == run.timestamp and model and run.model and run.model != model:
            stale = f"it was recorded with the model {run.model}"
        return Outcome(task, result, stale, graded)

    def _values_then(self, path: Path, moment: datetime) -> Values | None:
        """Return what the file said at a moment; None when it was written later and nobody looked before."""
        known = self._graded.get((path, moment))
        if known is None:
            stamp = stamp_of(path)
            if not isinstance(stamp, tuple) or stamp[0] / 1e9 > moment.timestamp() + CLOCK_SLACK_SECONDS:
                return None
            try:
                root = parse(path.read_text(encoding="utf-8")).root
            except (OSError, ValueError):
                return None
            known = self._graded[path, moment] = _values(root) if root is not None else {}
        return known


def _tools_in(path: Path) -> tuple[str, ...]:
    try:
        if path.stat().st_size > MAX_RESULT_BYTES:
            return ()
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ()
    # The names alone are wanted: a file of many megabytes is searched faster than it is parsed.
    lists = _TOOLS_USED.findall(text)
    return tuple(dict.fromkeys(name for names in lists for name in _TOOL_NAME.findall(names)))


def _values(root: Node) -> Values:
    """Return the graders and inputs of a file by where they belong."""
    found: dict[str, Json] = {}
    for entry in (*grader_entries(root), *_inline_graders(root)):
        name = entry.get("name")
        place = _inline_task(entry) or ""
        if name is not None:
            found[f"{place}::{name.target.value.strip()}"] = entry.to_python()
        found.setdefault(place, _inputs(entry))
    return found


def _inline_graders(root: Node) -> Iterator[Node]:
    tasks = root.get("tasks")
    for task in tasks.target.items if tasks is not None else ():
        if task.kind == "mapping":
            yield from grader_entries(task)


def _inline_task(entry: Node) -> str | None:
    """Return the id of the task that is written inline in an eval file around this grader, None elsewhere."""
    if entry.path[:1] != ("tasks",):
        return None
    task = entry.root.get(*entry.path[:2])
    node = task.get("id") if task is not None else None
    return node.target.value if node is not None else ""


def _inputs(entry: Node) -> Json:
    """Return the ``inputs`` of the task around a grader entry."""
    steps = entry.path[:2] if entry.path[:1] == ("tasks",) else ()
    node = entry.root.get(*steps, "inputs")
    return node.to_python() if node is not None else None


def _tasks_with_own(project: Project, suite: Suite, name: str) -> frozenset[str]:
    """Return the tasks that have a grader of this name themselves: its result has replaced the suite's."""
    tasks = project.tasks_of(suite).value
    return frozenset(task.id for task in tasks if any(own.name == name for own in task.outline.graders))
