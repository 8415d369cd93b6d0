"""Deal the tasks of a run out to several machines: each runs one shard, and ``merge`` joins the results."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from waza_engine.later_patterns import compiled_later
from waza_engine.results.json_values import block_of, whole
from waza_engine.results.reading.expenses import expenses_of
from waza_engine.results.reading.recordings import Recording
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.spec.limits import MOST_SHARDS

_WRITTEN = compiled_later(r"(\d{1,4})/(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run: its ``number``, from 1, and how many there are. ``tasks`` are the ids of all tasks.

    Trigger prompts belong to the first shard.
    """

    number: int
    of: int
    tasks: Sequence[str]

    @property
    def tries_triggers(self) -> bool:
        """Return whether the trigger prompts of the suite are tried in this shard."""
        return self.number == 1

    def document(self) -> Mapping[str, Any]:
        """Return the shard as the results of its run name it."""
        return {"number": self.number, "of": self.of, "tasks": list(self.tasks)}


def shard_of(
    settings: RunSettings, suite: Suite, tasks: Sequence[SelectedTask]
) -> tuple[Shard | None, tuple[SelectedTask, ...]]:
    """Return the shard that the settings ask for, None without one, and its tasks in their order.

    A task goes to the shard that the digest of its id selects or, by history, to the one with the least
    recorded work so far, the longest tasks first. Raises ``SuiteError`` for a shard that cannot be.
    """
    if settings.shard is None:
        if settings.shard_by is not None:
            raise SuiteError("`--shard-by` goes with `--shard`; name the shard, such as `--shard 1/4`.")
        return None, tuple(tasks)
    found = _WRITTEN.fullmatch(settings.shard.strip())
    number, of = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= of <= MOST_SHARDS:
        raise SuiteError(
            f"`--shard {settings.shard}` is not a shard; write its number and their count, such as 2/5."
        )
    match settings.shard_by:
        case None:
            numbers = [_by_digest(task.source.id, of) for task in tasks]
        case "history":
            numbers = _by_history(suite, tasks, of)
        case other:
            raise SuiteError(f"`--shard-by {other}` is not a way to deal tasks out; write `history`.")
    shard = Shard(number, of, [task.source.id for task in tasks])
    return shard, tuple(task for task, its in zip(tasks, numbers, strict=True) if its == number)


def recorded_shard(
    recording: Recording, chosen: Sequence[SelectedTask]
) -> tuple[Shard | None, tuple[SelectedTask, ...]]:
    """Return the shard of a run that goes on, None if it had all tasks, and its tasks."""
    written = block_of(recording.header.settings, "shard")
    if not written:
        return None, tuple(chosen)
    shard = Shard(whole(written.get("number")), whole(written.get("of")), [task.source.id for task in chosen])
    recorded = {task.id for task in recording.tasks}
    return shard, tuple(task for task in chosen if task.source.id in recorded)


def _by_digest(task_id: str, of: int) -> int:
    digest = hashlib.sha256(task_id.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8]) % of + 1


def _by_history(suite: Suite, tasks: Sequence[SelectedTask], of: int) -> list[int]:
    """Return the shard of each task. A task that was never run counts as one of usual length."""
    recorded: dict[str, float] = {}
    for run in expenses_of(suite.directory, suite.path.name):
        if "shard" in run.header.settings:
            # One of these may be of this run, and all of its shards must deal out alike.
            continue
        for name, trials in run.tasks.items():
            if trials and name not in recorded:
                recorded[name] = sum(trial.duration_ms for trial in trials) / len(trials)
    usual = median(recorded.values()) if recorded else 1.0
    length = [recorded.get(task.source.id, usual) for task in tasks]
    work, numbers = [0.0] * of, [0] * len(tasks)
    for position in sorted(range(len(tasks)), key=lambda each: (-length[each], tasks[each].source.id)):
        least = work.index(min(work))
        work[least] += length[position]
        numbers[position] = least + 1
    return numbers
