"""The scores in one result file or journal, with its reviews applied.

A file may come with a repository: one that is far larger than a run writes is not read, and the caller can do
something else meanwhile.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast

import msgspec

from waza_engine.checkpoint import checkpoint
from waza_engine.files import read_bytes
from waza_engine.results.codec.figures import task_of
from waza_engine.results.codec.runs import conclusion_again, engine_block, header_of
from waza_engine.results.codec.trials import verdict_count
from waza_engine.results.json_values import (
    Block,
    block_of,
    blocks_of,
    items_of,
    object_in,
    record_of,
    text_of,
    texts_of,
)
from waza_engine.results.metrics import counted_again
from waza_engine.results.places import JOURNAL_SUFFIX, LONGEST_BYTES, record_boundary
from waza_engine.results.reading.formats import (
    document_in,
    is_of_the_python_era,
    todays_header,
    todays_task,
    unknown_version,
)
from waza_engine.results.reading.scores import (
    MOST_SCORES,
    MOST_SCORES_OF_FILE,
    PromptResult,
    RunOrigin,
    RunResult,
    TaskResult,
    task_result,
)
from waza_engine.results.record import MetricOutcome, TaskOutcome
from waza_engine.results.reviews import reviews_of
from waza_engine.results.task_conclusion import TaskConclusion, conclude_task

log = logging.getLogger(__name__)
_BYTES_OF_SCORE = 100
_SCORES_PER_CHECKPOINT = 500
MOST_FIGURES = 5_000
"""Metrics, and trigger prompts, of one file that are read."""


def scores_in_file(path: Path) -> RunResult | None:
    """Return the content of a result file or journal; None if it is not one or unreadable."""
    try:
        return _scores_in(path)
    except UnreadableTaskError:
        log.warning("The scores in %s are not shown: a task of it cannot be read.", path)
        return None


def _scores_in(path: Path) -> RunResult | None:
    try:
        content = read_bytes(path, LONGEST_BYTES, within=record_boundary(path))
    except OSError:
        return None
    journal = path.name.endswith(JOURNAL_SUFFIX)
    checkpoint()
    if holds_too_much(content, journal=journal):
        log.warning("The scores in %s are not shown: it holds more values than a run leaves.", path)
        return None
    document = document_in(content, score_fields, journal=journal)
    if document is None or unknown_version(document):
        return None
    is_old = is_of_the_python_era(document)
    if is_old:
        document = todays_header(document)
    if not document.get("eval_name") and not block_of(document, "summary").get("total_tests"):
        return None
    checkpoint()
    header = header_of(document)
    origin = RunOrigin(path, header.executor, header.model, header.inputs)
    reviews = reviews_of(document, path)
    tasks: dict[str, TaskResult] = {}
    tools: dict[str, None] = {}
    reviewed, concluded = False, list[TaskConclusion]()
    count = pause_at = 0
    most = max(MOST_SCORES, min(len(content) // _BYTES_OF_SCORE, MOST_SCORES_OF_FILE))
    decoded = (task_fields(task) for task in items_of(document.get("tasks")))
    for block in (task for task in decoded if task is not None):
        count += 1 + verdict_count(block)
        if count > most:
            log.warning("Only the first scores in %s are shown: there are too many.", path)
            break
        task, changed = todays_task(block) if is_old else block, False
        if reviews is not None:
            task, changed = reviews.over_task(task, resampled=False)
        outcome = task_of(task, resampled=False)
        result = task_result(outcome, header.started, origin)
        known = tasks.get(result.id)
        # If two tasks share an id, a failure of either stays visible.
        tasks[result.id] = result if known is None or known.status not in ("failed", "error") else known
        tools |= _tools_of(task)
        reviewed = reviewed or changed
        if reviews is not None:
            concluded.append(conclude_task(outcome))
        if count >= pause_at:
            pause_at = count + _SCORES_PER_CHECKPOINT
            checkpoint()
    engine = engine_block(document)
    status = recorded = text_of(engine.get("status"))
    verdict, reasons, counted = _concluded(block_of(engine, "conclusion"))
    again = conclusion_again(document, concluded) if reviewed else None
    if again is not None:
        status, verdict, reasons = again.status, again.verdict, ()
    return RunResult(
        path=path,
        timestamp=header.started,
        eval_name=header.eval_name,
        skill=header.skill,
        eval_file=header.eval_file,
        executor=header.executor,
        model=header.model,
        status=status,
        complete=not journal and recorded != "canceled",
        partial=header.leaves_graders_out,
        graders=tuple(header.graders),
        tasks=tasks,
        tools=tuple(tools),
        metrics=tuple(_metrics(document, [task.task for task in concluded] if reviewed else None)),
        prompts=tuple(_prompts(document, header.started, origin)),
        origin=origin,
        chosen_prompts=bool(header.settings.get("prompts")),
        verdict=verdict,
        reasons=reasons,
        lasting=tuple(each for each in reasons if verdict == "failed" and each not in counted),
    )


def _concluded(conclusion: Block) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a verdict with its reasons, and those of them that only count tasks."""
    reasons = texts_of(conclusion.get("reasons"))[:MOST_FIGURES]
    # Older records do not distinguish them.
    counted = texts_of(conclusion["counted_reasons"]) if "counted_reasons" in conclusion else reasons
    return text_of(conclusion.get("verdict")), reasons, counted


def _metrics(document: Block, reviewed: Sequence[TaskOutcome] | None) -> Iterator[MetricOutcome]:
    """Yield the metrics as written, or as they follow from the tasks that were reviewed."""
    written = [
        replace(record_of(MetricOutcome, cast("Block", metric)), name=str(name))
        for name, metric in islice(block_of(document, "metrics").items(), MOST_FIGURES)
        if isinstance(metric, dict)
    ]
    for told in written if reviewed is None else counted_again(written, reviewed):
        yield replace(told, passed=told.passed and told.reached)


def _prompts(document: Block, started: datetime, origin: RunOrigin) -> Iterator[PromptResult]:
    for block in islice(blocks_of(document.get("trigger_results")), MOST_FIGURES):
        yield PromptResult(
            prompt=text_of(block.get("prompt")),
            should_trigger=block.get("should_trigger") is True,
            did_trigger=block.get("did_trigger") is True,
            error=text_of(block.get("error_msg")),
            timestamp=started,
            origin=origin,
            skills=texts_of(block.get("skills")),
        )


def _tools_of(task: Block) -> dict[str, None]:
    """Return the tools that were called, each once, in the order of their first call."""
    found: dict[str, None] = {}
    for trial in blocks_of(task.get("runs")):
        used = block_of(trial, "session_digest").get("tools_used") or trial.get("tools_used")
        if isinstance(used, list):
            found |= {name: None for name in cast("list[Any]", used) if isinstance(name, str)}
    return found


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
    weight: _Scalar


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
