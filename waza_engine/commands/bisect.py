"""``waza-engine bisect``: where two recorded runs of a task diverge, and what differed between them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from waza_engine.commands.printer import Printer
from waza_engine.commands.records import record_of
from waza_engine.counting import counted
from waza_engine.results.codec.runs import commit_document, commit_in
from waza_engine.results.inputs import InputFile, RunInputs, inputs_of
from waza_engine.results.json_values import Json, plain
from waza_engine.results.places import results_directory
from waza_engine.results.reading.history import history_of
from waza_engine.results.reading.recordings import (
    RecordedTask,
    RecordedTrial,
    Recording,
    RecordingError,
    read_recording,
)
from waza_engine.results.record import TrialOutcome
from waza_engine.runs.loading.discovery import eval_file_of
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.terminal import complain, say_json
from waza_engine.vocabulary import shown_grader

FOUND, NOT_COMPARED = 0, 2
_TEXT_CHARACTERS = 500


def bisect_command(eval_file: Path, task: str, results: Sequence[Path], output_format: str) -> int:
    """Print the differences of two runs of a task, by default of the last two; return the exit code."""
    try:
        old, new = _recordings(eval_file, task, results)
    except (RecordingError, SuiteError) as error:
        complain(str(error))
        return NOT_COMPARED
    found = bisection(old, new, task)
    if found is None:
        without = old if all(each.id != task for each in old.tasks) else new
        complain(f"{without.path} has no answer of a task `{task}`.")
        return NOT_COMPARED
    if output_format == "json":
        say_json(plain(found))
    else:
        _tell(found)
    return FOUND


def _recordings(eval_file: Path, task: str, results: Sequence[Path]) -> tuple[Recording, Recording]:
    if len(results) not in (0, 2):
        raise RecordingError("Name both result files, the older one first, or none: then it is the last two.")
    if not results:
        path = eval_file_of(eval_file)
        runs = [
            results_directory(path.parent) / run.file
            for run in history_of(path).runs
            if (found := run.task(task)) is not None and found.trials
        ]
        if len(runs) < 2:
            count = "only one run has" if runs else "no run has"
            raise RecordingError(f"{count} answers of the task `{task}`; two are compared.".capitalize())
        results = runs[-2:]
    old, new = (read_recording(record_of(path)) for path in results)
    return old, new


def _tell(found: dict[str, Any]) -> None:
    printer = Printer()
    old, new = found["old"], found["new"]
    printer.line((found["task"], "bold"), f": trial {found['trial']} of both runs")
    for sign, side in (("-", old), ("+", new)):
        names = ", ".join(map(shown_grader, side["not_passed"]))
        failed = f", not passed: {names}" if names else ""
        commit = commit_in(side)
        at = f"  at {commit.words}" if commit else ""
        printer.line(f"{sign} {Path(side['file']).name}{at}  {side['status']}{failed}")
    printer.line()
    parted = found["divergence"]
    if parted is None:
        printer.line("The agent said and did the same in both.")
    else:
        same = f"the first {parted['same_steps']} steps are the same; " if parted["same_steps"] else ""
        printer.line((f"{same}turn {parted['turn']} is the first that differs:".capitalize(), "bold"))
        for sign, colour, step in (("-", "red", parted["old"]), ("+", "green", parted["new"])):
            text = "nothing more" if step is None else f"{step['kind']}: {step['text'][:_TEXT_CHARACTERS]}"
            printer.lines(text, f"  {sign} ", colour)
    printer.line()
    _tell_differences(printer, found)


def _tell_differences(printer: Printer, found: dict[str, Any]) -> None:
    for each in found["differences"]:
        printer.line(f"{each['what']}: {_words(each['old'])} → {_words(each['new'])}")
    if found["files"] is None:
        printer.line(("The files cannot be compared: a run kept no record of them.", "dim"))
    for file in found["files"] or ():
        printer.line((file["path"], "bold"), f" {file['change']}")
        for line in file["lines"]:
            printer.line((f"  {line}", "green" if line.startswith("+") else "red"))
    if not found["differences"] and found["files"] == []:
        printer.line("Nothing that is recorded differs: the same files, model and executor; chance is left.")


def _words(value: object) -> str:
    """Return a setting for display: ``none`` where there is none."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, cast("Sequence[object]", value))) or "none"
    if value in (None, ""):
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


_MOST_LINES = 60
_LONGEST_STEP = 2_000


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened in a trial: ``kind`` is prompt, message, call or answer; turns count from 1."""

    turn: int
    kind: str
    text: str


def bisection(old: Recording, new: Recording, task_id: str) -> Json | None:
    """Return the differences of two runs of a task, None when one of them has no such task.

    ``divergence`` is null when the compared trials did the same. ``trial`` is the first whose verdict
    differs, else the first.
    """
    before, after = _task(old, task_id), _task(new, task_id)
    if before is None or after is None or not before.trials or not after.trials:
        return None
    position = _compared(before.trials, after.trials)
    then, now = before.trials[position].outcome, after.trials[position].outcome
    return {
        "task": task_id,
        "old": _side(old, then),
        "new": _side(new, now),
        "trial": position + 1,
        "divergence": _divergence(list(_steps(then)), list(_steps(now))),
        "differences": list(_differences(old, new)),
        **_files(old, new, task_id),
    }


def _task(recording: Recording, task_id: str) -> RecordedTask | None:
    return next((task for task in recording.tasks if task.id == task_id), None)


def _compared(old: Sequence[RecordedTrial], new: Sequence[RecordedTrial]) -> int:
    pairs = list(zip(old, new, strict=False))
    return next((at for at, (then, now) in enumerate(pairs) if then.outcome.status != now.outcome.status), 0)


def _side(recording: Recording, trial: TrialOutcome) -> Json:
    return {
        "file": str(recording.path),
        "started": recording.header.started.isoformat(),
        "commit": commit_document(recording.header.commit),
        "status": trial.status,
        "not_passed": [name for name, verdict in (trial.validations or {}).items() if not verdict.passed],
    }


def _steps(trial: TrialOutcome) -> Iterator[Step]:
    """Yield the agent's prompts, messages and calls, in order; ids and times do not count."""
    turn, told = 1, ""
    calls = {call.id: call for call in trial.tool_calls or () if call.id}
    for event in trial.events:
        content = str(event.get("content") or "").strip()
        match event.get("type"):
            case "user.message" if content:
                yield Step(turn, "prompt", content)
            case "assistant.message":
                if content:
                    yield Step(turn, "message", content)
                    told = content
                turn += 1
            case "tool.execution_start":
                call = calls.pop(str(event.get("tool_call_id", "")), None)
                name = call.name if call is not None else str(event.get("tool_name") or "")
                yield Step(turn, "call", _call(name, call.arguments if call else event.get("arguments")))
            case _:
                pass
    if not trial.events:
        for call in trial.tool_calls or ():
            yield Step(turn, "call", _call(call.name, call.arguments))
    if trial.output.strip() and trial.output.strip() != told:
        yield Step(turn, "answer", trial.output.strip())


def _call(name: str, arguments: object) -> str:
    return f"{name} {json.dumps(arguments or {}, ensure_ascii=False, sort_keys=True, default=str)}"


def _divergence(old: Sequence[Step], new: Sequence[Step]) -> Json | None:
    same = 0
    for then, now in zip(old, new, strict=False):
        if (then.kind, then.text) != (now.kind, now.text):
            break
        same += 1
    if same == len(old) == len(new):
        return None
    then = old[same] if same < len(old) else None
    now = new[same] if same < len(new) else None
    first = now or then
    return {
        "turn": first.turn if first is not None else 1,
        "same_steps": same,
        "old": None if then is None else {"kind": then.kind, "text": then.text[:_LONGEST_STEP]},
        "new": None if now is None else {"kind": now.kind, "text": now.text[:_LONGEST_STEP]},
    }


def _differences(old: Recording, new: Recording) -> Iterator[Json]:
    for what in ("skill", "executor", "model", "judge_model", "timeout_seconds"):
        then, now = getattr(old.header, what), getattr(new.header, what)
        if then != now:
            yield {"what": what.replace("_", " "), "old": then, "new": now}
    then, now = old.header.commit, new.header.commit
    if then is not None and now is not None and then != now:
        yield {"what": "commit", "old": then.words, "new": now.words}
    settings, others = _settings(old), _settings(new)
    for name in sorted({*settings, *others}):
        then, now = settings.get(name), others.get(name)
        if then != now:
            yield {"what": name, "old": then, "new": now}


def _settings(recording: Recording) -> Json:
    """Return the settings of a run, each value by itself (``versions.python``).

    The result of ``changed_since`` is left out.
    """
    told: Json = {}
    for name, value in recording.header.settings.items():
        if isinstance(value, Mapping):
            told |= {f"{name}.{key}": inner for key, inner in cast("Mapping[str, Any]", value).items()}
        else:
            told[name] = value
    return {name: value for name, value in told.items() if not name.startswith("affected.")}


def _files(old: Recording, new: Recording, task_id: str) -> Json:
    """Return the files that decide the task and differ; null when one run kept no record of them."""
    then, now = inputs_of(old.path, old.header.inputs), inputs_of(new.path, new.header.inputs)
    if not then.files or not now.files:
        return {"files": None}
    before, after = _deciding(then, task_id), _deciding(now, task_id)
    changed: list[Json] = []
    for path in sorted({*before, *after}):
        first, second = before.get(path), after.get(path)
        if first is None or second is None or first.sha256 != second.sha256:
            change = "added" if first is None else "removed" if second is None else "changed"
            changed.append({"path": path, "change": change, "lines": _lines(then, now, path)})
    return {"files": changed}


def _deciding(inputs: RunInputs, task_id: str) -> dict[str, InputFile]:
    return {file.path: file for file in inputs.files if not file.tasks or task_id in file.tasks}


def _lines(then: RunInputs, now: RunInputs, path: str) -> list[str]:
    """Return the changed lines, each with its ``+`` or ``-``; nothing when a text was not stored."""
    if path not in then.texts and path not in now.texts:
        return []
    old, new = then.texts.get(path, "").splitlines(), now.texts.get(path, "").splitlines()
    changed = [
        line
        for line in difflib.unified_diff(old, new, n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    left = len(changed) - _MOST_LINES
    return [*changed[:_MOST_LINES], *([f"… and {counted(left, 'more line')}"] if left > 0 else [])]
