"""The requests that this server adds to the protocol, with the types of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types

from waza_engine.frozen import frozen

RUNNABLES = "waza/runnables"
RunnablesParams = types.CodeLensParams
"""``textDocument``, as for lenses."""

SUITE_STATE = "waza/suiteState"
SuiteStateParams = types.CodeLensParams
LENSES_IN_RANGE = "waza/codeLenses"
LensesInRangeParams = types.InlayHintParams
"""``textDocument`` and ``range``, as for inlay hints."""
RECORDED_TEXT = "waza/recordedText"
MARKS = "waza/marks"
MarksParams = types.CodeLensParams
FILE_MARKS = "waza/fileMarks"
MARKS_CHANGED = "waza/marksChanged"
"""A notification to clients that draw marks themselves: other scores are known."""
CONFIRM = "waza/confirm"
"""A request to clients that say ``confirms``: ``{message, choices, pick}``, answered by a choice or null."""

CREATE_FILES = "waza/createFiles"
"""A request to clients that say ``createsFiles``: ``{label, files, edit}``, answered by whether it did."""


@frozen()
class FileMarksParams:
    """Nothing: all files of the workspace are meant."""


@frozen()
class RecordedTextParams:
    """``results`` is the path of a result file, ``path`` that of a file in its record."""

    results: str
    path: str


TESTS = "waza/tests"


@frozen()
class TestsParams:
    """``parent`` is the id of a suite or task whose children are wanted; without it the suites are."""

    parent: str | None = None


STALE_RESULTS = "waza/staleResults"


@frozen()
class StaleResultsParams:
    """``id`` is that of a suite.

    ``since`` (ISO 8601) and ``results`` (paths) say what the client shows of it: from when on, and of which
    records. Without ``since``, runs that the client has not shown are not reported.
    """

    id: str
    since: str | None = None
    results: Sequence[str] = ()


RESULT_DOCUMENT = "waza/resultDocument"


@frozen()
class ResultDocumentParams:
    """``id`` is that of a suite, a task or a grader of one: its newest recorded run is meant.

    Or the one in the result file ``record``, one of those that ``waza/recordedRuns`` tells. With ``since``,
    another one of those, what changed from that one to it.
    """

    id: str
    record: str | None = None
    since: str | None = None


TRIAL_DOCUMENT = "waza/trialDocument"


@frozen()
class TrialDocumentParams:
    """``id`` is that of a task whose suite is judged live, ``trial`` the number of a trial, from 1."""

    id: str
    trial: int


NEW_GRADERS = "waza/newGraders"


@frozen()
class NewGradersParams:
    """``id`` and ``trial`` are those of ``waza/trialDocument``, ``text`` is the selection in it."""

    id: str
    trial: int
    text: str


@frozen()
class ItemParams:
    """``id`` is that of a suite or of an item in one."""

    id: str


RECORDED_RUNS = "waza/recordedRuns"

AFFECTED = "waza/affected"

MODELS = "waza/models"

REVIEWS = "waza/reviews"

RUN_EVENT = "waza/runEvent"
"""A notification to clients that want them: an event of a run, unchanged."""

OWN_REQUESTS: Mapping[str, type[Any]] = {
    RUNNABLES: RunnablesParams,
    SUITE_STATE: SuiteStateParams,
    LENSES_IN_RANGE: LensesInRangeParams,
    RECORDED_TEXT: RecordedTextParams,
    MARKS: MarksParams,
    TESTS: TestsParams,
    STALE_RESULTS: StaleResultsParams,
    FILE_MARKS: FileMarksParams,
    RESULT_DOCUMENT: ResultDocumentParams,
    TRIAL_DOCUMENT: TrialDocumentParams,
    NEW_GRADERS: NewGradersParams,
    RECORDED_RUNS: ItemParams,
    AFFECTED: ItemParams,
    MODELS: ItemParams,
    REVIEWS: ItemParams,
}
