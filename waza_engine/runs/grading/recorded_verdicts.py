"""Verdicts that are copied from the record, and marked as such, when the record is graded again.

These are verdicts of judges, unless a judge executor is requested: a judge costs and may answer differently
today. Verdicts that need the agent's files are copied too, if the files are gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from waza_engine.graders.registry import known_type
from waza_engine.results.json_values import Block, blocks_of
from waza_engine.results.reading.recordings import RecordedTrial, Recording
from waza_engine.results.record import Validation
from waza_engine.runs.grading.graders import BuiltGrader
from waza_engine.vocabulary import COULD_NOT_GRADE

ORIGIN = "origin"
RECORDED = "recorded"
_ASK = "grading a record again asks no judge unless `--judge-executor` names one"


def needs_judge(built: BuiltGrader) -> bool:
    """Return whether a grader would ask a model."""
    return built.grader is not None and built.grader.judged


def continues_session(built: BuiltGrader) -> bool:
    """Return whether the judge of a grader needs the session of the agent, which is over."""
    return built.grader is not None and built.grader.continues_session


def needs_workspace(built: BuiltGrader) -> bool:
    """Return whether a grader cannot grade without the files that the agent left."""
    return built.grader is not None and built.grader.needs_workspace


def without_workspace(built: BuiltGrader, why: str) -> BuiltGrader:
    """Return a grader that reports why there is no directory: that is no failure of the agent."""
    return replace(built, grader=None, error=why) if needs_workspace(built) else built


def has_verdict(built: BuiltGrader, trial: RecordedTrial) -> bool:
    """Return whether a grader of this name and type gave a verdict in the run."""
    found = (trial.outcome.validations or {}).get(built.name)
    return found is not None and _is_of_kind(found.type, built.entry.type)


def recorded_verdict(built: BuiltGrader, trial: RecordedTrial) -> Validation:
    """Return the grader's verdict in the run, an error when it gave none."""
    found = (trial.outcome.validations or {}).get(built.name)
    if found is None or not _is_of_kind(found.type, built.entry.type):
        return Validation(
            name=built.name,
            type=built.entry.type,
            score=0.0,
            passed=False,
            feedback=f"{COULD_NOT_GRADE}there is no recorded verdict, and {_ask_of(built)}",
            weight=built.entry.weight,
            required=built.required,
            status="error",
        )
    return replace(
        found,
        type=built.entry.type,
        score=min(1.0, max(0.0, found.score)),
        weight=built.entry.weight,
        required=built.required,
        status="error" if found.status == "error" else "graded",
        details={**found.details, ORIGIN: RECORDED},
    )


def recorded_baseline(recording: Recording, task_id: str, number: int) -> str | None:
    """Return the same trial's answer without skills, the last one's if there were fewer."""
    baseline = recording.document.get("baseline_outcome")
    if not isinstance(baseline, Mapping):
        return None
    for task in blocks_of(cast("Block", baseline).get("tasks")):
        if task.get("test_id") == task_id:
            outputs = [
                str(output) for run in blocks_of(task.get("runs")) if (output := run.get("final_output"))
            ]
            return outputs[min(number, len(outputs)) - 1] if outputs else None
    return None


def is_recorded(verdict: Validation) -> bool:
    """Return whether a verdict was copied from the record."""
    return verdict.details.get(ORIGIN) == RECORDED


def needs_agent_files(verdict: Validation) -> bool:
    """Return whether a copied verdict could not be computed again without the agent's files."""
    grader = known_type(verdict.type)
    return grader is not None and grader.needs_workspace


def _ask_of(built: BuiltGrader) -> str:
    if continues_session(built):
        return "`continue_session` needs the session of the agent, which is over"
    return _ASK


def _is_of_kind(recorded: str, now: str) -> bool:
    """Return whether a verdict is of that type of grader; judges, those of plug-ins too, count as one."""
    recorded_type, type_now = known_type(recorded), known_type(now)
    if recorded == now or type_now is None or not type_now.judged:
        return recorded == now
    return recorded_type is None or recorded_type.judged
