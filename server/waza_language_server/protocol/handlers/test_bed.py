"""``waza.testBed``: choose the recorded run that live verdicts of a suite are based on.

``results`` (a recorded run, null for the newest answers) or ``trial`` (from 1, null for all) changes it;
without either the user is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from waza_engine.moments import SOME_TIME_AGO, local_time
from waza_language_server.engine.process import EngineError
from waza_language_server.features.runnables.test_bed import TestBed
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.handlers.regrade import records_of
from waza_language_server.protocol.handlers.run_requests import FAILED, refused
from waza_language_server.protocol.handlers.watched_files import refresh_scores
from waza_language_server.protocol.services.chosen_beds import ChosenBed

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import RunResult
    from waza_language_server.protocol.server import WazaServer

NEWEST = "The newest answers"
ALL = "All trials"
MOST_RUNS = 5
MOST_TRIALS = 5
_WITHIN_SECONDS = 30.0


def bed_of(ls: WazaServer, suite: Path, run: RunResult) -> TestBed | None:
    """Return the recorded baseline of the verdicts of a suite; None without recorded trials."""
    chosen, records = ls.beds.of(suite), records_of(run, RunnableId(suite))
    if not records:
        return None
    started = None
    if chosen.record is not None:
        records = {chosen.record: {task.id: task for task in run.tasks.values() if task.trials}}
        started = chosen.started
    elif len(records) == 1:
        (tasks,) = records.values()
        started = max(task.timestamp for task in tasks.values())
    gone = not any(record.is_file() for record in records)
    return TestBed(suite, records, started, chosen.trial, gone)


async def choose_bed(ls: WazaServer, arguments: tuple[object, ...]) -> dict[str, Any]:
    """Change the test bed of a suite; answer which it is now."""
    given: Mapping[str, object] = {}
    if len(arguments) == 1 and isinstance(arguments[0], Mapping):
        given = cast("Mapping[str, object]", arguments[0])
    try:
        suite = RunnableId.parse(str(given.get("id"))).suite
    except ValueError:
        raise refused("waza.testBed takes the `id` of a suite.") from None
    if not ls.judges_live:
        raise refused("Graders are not evaluated live here; see the setting `waza.live.enable`.", FAILED)
    run = ls.session.project.scores.results(suite)
    if run is None:
        raise refused(f"{suite} has no recorded run yet; run it first.", FAILED)
    known, chosen = await _runs(ls, suite), ls.beds.of(suite)
    if "results" in given or "trial" in given:
        bed = _given(given, known, chosen)
    else:
        trials = max((task.trials for task in run.tasks.values()), default=0)
        bed = await _asked(ls, known, chosen, trials)
    if bed != chosen:
        ls.beds.choose(suite, bed)
        ls.live.change_bed(suite)
        refresh_scores(ls)
    return {"results": None if bed.record is None else str(bed.record), "trial": bed.trial}


async def _runs(ls: WazaServer, suite: Path) -> dict[Path, tuple[datetime, str]]:
    """Return the start and the verdict of the recorded runs of a suite, the newest first."""
    try:
        answer = await ls.runs.ask("result.runs", {"path": str(suite)}, _WITHIN_SECONDS)
    except EngineError as error:
        raise refused(str(error), FAILED) from None
    return {
        Path(run["record"]): (datetime.fromisoformat(run["timestamp"]), str(run["verdict"]))
        for run in answer["runs"]
    }


def _given(
    given: Mapping[str, object], known: Mapping[Path, tuple[datetime, str]], chosen: ChosenBed
) -> ChosenBed:
    record, started, trial = chosen.record, chosen.started, chosen.trial
    if "results" in given:
        results = given["results"]
        record = None if results is None else Path(str(results))
        if record is not None and record not in known:
            raise refused(f"{results!s:.300} is no recorded run of the suite.")
        started = None if record is None else known[record][0]
    if "trial" in given:
        asked = given["trial"]
        if asked is not None and (not isinstance(asked, int) or isinstance(asked, bool) or asked < 1):
            raise refused("`trial` must be a number from 1, or null for all.")
        trial = asked
    return ChosenBed(record, trial, started)


async def _asked(
    ls: WazaServer, known: Mapping[Path, tuple[datetime, str]], chosen: ChosenBed, trials: int
) -> ChosenBed:
    """Ask the user for a run or a trial; without an answer nothing changes."""
    if not ls.abilities.asks_the_user:
        raise refused("waza.testBed needs `results` or `trial` in this editor.", FAILED)
    beds = {NEWEST: ChosenBed(None, chosen.trial)}
    for record, (started, verdict) in list(known.items())[:MOST_RUNS]:
        beds[f"Run of {local_time(started) or SOME_TIME_AGO}, {verdict}"] = ChosenBed(
            record, chosen.trial, started
        )
    if trials > 1:
        beds[ALL] = ChosenBed(chosen.record, None, chosen.started)
        for trial in range(1, min(trials, MOST_TRIALS) + 1):
            beds[f"Trial {trial}"] = ChosenBed(chosen.record, trial, chosen.started)
    question = "On which recorded trials are graders evaluated while you type?"
    return beds.get(await ls.ask(types.MessageType.Info, question, beds) or "", chosen)
