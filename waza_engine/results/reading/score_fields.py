"""What scores, and reviews that change them, need of a result file.

Answers and transcripts are skipped where they stand.

A suite keeps dozens of result files of megabytes, and an editor waits while one is read: this takes a sixth
of the time that reading all of it takes, and hardly any memory.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, TypedDict

from waza_engine.results.json_values import object_in

if TYPE_CHECKING:
    import msgspec

    from waza_engine.results.json_values import Block

LENIENT_BYTES = 1_000_000
"""Up to here a document of another layout is read whole: one odd value costs that value alone."""

# A half of a pair, as an answer that was cut off may end with: valid JSON that no text can hold.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

MOST_OBJECTS = 200_000
"""A run of five thousand tasks leaves half as many in a file of 32 MB, those of transcripts included."""
MOST_VALUES = 1_500_000

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
    tasks: list[_Task | None] | None
    task: _Task | None
    trigger: _Prompt | None


def holds_too_much(content: bytes, *, journal: bool) -> bool:
    """Tell whether reading a result file could take far more memory or time than its bytes do.

    No run leaves millions of tiny values or lines; each would become an object of this process. What stands
    in text counts too, so this is quick.
    """
    objects = content.count(b"{") + (content.count(b"\n") if journal else 0)
    return objects > MOST_OBJECTS or objects + content.count(b",") + content.count(b"[") > MOST_VALUES


def score_fields(content: bytes) -> Block | None:
    """Return a result document or a line of a journal, less what no score needs; None when it is neither."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    decoder, error = _decoder()
    # Most files have no half pair, and looking for one takes longer than reading them.
    for made_readable in (lambda: content, lambda: _SURROGATE.sub(rb"\\ufffd", content)):
        try:
            return decoder.decode(made_readable())
        except error:
            continue
        except RecursionError:
            return None
    return object_in(content) if len(content) <= LENIENT_BYTES else None


@functools.cache
def _decoder() -> tuple[msgspec.json.Decoder[_Run], type[Exception]]:
    # When the first file is read: most suites were never run.
    import msgspec.json

    return msgspec.json.Decoder(_Run), msgspec.MsgspecError
