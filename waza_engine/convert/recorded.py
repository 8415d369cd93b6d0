"""Recorded runs as captures or trials of agent-eval-harness, and these as a result file.

| of a record | in a row |
|---|---|
| a task with one trial, when all have one | a capture |
| a task with several trials | trials |
| prompt, hint | `input`, `hint`: from the suite, the prompt else from the transcript |
| the verdicts of a trial | one `score`: it passes when all required graders pass; they are its `outcome` |
| the transcript and the tool calls | `trajectory` |
| the error of a trial | `errors`, or the `reasoning` of a trial |

The other direction is ``results/reading/captures.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from waza_engine.convert.conversion import Conversion, ConversionError
from waza_engine.graders.programs.program_output import UnusableAnswerError
from waza_engine.harness.agent import answer_of
from waza_engine.harness.row_grading import score_of_verdicts
from waza_engine.harness.rows import HarnessError, Prompt, line_of, read_rows
from waza_engine.moments import is_known
from waza_engine.results.json_values import Json, moment, text_of
from waza_engine.results.reading.captures import OF_ROWS
from waza_engine.results.reading.recordings import RecordedTask, Recording, RecordingError, read_recording
from waza_engine.results.record import TrialOutcome
from waza_engine.results.result_file_names import JOURNAL_SUFFIX
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, load_suite
from waza_engine.runs.regrading.regrade import suite_of_record
from waza_engine.runs.trials.conversation import Conversation
from waza_engine.scoring.cost import Cost
from waza_engine.scoring.pass_estimates import pass_estimates
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.harness_files import ROW_SUFFIXES, row_kind
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_reader import DISK
from waza_engine.spec.task_file import TaskFile
from waza_engine.vocabulary import Target

RESULTS, ROWS = "results.json", "results.jsonl"
_NO_COUNTERPART = (
    "checkpoints",
    "skill_invocations",
    "command_invocations",
    "files_changed",
    "responder",
    "tool_denials",
    "unjudged",
    "judge_usage",
    "other_usage",
    "cost",
    "workspace",
)


def recording_at(path: Path) -> Recording | None:
    """Return the run of a result file, or of captures or trials; None for any other file.

    Raises ``ConversionError`` for one that is broken.
    """
    is_journal = path.name.endswith(JOURNAL_SUFFIX)
    if not path.is_file() or (path.suffix not in (".json", *ROW_SUFFIXES)):
        return None
    try:
        if path.suffix in ROW_SUFFIXES and not is_journal:
            first = next(read_rows(path), None)
            if first is None or row_kind(first.block) not in ("capture", "trials"):
                return None
        found = read_recording(path)
    except (HarnessError, RecordingError) as error:
        if path.suffix == ".json":
            return None
        raise ConversionError(str(error)) from None
    return found if any("runs" in task.document for task in found.tasks) else None


def converted_recording(recording: Recording, to: Target | None, directory: Path) -> Conversion:
    """Return the rows of a result file, or the result file of rows. Raises ``ConversionError``."""
    path = recording.path.absolute()
    of_rows = OF_ROWS in recording.header.settings
    if to not in (None, "waza" if of_rows else "harness"):
        kind = "captures become a result file" if of_rows else "a result file becomes captures"
        raise ConversionError(f"{path} cannot be converted to {to}: {kind}.")
    config = {"trials_per_task": 1, "timeout_seconds": 1, "executor": "replay"}
    spec = EvalFile.model_validate({"config": config, "tasks": [path.name]})
    source = Suite(path, path.parent, spec, ())
    conversion = Conversion(source, "harness" if of_rows else None, directory)
    if of_rows:
        conversion.files[RESULTS] = json.dumps(recording.document, indent=2, ensure_ascii=False) + "\n"
    else:
        rows = b"".join(map(line_of, _rows(conversion, recording)))
        conversion.files[ROWS] = rows.decode("utf-8")
    return conversion


def _rows(conversion: Conversion, recording: Recording) -> Iterator[Json]:
    path, header = conversion.source.path, recording.header
    if recording.document.get("trigger_results"):
        conversion.lose(path, "trigger_results", "agent-eval-harness has no trigger tests")
    tasks = _tasks_of(recording)
    are_trials = any(len(task.trials) > 1 for task in recording.tasks)
    agent = {"agent": " ".join(filter(None, (header.executor, header.model)))}
    for recorded in recording.tasks:
        task, answers = tasks.get(recorded.id), list(_answers(conversion, recording, recorded))
        first = recorded.trials[0].outcome if recorded.trials else None
        prompt = _input(task, first)
        if not prompt:
            conversion.lose(path, f"{recorded.id}: input", "the record does not have the prompt")
        hint = {"hint": task.hint} if task is not None and task.hint else {}
        metadata = {**(task.metadata if task is not None else {}), **agent}
        head: Json = {"id": recorded.id, "input": prompt, **hint}
        if are_trials and answers:
            yield {**head, **_trials(answers), "metadata": metadata}
        for answer in answers if not are_trials else ():
            score = answer.pop("score", None)
            verdict = {} if score is None else {"score": score, "outcome": score["outcome"]}
            yield {**head, **answer, "metadata": {**metadata, **answer["metadata"]}, **verdict}


def _answers(conversion: Conversion, recording: Recording, recorded: RecordedTask) -> Iterator[Json]:
    """Yield each trial as a capture without its prompt."""
    path = conversion.source.path
    for trial in recorded.trials:
        found = trial.outcome
        place = f"{recorded.id}: trial {found.number}"
        if found.stopped or found.status == "skipped":
            conversion.lose(path, place, "it was not run to its end")
            continue
        for name in _NO_COUNTERPART:
            value = getattr(found, name)
            if value and value != Cost():
                conversion.lose(path, f"{recorded.id}: {name}", "rows have no counterpart")
        started = _start_of(found, recording)
        talk = Conversation(
            output=found.output,
            events=list(found.events),
            tool_calls=list(found.tool_calls or ()),
            usage=found.usage,
            error=found.error,
        )
        turns = max(1, sum(event.get("type") == "user.message" for event in found.events))
        prompt = Prompt(recorded.id, [""] * turns)
        answer = answer_of(prompt, talk, started, started + found.duration_ms, {})
        verdict: Json = {}
        if found.validations and not found.broke:
            try:
                verdict = {"score": score_of_verdicts(found.validations)}
            except UnusableAnswerError as error:
                verdict = {"errors": [*answer.get("errors", ()), str(error)]}
        yield {**answer, **verdict}


def _trials(answers: Sequence[Json]) -> Json:
    entries = [_entry(number, answer) for number, answer in enumerate(answers, 1)]
    graded = [entry["pass"] for entry in entries if "pass" in entry]
    rates: Json = {}
    if graded and len(graded) == len(entries):
        found = pass_estimates(sum(graded), len(graded))
        rates = {
            "passRate": found.rate.rate,
            "passAtK": found.pass_at_k.rate,
            "passExpK": found.pass_exp_k.rate,
        }
    return {"k": len(entries), **rates, "trials": entries}


def _entry(number: int, answer: Json) -> Json:
    errors = answer.get("errors")
    broke = {"pass": False, "reasoning": f"Error: {errors[0]}"} if errors else {}
    return {
        "trialNum": number,
        "output": answer["output"],
        "trajectory": answer["trajectory"],
        "duration": answer["timing"]["total"],
        **(broke or answer.get("score", {})),
    }


def _input(task: TaskFile | None, trial: TrialOutcome | None) -> str | list[str]:
    if task is not None and task.inputs.prompt:
        turns = task.inputs.follow_up_prompts
        return [task.inputs.prompt, *turns] if turns else task.inputs.prompt
    events = trial.events if trial is not None else ()
    prompts = [text_of(event.get("content")) for event in events if event.get("type") == "user.message"]
    return prompts if len(prompts) > 1 else "".join(prompts)


def _start_of(trial: TrialOutcome, recording: Recording) -> int:
    """Return when a trial began, in milliseconds since 1970: its first event, else its run."""
    times = (moment(event["timestamp"]) for event in trial.events if event.get("timestamp"))
    began = next(filter(is_known, times), recording.header.started)
    return round(began.timestamp() * 1000) if is_known(began) else 0


def _tasks_of(recording: Recording) -> Mapping[str, TaskFile]:
    """Return the tasks of the record's suite by id, none where it is not found."""
    try:
        path = suite_of_record(recording, DISK)
        return {each.id: each.task for each in load_suite(path).tasks if each.task is not None}
    except (SuiteError, SuiteFileError):
        return {}
