"""Durations and usage of recorded trials, from which the cost of a run is estimated.

A file is read once per version; its answers and transcripts are not cached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from waza_engine.results.codec.run_documents import header_of
from waza_engine.results.codec.trials import cost_of, usage_of
from waza_engine.results.json_values import (
    Block,
    block_of,
    blocks_by_name,
    blocks_of,
    duration_of,
    text_of,
)
from waza_engine.results.reading.formats import read_document, todays_layout
from waza_engine.results.reading.newest_scores import result_files
from waza_engine.results.reading.owners import Owner
from waza_engine.results.record import RunHeader
from waza_engine.results.result_file_names import JOURNAL_SUFFIX, LONGEST_BYTES
from waza_engine.scoring.cost import Cost
from waza_engine.vocabulary import Usage

NEWEST_FILES = 10
_MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class TrialExpense:
    """One trial with a verdict: its wall clock in milliseconds, and the usage of agent and judges.

    ``cost`` is that of all its calls as it was counted then, None when nothing was. ``votes`` has the graders
    whose judges were asked several times, by name.
    """

    duration_ms: int
    usage: Usage | None
    judge_usage: Usage | None
    cost: Cost | None
    votes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunExpenses:
    """A recorded run: the expense of each task, by its id, and of the whole run.

    ``duration_ms`` is the run's wall clock; ``prompts_usd`` is the cost of its trigger prompts, None if
    unknown, and ``prompts`` how many were tried. ``is_whole`` says that it ran all graders of its suite.
    """

    header: RunHeader
    tasks: Mapping[str, Sequence[TrialExpense]]
    duration_ms: int
    prompts: int
    prompts_usd: float | None
    is_whole: bool


def expenses_of(suite_dir: Path, eval_file: str) -> Iterator[RunExpenses]:
    """Yield the durations and usage of an eval file's newest recorded runs, the newest first."""
    found: list[RunExpenses] = []
    owner = Owner(suite_dir, eval_file)
    for path in result_files(suite_dir)[:NEWEST_FILES]:
        try:
            state = path.stat()
        except OSError:
            continue
        if path.name.endswith(JOURNAL_SUFFIX) or state.st_size > LONGEST_BYTES:
            continue
        run = _read(path, state.st_mtime_ns, state.st_size)
        if run is not None and owner.has(run.header.eval_file, run.header.eval_name):
            found.append(run)
    yield from sorted(found, key=lambda run: run.header.started, reverse=True)


@lru_cache(_MOST_REMEMBERED)
def _read(path: Path, modified: int, size: int) -> RunExpenses | None:
    del modified, size
    found = read_document(path)
    if found is None:
        return None
    document = todays_layout(found)
    header, summary = header_of(document), block_of(document, "summary")
    trials = {text_of(task.get("test_id")): tuple(_trials(task)) for task in blocks_of(document.get("tasks"))}
    prompts = len(blocks_of(document.get("trigger_results")))
    spent, compared = cost_of(summary.get("cost")), isinstance(document.get("baseline_outcome"), Mapping)
    prompts_usd = None
    if prompts and spent is not None and spent.known and not compared:
        # Tasks from the cache were paid for in another run.
        paid = [task for task in blocks_of(document.get("tasks")) if task.get("cached") is not True]
        costs = [cost_of(run.get("cost")) for task in paid for run in blocks_of(task.get("runs"))]
        prompts_usd = max(0.0, spent.usd - sum(cost.usd for cost in costs if cost is not None))
    return RunExpenses(
        header=header,
        tasks=trials,
        duration_ms=duration_of(summary.get("duration_ms")),
        prompts=prompts,
        prompts_usd=prompts_usd,
        is_whole=not (header.graders or header.settings.get("skip_graders")),
    )


def _trials(task: Block) -> Iterator[TrialExpense]:
    for run in blocks_of(task.get("runs")):
        if text_of(run.get("status")) in ("passed", "failed") and run.get("stopped") is not True:
            yield TrialExpense(
                duration_ms=duration_of(run.get("duration_ms")),
                usage=usage_of(run.get("usage") or block_of(run, "session_digest").get("usage")),
                judge_usage=usage_of(run.get("judge_usage")),
                cost=cost_of(run.get("cost")),
                votes=_votes(run),
            )


def _votes(run: Block) -> dict[str, int]:
    verdicts = blocks_by_name(run, "validations")
    found = {name: blocks_of(block_of(verdict, "details").get("votes")) for name, verdict in verdicts.items()}
    return {name: len(votes) for name, votes in found.items() if votes}
