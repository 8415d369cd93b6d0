"""``waza-engine compare``: compare runs, as a table or as one object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from waza_engine.commands.printer import Part, Printer
from waza_engine.commands.result_arguments import record_of
from waza_engine.counting import counted
from waza_engine.graders.registry import known_type
from waza_engine.number_formats import format_score, format_share, is_finite
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import Conclusion, chosen_parts, conclude, trigger_verdict
from waza_engine.results.json_values import Json, block_of, plain
from waza_engine.results.reading.recordings import RecordedTask, Recording, RecordingError, read_recording
from waza_engine.results.reading.scores import TaskResult
from waza_engine.results.record import RunOutcome, TrialOutcome
from waza_engine.results.reports.descriptions import VERDICT_WORDS
from waza_engine.results.task_conclusion import tasks_by_name, trial_changes
from waza_engine.scoring.statistics import SIGNIFICANT, paired_p
from waza_engine.terminal import complain, say_json
from waza_engine.vocabulary import unique_names

_NOTHING = 1e-9
_SCORED = ("passed", "failed", "errored")
_PROMPT_WORDS = {"passed": "right", "failed": "wrong", "errored": "not tried"}
COMPARED, REGRESSED, NOT_COMPARED = 0, 1, 2


def compare_command(paths: Sequence[Path], output_format: str, *, everything: bool = False) -> int:
    """Print the comparison of two runs or more; ``output_format`` is ``table`` or ``json``.

    The table shows changed tasks, and with ``everything`` the others too. The code is 1 when a task that
    passed in the first run fails in the last.
    """
    try:
        if len(paths) < 2:
            raise RecordingError("Name two result files or more.")
        found = comparison([read_recording(record_of(path)) for path in paths])
    except RecordingError as error:
        complain(str(error))
        return NOT_COMPARED
    if output_format == "json":
        say_json(plain(found))
    else:
        _print(found, everything=everything)
    return REGRESSED if found["regressions"] else COMPARED


def _print(found: dict[str, Any], *, everything: bool) -> None:
    printer = Printer()
    names = [chr(ord("A") + index % 26) for index in range(len(found["files"]))]
    for name, path, model in zip(names, found["files"], found["asked_models"], strict=True):
        printer.line(f"{name}  {path}{f'  ({model})' if model else ''}")
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("")
    for name in (*names, "change"):
        table.add_column(name, justify="right", no_wrap=True)
    shown = [task for task in found["task_deltas"] if everything or _changed(task)]
    prompts = [
        prompt for prompt in found["trigger_prompts"] if everything or len(set(prompt["verdicts"])) > 1
    ]
    printer.table(table, _rows(found, shown, prompts))
    if hidden := len(found["task_deltas"]) - len(shown):
        printer.line((f"{counted(hidden, 'task')} without a change; --all shows them", "dim"))
    if hidden := len(found["trigger_prompts"]) - len(prompts):
        printer.line((f"{counted(hidden, 'trigger prompt')} without a change; --all shows them", "dim"))
    for name in found["regressions"]:
        printer.line(("✗", "red"), f" {name} passed, and fails now")
    for name, parts in zip(names, found["parts"], strict=True):
        for part in parts:
            printer.line(("⚠", "yellow"), f" {name}: {part}")
    printer.line(_trend(found))


def _changed(task: dict[str, Any]) -> bool:
    return len(set(task["verdicts"])) > 1 or abs(task["score_delta"] or 0.0) > _NOTHING


def _trend(found: dict[str, Any]) -> str:
    """Return whether the last run is better, judging by the trials that both have verdicts for."""
    better, worse, p = (found["paired"][key] for key in ("better", "worse", "p"))
    if not better + worse:
        return "no trial that was judged both times came out otherwise"
    counts = f"{counted(better, 'trial')} better, {worse} worse"
    if p > SIGNIFICANT or better == worse:
        return f"{counts}: too few to tell this from chance (p = {p:.2g})"
    return f"{counts}: the last run is {'better' if better > worse else 'worse'} (p = {p:.2g})"


def _rows(
    found: dict[str, Any], tasks: Sequence[dict[str, Any]], prompts: Sequence[dict[str, Any]]
) -> Iterator[Sequence[Part] | None]:
    for task in tasks:
        scored = [verdict in _SCORED for verdict in task["verdicts"]]
        scores = [
            score if is_scored else None for score, is_scored in zip(task["scores"], scored, strict=True)
        ]
        cells = [
            verdict or "n/a" if score is None else f"{format_score(score)} {verdict}"
            for score, verdict in zip(scores, task["verdicts"], strict=True)
        ]
        yield task["task_id"], *cells, _change(task["score_delta"], scores)
    for prompt in prompts:
        words = (_PROMPT_WORDS.get(verdict, "n/a") for verdict in prompt["verdicts"])
        yield prompt["prompt"], *words, "–"
    yield None
    yield "came to", *(VERDICT_WORDS[verdict] for verdict in found["verdicts"]), ""
    for label, key, change, shown in (
        ("score", "aggregate_scores", "aggregate_score_delta", format_score),
        ("tasks passed", "success_rates", "success_rate_delta", format_share),
    ):
        # A run without a judged task has neither.
        numbers = [
            figure if is_scored else None
            for figure, is_scored in zip(found[key], found["scored"], strict=True)
        ]
        cells = ["–" if figure is None else shown(figure) for figure in numbers]
        yield label, *cells, _change(found[change], numbers)


def _change(delta: float | None, numbers: Sequence[float | None]) -> Part:
    """Return the change from the first to the last of some numbers; none where one of these is missing."""
    if delta is None or None in (numbers[0], numbers[-1]):
        return "–"
    colour = "green" if delta > _NOTHING else "red" if delta < -_NOTHING else "dim"
    return f"{delta:+.2f}", colour


def comparison(recordings: Sequence[Recording]) -> Json:
    """Return upstream's object of the runs, in the order given.

    Deltas are last minus first. Missing values are null (upstream writes NaN there and fails): a task that is
    missing has the status ``n/a``, and its numbers are all null. Upstream lacks ``verdicts``, ``scored``
    (whether a run has a score), ``parts`` (what a run was limited to, so that it is no verdict of all),
    ``asked_models``, ``trigger_prompts``, ``regressions`` and ``paired``.
    """
    documents = [recording.document for recording in recordings]
    summaries = [block_of(document, "summary") for document in documents]
    durations = [_number(s.get("duration_ms")) for s in summaries]
    runs = [run_of(document) for document in documents]
    concluded = [conclude(run) for run in runs]
    scores = [
        None if _number(written.get("aggregate_score")) is None else run.summary.weighted_score
        for run, written in zip(runs, summaries, strict=True)
    ]
    rates = [
        None
        if _number(written.get("success_rate")) is None
        else found.counts.pass_rate(run.summary.success_rate)
        for run, written, found in zip(runs, summaries, concluded, strict=True)
    ]
    by_run = [_tasks(recording) for recording in recordings]
    by_name = [tasks_by_name(found.tasks) for found in concluded]
    identifiers = dict.fromkeys(identifier for tasks in by_run for identifier in tasks)
    return {
        "files": [str(recording.path) for recording in recordings],
        "models": [recording.header.model for recording in recordings],
        "aggregate_scores": scores,
        "success_rates": rates,
        "aggregate_score_delta": _delta(scores),
        "success_rate_delta": _delta(rates),
        "task_deltas": [
            {
                **_task(identifier, [tasks.get(identifier) for tasks in by_run]),
                "verdicts": [tasks[identifier].verdict if identifier in tasks else None for tasks in by_name],
            }
            for identifier in identifiers
        ],
        "total_tests": [len(recording.tasks) for recording in recordings],
        "durations_ms": durations,
        "duration_delta_ms": _delta(durations),
        "verdicts": [found.verdict for found in concluded],
        "parts": [list(chosen_parts(run)) for run in runs],
        "asked_models": [recording.header.asked_model for recording in recordings],
        "scored": [found.scored for found in concluded],
        "trigger_prompts": prompt_deltas(runs),
        **_changes(concluded[0], concluded[-1]),
        "tool_metrics": [tool_metrics(recording.tasks) for recording in recordings],
    }


def _changes(then: Conclusion, now: Conclusion) -> Json:
    """Return which tasks passed in the first run and fail in the last, and the paired test over trials."""
    first, last = (tasks_by_name(found.tasks) for found in (then, now))
    both = [name for name in last if name in first]
    steps = [step for name in both for step in trial_changes(first[name], last[name])]
    return {
        "regressions": [
            name for name in both if (first[name].verdict, last[name].verdict) == ("passed", "failed")
        ],
        "paired": {"better": steps.count(1), "worse": steps.count(-1), "p": paired_p(steps)},
    }


def prompt_deltas(runs: Sequence[RunOutcome]) -> list[Json]:
    """Return the result of each trigger prompt in each run, null where it was not tried."""
    by_run = [
        {(trigger.prompt, trigger.should_trigger): trigger_verdict(trigger) for trigger in run.triggers}
        for run in runs
    ]
    return [
        {"prompt": key[0], "should_trigger": key[1], "verdicts": [known.get(key) for known in by_run]}
        for key in dict.fromkeys(key for known in by_run for key in known)
    ]


def _tasks(recording: Recording) -> dict[str, tuple[TaskResult, float | None]]:
    found: dict[str, tuple[TaskResult, float | None]] = {}
    for name, task in zip(unique_names(task.id for task in recording.tasks), recording.tasks, strict=True):
        rate = _number(block_of(task.document, "stats").get("pass_rate"))
        found[name] = task.scores, rate
    return found


def _task(identifier: str, found: Sequence[tuple[TaskResult, float | None] | None]) -> Json:
    scores = [None if each is None or each[1] is None else each[0].score for each in found]
    rates = [None if each is None else each[1] for each in found]
    return {
        "task_id": identifier,
        "display_name": next((each[0].name for each in found if each is not None), ""),
        "scores": scores,
        "pass_rates": rates,
        "statuses": ["n/a" if each is None else each[0].status for each in found],
        "score_delta": _delta(scores),
        "pass_rate_delta": _delta(rates),
    }


def _delta(values: Sequence[float | None]) -> float | None:
    first, last = values[0], values[-1]
    return None if first is None or last is None else last - first


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not is_finite(value):
        return None
    return value


_MANY = 3


def tool_metrics(tasks: Sequence[RecordedTask]) -> dict[str, Any]:
    """Return the statistics of a run; rates are 0..1 and 0 when there is nothing to count.

    ``selection_accuracy`` is the share of verdicts on the choice of tools that passed (upstream always
    reports 0). The histogram counts trials by their number of calls.
    """
    trials = [trial.outcome for task in tasks for trial in task.trials]
    calls = [call for trial in trials for call in trial.tool_calls or ()]
    verdicts = [
        verdict.passed
        for trial in trials
        for verdict in (trial.validations or {}).values()
        if _is_of_tool_choice(verdict.type)
    ]
    counts = Counter(min(_MANY, _calls(trial)) for trial in trials)
    return {
        "total_calls": len(calls),
        "tasks_with_tools": sum(any(_calls(trial.outcome) for trial in task.trials) for task in tasks),
        "avg_calls_per_task": len(calls) / len(tasks) if tasks else 0.0,
        "success_rate": sum(call.success for call in calls) / len(calls) if calls else 0.0,
        "selection_accuracy": sum(verdicts) / len(verdicts) if verdicts else 0.0,
        "call_count_histogram": {
            "0": counts[0],
            "1": counts[1],
            "2": counts[2],
            f"{_MANY}+": counts[_MANY],
        },
    }


def _is_of_tool_choice(grader: str) -> bool:
    found = known_type(grader)
    return found is not None and found.judges_tool_choice


def _calls(trial: TrialOutcome) -> int:
    return len(trial.tool_calls or ())
