"""Create a grader from a selection in a recorded trial: words of the answer, or a tool call.

Nothing is invented, and each is evaluated as in a live session: an offered grader passes on that trial, and
reports on how many others it passes. Only the author of the suite knows whether it is a good requirement.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, cast

from waza_engine.graders.base import GraderError
from waza_engine.graders.matching.matchers import text_of
from waza_engine.graders.matching.nearest import escaped
from waza_engine.graders.matching.patterns import current_workers
from waza_engine.graders.matching.strings import lowered, quoted, shortened
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.work import AnsweredTrial, LentTrials, built_in
from waza_engine.results.reports.result_page import call_line
from waza_engine.runs.grading.graders import BuiltGrader, grade_here
from waza_engine.scaffold.file_changes import slug
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.vocabulary import ToolCall

SECONDS = 1.5
"""How long trials are judged; graders that could not be counted by then are not offered."""
MOST = 6
MOST_CALLS = 5
LONGEST = 300
"""Characters of a selection, or of an argument, that a grader is made of."""
LEAST = 3
"""The shortest useful part of an argument, in characters."""
_SHOWN = 60
_SIGN = re.compile(r"^(- )?(⚙ )?")
_GENERAL = re.compile(r"([0-9]+|[ \t\r\n\f]+)")
_DIGITS = re.compile(r"[0-9]+")
_BLANKS = re.compile(r"[ \t\r\n\f]+")


@dataclass(frozen=True, slots=True)
class Counted:
    """How many trials a grader passes, of how many, and of how many tasks these are."""

    passed: int
    trials: int
    tasks: int


@dataclass(frozen=True, slots=True)
class NewGrader:
    """A grader that passes on its source trial, as an entry of a list of graders.

    ``words`` describe its requirement. ``suite`` is None when there was no time to judge all trials.
    """

    type: str
    name: str
    config: Mapping[str, Any]
    words: str
    task: Counted
    suite: Counted | None


@dataclass(frozen=True, slots=True)
class _Draft:
    type: str
    verb: str
    subject: str
    words: str
    config: Mapping[str, Any]


def new_graders(session: LiveSession, task: str, number: int, selected: str) -> list[NewGrader]:
    """Return the graders for a selection of a trial (from 1) of the task with this key.

    It is a selection on the page of the trial, or any words of its answer, the name of a tool that it called
    or a part of the arguments. Empty without a usable selection, or if a newer edit waits. Raises
    ``SuiteFileError``, ``SuiteError`` and ``RecordingError``.
    """
    return copy_context().run(_new_graders, session, task, number, selected.strip())


def _new_graders(session: LiveSession, task: str, number: int, selected: str) -> list[NewGrader]:
    latest = time.monotonic() + SECONDS
    found: list[NewGrader] = []
    with session.answered_trials() as at_hand:
        current_workers.set(at_hand.workers.patterns)
        own = [trial for trial in at_hand.trials if trial.task == task]
        others = [trial for trial in at_hand.trials if trial.task != task]
        chosen = next((trial for trial in own if trial.recorded.position == number), None)
        for draft in _drafts(selected, chosen) if chosen is not None else ():
            name = f"{draft.verb}_{slug(draft.subject, 'selection').replace('-', '_')}"
            built = _built(draft, name)
            if built is None or chosen is None or not _passes(built, chosen):
                continue
            in_task = _count(built, own, at_hand, latest)
            if in_task is None or len(found) == MOST:
                break
            rest = _count(built, others, at_hand, latest)
            found.append(NewGrader(draft.type, name, draft.config, draft.words, in_task, _sum(in_task, rest)))
        if at_hand.superseded():
            # Its workers may have been ended, so their last results are not reliable.
            return []
    return found


def _built(draft: _Draft, name: str) -> BuiltGrader | None:
    entry = GraderEntry(name=name, type=draft.type, config=dict(draft.config))
    try:
        return BuiltGrader(name, entry, built_in(entry))
    except GraderError:
        return None


def _passes(built: BuiltGrader, trial: AnsweredTrial) -> bool:
    verdict = grade_here(built, trial.context)
    return verdict.status == "graded" and verdict.passed


def _count(
    built: BuiltGrader, trials: Sequence[AnsweredTrial], at_hand: LentTrials[AnsweredTrial], latest: float
) -> Counted | None:
    passed = 0
    for trial in trials:
        if time.monotonic() > latest or at_hand.superseded():
            return None
        passed += _passes(built, trial)
    return Counted(passed, len(trials), len({trial.task for trial in trials}))


def _sum(one: Counted, other: Counted | None) -> Counted | None:
    if other is None:
        return None
    return Counted(one.passed + other.passed, one.trials + other.trials, one.tasks + other.tasks)


def _drafts(selected: str, trial: AnsweredTrial) -> Iterator[_Draft]:
    if not selected or not trial.recorded.gradable:
        return
    calls = trial.context.tool_calls or ()
    if len(selected) <= LONGEST:
        yield from _of_answer(selected, trial.context.output)
    seen: list[Mapping[str, Any]] = []
    for draft in _of_calls(selected, calls):
        if draft.config not in seen:
            seen.append(draft.config)
            yield draft


def _of_answer(selected: str, output: str) -> Iterator[_Draft]:
    if lowered(selected) in lowered(output):
        words = f"the answer contains {quoted(shortened(selected, _SHOWN))}"
        yield _Draft("text", "contains", selected, words, {"contains": [selected]})
    pattern = _generalised(selected)
    if pattern != selected and re.search(r"\w", _GENERAL.sub("", selected)):
        words = f"the answer matches {shortened(pattern, _SHOWN)}"
        yield _Draft("text", "matches", selected, words, {"regex_match": [pattern]})


def _generalised(text: str) -> str:
    """Return a pattern for a string with any numbers and any whitespace in place of its own."""
    return "".join(_general(part) for part in _GENERAL.split(text))


def _general(part: str) -> str:
    if _DIGITS.fullmatch(part):
        return r"\d+"
    return r"\s+" if _BLANKS.fullmatch(part) else escaped(part)


def _of_calls(selected: str, calls: Sequence[ToolCall]) -> Iterator[_Draft]:
    """Yield graders for selected call lines, tools that are named, or arguments that are selected."""
    rows = [row.strip() for row in selected.splitlines() if row.strip()]
    lines = {call_line(call): call for call in calls}
    whole = [lines[row] for row in rows if row in lines]
    if len(rows) > 1:
        if len(whole) == len(rows) <= MOST_CALLS:
            yield _expecting([(call, _plain_arguments(call)) for call in whole])
        return
    given = _SIGN.sub("", rows[0])
    for call in whole:
        yield _expecting([(call, _plain_arguments(call))])
    for call in calls:
        if call in whole or given.strip("`") == call.name:
            config = {"required_tools": [call.name]}
            yield _Draft("tool_calls", "calls", call.name, f"the agent calls {call.name}", config)
    if not whole and len(given) <= LONGEST:
        for call in calls:
            yield from _of_arguments(given, call)


def _of_arguments(given: str, call: ToolCall) -> Iterator[_Draft]:
    """Yield graders for a part of the arguments, as written in JSON, or for a part of one argument."""
    arguments = call.arguments
    pairs = _json(f"{{{given.strip('`{}, ')}}}")
    if isinstance(pairs, dict):
        wanted = cast("dict[str, Any]", pairs)
        if wanted and all(name in arguments and arguments[name] == value for name, value in wanted.items()):
            yield _expecting([(call, wanted)])
        return
    if len(given) < LEAST:
        return
    text = _json(f'"{given}"')
    texts = [given, *([text] if isinstance(text, str) and text != given else [])]
    for name, value in arguments.items():
        held = next((each for each in texts if each in text_of(value)), None)
        if held is not None:
            words = f"the agent calls {call.name} with {quoted(shortened(held, _SHOWN))} in {name}"
            config = _expected([{"tool": _exactly(call), "args": {name: {"contains": held}}}])
            yield _Draft("tool_calls", "calls", f"{call.name} {held}", words, config)


def _expecting(calls: Sequence[tuple[ToolCall, Mapping[str, Any]]]) -> _Draft:
    """Return the grader that expects calls with exactly these arguments, and any others besides."""
    entries: list[dict[str, Any]] = []
    phrases: list[str] = []
    for call, arguments in calls:
        args = {name: {"equals": value} for name, value in arguments.items()}
        entries.append({"tool": _exactly(call), **({"args": args} if args else {})})
        given = ", ".join(f"{name} {shortened(text_of(value), _SHOWN)}" for name, value in arguments.items())
        phrases.append(f"{call.name} with {given}" if given else call.name)
    subject = " ".join([calls[0][0].name, *(text_of(value) for value in calls[0][1].values())])
    words = f"the agent calls {' and '.join(phrases)}"
    return _Draft("tool_calls", "calls", subject, words, _expected(entries))


def _expected(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {"expect": list(entries)}


def _plain_arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of a call that are easy to compare: no lists, no page-long strings."""
    return {
        name: value
        for name, value in call.arguments.items()
        if isinstance(value, str | int | float) and len(text_of(value)) <= LONGEST
    }


def _exactly(call: ToolCall) -> str:
    return f"^{escaped(call.name)}$"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
