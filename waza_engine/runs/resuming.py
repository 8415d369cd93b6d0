"""Resume a recorded run: which trials are reused, which run again, and whether the suite is unchanged.

Nothing is paid for twice without a request. A trial or trigger prompt that was cut off while a paid agent was
answering is ``lost``: it may have been paid for, and runs again only with ``--retry lost``.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
from waza_engine.results.attachments import with_attachments
from waza_engine.results.codec.run_documents import engine_block, run_of
from waza_engine.results.inputs import RunInputs, inputs_digest, inputs_of
from waza_engine.results.json_values import Block, block_of, text_of
from waza_engine.results.reading.formats import read_document
from waza_engine.results.reading.newest_scores import result_files
from waza_engine.results.reading.owners import Owner
from waza_engine.results.reading.recordings import Recording, RecordingError, read_recording
from waza_engine.results.record import RunHeader, RunOutcome, TrialOutcome, TriggerOutcome
from waza_engine.results.result_file_names import JOURNAL_SUFFIX, record_boundary, results_directory
from waza_engine.results.writing.store import ResultsError, ResultStore, recover_journals
from waza_engine.runs.loading.discovery import eval_files_of, runs_as_suite
from waza_engine.runs.loading.suite_on_disk import AlreadyResumedError, Suite, SuiteError
from waza_engine.runs.passes.deciding_files import current_inputs
from waza_engine.runs.settings.table import RunSettings, setting_rows, settings_from
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.triggers import LOST, is_lost
from waza_engine.scoring.cost import Cost, Spending, tokens_of

_RUN_ID = compiled_later(r"run-\d+-[0-9a-f]+")
_LOST = f"the run was interrupted {LOST}"
_MAY_CHANGE = {"max_cost_usd", "max_tokens", "fail_under", "fail_under_trigger", "cache"}
"""Recorded settings that may differ when a run is resumed."""
_MOST_NAMED = 5
_GIVE_WAY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """The interrupted run that a run resumes.

    ``tasks`` and ``baseline`` hold its reused trials by task id, ``triggers`` its trigger prompts. ``spent``
    is the total cost so far, including trials that run again and the runs that it resumed itself. ``lost``
    has the task id of each trial that may have been paid for besides, even if it runs again.
    """

    run_id: str
    words: str
    tasks: Mapping[str, Sequence[TrialOutcome]]
    baseline: Mapping[str, Sequence[TrialOutcome]]
    triggers: Sequence[TriggerOutcome]
    spent: Spending = field(default_factory=Spending)
    lost: Sequence[str] = ()

    @property
    def spent_elsewhere(self) -> Spending:
        """Return the spending without the reused trials, which the record counts itself."""
        kept = [trial for run in (self.tasks, self.baseline) for trials in run.values() for trial in trials]
        usages = [usage for trial in kept for usage in (trial.usage, trial.judge_usage, trial.other_usage)]
        usd = self.spent.cost.usd - sum(trial.cost.usd for trial in kept if trial.cost is not None)
        return Spending(
            max(0, self.spent.tokens - sum(map(tokens_of, usages))),
            Cost(max(0.0, usd), self.spent.cost.unpriced),
        )

    def trials_of(self, *, baseline: bool) -> Mapping[str, Sequence[TrialOutcome]]:
        """Return the kept trials of a pass."""
        return self.baseline if baseline else self.tasks


def paths_and_record(paths: Sequence[Path]) -> tuple[list[Path], Path | None]:
    """Return the paths of suites, and the record of the run to go on with, if one of the paths is one.

    A record is a result file, or the id of a run in the results of the suites. Raises ``SuiteError``.
    """
    records = [
        path
        for path in paths
        if (path.suffix in (".json", ".jsonl") and not runs_as_suite(path)) or _RUN_ID.fullmatch(str(path))
    ]
    suites = [path for path in paths if path not in records]
    if len(records) > 1:
        raise SuiteError("`--resume` goes on with one run; name one result file.")
    if not records:
        return suites or [Path()], None
    record = records[0]
    if record.suffix:
        record = record.absolute()
        if not suites:
            try:
                recording = read_recording(record)
            except RecordingError as error:
                raise SuiteError(str(error)) from None
            if record_boundary(record) is None or not recording.eval_file:
                raise SuiteError(f"{record} does not say where its suite is; name the suite as well.")
            suites = [record.parent.parent.parent / recording.eval_file]
        return suites, record
    suites = suites or [Path()]
    for eval_file in eval_files_of(suites):
        owner = Owner(eval_file.parent, eval_file.name)
        for path in result_files(eval_file.parent):
            found = read_document(path)
            if found is not None and found.get("eval_id") == str(record) and _is_of(found, owner):
                return [eval_file], path
    raise SuiteError(f"No result file of the suite is of the run {record}.")


def recording_to_resume(settings: RunSettings) -> Recording:
    """Return the run that ``settings.record`` names, or else the newest of the suite that did not end.

    Raises ``SuiteError`` when there is none, and for a run that goes on.
    """
    eval_file = settings.path
    try:
        recovered = recover_journals(eval_file.parent)
        record = settings.record or _newest_unended(eval_file, settings.retry)
        # The journal that was named may have become this document.
        document = record.with_name(record.name.removesuffix(JOURNAL_SUFFIX) + ".json")
        recording = read_recording(document if document in recovered else record)
    except (RecordingError, ResultsError) as error:
        raise SuiteError(str(error)) from None
    if recording.goes_on:
        raise SuiteError(f"{recording.path}: this run has not ended; wait for it, or end it.")
    if settings.record is not None:
        _check_not_resumed(eval_file.parent, recording.header.run_id)
    return recording


def open_store_of_resumed(store: ResultStore, suite_directory: Path, run_id: str) -> None:
    """Start the journal of a run that resumes the run ``run_id``, unless another one does so as well.

    Each looks for others once more when its own journal is there, so that of two that start at the same
    moment at least one sees the other. That one removes its journal, and looks again a little later. Raises
    ``ResultsError`` or ``AlreadyResumedError``.
    """
    while True:
        _check_not_resumed(suite_directory, run_id)
        store.open()
        try:
            _check_not_resumed(suite_directory, run_id, except_for=store.journal_path)
        except AlreadyResumedError:
            store.discard()
            # Two that waited equally long would see each other again.
            time.sleep(random.uniform(0, _GIVE_WAY_SECONDS))
        else:
            return


def _check_not_resumed(suite_directory: Path, run_id: str, *, except_for: Path | None = None) -> None:
    """Refuse a run that another one has resumed: what that one paid for would be paid again."""
    for path in result_files(suite_directory):
        document = None if path == except_for else read_document(path)
        if document is None:
            continue
        if text_of(block_of(engine_block(document), "settings").get("resumed")) != run_id:
            continue
        if path.name.endswith(JOURNAL_SUFFIX):
            sentence = f"{path}: a run that resumes this one has not ended; wait for it, or end it."
            raise AlreadyResumedError(sentence)
        raise AlreadyResumedError(f"The run was resumed by the run in {path}: name that one instead.")


def resumed_settings(settings: RunSettings, header: RunHeader) -> RunSettings:
    """Return the settings of a resumed run: the recorded ones, and the given ones that may change.

    Raises ``SuiteError`` when another setting differs.
    """
    if settings.shard or settings.shard_by:
        raise SuiteError("A run that goes on has the shard that it had: leave `--shard` out.")
    defaults = {part.name: part.default for part in fields(RunSettings)}
    rows = setting_rows()
    then: dict[str, Any] = {}
    try:
        recorded = _recorded(header)
    except (KeyError, TypeError, ValueError):
        raise SuiteError("The settings of that run cannot be read; start a new run.") from None
    for name, value in recorded.items():
        given = getattr(settings, name)
        if given == defaults[name]:
            then[name] = value
        elif given != value and name not in _MAY_CHANGE:
            option = rows[name].option or f"--{name}"
            raise SuiteError(
                f"`{option}` differs from the run that is to go on: leave it out, or start a new run."
            )
    return replace(settings, **then)


def earlier_run(
    recording: Recording,
    suite: Suite,
    tasks: Sequence[SelectedTask],
    chosen: Sequence[SelectedTask],
    retry: Sequence[str],
    *,
    costs: bool,
) -> EarlierRun:
    """Return the reused part of a run. ``costs`` is true when its agent is paid.

    ``chosen`` are the tasks of all shards, ``tasks`` those of this one. Raises ``SuiteError`` when the suite
    or its selected tasks have changed since.
    """
    _check_same(recording, suite, tasks, chosen)
    outcome = run_of(with_attachments(recording.document, recording.path))
    kept, baseline = (
        {task.id: list(_reused(task.trials, retry, costs=costs)) for task in run.tasks} if run else {}
        for run in (outcome, outcome.baseline)
    )
    trials = [trial for each in (kept, baseline) for found in each.values() for trial in found]
    triggers = [
        found
        for found in outcome.triggers
        if not found.error or ("lost" if is_lost(found) else "errors") not in retry
    ]
    if costs and "lost" not in retry:
        triggers += _lost_prompts(outcome)
    lost, prompts = sum(trial.lost for trial in trials), sum(map(is_lost, triggers))
    words = f"goes on with the run of {outcome.header.started:%Y-%m-%d %H:%M} UTC"
    words += f": {counted(len(trials) - lost, 'trial')} kept"
    words += f", {lost} lost" if lost else ""
    words += f", {counted(prompts, 'trigger prompt')} lost" if prompts else ""
    if lost or prompts:
        words += ": they may have been paid for, and `--retry lost` runs them again"
    uncounted = [
        task.id
        for run in (outcome, outcome.baseline)
        for task in (run.tasks if run else ())
        for trial in task.trials
        if costs and (trial.lost or trial.stopped)
    ]
    spent = outcome.spending or Spending()
    return EarlierRun(outcome.header.run_id, words, kept, baseline, triggers, spent, uncounted)


def _newest_unended(eval_file: Path, retry: Sequence[str]) -> Path:
    """Return the newest record of an eval file that did not end or, to retry something, the newest at all."""
    owner = Owner(eval_file.parent, eval_file.name)
    resumed: set[str] = set()
    unread: Path | None = None
    for path in result_files(eval_file.parent):
        document = read_document(path)
        if document is None and path.parent == results_directory(eval_file.parent):
            unread = unread or path
        if document is None or not _is_of(document, owner):
            continue
        if path.name.endswith(JOURNAL_SUFFIX):
            # Two runs that go on with the same one would pay for the same trials.
            raise SuiteError(f"{path}: a run of this suite has not ended; wait for it, or end it.")
        engine = engine_block(document)
        run_id = text_of(document.get("eval_id"))
        ended = engine.get("status") not in ("canceled", "error") or run_id in resumed
        if retry or not ended:
            if unread is not None:
                raise SuiteError(
                    f"{unread} cannot be read, and what it has would be paid for again: delete it, "
                    f"or name the run to go on with, such as {path}."
                )
            return path
        resumed.add(text_of(block_of(engine, "settings").get("resumed")))
    what = "run" if retry else "interrupted run"
    why = f" ({unread} cannot be read)" if unread is not None else ""
    raise SuiteError(f"{eval_file}: there is no {what} to go on with{why}; run the suite without `--resume`.")


def _is_of(document: Block, owner: Owner) -> bool:
    recorded = text_of(engine_block(document).get("eval_file"))
    return owner.has(recorded, text_of(document.get("eval_name")))


def _recorded(header: RunHeader) -> dict[str, Any]:
    written = header.settings
    recorded = {
        name: written[name] for name, row in setting_rows().items() if row.recorded and name in written
    }
    recorded |= {name: written[name] for name in ("baseline", "fail_fast") if name in written}
    if "*" in (written.get("disabled_skills") or ()):
        recorded["no_skills"] = True
    document = {
        "path": "",
        "tasks": list(header.tasks),
        "graders": list(header.graders),
        "executor": header.executor,
        "model": header.model or None,
        "judge_model": header.judge_model or None,
        "trials": header.trials_per_task,
        **recorded,
    }
    read = settings_from(document)
    return {name: getattr(read, name) for name in document if name != "path"}


def _check_same(
    recording: Recording, suite: Suite, tasks: Sequence[SelectedTask], chosen: Sequence[SelectedTask]
) -> None:
    then, now = [task.id for task in recording.tasks], [task.source.id for task in tasks]
    if twice := [name for name, number in Counter(now).items() if number > 1]:
        raise SuiteError(f"{suite.path}: two tasks have the id `{twice[0]}`; give one of them another id.")
    if not recording.header.inputs:
        raise SuiteError(f"{recording.path} does not say how its suite was then; start a new run.")
    before, today = inputs_of(recording.path, recording.header.inputs), current_inputs(suite, chosen)
    if inputs_digest(today) not in (recording.header.inputs, inputs_digest(before)):
        changed = list(_changed(before, today))
        named = ", ".join(f"`{name}`" for name in changed[:_MOST_NAMED]) or "one of its files"
        more = f" and {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
        raise SuiteError(
            f"{suite.path}: the suite has changed since that run ({named}{more}); "
            "undo the changes, or start a new run."
        )
    if set(then) != set(now):
        raise SuiteError(f"{suite.path}: other tasks are chosen today than in that run; start a new run.")


def _changed(then: RunInputs, now: RunInputs) -> Iterator[str]:
    before = {file.path: file.sha256 for file in then.files}
    after = {file.path: file.sha256 for file in now.files}
    yield from (path for path in sorted(before | after) if before.get(path) != after.get(path))


def _reused(trials: Sequence[TrialOutcome], retry: Sequence[str], *, costs: bool) -> Iterator[TrialOutcome]:
    for trial in trials:
        if trial.lost or trial.stopped:
            if costs and "lost" not in retry:
                yield replace(trial, status="error", stopped=False, lost=True, error=_LOST)
        elif not (trial.status == "error" and "errors" in retry) and not (
            trial.status == "failed" and "failed" in retry
        ):
            yield trial


def _lost_prompts(run: RunOutcome) -> Iterator[TriggerOutcome]:
    """Yield the trigger prompts that were sent to an agent that is paid, and have no result."""
    tried = {found.prompt for found in run.triggers}
    for answer in run.unjudged:
        if answer.prompt and answer.prompt not in tried:
            tried.add(answer.prompt)
            # The pass that has the suite's prompts knows whether it should trigger.
            yield TriggerOutcome(
                prompt=answer.prompt, should_trigger=True, did_trigger=False, output=answer.text, error=_LOST
            )
