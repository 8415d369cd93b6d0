"""What each judged line and file came to, in one word, for clients that show it with colours and shapes.

The words are those of the hints (``inlay_hints.py``): one conclusion, drawn twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.steps import Steps
from waza_language_server.features.inlay_hints import inlay_hints_in_steps
from waza_language_server.features.live_text import LIVE
from waza_language_server.features.score_text import REGRADED, error_label
from waza_language_server.project.suite_files import files_of_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from waza_engine.results.reading.scores import RunResult
    from waza_language_server.features.inlay_hints import InlayHint
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.line_index import LineIndex

MarkState = Literal["passed", "failed", "error", "pending"]
_STATES: dict[str, MarkState] = {"✓": "passed", "✗": "failed", "◐": "failed", "!": "error", "⧖": "pending"}
_WORST: tuple[MarkState, ...] = ("failed", "error", "pending", "passed")


@frozen()
class Mark:
    """What the line at an offset came to."""

    offset: int
    state: MarkState
    stale: bool


@frozen()
class FileMark:
    """What a file of a suite came to in its last run; ``reason`` says why in a few words."""

    path: Path
    state: MarkState
    reason: str


def marks_in_steps(document: Document, workspace: Workspace) -> Steps[tuple[Mark, ...]]:
    """Return a mark for each line that is judged, the worst where there are several, with many pauses."""
    return marks_of((yield from inlay_hints_in_steps(document, workspace)), document.lines)


def marks_of(hints: Iterable[InlayHint], lines: LineIndex) -> tuple[Mark, ...]:
    """Return the marks that say the same as some hints."""
    by_line: dict[int, list[Mark]] = {}
    for hint in hints:
        state = _STATES.get(hint.label.removeprefix(LIVE).removeprefix(REGRADED)[:1])
        if state is not None:
            mark = Mark(hint.offset, state, hint.stale)
            by_line.setdefault(lines.line_of(hint.offset), []).append(mark)
    return tuple(_worst(marks) for marks in by_line.values())


def file_marks_in_steps(workspace: Workspace) -> Steps[tuple[FileMark, ...]]:
    """Return the files of the workspace whose last run failed or broke, each once, with many pauses."""
    project = workspace.project
    found: dict[Path, FileMark] = {}
    for file in files_of_workspace(project):
        yield
        if file is None or file.path is None or file.kind != "eval":
            continue
        run = yield from project.scores.results_in_steps(file.path)
        if run is None:
            continue
        failed = _of_suite(file.path, run)
        if failed is not None:
            found[file.path] = failed
        suite = next((one for one in project.suites_of(file.path) if one.path == file.path), None)
        for task in project.tasks_of(suite).value if suite is not None else ():
            yield
            result = run.tasks.get(task.id)
            if result is None or result.status not in ("failed", "error"):
                continue
            state: MarkState = "error" if result.status == "error" else "failed"
            reason = error_label(result.error) if state == "error" else f"{task.id} failed"
            found.setdefault(task.path, FileMark(task.path, state, reason))
    return tuple(found.values())


def _of_suite(path: Path, run: RunResult) -> FileMark | None:
    broken = [task for task in run.tasks.values() if task.status == "error"]
    failed = [task for task in run.tasks.values() if task.status == "failed"]
    missed = [
        metric.name for metric in (run.whole.metrics if run.whole is not None else ()) if not metric.passed
    ]
    wrong = [prompt for prompt in run.prompts if not prompt.right]
    if failed or missed or wrong:
        parts = [
            f"{len(failed)} of {counted(len(run.tasks), 'task')} failed" if failed else "",
            f"metrics below their thresholds: {', '.join(missed[:5])}" if missed else "",
            f"{counted(len(wrong), 'trigger prompt')} answered wrongly" if wrong else "",
        ]
        return FileMark(path, "failed", "; ".join(part for part in parts if part))
    return FileMark(path, "error", error_label(broken[0].error)) if broken else None


def _worst(marks: Iterable[Mark]) -> Mark:
    return min(marks, key=lambda mark: _WORST.index(mark.state))
