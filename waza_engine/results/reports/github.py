"""A run in GitHub Actions: annotations at files and lines, and the summary of a step.

An annotation is a command on a line of its own; its content is escaped, so that no text of a suite or an
agent can become another command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from waza_engine.counting import counted, cut
from waza_engine.results.conclusion import TASKS, Conclusion
from waza_engine.results.record import TriggerOutcome
from waza_engine.results.reports.descriptions import describe_misclassification
from waza_engine.results.task_conclusion import TaskConclusion
from waza_engine.terminal import workflow_command
from waza_engine.vocabulary import grader_label

MOST = 50
_LONGEST = 1_000
_MOST_NAMES = 10
_RED = ("failed", "errored", "lost")
_Level: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A location in a file of the repository; ``line`` counts from 1, 0 means no line."""

    file: str
    line: int = 0


class SourceLocations(Protocol):
    """The source locations of judged tasks and graders."""

    def of(self, task: str, grader: str) -> SourceLocation:
        """Return the location of a task or its grader, by its id and the name in the results or ""."""
        ...

    def of_prompt(self, text: str, *, should_trigger: bool) -> SourceLocation:
        """Return the place of a trigger prompt."""
        ...


def annotation(
    level: Literal["error", "warning", "notice"], message: str, place: SourceLocation, title: str = ""
) -> str:
    """Return a workflow command on one line."""
    properties = {
        "file": place.file,
        "line": str(place.line) if place.line else "",
        "title": title,
    }
    return workflow_command(level, properties, cut(message, _LONGEST))


def github_annotations(found: Conclusion, suite: str, places: SourceLocations) -> Iterator[str]:
    """Yield an annotation for whatever is not as it should be; beyond 50 their number.

    ``suite`` is the path of the eval file as GitHub knows it.
    """
    lines = list(_all(found, suite, places))
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield annotation("notice", f"{len(lines) - MOST} more are in the report", SourceLocation(suite))


def _all(found: Conclusion, suite: str, places: SourceLocations) -> Iterator[str]:
    for reason in found.reasons:
        if reason.about != TASKS or reason.kind == "unjudged":
            # Everything that fails the step is an error, whatever the cause; missing verdicts do not fail it.
            kind = "warning" if reason.kind == "unjudged" else "error"
            yield annotation(kind, reason.words, SourceLocation(suite), reason.about)
    # With a score that is high enough, a failed task or a wrong answer to a prompt fails nothing.
    level = "error" if found.exit_code else "warning"
    yield from _of_tasks(level, found.tasks, places)
    for task in found.tasks:
        if task.verdict not in _RED and task.flaky:
            chances = f": {task.estimates.words}" if task.estimates is not None else ""
            place = places.of(task.id, "")
            yield annotation("warning", f"task {task.id} is flaky{chances}", place, task.id)
    if found.triggers is not None:
        for trigger in found.triggers.mistakes:
            yield _of_prompt(level, trigger, places)
        for trigger in found.triggers.broken:
            yield _of_prompt("error", trigger, places)


def _of_prompt(level: _Level, trigger: TriggerOutcome, places: SourceLocations) -> str:
    place = places.of_prompt(trigger.prompt, should_trigger=trigger.should_trigger)
    return annotation(
        level, f"{trigger.prompt}: {describe_misclassification(trigger)}", place, "trigger prompt"
    )


def _of_tasks(level: _Level, tasks: Sequence[TaskConclusion], places: SourceLocations) -> Iterator[str]:
    """Yield the failures of tasks: those of a grader of several tasks at its line, and once."""
    groups: dict[tuple[SourceLocation, str, str], list[tuple[str, str]]] = {}
    for task in tasks:
        if task.verdict not in _RED:
            continue
        against = [grader for grader in task.graders if grader.verdict in ("failed", "errored")]
        for grader in against:
            key = places.of(task.id, grader.name), grader_label(grader.name), grader.verdict
            groups.setdefault(key, []).append((task.id, grader.feedback))
        if task.error or not against:
            groups.setdefault((places.of(task.id, ""), "", task.id), []).append(
                ("", task.error or task.reason)
            )
    for (place, name, verdict), messages in groups.items():
        if not name:
            yield from (annotation(level, f"{verdict}: {why}", place, verdict) for _, why in messages)
        elif len(messages) == 1:
            ((task_id, why),) = messages
            yield annotation(level, f"{task_id}: {name} {verdict}: {why}", place, f"{task_id}: {name}")
        else:
            yield annotation(level, f"{name} {verdict} in {_together(messages)}", place, name)


def _together(messages: Sequence[tuple[str, str]]) -> str:
    """Return the messages of several tasks: once if all are the same, else a line for each."""
    count = counted(len(messages), "task")
    if len({why for _, why in messages}) == 1:
        names = ", ".join(name for name, _ in messages[:_MOST_NAMES])
        more = f" and {len(messages) - _MOST_NAMES} more" if len(messages) > _MOST_NAMES else ""
        return f"{count} ({names}{more}): {messages[0][1]}"
    return "\n".join([count, *(f"{name}: {' '.join(why.split())}" for name, why in messages)])
