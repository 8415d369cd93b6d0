"""The verdict of each judged line and file, in one word, for clients that show it with colours and shapes.

The verdicts are those of the hints (``inlay_hints.py``): one conclusion, drawn twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.features.scores.inlay_hints import (
    InlayHint,
    hints_of_grader,
    other_hints,
)
from waza_language_server.features.scores.live_text import LIVE
from waza_language_server.features.scores.score_text import REGRADED
from waza_language_server.features.scores.verdict_hints import entry_verdicts
from waza_language_server.features.scores.verdict_labels import without_path
from waza_language_server.project.changed_inputs import describe_later_run
from waza_language_server.project.document import SUITES
from waza_language_server.project.document_scores import read_scores
from waza_language_server.project.suite_file import SuiteFile
from waza_language_server.project.suite_files import files_of_workspace
from waza_language_server.project.uris import path_of
from waza_language_server.project.verdict_places import VerdictLocations

if TYPE_CHECKING:
    from pathlib import Path

    from waza_engine.results.reading.scores import PromptResult, RunResult, TaskResult
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.line_index import LineIndex

LONGEST_REASON = 200
MarkState = Literal["passed", "failed", "error", "pending"]
_STATES: dict[str, MarkState] = {"✓": "passed", "✗": "failed", "◐": "failed", "!": "error", "◷": "pending"}
_TESTS = frozenset({"score", "verdict"})
"""Kinds of hints about graders, and about suites, tasks and trigger prompts."""
_WORST: tuple[MarkState, ...] = ("failed", "error", "pending", "passed")


@frozen()
class Mark:
    """The verdict of a line, 0-based; ``is_test`` if a test explorer has an item for it."""

    line: int
    state: MarkState
    stale: bool
    is_test: bool = False


@frozen()
class FileMark:
    """The verdict of a suite file in its last run; ``reason`` says why in a few words."""

    path: Path
    state: MarkState
    reason: str


def marks_of(hints: Iterable[InlayHint], lines: LineIndex) -> tuple[Mark, ...]:
    """Return the marks that say the same as some hints."""
    return worst_of_lines(mark for hint in hints if (mark := mark_of(hint, lines)) is not None)


def mark_of(hint: InlayHint, lines: LineIndex) -> Mark | None:
    """Return the mark for a hint, None for a hint without a verdict."""
    state = _STATES.get(hint.label.removeprefix(LIVE).removeprefix(REGRADED)[:1])
    return None if state is None else Mark(lines.line_of(hint.offset), state, hint.stale, hint.kind in _TESTS)


def worst_of_lines(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Return one mark for each line, the worst where there are several."""
    by_line: dict[int, Mark] = {}
    for mark in marks:
        known = by_line.get(mark.line)
        if known is None:
            by_line[mark.line] = mark
            continue
        worst = min(known, mark, key=lambda each: _WORST.index(each.state))
        by_line[mark.line] = Mark(worst.line, worst.state, worst.stale, known.is_test or mark.is_test)
    return tuple(by_line.values())


def file_marks(workspace: Workspace) -> tuple[FileMark, ...]:
    """Return the files of the workspace whose last run failed or broke, each once."""
    project = workspace.project
    found: dict[Path, FileMark] = {}
    for file in files_of_workspace(project):
        checkpoint()
        if file.path is None or file.kind != "eval":
            continue
        run = project.scores.shown(file.path)
        if run is None:
            continue
        failed = _of_suite(file.path, run)
        if failed is not None:
            found[file.path] = failed
        suite = next((one for one in project.suites_of(file.path) if one.path == file.path), None)
        for task in project.tasks_of(suite).value if suite is not None else ():
            checkpoint()
            result = run.tasks.get(task.id)
            if result is None or result.status not in ("failed", "error"):
                continue
            state: MarkState = "error" if result.status == "error" else "failed"
            reason = _of_error(result.error) if state == "error" else _of_failed(result)
            if later := describe_later_run(result.later_than(result.timestamp)):
                reason = f"{reason}; {later}"
            found.setdefault(task.path, FileMark(task.path, state, reason))
        for mark in _of_trigger_files(project, file.path, run) if run.prompts else ():
            found.setdefault(mark.path, mark)
    return tuple(found.values())


def _of_suite(path: Path, run: RunResult) -> FileMark | None:
    """Return the verdict of the eval file, as the engine concludes it."""
    # With the first results: most suites were never run.
    from waza_engine.results.reading.suite_conclusion import conclude_suite

    found = conclude_suite(run)
    reason = "; ".join(map(without_path, found.reasons))
    if found.verdict == "failed":
        return FileMark(path, "failed", reason)
    if found.verdict != "errored":
        return None
    broken = next((task for task in run.tasks.values() if task.status == "error"), None)
    if broken is not None:
        return FileMark(path, "error", _of_error(broken.error))
    return FileMark(path, "error", f"! {reason}") if reason else None


def _of_failed(task: TaskResult) -> str:
    """Return why a task failed, in the words of the first grader that did not pass."""
    graders = chain(task.graders.values(), task.checkpoints.values())
    failed = next((each for each in graders if not each.passed and each.status == "graded"), None)
    reason = _shortened(failed.feedback) if failed is not None else ""
    return f"{task.id} failed: {reason}" if reason else f"{task.id} failed"


def _of_error(reason: str) -> str:
    # There is more room than in a line: the answer of a provider is often at the end.
    return f"! {_shortened(without_path(reason)) or 'error'}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"


def _of_trigger_files(project: Project, suite: Path, run: RunResult) -> Iterator[FileMark]:
    """Yield what became of the trigger prompts that a file has today."""
    from waza_engine.results.reading.suite_conclusion import is_wrong, prompt_reasons

    known = {(result.prompt, result.should_trigger): result for result in run.prompts}
    by_file: dict[Path, list[PromptResult]] = {}
    for text, should, place in VerdictLocations(project, suite).prompts():
        path, result = path_of(place.uri), known.get((text, should))
        if path is not None and result is not None:
            by_file.setdefault(path, []).append(result)
    for path, results in by_file.items():
        reason = "; ".join(prompt_reasons(results))
        if any(map(is_wrong, results)):
            yield FileMark(path, "failed", reason)
        elif reason:
            yield FileMark(path, "error", f"! {reason}")


_JUDGED = SUITES | {"task", "trigger_tests", "prompts"}


def marks(document: Document, workspace: Workspace) -> tuple[Mark, ...]:
    """Return a mark for each line that is judged, the worst where there are several."""
    if document.kind not in _JUDGED:
        return ()
    scores = read_scores(document, workspace.project)
    if not scores.runs:
        return ()
    hints: list[InlayHint] = []
    for grader in SuiteFile(document.tree).graders():
        checkpoint()
        score = scores.of_grader(grader)
        if score is not None:
            hints += hints_of_grader(document, grader, score, "")
    hints += other_hints(document, scores)
    entries = entry_verdicts(document, workspace.project, scores)
    hints += [InlayHint(each.node.span.start, each.label, "") for each in entries]
    return marks_of(hints, document.lines)
