"""Progress bars of runs in the client."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from uuid import uuid4

from lsprotocol import types

from waza_language_server.protocol.messages import is_identifier
from waza_language_server.text.label_escaping import label, message

if TYPE_CHECKING:
    from waza_language_server.engine.runs import RunKey, RunOutcome, RunProgress
    from waza_language_server.protocol.connection import ClientConnection

CREATE_WITHIN_SECONDS = 2.0
REPORT_EVERY_SECONDS = 0.05


class ProgressBars:
    """The progress bars that the client shows, each with its run."""

    def __init__(self, client: ClientConnection) -> None:
        self._client = client
        self._runs: dict[types.ProgressToken, RunKey] = {}

    def bar(self, run: RunKey, name: str, token: types.ProgressToken | None) -> ProgressBar:
        """Return a bar for a run, not shown yet; ``token`` is the client's own for it."""
        return ProgressBar(self._client, self._runs, run, name, token)

    def run_of(self, token: object) -> RunKey | None:
        """Return the run of a bar, None for a token of another one."""
        return self._runs.get(token) if is_identifier(token) else None


class ProgressBar:
    """The progress bar of one run: with the client's own token, else with one of ours, else none."""

    def __init__(
        self,
        client: ClientConnection,
        shown: dict[types.ProgressToken, RunKey],
        run: RunKey,
        name: str,
        token: types.ProgressToken | None,
    ) -> None:
        self._client = client
        self._shown = shown
        self._run = run
        self._name = name
        self._given = token
        self._token: types.ProgressToken | None = None
        self._latest: RunProgress | None = None
        self._reported_at = 0.0
        self._later: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Show the bar; a client that does not answer goes without."""
        if self._given is not None:
            self._begin(self._given)
        elif self._client.abilities.shows_progress:
            # Text, not a number: some clients accept no other tokens from servers.
            token = f"waza-run-{uuid4()}"
            created = asyncio.ensure_future(
                self._client.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token))
            )
            done, _ = await asyncio.wait([created], timeout=CREATE_WITHIN_SECONDS)
            if done and created.exception() is None:
                self._begin(token)

    def report(self, progress: RunProgress) -> None:
        """Show how far the run is; of reports in quick succession the last one is shown."""
        self._latest = progress
        if self._token is None or self._later is not None:
            return
        wait = self._reported_at + REPORT_EVERY_SECONDS - time.monotonic()
        if wait <= 0:
            self._show()
        else:
            # This may be the last event for minutes: an agent has begun to work.
            self._later = asyncio.get_running_loop().call_later(wait, self._show)

    def close(self, outcome: RunOutcome) -> None:
        """Take the bar away."""
        if self._later is not None:
            self._later.cancel()
        if self._token is not None:
            self._shown.pop(self._token, None)
            self._send(types.WorkDoneProgressEnd(message=outcome.status))
            self._token = None

    def _show(self) -> None:
        self._later = None
        self._reported_at = time.monotonic()
        if self._latest is not None:
            words, percentage = _words(self._latest), self._latest.percentage
            self._send(types.WorkDoneProgressReport(message=words, percentage=percentage, cancellable=True))

    def _begin(self, token: types.ProgressToken) -> None:
        self._token = token
        self._shown[token] = self._run
        self._send(
            types.WorkDoneProgressBegin(
                title=message(f"Waza: {self._name}"),
                cancellable=True,
                message=_words(self._latest) if self._latest else "starting",
                percentage=0,
            )
        )

    def _send(
        self, value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd
    ) -> None:
        assert self._token is not None
        self._client.progress(types.ProgressParams(token=self._token, value=value))


def _words(progress: RunProgress) -> str:
    counted = f"{progress.completed}/{progress.total}" if progress.total else ""
    return message(label(" · ".join(part for part in (counted, progress.message) if part)))
