"""The document of a re-graded run: the record with new verdicts and new numbers.

Parts that were not graded again stay as they were written: other tasks, sessions, ``golden``, groups,
triggers, the baseline, and keys that this engine does not know (upstream drops most of them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import waza_engine
from waza_engine.results.codec.figures import counted_run, counted_task, required_pass_rate
from waza_engine.results.codec.runs import counted_document
from waza_engine.results.codec.verdicts import verdict_blocks, verdict_document
from waza_engine.results.json_values import Block, Json, block_of, given, plain, texts_of
from waza_engine.results.reading.recordings import RecordedTrial, Recording
from waza_engine.results.record import Validation
from waza_engine.results.reviews import with_calibration

# These describe the old verdicts.
_STALE_IN_A_TRIAL = ("failure_artifacts",)


def regraded_task(
    document: Block,
    trials: Sequence[tuple[RecordedTrial, Mapping[str, Validation] | None]],
    *,
    error: str = "",
    kept: bool = False,
    pass_rate: float = 1.0,
) -> Json:
    """Return a task with the new verdicts of its trials, None for a trial that had nothing to grade.

    ``error`` says why the task cannot be graded; its trials stay as recorded then. With ``kept`` the verdicts
    of graders that were not asked stay and count. ``pass_rate`` is what the task asks for now.
    """
    if error:
        return {**document, "status": "error", "error_msg": error}
    runs = [_trial(trial, validations, kept=kept) for trial, validations in trials]
    if not runs:
        return dict(document)
    # It is still true that some trials did not end.
    lost = [trial for trial, _ in trials if trial.outcome.stopped]
    stale = ("skill_impact", "required_pass_rate", *(() if lost else ("error_msg",)))
    rest = {key: value for key, value in document.items() if key not in stale}
    return counted_task({**rest, **required_pass_rate(pass_rate)}, runs)


def regraded_document(
    recording: Recording, tasks: Sequence[Json], *, task_patterns: Sequence[str], graders: Sequence[str]
) -> Json:
    """Return the whole document with these tasks, in the order of the record, and its new numbers."""
    before = {key: value for key, value in recording.document.items() if key != "calibration"}
    document = dict(with_calibration(counted_document(before, tasks)))
    metadata = block_of(document, "metadata")
    engine = dict(block_of(metadata, "engine"))
    engine["regraded"] = {
        "version": waza_engine.__version__,
        "timestamp": datetime.now(UTC).isoformat(),
        "record": recording.path.name,
        **({"tasks": list(task_patterns)} if task_patterns else {}),
        **({"graders": list(graders)} if graders else {}),
    }
    if asked := texts_of(engine.pop("graders", None)):
        # A run of some graders alone is one of all when all have judged its tasks again.
        is_whole = not task_patterns and not graders
        engine |= given(graders=None if is_whole else list(dict.fromkeys([*asked, *graders])))
    document["metadata"] = {**metadata, "engine": engine}
    return cast("Json", plain(document))


def _trial(trial: RecordedTrial, validations: Mapping[str, Validation] | None, *, kept: bool) -> Json:
    if validations is None:
        return dict(trial.document)
    written = {name: plain(verdict_document(verdict)) for name, verdict in validations.items()}
    run = {key: value for key, value in trial.document.items() if key not in _STALE_IN_A_TRIAL}
    run["validations"] = {**verdict_blocks(trial.document), **written} if kept else written
    return counted_run(run, execution_error=bool(trial.outcome.error))
