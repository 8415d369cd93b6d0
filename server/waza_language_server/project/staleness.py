"""The reasons why a result may be stale, in the order in which they are reported.

Changes of the suite come first, then changes of the agent, then later runs: for a rewritten task it does not
matter that a part of it was run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from waza_engine.markdown import code

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import LaterRun
    from waza_language_server.project.changed_inputs import ChangedInput

REWRITTEN = "the {} was changed after the run"
"""The judged text has changed since, or it is unknown."""
TASK_REWRITTEN = "a task of it was changed after the run"
SUITE_REWRITTEN = "settings of the suite were changed after the run"
TASK_ADDED = "the run had no task {}"
SUITE_GRADER_REWRITTEN = "a grader of the suite was changed after the run"
JUDGE_REWRITTEN = "the grader was changed after it graded"
A_JUDGE_REWRITTEN = "a grader was changed after it graded"
SUITE_REWRITTEN_AGAIN = "the suite was changed after it was graded again"
FILE_REWRITTEN = "{} was changed after it graded"
RUNS_AGAIN = "it runs again, and this run has not judged it yet"
RUNS_ELSEWHERE = "it is running elsewhere, in another window or a terminal"
GRADED_SINCE = "a grader of it was run again since"
PASSED_OVER = "a later run ended before it reached this task"
UNREAD = "the record of a later run, {}, cannot be read"
CUT_SHORT = "a later run was ended before it was done"
RUN_SINCE = "a part of it was run again since"
ASKED_SINCE = "a part of it was requested since, and nothing ran"
_MOST_LISTED = 20
"""Changed files that are named."""


def said_by(later: LaterRun | None) -> str:
    """Return why a later run leaves an older result in doubt, in Markdown; "" when there is none."""
    if later is None:
        return ""
    return PASSED_OVER if later.unread is None else UNREAD.format(code(later.unread.name))


def why_stale(
    *,
    written: str = "",
    changes: Sequence[ChangedInput] = (),
    agent: str = "",
    awaited: bool = False,
    elsewhere: bool = False,
    since: str = "",
) -> str:
    """Return the first reason why a result may be stale, in Markdown; "" if it is fresh.

    ``written`` is the part of the suite that has changed since, ``changes`` are the changed files; ``agent``
    is the agent that answered, if today's executor or model differs; ``awaited`` says that an active run has
    not judged it yet, ``elsewhere`` that another program runs it, and ``since`` is the reason that later
    finished runs give.
    """
    files = ", ".join(code(change.words) for change in changes[:_MOST_LISTED])
    of_files = f"{files} since the run" if files else ""
    running = RUNS_AGAIN if awaited else RUNS_ELSEWHERE if elsewhere else ""
    return written or of_files or agent or running or since
