"""The scores in one result file or journal, with its reviews applied.

A file may come with a repository: one that is far larger than a run writes is not read, and the caller can do
something else meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, cast

from waza_engine.checkpoint import checkpoint
from waza_engine.files import read_bytes
from waza_engine.results.codec.run_documents import engine_block, header_of, recompute_conclusion, trigger_of
from waza_engine.results.codec.summary_blocks import task_of
from waza_engine.results.codec.trials import verdict_count
from waza_engine.results.json_values import (
    Block,
    block_of,
    blocks_of,
    number_or_none,
    object_in,
    record_of,
    text_of,
    texts_of,
)
from waza_engine.results.metrics import recompute_metrics
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
from waza_engine.results.result_file_names import JOURNAL_SUFFIX, LONGEST_BYTES, record_boundary
from waza_engine.results.reviews import reviews_of
from waza_engine.results.task_conclusion import TaskConclusion, conclude_task

log = logging.getLogger(__name__)
_BYTES_OF_SCORE = 100
MOST_FIGURES = 5_000
"""Metrics, and trigger prompts, of one file that are read."""


def scores_in_file(path: Path) -> RunResult | None:
    """Return the content of a result file or journal; None if it is not one or unreadable."""
    try:
        content = read_bytes(path, LONGEST_BYTES, within=record_boundary(path))
    except OSError:
        return None
    journal = path.name.endswith(JOURNAL_SUFFIX)
    checkpoint()
    if is_too_large_to_read(content, journal=journal):
        log.warning("The scores in %s are not shown: it holds more values than a run leaves.", path)
        return None
    document = document_in(content, object_in, journal=journal)
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
    count = 0
    most = max(MOST_SCORES, min(len(content) // _BYTES_OF_SCORE, MOST_SCORES_OF_FILE))
    for block in blocks_of(document.get("tasks")):
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
        checkpoint()
    engine = engine_block(document)
    status = recorded = text_of(engine.get("status"))
    verdict, reasons, counted = _concluded(block_of(engine, "conclusion"))
    again = recompute_conclusion(document, concluded) if reviewed else None
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
        score_decides=number_or_none(header.settings.get("pass_score")) is not None,
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
    for metric in written if reviewed is None else recompute_metrics(written, reviewed):
        yield replace(metric, passed=metric.passed and metric.reached)


def _prompts(document: Block, started: datetime, origin: RunOrigin) -> Iterator[PromptResult]:
    for found in map(trigger_of, blocks_of(document.get("trigger_results"))[:MOST_FIGURES]):
        yield PromptResult(
            prompt=found.prompt,
            should_trigger=found.should_trigger,
            did_trigger=found.did_trigger,
            error=found.error,
            timestamp=started,
            origin=origin,
            skills=found.skills,
        )


def _tools_of(task: Block) -> dict[str, None]:
    """Return the tools that were called, each once, in the order of their first call."""
    found: dict[str, None] = {}
    for trial in blocks_of(task.get("runs")):
        used = block_of(trial, "session_digest").get("tools_used") or trial.get("tools_used")
        if isinstance(used, list):
            found |= {name: None for name in cast("list[Any]", used) if isinstance(name, str)}
    return found


MOST_OBJECTS = 200_000
"""A run of five thousand tasks leaves half as many in a file of 32 MB, those of transcripts included.

A larger file may hold more, as its size has it.
"""
MOST_VALUES = 1_500_000
_USUAL_BYTES = 32_000_000


def is_too_large_to_read(content: bytes, *, journal: bool) -> bool:
    """Return whether reading a result file could take far more memory or time than its size suggests.

    No run leaves millions of tiny values or lines; each would become an object of this process. Characters
    inside strings count too, so this is quick.
    """
    share = max(1.0, len(content) / _USUAL_BYTES)
    objects = content.count(b"{") + (content.count(b"\n") if journal else 0)
    if objects > MOST_OBJECTS * share:
        return True
    return objects + content.count(b",") + content.count(b"[") > MOST_VALUES * share
