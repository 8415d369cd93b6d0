"""What runs tell, for clients that show it test by test (``runEvents`` of the introduction)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from waza_engine.terminal import visible_lines
from waza_engine.vocabulary import shown_grader
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.verdict_places import VerdictPlaces
from waza_language_server.protocol.edit_conversion import FileConverter
from waza_language_server.protocol.own_requests import RUN_EVENT
from waza_language_server.text.labels import label

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.engine.runs import Event
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.text.workspace_edit import FilePlace

_PLACED = frozenset({"graded", "passed", "failed", "errored", "pending", "skipped", "tried"})
"""The events that say something of a line."""
_SAID = frozenset({"message", "words", "reason", "reasons", "counted_reasons", "feedback"})
"""What an event tells people: shown as text. Names, ids and texts that are compared stay as they are."""


def tell_event(ls: WazaServer, target: RunnableId, event: Event, token: str | int | None = None) -> None:
    """Hand an event on, with the item of the tree that it is about and where that stands.

    ``token`` is that of the progress that its run was asked for with, which tells two runs of a target apart.
    """
    if not ls.options.run_events:
        return
    told = cast("dict[str, Any]", _shown(event))
    item = _item(target.suite, event)
    if item is not None:
        told["item"], told["label"] = item
    if event.get("kind") in _PLACED:
        told |= _located(ls, target.suite, event)
    ls.protocol.notify(RUN_EVENT, {"id": str(target), "token": token, "event": told})


def _item(suite: Path, event: Event) -> tuple[str, str] | None:
    task, grader, prompt = event.get("task"), event.get("grader"), event.get("prompt")
    if isinstance(prompt, str):
        should = event.get("should_trigger") is True
        return str(RunnableId(suite, prompt=prompt, should_trigger=should)), label(prompt)
    if not isinstance(task, str):
        return None
    name = grader if isinstance(grader, str) else None
    return str(RunnableId(suite, task, name)), label(shown_grader(name) if name else task)


def _located(ls: WazaServer, suite: Path, event: Event) -> dict[str, Any]:
    places = _places(ls.session.project, suite)
    files = FileConverter(ls.session, ls.abilities)

    def location(place: FilePlace) -> dict[str, Any]:
        return _document(files.location(place))

    task, grader, prompt = event.get("task"), event.get("grader"), event.get("prompt")
    if isinstance(prompt, str):
        should = event.get("should_trigger") is True
        return {"location": location(places.of_prompt(prompt, should_trigger=should))}
    if not isinstance(task, str):
        return {}
    if not isinstance(grader, str):
        return {
            "location": location(places.of_task(task)),
            "messageLocation": location(places.of_message(task)),
        }
    failures = [
        {
            **failure,
            "message": failure.get("message", ""),
            "location": location(places.of_check(task, grader, failure.get("path", ()))),
        }
        for failure in cast("list[dict[str, Any]]", event.get("failures") or [])
    ]
    return {
        "location": location(places.of_grader(task, grader)),
        "messageLocation": location(places.of_message(task, grader)),
        "failures": failures,
    }


def _shown(value: object, *, said: bool = False) -> object:
    """Return a value of an event in which everything can be seen of what people are told."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value).items()
        return {key: _shown(each, said=key in _SAID) for key, each in entries}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_shown(each, said=said) for each in cast("Sequence[object]", value)]
    return visible_lines(value) if said and isinstance(value, str) else value


@lru_cache(maxsize=4)
def _places(project: Project, suite: Path) -> VerdictPlaces:
    # A view of the files does not change; an edit makes another one.
    return VerdictPlaces(project, suite)


def _document(location: types.Location) -> dict[str, Any]:
    start, end = location.range.start, location.range.end
    return {
        "uri": location.uri,
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
    }
