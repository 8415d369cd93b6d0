"""Grader types of plug-ins: the engine knows them, the server asks for them when a suite names one.

Architecture invariant: a plug-in is never imported here. Nothing is asked in an untrusted workspace, and
nothing is asked twice until the engine is another one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from waza_language_server.engine.process import EngineError
from waza_language_server.protocol.handlers.watched_files import refresh_problems

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

ANSWER_WITHIN_SECONDS = 30.0

log = logging.getLogger(__name__)


def learn_types(ls: WazaServer) -> None:
    """Ask the engine, without waiting for the answer; when it comes, everything is looked at again."""
    ls.in_background(_learn(ls))


def forget_types(ls: WazaServer) -> None:
    """Forget what the last engine knew, and ask the new one if a suite has needed it."""
    _use(ls, {})
    if ls.asked_for_types and ls.trusted:
        learn_types(ls)


async def _learn(ls: WazaServer) -> None:
    interpreter = ls.options.interpreter
    try:
        answer: Any = await ls.runs.ask("grader.types", {"custom": True}, ANSWER_WITHIN_SECONDS)
    except EngineError as error:
        log.info("The engine was not asked for grader types of plug-ins: %s", error)
        return
    if ls.options.interpreter != interpreter:
        return
    found = cast("Mapping[str, Any]", answer if isinstance(answer, Mapping) else {})
    for problem in _items(found, "problems"):
        log.warning("%s", problem)
    _use(ls, {str(item["type"]): item["schema"] for item in _items(found, "types") if _is_type(item)})


def _use(ls: WazaServer, schemas: Mapping[str, Any]) -> None:
    if not ls.session.learn_types(schemas):
        return
    look_again(ls)


def look_again(ls: WazaServer) -> None:
    """Tell the problems of everything again, of closed files too, after what they depend on has changed."""
    ls.files_changed(None)
    refresh_problems(ls)


def _items(answer: Mapping[str, Any], key: str) -> list[Any]:
    found: Any = answer.get(key)
    return cast("list[Any]", found) if isinstance(found, list) else []


def _is_type(item: object) -> bool:
    if not isinstance(item, Mapping):
        return False
    known = cast("Mapping[str, Any]", item)
    return isinstance(known.get("type"), str) and isinstance(known.get("schema"), Mapping)
