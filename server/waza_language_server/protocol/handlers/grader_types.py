"""Grader types of plug-ins: the server requests them from the engine when a suite names one.

Architecture invariant: a plug-in is never imported here. Nothing is requested in an untrusted workspace, and
nothing is requested twice from the same engine.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from waza_language_server.engine.grader_types import (
    ANSWER_WITHIN_SECONDS,
    GRADER_TYPES,
    OF_PLUG_INS,
    types_in,
)
from waza_language_server.engine.process import EngineError
from waza_language_server.protocol.handlers.watched_files import refresh_problems

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

log = logging.getLogger(__name__)


def learn_types(ls: WazaServer) -> None:
    """Ask the engine, without waiting for the answer; when it comes, all diagnostics are computed again."""
    ls.in_background(_learn(ls))


def forget_types(ls: WazaServer) -> None:
    """Forget the types of the last engine, and ask the new one if a suite has needed them."""
    _use(ls, {})
    if ls.asked_for_types and ls.trusted:
        learn_types(ls)


async def _learn(ls: WazaServer) -> None:
    interpreter = ls.options.interpreter
    try:
        answer: Any = await ls.runs.ask(GRADER_TYPES, OF_PLUG_INS, ANSWER_WITHIN_SECONDS)
    except EngineError as error:
        log.info("The engine was not asked for grader types of plug-ins: %s", error)
        return
    if ls.options.interpreter != interpreter:
        return
    _use(ls, types_in(answer))


def _use(ls: WazaServer, schemas: Mapping[str, Any]) -> None:
    if not ls.session.learn_types(schemas):
        return
    look_again(ls)


def look_again(ls: WazaServer) -> None:
    """Report all problems again, of closed files too, after something they depend on has changed."""
    ls.files_changed(None)
    refresh_problems(ls)
