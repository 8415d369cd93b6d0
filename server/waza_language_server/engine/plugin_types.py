"""The grader types of plug-ins, as the engine reports them. A plug-in is never imported here."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from waza_engine.results.json_values import Block, blocks_of, items_of
from waza_language_server.engine.process import EngineError, EngineProcess, Params

TYPES_WITHIN_SECONDS = 30.0
GRADER_TYPES = "grader.types"
OF_PLUG_INS: Params = {"custom": True}
_LEAVE_WITHIN_SECONDS = 1.0

log = logging.getLogger(__name__)


@cache
def installed_types() -> Mapping[str, Any]:
    """Return the schemas of the types installed in this environment, by name: for the terminal commands.

    Cached, since nothing is installed while a command runs.
    """
    try:
        return types_in(asyncio.run(_ask()))
    except (EngineError, TimeoutError) as error:
        log.warning("The engine was not asked for grader types of plug-ins: %s", error)
        return {}


def types_in(answer: object) -> dict[str, Any]:
    """Return the schemas in an answer of the engine, by type; log the errors of types without one."""
    found = cast("Block", answer if isinstance(answer, Mapping) else {})
    for problem in items_of(found.get("problems")):
        log.warning("%s", problem)
    listed = ((item.get("type"), item.get("schema")) for item in blocks_of(found.get("types")))
    return {name: schema for name, schema in listed if isinstance(name, str) and isinstance(schema, Mapping)}


async def _ask() -> object:
    engine = EngineProcess(sys.executable, on_event=lambda _: None, on_exit=lambda _, __: None)
    engine.start()
    try:
        return await asyncio.wait_for(engine.request(GRADER_TYPES, OF_PLUG_INS), TYPES_WITHIN_SECONDS)
    finally:
        await engine.stop(_LEAVE_WITHIN_SECONDS)
