"""``waza-engine merge``: join the results of shards, and report and conclude them as one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from waza_engine.commands.reporting import NOT_WRITTEN, report_command
from waza_engine.commands.run import report_file
from waza_engine.commands.shared_options import ReportKind
from waza_engine.counting import counted
from waza_engine.results.attachments import with_attachments
from waza_engine.results.codec.run_documents import counted_document, engine_block, run_of
from waza_engine.results.codec.trials import cost_document, cost_of, usage_document, usage_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.json_values import (
    Block,
    Json,
    block_of,
    blocks_of,
    nonempty,
    text_of,
    texts_of,
    whole,
)
from waza_engine.results.reading.recordings import Recording, RecordingError, read_recording
from waza_engine.results.writing.store import ResultsError, write_run
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.scoring.cost import total, total_cost
from waza_engine.spec.limits import MOST_SHARDS
from waza_engine.terminal import complain


def merge_command(
    shards: Sequence[Path],
    output: Path,
    output_format: ReportKind,
    reporters: Sequence[str],
    fail_under: float | None,
) -> int:
    """Write the result document of the whole run, print its report, and return the exit code of the run."""
    if any(shard.resolve() == output.resolve() for shard in shards):
        complain(f"{output} is one of the shards, and would be overwritten; name another file with `-o`.")
        return NOT_WRITTEN
    try:
        junit_files = [report_file(reporter) for reporter in reporters]
        outcome = run_of(merged_document([read_recording(path) for path in shards]))
        write_run(output, outcome)
    except (MergeError, RecordingError, ResultsError, SuiteError) as error:
        complain(str(error))
        return NOT_WRITTEN
    codes = [report_command([output], ReportKind.JUNIT, file, fail_under) for file in junit_files]
    codes.append(report_command([output], output_format, None, fail_under))
    return NOT_WRITTEN if NOT_WRITTEN in codes else conclude(outcome, fail_under=fail_under).exit_code


_MAY_DIFFER = ("shard", "resumed", "workers", "versions", "max_cost_usd", "max_tokens", "cache")
"""Settings of a run that may be others in each of its shards."""
_OF_SUITE = ("config", "eval_name", "skill")
_FIRST = 1
"""The shard that tries the trigger prompts."""


class MergeError(Exception):
    """Results that are not the shards of one run; the message is for a person."""


def merged_document(shards: Sequence[Recording]) -> Json:
    """Return the document of the whole run.

    With a shard missing, or one that did not end, the run has not ended. Raises ``MergeError``.
    """
    by_number = _by_number(shards)
    documents = {
        number: with_attachments(recording.document, recording.path)
        for number, recording in by_number.items()
    }
    first = documents.get(_FIRST) or next(iter(documents.values()))
    of, ids = _count_and_tasks(by_number[min(by_number)])
    missing = [number for number in range(1, of + 1) if number not in documents]
    unended = [
        f"shard {number}: {text_of(engine_block(found).get('message')) or 'it did not end'}"
        for number, found in documents.items()
        if text_of(engine_block(found).get("status")) in ("canceled", "error")
    ]
    if missing:
        unended.append(f"of {counted(of, 'shard')} these are missing: {', '.join(map(str, missing))}")
    settings = {key: value for key, value in _settings(first).items() if key not in ("shard", "resumed")}
    metadata = block_of(first, "metadata")
    engine = {
        key: value for key, value in engine_block(first).items() if key not in ("conclusion", "message")
    }
    engine |= {
        "settings": {**settings, "shards": of},
        "status": "canceled" if unended else "completed",
        **nonempty(message="; ".join(unended)),
    }
    started = min(text_of(found.get("timestamp")) for found in documents.values())
    head: Json = {
        **first,
        "timestamp": started,
        "summary": _summary(first, list(documents.values())),
        "metadata": {**metadata, "engine": engine},
        **_metrics(list(documents.values())),
    }
    if _FIRST in missing:
        head = {key: value for key, value in head.items() if not key.startswith("trigger_")}
    without = [block_of(found, "baseline_outcome") for found in documents.values()]
    if any(without):
        baseline = {**next(filter(None, without)), **_metrics(without)}
        head["baseline_outcome"] = counted_document(baseline, _in_order(ids, without))
    return counted_document(head, _in_order(ids, list(documents.values())))


def _by_number(shards: Sequence[Recording]) -> dict[int, Recording]:
    """Return the shards by their number, checked to be those of one run."""
    found: dict[int, Recording] = {}
    for shard in shards:
        number = whole(block_of(_settings(shard.document), "shard").get("number"))
        of, ids = _count_and_tasks(shard)
        if not 1 <= number <= of <= MOST_SHARDS or {task.id for task in shard.tasks} - set(ids):
            raise MergeError(f"{shard.path} is not the result of a shard; run it with `--shard`.")
        if number in found:
            raise MergeError(f"{shard.path} and {found[number].path} are the same shard; name it once.")
        found[number] = shard
    shards = list(found.values())
    for shard in shards[1:]:
        if what := _difference(shards[0], shard):
            raise MergeError(f"{shards[0].path} and {shard.path} are of different runs: {what} differs.")
    of, ids = _count_and_tasks(shards[0])
    known: dict[str, Recording] = {}
    for shard in shards:
        for task in shard.tasks:
            if task.id in known and known[task.id] is not shard:
                raise MergeError(f"`{task.id}` is in {known[task.id].path} and in {shard.path}.")
            known[task.id] = shard
    lost = [name for name in ids if name not in known]
    if lost and len(found) == of:
        raise MergeError(f"No shard has the task `{lost[0]}`: the tasks were dealt out in different ways.")
    return dict(sorted(found.items()))


def _difference(one: Recording, other: Recording) -> str:
    """Return what two shards do not have in common, "" when they are of one run."""
    engines = engine_block(one.document), engine_block(other.document)
    for key in ("eval_file", "inputs", "version"):
        if engines[0].get(key) != engines[1].get(key):
            return "the version of the engine" if key == "version" else "the suite"
    if any(one.document.get(key) != other.document.get(key) for key in _OF_SUITE):
        return "the suite or its configuration"
    if _count_and_tasks(one) != _count_and_tasks(other):
        return "the number of shards or the choice of tasks"
    settings = _settings(one.document), _settings(other.document)
    for key in sorted({*settings[0], *settings[1]}):
        if key not in _MAY_DIFFER and settings[0].get(key) != settings[1].get(key):
            return f"`{key}`"
    return ""


def _count_and_tasks(shard: Recording) -> tuple[int, list[str]]:
    written = block_of(_settings(shard.document), "shard")
    return whole(written.get("of")), list(texts_of(written.get("tasks")))


def _settings(document: Block) -> Block:
    return block_of(engine_block(document), "settings")


def _metrics(documents: Sequence[Block]) -> Json:
    """Return the metrics that any shard has: one without tasks has none that follow from them."""
    found = {name: each for document in documents for name, each in block_of(document, "metrics").items()}
    return {"metrics": found} if found else {}


def _in_order(ids: Sequence[str], documents: Sequence[Block]) -> list[Block]:
    """Return the tasks of all shards, in the order of the suite."""
    index = {name: number for number, name in enumerate(ids)}
    tasks = [task for found in documents for task in blocks_of(found.get("tasks"))]
    return sorted(tasks, key=lambda task: index.get(text_of(task.get("test_id")), len(ids)))


def _summary(first: Block, documents: Sequence[Block]) -> Json:
    """Return a summary with what the shards used together; they ran side by side."""
    summaries = [block_of(found, "summary") for found in documents]
    costs = [cost for summary in summaries if (cost := block_of(summary, "cost"))]
    known = list(filter(None, map(cost_of, costs)))
    tokens = sum(whole(cost.get("tokens")) for cost in costs)
    return {
        **block_of(first, "summary"),
        "duration_ms": max(whole(summary.get("duration_ms")) for summary in summaries),
        **nonempty(usage=usage_document(total(usage_of(summary.get("usage")) for summary in summaries))),
        **({"cost": {"tokens": tokens, **cost_document(total_cost(known))}} if known else {}),
    }
