"""The requests that this server adds to the protocol, with the types of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from lsprotocol import types

RUNNABLES = "waza/runnables"
RunnablesParams = types.CodeLensParams
"""``textDocument``, as for lenses."""

RECORDED_TEXT = "waza/recordedText"
MARKS = "waza/marks"
MarksParams = types.CodeLensParams
FILE_MARKS = "waza/fileMarks"
MARKS_CHANGED = "waza/marksChanged"
"""A notification to clients that draw marks themselves: other scores are known."""


@attrs.frozen
class FileMarksParams:
    """Nothing: all files of the workspace are meant."""


@attrs.frozen
class RecordedTextParams:
    """``results`` is the path of a result file, ``path`` that of a file in its record."""

    results: str
    path: str


OWN_REQUESTS: Mapping[str, type[Any]] = {
    RUNNABLES: RunnablesParams,
    RECORDED_TEXT: RecordedTextParams,
    MARKS: MarksParams,
    FILE_MARKS: FileMarksParams,
}
