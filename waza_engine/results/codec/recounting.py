"""A result document whose tasks have changed: recompute its numbers and its status. Light."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from waza_engine.results.codec.figures import group_figures, summary_figures, task_figures, task_status_of
from waza_engine.results.codec.header import engine_block
from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import Conclusion, conclude
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, text_of
from waza_engine.results.metrics import counted_again, follows_from_tasks
from waza_engine.results.record import RunOutcome
from waza_engine.results.task_conclusion import TaskConclusion
from waza_engine.scoring.tasks import TaskScore, suite_summary

_DECIDING = ("run_number", "status", "error_msg", "validations", "checkpoints", "stopped")
"""The keys of a trial that a conclusion is drawn from."""


def counted_document(document: Block, tasks: Sequence[Block]) -> Json:
    """Return a document with these tasks, and the summary and status that follow from them."""
    config, before = block_of(document, "config"), block_of(document, "summary")
    scores = [TaskScore(task_status_of(task), task_figures(task)) for task in tasks]
    trials = config.get("runs_per_test")
    summary = suite_summary(scores, trials_per_task=trials if isinstance(trials, int) else 1)
    figures = summary_figures(summary)
    figures["duration_ms"] = before.get("duration_ms", 0)
    groups = group_figures(
        (text_of(task.get("group")), score) for task, score in zip(tasks, scores, strict=True)
    )
    kept = {key: value for key, value in before.items() if key != "statistics"}
    counted: Json = {
        **document,
        "summary": {**kept, **figures, **({"groups": groups} if groups else {})},
        "tasks": list(tasks),
    }
    if written := block_of(document, "metrics"):
        counted["metrics"] = dict(_metrics(written, run_of(counted)))
    metadata = block_of(document, "metadata")
    engine = block_of(metadata, "engine")
    again = conclusion_again(counted)
    status = text_of(engine.get("status")) if again is None else again.status
    if status != text_of(engine.get("status")) or "conclusion" in engine:
        # The recorded conclusion no longer holds.
        rest = {key: value for key, value in engine.items() if key != "conclusion"}
        counted["metadata"] = {**metadata, "engine": {**rest, "status": status}}
    return counted


def conclusion_again(document: Block, tasks: Sequence[TaskConclusion] | None = None) -> Conclusion | None:
    """Return the conclusion from a run's current verdicts, None for one that was cut short.

    ``tasks`` are the conclusions of its tasks, if the caller has them already.
    """
    engine = engine_block(document)
    if text_of(engine.get("status")) not in ("completed", "failed"):
        return None
    # The recorded conclusion must not influence the new one.
    rest = {key: value for key, value in engine.items() if key != "status"}
    metadata = {**block_of(document, "metadata"), "engine": rest}
    deciding = [] if tasks is not None else list(map(_deciding, blocks_of(document.get("tasks"))))
    run = run_of({**document, "metadata": metadata, "tasks": deciding})
    if tasks is not None:
        scores = [TaskScore(task.task.status, task.task.statistics) for task in tasks]
        run = replace(run, summary=suite_summary(scores))
    return conclude(run, tasks=tasks)


def _metrics(written: Block, run: RunOutcome) -> Iterator[tuple[str, object]]:
    """Yield the recorded metrics, with the values that follow from the tasks now."""
    now = {metric.name: metric for metric in counted_again(run.metrics, run.tasks)}
    for name, block in written.items():
        if not follows_from_tasks(name):
            yield name, block
        elif name in now:
            yield name, {**block_of(written, name), "value": now[name].value, "passed": now[name].passed}


def _deciding(task: Block) -> Json:
    runs = blocks_of(task.get("runs"))
    return {**task, "runs": [{key: run[key] for key in _DECIDING if key in run} for run in runs]}
