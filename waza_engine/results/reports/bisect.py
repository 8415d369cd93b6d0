"""Find the first turn in which two recorded runs of one task diverge, and what differed.

Differences are taken from the records: skill, model, executor, and the files that decided the task, with the
lines that changed if their contents were stored.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from waza_engine.counting import counted
from waza_engine.results.codec.run_documents import commit_document
from waza_engine.results.inputs import InputFile, RunInputs, inputs_of
from waza_engine.results.json_values import Json
from waza_engine.results.reading.recordings import RecordedTask, RecordedTrial, Recording
from waza_engine.results.record import TrialOutcome

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
    turn, shown = 1, ""
    calls = {call.id: call for call in trial.tool_calls or () if call.id}
    for event in trial.events:
        content = str(event.get("content") or "").strip()
        match event.get("type"):
            case "user.message" if content:
                yield Step(turn, "prompt", content)
            case "assistant.message":
                if content:
                    yield Step(turn, "message", content)
                    shown = content
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
    if trial.output.strip() and trial.output.strip() != shown:
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
    flat: Json = {}
    for name, value in recording.header.settings.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{key}": inner for key, inner in cast("Mapping[str, Any]", value).items()}
        else:
            flat[name] = value
    return {name: value for name, value in flat.items() if not name.startswith("affected.")}


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
