"""``waza.testBed``: choose the recorded run that live verdicts of a suite are based on.

``results`` (a recorded run, null for the newest answers) or ``trial`` (from 1, null for all) changes it;
without either the user is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.moments import SOME_TIME_AGO, local_time
from waza_language_server.features.runnables.live_source import TEST_BED
from waza_language_server.protocol.messages import REQUEST_FAILED, refused
from waza_language_server.protocol.services.live_sources import LiveBaseline
from waza_language_server.protocol.services.run_requests import ask_engine, only_argument, target_of

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

NEWEST = "The newest answers"
ALL = "All trials"
MOST_RUNS = 5
MOST_TRIALS = 5


async def choose_baseline(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Change the recorded baseline of a suite; answer which it is now."""
    given = only_argument(arguments)
    suite = target_of(given.get("id"), TEST_BED).suite
    if not ls.grades_live:
        raise refused(
            "Graders are not evaluated live here; see the setting `waza.live.enable`.", REQUEST_FAILED
        )
    run = ls.session.project.scores.results(suite)
    if run is None:
        raise refused(f"{suite} has no recorded run yet; run it first.", REQUEST_FAILED)
    known, chosen = await _runs(ls, suite), ls.baselines.of(suite)
    if "results" in given or "trial" in given:
        baseline = _given(given, known, chosen)
    else:
        trials = max((task.trials for task in run.tasks.values()), default=0)
        baseline = await _asked(ls, known, chosen, trials)
    if baseline != chosen:
        ls.baselines.choose(suite, baseline)
        ls.live.change_baseline(suite)
        ls.changes.scores_changed()
    return {"results": None if baseline.record is None else str(baseline.record), "trial": baseline.trial}


async def _runs(ls: WazaServer, suite: Path) -> dict[Path, tuple[datetime, str]]:
    """Return the start and the verdict of the recorded runs of a suite, the newest first."""
    answer = await ask_engine(ls.runs, "result.runs", {"path": str(suite)})
    return {
        Path(run["record"]): (datetime.fromisoformat(run["timestamp"]), str(run["verdict"]))
        for run in answer["runs"]
    }


def _given(
    given: Mapping[str, object], known: Mapping[Path, tuple[datetime, str]], chosen: LiveBaseline
) -> LiveBaseline:
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
    return LiveBaseline(record, trial, started)


async def _asked(
    ls: WazaServer, known: Mapping[Path, tuple[datetime, str]], chosen: LiveBaseline, trials: int
) -> LiveBaseline:
    """Ask the user for a run or a trial; without an answer nothing changes."""
    if not ls.abilities.asks_the_user:
        raise refused("waza.testBed needs `results` or `trial` in this editor.", REQUEST_FAILED)
    baselines = {NEWEST: LiveBaseline(None, chosen.trial)}
    for record, (started, verdict) in list(known.items())[:MOST_RUNS]:
        baselines[f"Run of {local_time(started) or SOME_TIME_AGO}, {verdict}"] = LiveBaseline(
            record, chosen.trial, started
        )
    if trials > 1:
        baselines[ALL] = LiveBaseline(chosen.record, None, chosen.started)
        for trial in range(1, min(trials, MOST_TRIALS) + 1):
            baselines[f"Trial {trial}"] = LiveBaseline(chosen.record, trial, chosen.started)
    question = "On which recorded trials are graders evaluated while you type?"
    return baselines.get(await ls.ask_user(types.MessageType.Info, question, baselines) or "", chosen)
