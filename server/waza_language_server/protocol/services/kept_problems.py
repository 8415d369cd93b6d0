"""Problems that were found in an earlier session: shown when nothing that they depend on has changed.

The analysis follows anyway, and what it says counts: the client hears of it when it says anything else.
"""

from __future__ import annotations

import asyncio
import json
import logging
import zlib
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from waza_engine.files import FileError, read_bytes
from waza_engine.frozen import frozen
from waza_language_server.kept import store
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.kept.code import Code
    from waza_language_server.kept.conditions import Conditions
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.session import Session

AGAIN_AFTER_SECONDS = 1.0
MOST_TRIES = 8
"""How often it is tried to keep what depends on files that are being written."""
_LARGEST_BYTES = 4_000_000

Diagnostics = list[dict[str, Any]]
"""As they go over the wire."""

log = logging.getLogger(__name__)


@frozen()
class _Shown:
    version: int
    diagnostics: Diagnostics


class KeptProblems:
    """What was kept of the documents of one client, and what of it the client sees."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls
        self._place = store.folder()
        self._code: Code | None = None
        """What judges, as soon as somebody has asked for it."""
        self._shown: dict[str, _Shown] = {}

    def take(self, uri: str, version: int, text: str) -> Diagnostics | None:
        """Return what to show of a document that has this text, None when nothing is known for sure.

        It counts as shown until ``confirm`` or ``forget``.
        """
        self._shown.pop(uri, None)
        abilities = self._ls.abilities
        if self._place is None or (abilities.pulls_diagnostics and not abilities.refreshes_diagnostics):
            return None
        found = self._read(self._place, uri, text)
        if found is not None:
            self._shown[uri] = _Shown(version, found)
        return found

    def shows(self, uri: str) -> bool:
        """Whether the client sees what was kept of a document, or may ask for it."""
        return uri in self._shown

    def confirm(self, uri: str, version: int | None, diagnostics: Diagnostics) -> bool:
        """Take what the analysis says; whether the client sees just that."""
        shown = self._shown.pop(uri, None)
        if shown is None or version != shown.version:
            return False
        is_same = shown.diagnostics == diagnostics
        if not is_same:
            log.info("Problems that were kept of %s are not those that it has.", uri)
        return is_same

    def forget(self) -> None:
        """Show nothing any more that the analysis has not said itself."""
        self._shown.clear()

    def keep_in_steps(self, uri: str, tries: int = 0) -> Steps[None]:
        """Keep the problems of a document as it stands on the disk, if it is certain what they depend on.

        ``tries`` is how often that came too soon since the document was opened or saved.
        """
        place = self._place
        if place is None:
            return
        yield
        from waza_language_server.kept.recording import Recorded, recorded_in_steps

        session = self._ls.session
        document = session.document(uri)
        if document is None or not _is_as_new(session) or not self._is_code_old():
            return
        if session.typed_at(document) is not None or not _is_on_disk(document):
            return
        yield
        if self._read(place, uri, document.text) is not None:
            return
        recorded = yield from recorded_in_steps(document, session.workspace, self._converted)
        if not isinstance(recorded, Recorded):
            if recorded == "later":
                self._try_again(uri, tries)
            return
        yield
        known = self._known(uri, document.text)
        yield
        if not recorded.conditions.hold():
            self._try_again(uri, tries)
        elif session.is_current(document):
            conditions = recorded.conditions.as_json()
            content = {"known": known, "conditions": conditions, "diagnostics": recorded.shown}
            write = partial(store.write, place, self._name(uri, document.text), content)
            # A disk may take its time, and nobody waits for it: not the loop, and not the end of the server.
            Thread(target=write, name="kept problems", daemon=True).start()

    def _converted(self, document: Document, problems: tuple[Problem, ...], project: Any) -> Steps[object]:
        return self._ls.wire_diagnostics(document, problems, project)

    def _try_again(self, uri: str, tries: int) -> None:
        if tries < MOST_TRIES:
            again = partial(self._ls.keep_problems, uri, tries + 1)
            asyncio.get_running_loop().call_later(AGAIN_AFTER_SECONDS, again)

    def _read(self, place: Path, uri: str, text: str) -> Diagnostics | None:
        if path_of(uri) is None:
            return None
        written = store.read(place, self._name(uri, text))
        if written is None:
            return None
        from waza_language_server.kept.conditions import conditions_of

        try:
            if written["known"] != self._known(uri, text):
                return None
            conditions, diagnostics = conditions_of(written["conditions"]), written["diagnostics"]
            holds = conditions.hold() and self._is_alone(uri, conditions)
        except (LookupError, TypeError, ValueError, AttributeError, OSError):
            # Also where the code is just being replaced: a document is opened all the same.
            return None
        return diagnostics if holds else None

    def _is_alone(self, uri: str, conditions: Conditions) -> bool:
        """Whether what else is open makes no difference."""
        session = self._ls.loaded_session
        if session is None:
            return True
        if not _is_as_new(session):
            return False
        for document in session.documents:
            path = path_of(document.uri)
            if path is None or document.uri == uri:
                continue
            is_asked = str(path) in conditions.documents or str(path) in conditions.stamps
            if is_asked and not (document.text.strip() and _is_on_disk(document)):
                return False
            if conditions.asks_all and document.kind == "eval" and str(path) not in conditions.suites:
                return False
        return True

    def _name(self, uri: str, text: str) -> str:
        """Return a name for what was kept of a document; ``_known`` tells whether it is that."""
        around = zlib.crc32(json.dumps([uri, self._around()]).encode())
        return f"{around:08x}{zlib.crc32(_bytes(text)):08x}"

    def _known(self, uri: str, text: str) -> list[Any]:
        """Return all that is known when a document is opened, and the code that is going to judge it."""
        from waza_language_server.kept.code import code
        from waza_language_server.kept.digests import digest

        self._code = self._code or code()
        return [self._code.digest, uri, digest(_bytes(text)), self._around()]

    def _is_code_old(self) -> bool:
        """Whether this process has loaded the code that is there now."""
        from waza_language_server.kept.code import code

        try:
            self._code = code()
        except OSError:
            return False
        return self._code.changed_ns < self._ls.started_ns

    def _around(self) -> list[Any]:
        ls = self._ls
        encoding = str(ls.server_capabilities.position_encoding)
        severities = json.dumps(ls.options.severity, sort_keys=True, default=repr)
        return [list(ls.workspace.folders), encoding, repr(ls.abilities), severities]


def _is_as_new(session: Session) -> bool:
    """Whether a session knows nothing that one does not that has just begun."""
    project = session.project
    is_nothing_measured = not project.asked_for_scores or project.scores.strengths.empty
    return is_nothing_measured and not session.knows_plug_ins


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_on_disk(document: Document) -> bool:
    path = path_of(document.uri)
    try:
        return path is not None and read_bytes(path, _LARGEST_BYTES) == document.text.encode("utf-8")
    except (FileError, UnicodeEncodeError):
        return False
