"""Read the parts of a result file that scores and reviews need.

Answers and transcripts are skipped in place, and tasks are decoded one by one.

A suite has dozens of result files of megabytes, and an editor waits while one is read: this takes a sixth of
the time that reading all of it takes, and hardly any memory.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict, TypeVar, cast

# Imported with the first file that is read: most suites were never run.
import msgspec

from waza_engine.results.json_values import object_in

if TYPE_CHECKING:
    from waza_engine.results.json_values import Block

Decoded = TypeVar("Decoded")

LENIENT_BYTES = 1_000_000
"""Up to here a document of another layout is read whole: one odd value costs that value alone."""

# Half a surrogate pair, which may end a truncated answer: valid JSON that no string can hold.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

MOST_OBJECTS = 200_000
"""A run of five thousand tasks leaves half as many in a file of 32 MB, those of transcripts included.

A larger file may hold more, as its size has it.
"""
MOST_VALUES = 1_500_000
_USUAL_BYTES = 32_000_000

_Scalar = str | int | float | bool | None


class _Check(TypedDict, total=False):
    path: list[_Scalar] | None
    passed: _Scalar
    message: _Scalar


class _Details(TypedDict, total=False):
    status: _Scalar


class _Validation(TypedDict, total=False):
    type: _Scalar
    status: _Scalar
    score: _Scalar
    weight: _Scalar
    required: _Scalar
    passed: _Scalar
    feedback: _Scalar
    message: _Scalar
    details: _Details | None
    checks: list[_Check | None] | None


class _Checkpoint(TypedDict, total=False):
    after_turn: _Scalar
    status: _Scalar
    stopped: _Scalar
    validations: dict[str, _Validation] | None


class _Digest(TypedDict, total=False):
    tools_used: list[_Scalar] | None


class _Trial(TypedDict, total=False):
    run_number: _Scalar
    trial_id: _Scalar
    status: _Scalar
    error_msg: _Scalar
    error: _Scalar
    stopped: _Scalar
    validations: dict[str, _Validation] | None
    grader_results: dict[str, _Validation] | None
    checkpoints: list[_Checkpoint | None] | None
    session_digest: _Digest | None
    transcript_summary: _Digest | None


class _Figures(TypedDict, total=False):
    avg_score: _Scalar
    avg_weighted_score: _Scalar
    mean_score: _Scalar


class _Task(TypedDict, total=False):
    test_id: _Scalar
    id: _Scalar
    display_name: _Scalar
    name: _Scalar
    status: _Scalar
    error_msg: _Scalar
    required_pass_rate: _Scalar
    stats: _Figures | None
    aggregate: _Figures | None
    runs: list[_Trial | None] | None
    trials: list[_Trial | None] | None


class _Config(TypedDict, total=False):
    engine_type: _Scalar
    executor: _Scalar
    model_id: _Scalar
    model: _Scalar


class _Summary(TypedDict, total=False):
    total_tests: _Scalar
    total_tasks: _Scalar


class _Settings(TypedDict, total=False):
    skip_graders: _Scalar
    graders_of: _Scalar
    fail_under: _Scalar
    prompts: list[_Scalar] | None


class _Conclusion(TypedDict, total=False):
    verdict: _Scalar
    reasons: list[_Scalar] | None
    counted_reasons: list[_Scalar] | None


class _Engine(TypedDict, total=False):
    graders: list[_Scalar] | None
    settings: _Settings | None
    eval_file: _Scalar
    status: _Scalar
    inputs: _Scalar
    conclusion: _Conclusion | None


class _Metric(TypedDict, total=False):
    identifier: _Scalar
    value: _Scalar
    score: _Scalar
    threshold: _Scalar
    passed: _Scalar


class _Prompt(TypedDict, total=False):
    prompt: _Scalar
    should_trigger: _Scalar
    did_trigger: _Scalar
    error_msg: _Scalar
    skills: list[_Scalar] | None


class _Metadata(TypedDict, total=False):
    engine: _Engine | None


class _Run(TypedDict, total=False):
    """A document of any era, or a line of a journal."""

    schemaVersion: _Scalar
    eval_id: _Scalar
    eval_name: _Scalar
    skill: _Scalar
    timestamp: _Scalar
    config: _Config | None
    summary: _Summary | None
    metadata: _Metadata | None
    metrics: dict[str, _Metric] | None
    trigger_results: list[_Prompt | None] | None
    tasks: list[msgspec.Raw] | None
    task: msgspec.Raw
    trigger: _Prompt | None


class UnreadableTaskError(Exception):
    """A task is too large and too unusual to be read."""


def holds_too_much(content: bytes, *, journal: bool) -> bool:
    """Return whether reading a result file could take far more memory or time than its size suggests.

    No run leaves millions of tiny values or lines; each would become an object of this process. Characters
    inside strings count too, so this is quick.
    """
    share = max(1.0, len(content) / _USUAL_BYTES)
    objects = content.count(b"{") + (content.count(b"\n") if journal else 0)
    if objects > MOST_OBJECTS * share:
        return True
    return objects + content.count(b",") + content.count(b"[") > MOST_VALUES * share


def score_fields(content: bytes) -> Block | None:
    """Return the parts of a result document or journal line that scores need; None if it is neither.

    Its tasks are for ``task_fields``.
    """
    found = _decoded(content.removeprefix(b"\xef\xbb\xbf"), _run_decoder())
    return cast("Block | None", found)


def task_fields(task: object) -> Block | None:
    """Return a task from the result of ``score_fields``, None if it is not an object.

    Raises ``UnreadableTaskError``.
    """
    if not isinstance(task, msgspec.Raw):
        return cast("Block", task) if isinstance(task, Mapping) else None
    content = memoryview(task)
    found = _decoded(content, _task_decoder())
    if found is None and len(content) > LENIENT_BYTES:
        raise UnreadableTaskError
    return cast("Block | None", found)


def _decoded(content: bytes | memoryview, decoder: msgspec.json.Decoder[Decoded]) -> Decoded | Block | None:
    # Most files have no half pair, and looking for one takes longer than reading them.
    for made_readable in (lambda: content, lambda: _SURROGATE.sub(rb"\\ufffd", content)):
        try:
            return decoder.decode(made_readable())
        except msgspec.MsgspecError:
            continue
        except RecursionError:
            return None
    return object_in(bytes(content)) if len(content) <= LENIENT_BYTES else None


@functools.cache
def _run_decoder() -> msgspec.json.Decoder[_Run]:
    return msgspec.json.Decoder(_Run)


@functools.cache
def _task_decoder() -> msgspec.json.Decoder[_Task]:
    return msgspec.json.Decoder(_Task)
