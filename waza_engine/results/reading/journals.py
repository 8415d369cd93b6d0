"""Convert the journal of a run that did not end to a document with every planned task."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from waza_engine.counting import counted
from waza_engine.files import FileError, read_beginning
from waza_engine.results.codec.run_documents import counted_document, spending_document, spending_of
from waza_engine.results.codec.summary_blocks import counted_task
from waza_engine.results.codec.trials import (
    arrived_answer_of,
    cost_of,
    trial_document,
    unjudged_documents,
    usage_of,
    with_answers,
)
from waza_engine.results.json_values import (
    Block,
    Json,
    block_of,
    blocks_of,
    nonempty,
    object_in,
    text_of,
    whole,
)
from waza_engine.results.record import ArrivedAnswer, TrialOutcome, UnjudgedAnswer
from waza_engine.results.result_file_names import record_boundary
from waza_engine.scoring.cost import Spending, tokens_of, total_cost

_OF_JOURNALS = (
    *("process", "planned", "spent_before", "elapsed_ms"),
    *("trial", "baseline_trial", "asked", "answers", "broke"),
)
_OF_RUN = ("is_baseline", "baseline_outcome", "summary", "trigger_results")
_LONGEST_BEGINNING = 1_000_000
"""Bytes of the first line of a journal: it names the process and the planned tasks."""
_SAME_SECONDS = 2
_UNKEPT = "nothing more could be kept"
_USAGES = ("usage", "judge_usage", "other_usage")


def unended_document(journal: Block, message: str) -> Json:
    """Return the document of a run that did not end, with its numbers; its status is ``canceled``.

    ``journal`` is the content of its lines, ``message`` why the run has no end. If the journal has the error
    that prevented a document, that is the message, and the status ``error``. A planned task without an
    outcome has the trials that were finished; without any it is ``skipped``: its result is unknown, so it has
    neither passed nor failed.
    """
    broke = text_of(journal.get("broke"))
    status, reason, message = ("error", broke, _UNKEPT) if broke else ("canceled", message, message)
    # A free run goes on after a failed write, so a task may have run.
    unknown = f"{'nothing is known of it' if broke else 'not run'}: {message}"
    journal = _with_trials(journal, message)
    planned = blocks_of(journal.get("planned"))
    metadata = block_of(journal, "metadata")
    engine = {**block_of(metadata, "engine"), "status": status, "message": reason}
    known = {key: value for key, value in journal.items() if key not in _OF_JOURNALS}
    known |= nonempty(unjudged_answers=unjudged_documents(_of_untried_prompts(journal)))
    head: Json = {
        **known,
        "summary": _so_far(journal),
        "metrics": {},
        "metadata": {**metadata, "engine": engine},
    }
    baseline = block_of(journal, "baseline_outcome")
    if baseline:
        without = _listed(planned, blocks_of(baseline.get("tasks")), unknown)
        header = {key: value for key, value in head.items() if key not in _OF_RUN}
        head["baseline_outcome"] = counted_document(header, without)
    return counted_document(head, _listed(planned, blocks_of(journal.get("tasks")), unknown))


def _of_untried_prompts(journal: Block) -> Iterator[UnjudgedAnswer]:
    """Yield the answers to trigger prompts that were sent, and not tried to their end."""
    tried = {text_of(found.get("prompt")) for found in blocks_of(journal.get("trigger_results"))}
    answered: set[str] = set()
    for answer in map(arrived_answer_of, blocks_of(journal.get("answers"))):
        if answer.prompt and answer.prompt not in tried and answer.unjudged.text:
            answered.add(answer.prompt)
            yield answer.unjudged
    sent = dict.fromkeys(text_of(asked.get("prompt")) for asked in blocks_of(journal.get("asked")))
    known = {"", *tried, *answered}
    yield from (UnjudgedAnswer("agent", "", prompt) for prompt in sent if prompt not in known)


def _with_trials(journal: Block, message: str) -> Block:
    """Return a journal whose active tasks have their finished trials."""
    names = {text_of(task.get("test_id")): task for task in blocks_of(journal.get("planned"))}
    wanted = whole(block_of(journal, "config").get("runs_per_test"))

    arrived = [arrived_answer_of(answer) for answer in blocks_of(journal.get("answers"))]
    asked = [trial for trial in blocks_of(journal.get("asked")) if "prompt" not in trial]

    def completed(done: Sequence[Block], trials: Sequence[Block], *, baseline: bool) -> list[Block]:
        finished = {text_of(task.get("test_id")) for task in done}
        begun: dict[str, dict[int, Block]] = {}
        answers: dict[tuple[str, int], list[ArrivedAnswer]] = {}
        for answer in arrived:
            if answer.baseline == baseline and answer.task and answer.task not in finished:
                answers.setdefault((answer.task, answer.trial), []).append(answer)
        for trial in trials:
            if (name := text_of(trial.get("test_id"))) not in finished:
                run = block_of(trial, "run")
                begun.setdefault(name, {})[whole(run.get("run_number"))] = run
        for trial in asked:
            name, number = text_of(trial.get("test_id")), whole(trial.get("run_number"))
            if (trial.get("baseline") is True) == baseline and name not in finished:
                begun.setdefault(name, {}).setdefault(number, trial_document(_cut_trial(number)))
        for (name, number), found in answers.items():
            run = begun.setdefault(name, {}).get(number) or trial_document(_cut_trial(number))
            begun[name][number] = with_answers(run, found)
        # Trials end in any order, and appear here once before they are graded.
        in_order = {name: [runs[number] for number in sorted(runs)] for name, runs in begun.items()}
        return [*done, *(under_way(name, runs) for name, runs in in_order.items())]

    def under_way(name: str, runs: Sequence[Block]) -> Block:
        ended = sum(run.get("stopped") is not True for run in runs)
        count = f"{ended} of {counted(max(wanted, ended), 'trial')} ran" if ended else "no trial was finished"
        ran = f"{message}; {count}"
        return {**counted_task(names.get(name, {"test_id": name}), runs), "error_msg": ran}

    tasks = completed(blocks_of(journal.get("tasks")), blocks_of(journal.get("trial")), baseline=False)
    baseline = block_of(journal, "baseline_outcome")
    without = completed(
        blocks_of(baseline.get("tasks")), blocks_of(journal.get("baseline_trial")), baseline=True
    )
    of_baseline = {"is_baseline": True, "baseline_outcome": {**baseline, "tasks": without}} if without else {}
    return {**journal, "tasks": tasks, **of_baseline}


def _cut_trial(number: int) -> TrialOutcome:
    return TrialOutcome(number, "skipped", None, stopped=True)


def begun(path: Path) -> Block | None:
    """Return the first line of a journal, None when it is missing or incomplete."""
    try:
        line, end, _ = read_beginning(path, _LONGEST_BEGINNING, within=record_boundary(path)).partition(b"\n")
    except FileError:
        return None
    return object_in(line) if end else None


def this_process() -> Json:
    """Return this process as a journal or a lease names it, so that ``goes_on`` finds it."""
    import psutil

    started = psutil.Process().create_time()
    return {"pid": os.getpid(), "started": started, "booted": psutil.boot_time()}


def goes_on(journal: Block) -> bool:
    """Return whether the process that writes a journal is running."""
    import psutil  # most runs have ended and need no check

    process: Any = journal.get("process")
    if not isinstance(process, Mapping) or journal.get("broke"):
        return False
    owner = cast("Mapping[str, Any]", process)
    try:
        writer = psutil.Process(int(owner["pid"]))
        # A killed process keeps its number until its parent collects it, which may be never.
        off = writer.create_time() - float(owner["started"])
        booted = psutil.boot_time()
        # Linux counts both from the clock of today, which may have been set since; others do not.
        set_by = booted - float(owner.get("booted", booted))
        is_it = min(abs(off), abs(off - set_by)) < _SAME_SECONDS
        return is_it and writer.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, KeyError, ValueError, TypeError, OverflowError):
        return False


def _so_far(journal: Block) -> Json:
    """Return the duration until a run's last finished task, and its cost, that of earlier runs included."""
    tasks = blocks_of(journal.get("tasks"))
    trials = [trial for task in tasks for trial in blocks_of(task.get("runs"))]
    elapsed = journal.get("elapsed_ms")
    took = whole(elapsed) if elapsed is not None else sum(whole(trial.get("duration_ms")) for trial in trials)
    both = [*tasks, *blocks_of(block_of(journal, "baseline_outcome").get("tasks"))]
    every = [trial for task in both for trial in blocks_of(task.get("runs"))]
    prompts = [answer for answer in blocks_of(journal.get("answers")) if answer.get("prompt")]
    used = [usage_of(trial.get(key)) for trial in every for key in _USAGES]
    used += [usage_of(answer.get("usage")) for answer in prompts]
    tokens = sum(map(tokens_of, used))
    costs = [cost_of(paid.get("cost")) for paid in (*every, *prompts)]
    before = spending_of(journal.get("spent_before")) or Spending()
    cost = total_cost((before.cost, *(cost for cost in costs if cost is not None)))
    return {"duration_ms": took, "cost": spending_document(Spending(before.tokens + tokens, cost))}


def _listed(planned: Sequence[Block], done: Sequence[Block], unknown: str) -> list[Block]:
    """Return the planned tasks in order with their outcomes so far; unplanned ones come last.

    ``unknown`` is the message for one without an outcome.
    """
    outcomes = {text_of(task.get("test_id")): task for task in done}
    expected = [text_of(task.get("test_id")) for task in planned]
    found = [
        outcomes.get(name) or {**task, "status": "skipped", "runs": [], "error_msg": unknown}
        for name, task in zip(expected, planned, strict=True)
    ]
    unplanned = outcomes.keys() - set(expected)
    return [*found, *(task for task in done if text_of(task.get("test_id")) in unplanned)]
