"""``live.open``, ``live.update`` and the other live methods: re-grade recorded answers as a suite is edited.

The verdicts come as ``live.verdicts`` notifications, a grader each, before the answer to ``live.update``.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from waza_engine.commands.parameters import (
    Params,
    count_param,
    only_known,
    optional_text,
    refused,
    switch_param,
    text_param,
)
from waza_engine.commands.regraded import grader_answer
from waza_engine.files import from_home
from waza_engine.json_rpc import INVALID_PARAMS
from waza_engine.lab.insight import FileProposal, RulePath
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.recorded_rules import ExplainedRule, RecordedFix, explained, recorded_fixes
from waza_engine.lab.live.work import LiveRequest, LiveTask, LiveVerdicts
from waza_engine.masking import masked
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.results.reading.scores import grader_result

MOST_SESSIONS = 8
MOST_FILES = 200
"""The most files of verdicts that are listed: an editor watches them."""

Answer = dict[str, Any]


class LiveSessions:
    """The live sessions of one connection; ``on_verdicts`` gets their verdicts. Thread-safe."""

    def __init__(self, on_verdicts: Callable[[Answer], None]) -> None:
        self._tell = on_verdicts
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._sessions: dict[str, LiveSession] = {}

    def open(self, params: Params, record: Path, suite: Path) -> Answer:
        """Open a session over a record; nothing is judged before its first update.

        ``assertions`` false keeps assertions from being evaluated; ``trial`` is the one of each task that
        counts, from 1. Raises ``RecordingError``.
        """
        only_known(params, ("record", "suite", "assertions", "trial"))
        assertions = switch_param(params, "assertions") is not False
        session = LiveSession(
            LiveRequest(record, suite, assertions=assertions, trial=count_param(params, "trial"))
        )
        recording = session.recording()
        with self._lock:
            name = str(next(self._numbers))
            self._sessions[name] = session
            is_full = len(self._sessions) > MOST_SESSIONS
            oldest = [self._sessions.pop(next(iter(self._sessions)))] if is_full else []
        for left in oldest:
            left.close()
        header = recording.header
        return {
            "session": name,
            "record": str(recording.path),
            "started": header.started.isoformat(),
            "executor": header.executor,
            "model": header.model,
            "tasks": len(recording.tasks),
            "trials": max(len(task.trials) for task in recording.tasks),
        }

    def update(self, params: Params) -> Callable[[], Answer]:
        """Apply open files, by path; null for a closed one. Return a function that judges the changes.

        ``status`` is ``judged``, ``superseded`` by a newer update, or ``unreadable``: then there are no
        verdicts.
        """
        only_known(params, ("session", "overlays"))
        name, changes = text_param(params, "session"), _changes(params)
        session = self._known(name)
        number = session.take(changes)
        return lambda: self._judged(name, session, number)

    def _judged(self, name: str, session: LiveSession, number: int) -> Answer:
        def tell(verdicts: LiveVerdicts) -> None:
            self._tell({"session": name, **verdicts_document(verdicts)})

        try:
            update = session.judge(number, tell)
        except RecordingError as error:
            raise refused(str(error), INVALID_PARAMS) from None
        return {
            "status": update.status,
            "update": number,
            "judged": update.judged,
            **({"message": update.message} if update.message else {}),
            **({"silent": dict(update.silent)} if update.silent else {}),
            **({"files": [str(path) for path in update.files[:MOST_FILES]]} if update.files else {}),
        }

    def explain(self, params: Params) -> Answer:
        """Explain a grader's rule on the recorded trials, with the open files of the last update.

        ``path`` leads from its config to the rule, from ``expected`` for ``grader`` ``_output_contains`` and
        the like; ``task`` is the key of a task for a grader of its own. The answer is empty without an
        explanation. Raises what loading the suite does.
        """
        only_known(params, ("session", "grader", "path", "task"))
        session = self._known(text_param(params, "session"))
        found = explained(session, text_param(params, "grader"), _path(params), optional_text(params, "task"))
        return {} if found is None else explained_document(found)

    def fixes(self, params: Params) -> Answer:
        """Return fixes with which a rule passes on more recorded trials; parameters as for ``explain``."""
        only_known(params, ("session", "grader", "path", "task"))
        session = self._known(text_param(params, "session"))
        found = recorded_fixes(
            session, text_param(params, "grader"), _path(params), optional_text(params, "task")
        )
        return {"fixes": _unmasked(map(fix_document, found))}

    def trial(self, params: Params) -> Answer:
        """Return a recorded trial as a readable page, judged with the open files of the last update.

        ``task`` is its key, ``trial`` counts from 1. An empty answer: there is none, or nothing to read.
        ``marks`` count characters of the ``text``. Raises what loading the suite does.
        """
        from waza_engine.lab.live.recorded_rules import read_trial
        from waza_engine.results.reports.result_page import trial_page

        only_known(params, ("session", "task", "trial"))
        found = read_trial(*self._trial_of(params))
        if found is None:
            return {}
        page = trial_page(found.title, found.outcome, found.prompt, found.judged, found.started)
        return {"text": page.text, "marks": [asdict(mark) for mark in page.marks]}

    def graders(self, params: Params) -> Answer:
        """Return graders that can be created from a string of a recorded trial: each passes on that trial.

        ``task`` and ``trial`` are those of ``live.trial``. Raises what loading the suite does.
        """
        from waza_engine.lab.new_graders import new_graders

        only_known(params, ("session", "task", "trial", "text"))
        where, text = self._trial_of(params), text_param(params, "text")
        if masked(text) != text:
            return {"graders": []}
        return {"graders": _unmasked(asdict(grader) for grader in new_graders(*where, text))}

    def close(self, params: Params) -> Answer:
        """End a session with its workers."""
        only_known(params, ("session",))
        name = text_param(params, "session")
        with self._lock:
            session = self._sessions.pop(name, None)
        if session is not None:
            session.close()
        return {"closed": session is not None}

    def close_all(self) -> None:
        """End all of them."""
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.close()

    def _trial_of(self, params: Params) -> tuple[LiveSession, str, int]:
        session, number = self._known(text_param(params, "session")), count_param(params, "trial")
        if number is None:
            raise refused("`trial` must be a number from 1.", INVALID_PARAMS)
        return session, text_param(params, "task"), number

    def _known(self, name: str) -> LiveSession:
        with self._lock:
            session = self._sessions.get(name)
        if session is None:
            raise refused(f"There is no live session {name:.100}.", INVALID_PARAMS)
        return session


def _unmasked(documents: Iterable[Answer]) -> list[Answer]:
    """Return those that masking leaves as they are: with a masked credential they are not what was tried."""
    return [one for one in documents if masked(repr(one)) == repr(one)]


def _changes(params: Params) -> dict[Path, str | None]:
    block: object = params.get("overlays")
    if block is None:
        return {}
    if not isinstance(block, Mapping):
        raise refused("`overlays` must be an object of texts by path.", INVALID_PARAMS)
    found: dict[Path, str | None] = {}
    for path, text in cast("Mapping[str, object]", block).items():
        if not path or "\0" in path or not (text is None or isinstance(text, str)):
            raise refused("`overlays` must have a text, or null, for each path.", INVALID_PARAMS)
        found[from_home(path).absolute()] = text
    return found


def _path(params: Params) -> RulePath:
    block: object = params.get("path")
    steps = cast("list[object]", block) if isinstance(block, list) else []
    path = tuple(step for step in steps if isinstance(step, str | int))
    if not path or len(path) != len(steps):
        raise refused("`path` must be a list of keys and positions.", INVALID_PARAMS)
    return path


def explained_document(rule: ExplainedRule) -> Answer:
    """Return the results of a rule for ``live.explain``: each trial in a few characters, one in full."""
    return {
        "total": rule.total,
        "trials": [
            {"task": one.task, "trial": one.trial, "passed": one.passed, "observed": one.met.observed}
            for one in rule.trials
        ],
        "most": {
            "task": rule.most.task,
            "trial": rule.most.trial,
            "passed": rule.most.passed,
            **asdict(rule.most.met),
        },
    }


def fix_document(fix: RecordedFix) -> Answer:
    """Return a fix as ``live.fixes`` answers it: a ``value`` for a ``path``, or a ``text`` for a ``file``."""
    proposal = fix.proposal
    if isinstance(proposal, FileProposal):
        change: Answer = {"file": str(proposal.file), "text": proposal.text}
    else:
        change = {"path": list(proposal.path), "value": proposal.value}
    return {
        "words": proposal.words,
        **change,
        "trials": fix.trials,
        "before": asdict(fix.before),
        "after": asdict(fix.after),
    }


def verdicts_document(verdicts: LiveVerdicts) -> Answer:
    """Return a grader's current verdicts in the form of ``live.verdicts``, without the session."""
    tasks = {key: _task(verdicts.grader, task) for key, task in verdicts.tasks.items()}
    return {"update": verdicts.update, "grader": verdicts.grader, "tasks": tasks}


def _task(grader: str, task: LiveTask) -> Answer:
    if not task.trials:
        return {"origin": "none"}
    verdicts = [verdict for _, verdict in task.trials]
    now = grader_result(grader, verdicts, task.recorded.started)
    return {
        **grader_answer(now, task.recorded.scores.graders.get(grader), verdicts),
        "trials": [
            {
                "trial": trial.position,
                "passed": verdict.passed,
                "score": verdict.score,
                "feedback": verdict.feedback,
                "failed": [list(check.path) for check in verdict.checks if not check.passed],
            }
            for trial, verdict in task.trials
        ],
        **({"read": {str(path): digest for path, digest in task.read.items()}} if task.read else {}),
    }
