"""The text of a file when a run began, for clients that show what has changed since."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waza_language_server.protocol.own_requests import RecordedTextParams
    from waza_language_server.protocol.server import WazaServer


def recorded_text(ls: WazaServer, params: RecordedTextParams) -> str | None:
    """Return the text with credentials masked, None when the run kept none."""
    from waza_engine.results.reading.newest_scores import results_of

    run = results_of(Path(params.results))
    if run is None or run.origin is None:
        return None
    return ls.session.project.scores.inputs.text_then(run.origin, params.path)
