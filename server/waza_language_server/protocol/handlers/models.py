"""The models that a run of a suite may ask, for a client that lets one be chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.features.hover.model_prices import known_models
from waza_language_server.project.document import Document
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.handlers.run_requests import refused
from waza_language_server.protocol.own_requests import MODELS

if TYPE_CHECKING:
    from waza_language_server.protocol.own_requests import ModelsParams
    from waza_language_server.protocol.server import WazaServer


async def models(ls: WazaServer, params: ModelsParams) -> list[dict[str, str]]:
    """Return ``{name, words}`` of each model once, the nearest first."""
    try:
        suite = RunnableId.parse(params.id).suite
    except ValueError:
        raise refused(f"The `id` of {MODELS} must be that of a suite.") from None
    listed = await ls.model_prices.listed_in_time()
    project, uri = ls.session.project, uri_of(suite)
    document = ls.session.document(uri) or Document(uri, 0, project.disk.text(suite).value, "eval")
    found: dict[str, str] = {}
    for model in known_models(Nearby(project, document), listed):
        found.setdefault(model.name, model.words)
    return [{"name": name, "words": words} for name, words in found.items()]
