"""Events of runs, for clients that show them test by test (``runEvents`` of ``initialize``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from waza_engine.terminal import visible_lines
from waza_engine.vocabulary import grader_label
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.verdict_places import VerdictLocations
from waza_language_server.protocol.own_requests import RUN_EVENT
from waza_language_server.protocol.services.edit_conversion import FileConverter
from waza_language_server.text.label_escaping import label

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.engine.runs import Event
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.session import Session
    from waza_language_server.text.workspace_edit import FileLocation

_PLACED = frozenset({"graded", "passed", "failed", "errored", "pending", "skipped", "tried"})
"""The events that say something of a line."""
_SAID = frozenset({"message", "words", "reason", "reasons", "counted_reasons", "feedback"})
"""The keys of an event that people read. Names, ids and strings that are compared stay as they are."""


def send_run_event(
    client: ClientConnection,
    session: Session,
    target: RunnableId,
    event: Event,
    token: str | int | None = None,
) -> None:
    """Forward an event, with the item of the tree that it is about and its location.

    ``token`` is the progress token of the request for the run; it distinguishes two runs of a target.
    """
    if not client.options.run_events:
        return
    shown = cast("dict[str, Any]", _shown(event))
    item = _item(target.suite, event)
    if item is not None:
        shown["item"], shown["label"] = item
    if event.get("kind") in _PLACED:
        shown |= _located(client, session, target.suite, event)
    client.protocol.notify(RUN_EVENT, {"id": str(target), "token": token, "event": shown})


def _item(suite: Path, event: Event) -> tuple[str, str] | None:
    task, grader, prompt = event.get("task"), event.get("grader"), event.get("prompt")
    if isinstance(prompt, str):
        should = event.get("should_trigger") is True
        return str(RunnableId(suite, prompt=prompt, should_trigger=should)), label(prompt)
    if not isinstance(task, str):
        return None
    name = grader if isinstance(grader, str) else None
    return str(RunnableId(suite, task, name)), label(grader_label(name) if name else task)


def _located(client: ClientConnection, session: Session, suite: Path, event: Event) -> dict[str, Any]:
    located = _located_in(client, session, session.project, suite)
    task, grader, prompt = event.get("task"), event.get("grader"), event.get("prompt")
    if isinstance(prompt, str):
        return located.of_prompt(prompt, should_trigger=event.get("should_trigger") is True)
    if not isinstance(task, str):
        return {}
    if not isinstance(grader, str):
        return located.of(task)
    return {
        **located.of(task, grader),
        "failures": located.failures(task, grader, event.get("failures") or []),
    }


class _Located:
    """Locations in the files of a suite, each looked up once: a run reports thousands of verdicts."""

    def __init__(self, places: VerdictLocations, files: FileConverter) -> None:
        self._places = places
        self._files = files
        self._known: dict[tuple[str, str | None], dict[str, Any]] = {}

    def of(self, task: str, grader: str | None = None) -> dict[str, Any]:
        found = self._known.get((task, grader))
        if found is None:
            places = self._places
            place = places.of_task(task) if grader is None else places.of_grader(task, grader)
            found = self._known[task, grader] = {
                "location": self._location(place),
                "messageLocation": self._location(places.of_message(task, grader)),
            }
        return found

    def of_prompt(self, prompt: str, *, should_trigger: bool) -> dict[str, Any]:
        return {"location": self._location(self._places.of_prompt(prompt, should_trigger=should_trigger))}

    def failures(self, task: str, grader: str, failures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [
            {
                **failure,
                "message": failure.get("message", ""),
                "location": self._location(self._places.of_check(task, grader, failure.get("path", ()))),
            }
            for failure in failures
        ]

    def _location(self, place: FileLocation) -> dict[str, Any]:
        return _document(self._files.location(place))


def _shown(value: object, *, is_text: bool = False) -> object:
    """Return a value of an event with invisible characters made visible in what people read."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value).items()
        return {key: _shown(each, is_text=key in _SAID) for key, each in entries}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_shown(each, is_text=is_text) for each in cast("Sequence[object]", value)]
    return visible_lines(value) if is_text and isinstance(value, str) else value


@lru_cache(maxsize=4)
def _located_in(client: ClientConnection, session: Session, project: Project, suite: Path) -> _Located:
    # A view of the files does not change; an edit makes another one.
    return _Located(VerdictLocations(project, suite), FileConverter(session, client.abilities))


def _document(location: types.Location) -> dict[str, Any]:
    start, end = location.range.start, location.range.end
    return {
        "uri": location.uri,
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
    }
