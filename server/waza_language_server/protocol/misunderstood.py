"""Parts of a message that cannot be read are dropped if the rest means the same without them.

``initialize`` may contain anything that newer, older or careless clients write: an unknown kind, half a
capability, a word for a number. From other messages only the context is dropped, never their subject.

Architecture invariant: the error of the converter says what could not be read, and the classes of the
protocol what may be missing; there is no list of capabilities.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Sequence
from typing import Any, cast

import attrs
from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    ClassValidationError,
    IterableValidationNote,
)

from waza_engine.frozen import frozen
from waza_language_server.protocol.messages import Message

log = logging.getLogger(__name__)

_ANYWHERE = {"initialize"}
"""Messages whose optional parts may all be dropped."""
_BELOW = {"context"}
"""Parameters of other messages that may be dropped, entirely or in part."""
_BELOW_OF = {"workspace/didChangeWatchedFiles": {"changes"}}
_NARROWS = "only"
"""The key that limits a request to some kinds; a client that sends it must not get the others."""


def understood(message: Message, error: BaseException | None) -> Message | None:
    """Return a message without the parts that the converter could not read; None if one is needed."""
    params: object = message.get("params")
    if not isinstance(error, ClassValidationError) or not isinstance(params, dict):
        return None
    method = str(message.get("method"))
    if method in _ANYWHERE and not isinstance(cast("Message", params).get("capabilities"), dict):
        return {**message, "params": {**cast("Message", params), "capabilities": {}}}
    paths = {_left_out(message, steps, method) for steps in _failures(error)}
    if None in paths:
        return None
    names = [".".join(map(str, path)) for path in cast("set[tuple[Any, ...]]", paths)]
    log.info("Parts of %.100r are not understood and left out: %.1000s", method, sorted(names))
    changed = copy.deepcopy(message)
    # From the back, so that the items of a list keep their places until their turn.
    for path in sorted(cast("set[tuple[Any, ...]]", paths), reverse=True):
        holder: Any = changed
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
    return changed


@frozen()
class _Step:
    """The way from a value to one in it: the name of a field, or the index of an item."""

    name: str | int
    is_optional: bool


def _failures(error: BaseException, steps: tuple[_Step, ...] = ()) -> Iterator[tuple[_Step, ...]]:
    """Yield the way to each value that could not be read."""
    if not isinstance(error, BaseValidationError):
        yield steps
        return
    fields: dict[str, Any] = attrs.fields_dict(error.cl) if attrs.has(error.cl) else {}
    for each in error.exceptions:
        step: tuple[_Step, ...] = ()
        for note in getattr(each, "__notes__", ()):
            if isinstance(note, AttributeValidationNote):
                field = fields.get(note.name)
                step = (_Step(note.name, field is not None and field.default is not attrs.NOTHING),)
            elif isinstance(note, IterableValidationNote):
                step = (_Step(note.index, is_optional=True),)
        yield from _failures(each, (*steps, *step))


def _left_out(message: Message, steps: Sequence[_Step], method: str) -> tuple[str | int, ...] | None:
    """Return the way to the smallest part around a value that may be missing, None when none may."""
    path: list[str | int] = []
    value: Any = message
    smallest: int | None = None
    for step in steps:
        key = _key(value, step.name)
        if key is None:
            break
        path.append(key)
        value = value[key]
        if step.is_optional and _may_go(path, method):
            smallest = len(path)
    return None if smallest is None else tuple(path[:smallest])


def _key(value: object, name: str | int) -> str | int | None:
    """Return the key of a field as it is written, or an index; None when there is none."""
    if isinstance(name, int):
        return name if isinstance(value, list) and name < len(cast("list[object]", value)) else None
    keys = cast("Message", value) if isinstance(value, dict) else {}
    return next((key for key in keys if key.lower() == name.replace("_", "").lower()), None)


def _may_go(path: Sequence[str | int], method: str) -> bool:
    if len(path) < 2 or path[-1] == _NARROWS:
        return False
    return method in _ANYWHERE or path[1] in _BELOW_OF.get(method, _BELOW)
