"""The methods with which an editor lists pending verdicts and records a person's reviews."""

from __future__ import annotations

from typing import Any

from waza_engine.commands.parameters import (
    Params,
    amount_param,
    count_param,
    only_known,
    optional_text,
    path_param,
    refused,
    remark_param,
    switch_param,
)
from waza_engine.commands.reading import loaded
from waza_engine.commands.reviewing import (
    ReviewRequest,
    for_people,
    record_review,
    recorded_files,
)
from waza_engine.json_rpc import INVALID_PARAMS
from waza_engine.results.json_values import plain

Answer = dict[str, Any]
_WHICH = ("path", "task", "trial", "grader")


def list_reviews(params: Params) -> Answer:
    """Return as ``items`` the pending verdicts of a suite or a result file at ``path``.

    These are of its newest answers, of a ``task``, a ``trial`` and a ``grader`` if given.
    """
    only_known(params, _WHICH)
    request = _request(params)
    found = loaded(
        lambda: for_people(request, recorded_files(request.results), everything=False), INVALID_PARAMS
    )
    return {"items": plain([each.to_json() for each in found])}


def add_review(params: Params) -> Answer:
    """Record whether an answer ``passed``, perhaps with a ``score`` and a ``comment``.

    It is returned as it is now, with the ``file`` that the review went to.
    """
    only_known(params, (*_WHICH, "passed", "score", "comment", "reviewer"))
    passed = switch_param(params, "passed")
    if passed is None:
        raise refused("`passed` must be given, as true or false.", INVALID_PARAMS)
    request = _request(params, passed)
    found, _, file = loaded(lambda: record_review(request), INVALID_PARAMS)
    return {"item": plain(found.to_json()), "file": str(file)}


def _request(params: Params, passed: bool | None = None) -> ReviewRequest:
    return ReviewRequest(
        path_param(params, "path"),
        optional_text(params, "task"),
        count_param(params, "trial"),
        optional_text(params, "grader"),
        passed,
        amount_param(params, "score"),
        remark_param(params, "comment"),
        optional_text(params, "reviewer"),
    )
