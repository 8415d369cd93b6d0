"""The requests that this server adds to the protocol, with the types of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define
from lsprotocol import types

RUNNABLES = "waza/runnables"
RunnablesParams = types.CodeLensParams
"""``textDocument``, as for lenses."""

TESTS = "waza/tests"


@define
class TestsParams:
    """``parent`` is the id of a suite or task whose children are wanted; without it the suites are."""

    parent: str | None = None


RESULT_DOCUMENT = "waza/resultDocument"


@define
class ResultDocumentParams:
    """``id`` is that of a suite, a task or a grader of one: its newest recorded run is meant."""

    id: str


RUN_EVENT = "waza/runEvent"
"""A notification to clients that want them: what a run tells, as it tells it."""

OWN_REQUESTS: Mapping[str, type[Any]] = {
    RUNNABLES: RunnablesParams,
    TESTS: TestsParams,
    RESULT_DOCUMENT: ResultDocumentParams,
}
