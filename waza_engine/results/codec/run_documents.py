"""A run as a result document in upstream's layout, so that its dashboard and ``compare`` read our files.

Data that upstream does not have (checks per line, the status of a grader, costs, the eval file) is under keys
that its readers skip: ``checks`` and ``status`` next to ``details``, ``cost``, and ``metadata.engine``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import cast

from waza_engine.later_patterns import compiled_later
from waza_engine.results.codec.summary_blocks import (
    group_numbers,
    summary_numbers,
    task_document,
    task_numbers,
    task_of,
)
from waza_engine.results.codec.trials import (
    cost_document,
    cost_of,
    unjudged_documents,
    unjudged_of,
    usage_document,
    usage_of,
    written_status,
)
from waza_engine.results.conclusion import Conclusion, conclude, decides
from waza_engine.results.json_values import (
    Block,
    Json,
    block_of,
    blocks_of,
    moment,
    nonempty,
    number,
    plain,
    record_of,
    text_of,
    texts_of,
    whole,
)
from waza_engine.results.metrics import follows_from_tasks, recompute_metrics
from waza_engine.results.record import (
    MetricOutcome,
    RunHeader,
    RunOutcome,
    RunStatus,
    TaskOutcome,
    TriggerOutcome,
)
from waza_engine.results.task_conclusion import TaskConclusion
from waza_engine.scoring.cost import Spending
from waza_engine.scoring.impact import RankedModel, Recommendation
from waza_engine.scoring.statistics import Interval
from waza_engine.scoring.task_scores import SuiteSummary, TaskScore, suite_summary
from waza_engine.scoring.trigger_scores import TriggerMetrics, trigger_metrics
from waza_engine.version import __version__
from waza_engine.vocabulary import Commit


def run_document(outcome: RunOutcome) -> Json:
    """Return the whole document."""
    document = summary_document(outcome)
    document["tasks"] = [task_document(task) for task in outcome.tasks]
    if outcome.baseline is not None:
        document["baseline_outcome"] = run_document(outcome.baseline)
    return document


def summary_document(outcome: RunOutcome) -> Json:
    """Return the document of a run without any task, neither its own nor those of its baseline."""
    document = header_document(outcome.header)
    document["summary"] = {
        **summary_numbers(outcome.summary),
        **nonempty(
            usage=usage_document(outcome.usage),
            groups=group_numbers(
                (task.group, TaskScore(task.status, task.statistics)) for task in outcome.tasks
            ),
        ),
    }
    if outcome.spending is not None and outcome.spending.anything:
        document["summary"]["cost"] = spending_document(outcome.spending)
    document["metrics"] = {
        metric.name: {
            "identifier": metric.name,
            "value": metric.value,
            "threshold": metric.threshold,
            "passed": metric.passed,
            "weight": metric.weight,
        }
        for metric in outcome.metrics
    }
    document["tasks"] = []
    if outcome.trigger_metrics is not None:
        numbers = asdict(outcome.trigger_metrics)
        document["trigger_metrics"] = {
            key: value for key, value in numbers.items() if key != "errors" or value
        }
    if outcome.trigger_metrics is not None or outcome.triggers or outcome.header.settings.get("prompts"):
        document["trigger_results"] = [trigger_document(trigger) for trigger in outcome.triggers]
    document |= nonempty(unjudged_answers=unjudged_documents(outcome.unjudged))
    if outcome.baseline is not None:
        document["is_baseline"] = True
        document["baseline_outcome"] = summary_document(outcome.baseline)
    if outcome.recommendation is not None:
        document["metadata"]["recommendation"] = _recommendation(outcome.recommendation)
    document["metadata"]["engine"] |= {
        "status": outcome.status,
        **nonempty(message=outcome.message, limit=outcome.limit),
        "conclusion": conclude(outcome).document(),
    }
    return cast("Json", plain(document))


def concluded_document(document: Block, *, fail_under: float | None = None) -> Json:
    """Return a document in the current layout with the run's conclusion, reviews included.

    The numbers of its summary and the statuses of tasks and trials follow from its verdicts.
    """
    metadata, run = block_of(document, "metadata"), run_of(document)
    found = conclude(run, fail_under=fail_under)
    engine = {**block_of(metadata, "engine"), "conclusion": found.document()}
    numbers = summary_numbers(run.summary)
    numbers.pop("statistics", None)
    return {
        **document,
        "summary": {**block_of(document, "summary"), **numbers},
        "tasks": [
            _with_statuses(written, task)
            for written, task in zip(blocks_of(document.get("tasks")), run.tasks, strict=True)
        ],
        "metadata": {**metadata, "engine": engine},
    }


def _with_statuses(written: Block, task: TaskOutcome) -> Block:
    """Return an element of ``tasks`` with the statuses that follow from its verdicts, if they differ."""
    if not task.doubted:
        return written
    runs = zip(blocks_of(written.get("runs")), task.trials, strict=True)
    corrected = [{**run, "status": trial.status} for run, trial in runs]
    return {**written, "status": task.status, "runs": corrected}


def run_of(document: Block) -> RunOutcome:
    """Return the run of a document in the current layout. Everything may be missing or null.

    Numbers are computed again from their source; if that is not in the document, as in files of other tools,
    they are as written.
    """
    engine, summary = engine_block(document), block_of(document, "summary")
    tasks = tuple(task_of(task) for task in blocks_of(document.get("tasks")))
    baseline = document.get("baseline_outcome")
    triggers = tuple(trigger_of(trigger) for trigger in blocks_of(document.get("trigger_results")))
    accuracy = _accuracy_of(document, triggers)
    suite = block_of(engine, "suite")
    return RunOutcome(
        header=header_of(document),
        status=_status_of(engine, tasks),
        tasks=tasks,
        summary=_counted(_summary_of(summary), tasks),
        usage=usage_of(summary.get("usage")),
        metrics=tuple(_metrics_of(block_of(document, "metrics"), accuracy)),
        triggers=triggers,
        trigger_metrics=accuracy,
        message=text_of(engine.get("message")),
        spending=spending_of(summary.get("cost")),
        limit=text_of(engine.get("limit")),
        baseline=run_of(cast("Block", baseline)) if isinstance(baseline, Mapping) else None,
        recommendation=_recommendation_of(block_of(block_of(document, "metadata"), "recommendation")),
        unjudged=unjudged_of(document),
        suite_conclusion=(text_of(suite.get("verdict")), text_of(suite.get("words"))),
    )


def spending_document(spent: Spending) -> Json:
    """Return ``summary.cost``: tokens, and what they cost."""
    return {"tokens": spent.tokens, **cost_document(spent.cost)}


def spending_of(written: object) -> Spending | None:
    """Return the spending of a ``summary.cost``, None without one."""
    cost = cost_of(written)
    return None if cost is None else Spending(whole(cast("Block", written).get("tokens")), cost)


def _recommendation(found: Recommendation) -> Json:
    """Return ``metadata.recommendation``: the models, best first, with their points."""
    return {
        "recommended_model": found.winner.model,
        "heuristic_score": found.winner.score,
        "winner_margin_percent": round(found.margin_percent, 1),
        "models": [asdict(model) for model in found.ranking],
    }


def trigger_document(trigger: TriggerOutcome) -> Json:
    """Return an element of ``trigger_results``."""
    return {
        "prompt": trigger.prompt,
        **nonempty(confidence=trigger.confidence),
        "should_trigger": trigger.should_trigger,
        "did_trigger": trigger.did_trigger,
        **nonempty(error_msg=trigger.error, final_output=trigger.output, skills=list(trigger.skills)),
        **({"times_asked": trigger.asked, "times_triggered": trigger.triggered} if trigger.asked > 1 else {}),
    }


def _status_of(engine: Block, tasks: Sequence[TaskOutcome]) -> RunStatus:
    """Return the status as written; upstream writes none, then that of the tasks counts."""
    match engine.get("status"):
        case "completed" | "failed" | "canceled" | "error" as known:
            return known
        case _:
            well = all(task.status in ("passed", "skipped") for task in tasks)
            return "completed" if well else "failed"


def _summary_of(summary: Block) -> SuiteSummary:
    statistics = block_of(summary, "statistics")
    interval, chances = block_of(statistics, "bootstrap_ci"), statistics.get("pass_hat_k")
    found = Interval(
        number(interval.get("lower")),
        number(interval.get("upper")),
        number(interval.get("mean")),
        whole(interval.get("num_bootstraps")),
    )
    # The first version knew no weights.
    return replace(
        record_of(SuiteSummary, {"weighted_score": summary.get("aggregate_score"), **summary}),
        interval=found if interval else None,
        pass_hat_k=tuple(map(number, cast("list[object]", chances))) if isinstance(chances, list) else (),
    )


def _counted(written: SuiteSummary, tasks: Sequence[TaskOutcome]) -> SuiteSummary:
    """Return the summary of a suite that follows from its tasks; estimates and intervals as written."""
    ended = [trial for task in tasks for trial in task.trials if not trial.stopped]
    if not tasks or any(trial.validations is None and trial.status != "error" for trial in ended):
        return written
    found = suite_summary(
        [TaskScore(task.status, task.statistics) for task in tasks], duration_ms=max(0, written.duration_ms)
    )
    return replace(found, interval=written.interval, pass_hat_k=written.pass_hat_k)


def _accuracy_of(document: Block, triggers: Sequence[TriggerOutcome]) -> TriggerMetrics | None:
    """Return the metrics of the suite's trigger prompts, None if these were not tried."""
    written = document.get("trigger_metrics")
    if not isinstance(written, Mapping):
        return None
    return trigger_metrics(triggers) or record_of(TriggerMetrics, cast("Block", written))


def _metrics_of(metrics: Block, triggers: TriggerMetrics | None) -> Iterator[MetricOutcome]:
    """Yield the metrics. One below its threshold is missed, even if the file says that it passed."""
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            metric = replace(record_of(MetricOutcome, cast("Block", value)), name=name)
            if decides(name) and triggers is not None:
                metric = replace(metric, value=triggers.accuracy)
            yield replace(metric, passed=metric.passed and metric.reached)


def trigger_of(trigger: Block) -> TriggerOutcome:
    """Return an element of ``trigger_results``."""
    return TriggerOutcome(
        prompt=text_of(trigger.get("prompt")),
        should_trigger=trigger.get("should_trigger") is True,
        did_trigger=trigger.get("did_trigger") is True,
        confidence=text_of(trigger.get("confidence")),
        error=text_of(trigger.get("error_msg")),
        output=text_of(trigger.get("final_output")),
        skills=texts_of(trigger.get("skills")),
        asked=max(1, whole(trigger.get("times_asked"))),
        triggered=whole(trigger.get("times_triggered")),
    )


def _recommendation_of(found: Block) -> Recommendation | None:
    models = tuple(record_of(RankedModel, model) for model in blocks_of(found.get("models")))
    return Recommendation(models, number(found.get("winner_margin_percent"))) if models else None


_DECIDING = ("run_number", "status", "error_msg", "validations", "checkpoints", "stopped")
"""The keys of a trial that a conclusion is drawn from."""


def counted_document(document: Block, tasks: Sequence[Block]) -> Json:
    """Return a document with these tasks, and the summary and status that follow from them."""
    config, before = block_of(document, "config"), block_of(document, "summary")
    scores = [TaskScore(written_status(task), task_numbers(task)) for task in tasks]
    trials = config.get("runs_per_test")
    summary = suite_summary(scores, trials_per_task=trials if isinstance(trials, int) else 1)
    numbers = summary_numbers(summary)
    numbers["duration_ms"] = before.get("duration_ms", 0)
    groups = group_numbers(
        (text_of(task.get("group")), score) for task, score in zip(tasks, scores, strict=True)
    )
    kept = {key: value for key, value in before.items() if key != "statistics"}
    counted: Json = {
        **document,
        "summary": {**kept, **numbers, **({"groups": groups} if groups else {})},
        "tasks": list(tasks),
    }
    if written := block_of(document, "metrics"):
        counted["metrics"] = dict(_metrics(written, run_of(counted)))
    metadata = block_of(document, "metadata")
    engine = block_of(metadata, "engine")
    again = recompute_conclusion(counted)
    status = text_of(engine.get("status")) if again is None else again.status
    if status != text_of(engine.get("status")) or "conclusion" in engine:
        # The recorded conclusion no longer holds.
        rest = {key: value for key, value in engine.items() if key != "conclusion"}
        counted["metadata"] = {**metadata, "engine": {**rest, "status": status}}
    return counted


def recompute_conclusion(document: Block, tasks: Sequence[TaskConclusion] | None = None) -> Conclusion | None:
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
    now = {metric.name: metric for metric in recompute_metrics(run.metrics, run.tasks)}
    for name, block in written.items():
        if not follows_from_tasks(name):
            yield name, block
        elif name in now:
            yield name, {**block_of(written, name), "value": now[name].value, "passed": now[name].passed}


def _deciding(task: Block) -> Json:
    runs = blocks_of(task.get("runs"))
    return {**task, "runs": [{key: run[key] for key in _DECIDING if key in run} for run in runs]}


SCHEMA_VERSION = "1.4"


def header_document(header: RunHeader) -> Json:
    """Return the part of the document that is known before the first task."""
    engine = {
        "name": "waza-engine",
        "version": __version__,
        "eval_file": header.eval_file,
        **nonempty(
            tasks=list(header.tasks),
            graders=list(header.graders),
            settings=dict(header.settings),
            inputs=header.inputs,
            commit=commit_document(header.commit),
        ),
    }
    return {
        "schemaVersion": SCHEMA_VERSION,
        "eval_id": header.run_id,
        "skill": header.skill,
        "eval_name": header.eval_name,
        "timestamp": header.started.isoformat(),
        "config": {
            "runs_per_test": header.trials_per_task,
            "model_id": header.model,
            "engine_type": header.executor,
            "timeout_sec": header.timeout_seconds,
            **nonempty(judge_model=header.judge_model),
        },
        "metadata": {"engine": engine},
    }


def header_of(document: Block) -> RunHeader:
    """Return a document's header, with the earliest moment if its start is missing."""
    config, engine = block_of(document, "config"), engine_block(document)
    return RunHeader(
        run_id=text_of(document.get("eval_id")),
        started=moment(document.get("timestamp")),
        eval_file=text_of(engine.get("eval_file")),
        eval_name=text_of(document.get("eval_name")),
        skill=text_of(document.get("skill")),
        executor=text_of(config.get("engine_type")),
        model=text_of(config.get("model_id")),
        judge_model=text_of(config.get("judge_model")),
        trials_per_task=whole(config.get("runs_per_test")),
        timeout_seconds=whole(config.get("timeout_sec")),
        tasks=texts_of(engine.get("tasks")),
        graders=texts_of(engine.get("graders")),
        settings=block_of(engine, "settings"),
        inputs=text_of(engine.get("inputs")),
        commit=commit_in(engine),
        regraded="regraded" in engine,
    )


def engine_block(document: Block) -> Block:
    """Return this engine's own part of a document."""
    return block_of(block_of(document, "metadata"), "engine")


_HASH = compiled_later(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def commit_document(commit: Commit | None) -> Json | None:
    """Return a commit as an object: ``hash``, and ``dirty`` if known."""
    if commit is None:
        return None
    return {"hash": commit.hash, **({} if commit.dirty is None else {"dirty": commit.dirty})}


def commit_in(block: Block) -> Commit | None:
    """Return the ``commit`` of an object, None if it is missing or not a hash."""
    found = block_of(block, "commit")
    name, dirty = text_of(found.get("hash")), found.get("dirty")
    return Commit(name, dirty if isinstance(dirty, bool) else None) if _HASH.fullmatch(name) else None
