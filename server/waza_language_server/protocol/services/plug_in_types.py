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

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

log = logging.getLogger(__name__)


class PlugInTypes:
    """The grader types of plug-ins, which the session's catalog gets when they are known."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls
        self._are_needed = False

    def need(self) -> None:
        """Ask for them once: a type that this engine does not know either is a mistake of the author."""
        if self._ls.trusted and not self._are_needed and not self._ls.is_closing:
            self._are_needed = True
            self._ls.in_background(self._learn())

    def forget(self) -> None:
        """Forget the types of the last engine, and ask the new one if a suite has needed them."""
        self._use({})
        if self._are_needed and self._ls.trusted:
            self._ls.in_background(self._learn())

    async def _learn(self) -> None:
        interpreter = self._ls.options.interpreter
        try:
            answer: Any = await self._ls.runs.ask(GRADER_TYPES, OF_PLUG_INS, ANSWER_WITHIN_SECONDS)
        except EngineError as error:
            log.info("The engine was not asked for grader types of plug-ins: %s", error)
            return
        if self._ls.options.interpreter == interpreter:
            self._use(types_in(answer))

    def _use(self, schemas: Mapping[str, Any]) -> None:
        if self._ls.session.learn_types(schemas):
            self._ls.refresh.rules_changed()
