"""Mistakes in grader files, whatever their language: in the input, the result, the statuses of calls.

Only what is certain from the source is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from waza_engine.frozen import frozen
from waza_engine.spec.grader_results import (
    HARNESS_KEYS,
    INPUT_KEYS,
    WAZA_KEYS,
    Vocabulary,
    is_harness_result,
    result_issues,
)
from waza_engine.spelling import typo_of

Place = tuple[int, int]
"""The offsets of the first character and after the last one."""
UNKNOWN = object()
"""A value that the source does not decide."""
LONGEST = 200_000
"""Characters; longer files are not read."""
_ACCEPTED: Mapping[str, Any] = {"pass": True, "passed": True, "score": 0.0, "reasoning": "", "outcome": {}}
_INSTEAD = {"message": "reasoning", "feedback": "reasoning", "details": "outcome", "passed": "pass"}
_STATUS_WORDS = {
    **dict.fromkeys(("error", "errored", "fail", "failure"), "failed"),
    **dict.fromkeys(("success", "succeeded", "successful", "complete", "done", "ok"), "completed"),
}


@frozen()
class GraderFinding:
    """A mistake in a grader file; ``message`` is a clause. ``is_advice`` if the file works all the same."""

    place: Place
    message: str
    is_advice: bool = False


@frozen()
class Key:
    """A key of a result in the source, and its value if that is a constant."""

    name: str
    place: Place
    value: object = UNKNOWN


@frozen()
class ResultSource:
    """An object in the source that is a result; an ``open`` one may have more keys."""

    place: Place
    keys: tuple[Key, ...]
    open: bool = False


@frozen()
class StatusTest:
    """A comparison of a tool call's status with a constant."""

    place: Place
    word: str


def result_findings(result: ResultSource, vocabulary: Vocabulary) -> Iterator[GraderFinding]:
    """Yield the keys that nothing reads, and why a run refuses the result."""
    names = {key.name for key in result.keys}
    known = HARNESS_KEYS if is_harness_result(names, vocabulary) else WAZA_KEYS
    if vocabulary == "auto":
        known |= {"pass"}
    values: dict[str, Any] = {}
    for key in result.keys:
        intended = None
        if key.name not in known:
            intended = _INSTEAD.get(key.name) or typo_of(key.name, known - names)
        name = key.name if intended is None or intended in names else intended
        values[name] = _ACCEPTED.get(name) if key.value is UNKNOWN else key.value
        # A result may have the words of both worlds.
        if key.name not in known and (intended is None or intended not in names):
            yield _unread(key, intended)
    if result.open:
        decides = "pass" if is_harness_result(values, vocabulary) or "passed" not in values else "passed"
        values = {decides: True, "score": 0.0, **values}
    if issues := result_issues(values, vocabulary):
        yield GraderFinding(result.place, f"a run refuses this result, because {', '.join(issues)}")


def _unread(key: Key, intended: str | None) -> GraderFinding:
    if key.name in _INSTEAD:
        message = f"`{key.name}` is not read in a result with `pass`; write `{intended}`"
    elif intended is not None:
        message = f"a result has no key `{key.name}`; write `{intended}`"
    else:
        message = f"a result has no key `{key.name}`, so nothing reads it; move it into `outcome`"
    return GraderFinding(key.place, message, is_advice=intended is None)


def input_findings(keys: Iterable[Key]) -> Iterator[GraderFinding]:
    """Yield the misspelt keys among those that are read from the input."""
    for key in keys:
        typo = None if key.name in INPUT_KEYS else typo_of(key.name, INPUT_KEYS)
        if typo is not None:
            message = f"the input of a grader has no key `{key.name}`; write `{typo}`"
            yield GraderFinding(key.place, message)


def status_findings(tests: Iterable[StatusTest]) -> Iterator[GraderFinding]:
    """Yield the comparisons that are never true, unless the file also compares with the right word."""
    tests = tuple(tests)
    words = {test.word for test in tests}
    for test in tests:
        right = _STATUS_WORDS.get(test.word)
        if right is not None and right not in words:
            message = f"no tool call has the status `{test.word}`; compare it with `{right}`"
            yield GraderFinding(test.place, message)
