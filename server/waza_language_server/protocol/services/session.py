"""The open documents and the folders of one client, frozen: an edit makes new snapshots, readers keep theirs.

Architecture invariant: ``pygls``' own text documents are not used. They are mutable, break lines where the
protocol does not, and move positions at the end of the text.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePath
from threading import get_ident
from typing import TYPE_CHECKING, cast

from waza_engine.boundary import note_open_folders
from waza_engine.files import FileError, read_bytes
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.project.claim import begins_eval, claim, is_blank_text
from waza_language_server.project.disk import MAX_BYTES, content_of
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project, configured_eval_name
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.outline import is_outlined, outline_of
from waza_language_server.project.skill_file import SkillFile
from waza_language_server.project.suite_files import reread_suites
from waza_language_server.project.suites_of_skills import SuitesOfSkills
from waza_language_server.project.uris import path_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.text.line_index import Encoding, LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from waza_language_server.project.document import DocumentKind
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.refresh import RefreshRequests
    from waza_language_server.protocol.services.run_settings import RunSettings
    from waza_language_server.schema.shape import JsonSchema


_HALF_PAIR = compiled_later("[\ud800-\udfff]")

UNTITLED = PurePath("untitled.yaml")
MOST_ROUNDS = 5
"""Rounds of claims: configurations, eval files named by them, tasks, and one more."""


@frozen()
class Change:
    """One edit of the client: the text that replaces ``range``, or everything when that is None.

    ``range`` is (start line, start column, end line, end column), 0-based, in the client's encoding.
    """

    text: str
    range: tuple[int, int, int, int] | None = None


@frozen()
class _Opened:
    uri: str
    language: str
    version: int
    text: str
    document: Document | None = None
    """The snapshot, once the document was claimed."""
    settled: str = ""
    """The text that its author last finished: half-typed text does not lose a claim."""
    judged: bool = False
    """True if the claim was evaluated since the last change that it depends on."""
    asked_again: bool = False
    """True if that change was not in its own text, which was evaluated before."""
    began_empty: bool = False
    """True if it was empty when it was opened: its text was written in this editor."""
    was_saved: bool = False
    typed_at: int | None = None
    """Where the edit ended that made this version; None when it was more than one, or the text was saved."""


class Session:
    """The documents that one client has open, by the URI that the client uses."""

    def __init__(self, roots: Iterable[Path] = (), encoding: Encoding = "utf-16") -> None:
        self.encoding: Encoding = encoding
        self._thread = get_ident()
        self._workspace = Workspace(Project(roots), default_catalog())
        self.suites_of_skills = SuitesOfSkills()
        self.confirmed_suites: set[Path] = set()
        """The suites outside the open folders that the user has let run."""
        self._opened: dict[str, _Opened] = {}
        self._basis: frozenset[tuple[object, ...]] = frozenset()
        """The parts of open documents that claim other files, at the last evaluation of claims."""
        self._claims_differ = False
        self.on_claims_changed: Callable[[], None] = lambda: None
        """Called when earlier answers about a document are outdated because of another file.

        Its claim has changed, or a suite was found that may pick it up.
        """

    @property
    def workspace(self) -> Workspace:
        """The files and the catalog: of the engine, and of plug-ins once they are known."""
        assert get_ident() == self._thread, "only the thread that analyses touches the session"
        return self._workspace

    @workspace.setter
    def workspace(self, workspace: Workspace) -> None:
        assert get_ident() == self._thread, "only the thread that analyses touches the session"
        self._workspace = workspace

    @property
    def project(self) -> Project:
        """The files of the workspace as they are now."""
        return self.workspace.project

    def learn_types(self, schemas: Mapping[str, JsonSchema]) -> bool:
        """Take the grader types of plug-ins, and no others; whether there is anything new."""
        catalog = self.workspace.catalog.with_types(schemas)
        is_new = catalog is not self.workspace.catalog
        self.workspace = self.workspace.with_catalog(catalog)
        return is_new

    def use_severities(self, severities: Mapping[str, str]) -> bool:
        """Take problems as gravely as the client wants; whether that is anything new."""
        is_new = severities != self.workspace.severities
        if is_new:
            self.workspace = replace(self.workspace, severities=severities)
        return is_new

    @property
    def uris(self) -> tuple[str, ...]:
        """All that is open, ours or not."""
        return tuple(self._opened)

    @property
    def documents(self) -> tuple[Document, ...]:
        """The newest snapshots of all open documents that are ours."""
        found = (self.document(uri) for uri in tuple(self._opened))
        return tuple(document for document in found if document is not None)

    def document(self, uri: str) -> Document | None:
        """Return the newest snapshot of an open document, None when it is not open or not ours."""
        opened = self._opened.get(uri)
        if opened is None:
            return None
        if not opened.judged:
            opened = self._judge(opened)
        return opened.document

    def read_all(self) -> None:
        """Take the newest snapshots of all open documents into the project."""
        for uri in tuple(self._opened):
            self.read(uri)

    def read(self, uri: str) -> Document | None:
        """Return the same with its tree read, and with all files that it may refer to."""
        if uri not in self._opened:
            return None
        self.claimed(uri)
        path = path_of(uri)
        if path is not None:
            self.project.read(path)
        self._claim_all()
        document = self.document(uri)
        if document is not None:
            outline_of(document)
        return document

    def claimed(self, uri: str) -> Document | None:
        """Return the newest snapshot as soon as it is known whether it is ours, with its tree unread."""
        path = path_of(uri)
        # No other file decides about an eval file; an open document is not read from the disk.
        if uri in self._opened and path is not None and path.name not in self.project.eval_names(path):
            self.project.read(path)
        return self.document(uri)

    def text(self, uri: str) -> str | None:
        """Return the newest text of an open document, None when it is not open."""
        opened = self._opened.get(uri)
        return opened.text if opened is not None else None

    def skill(self, uri: str) -> SkillFile | None:
        """Return the newest text of an open ``SKILL.md``, None for any other document."""
        opened = self._opened.get(uri)
        return SkillFile.of(uri, opened.text) if opened is not None else None

    def version(self, uri: str) -> int | None:
        """Return the client's number of that text, None when the document is not open."""
        opened = self._opened.get(uri)
        return opened.version if opened is not None else None

    def typed_at(self, document: Document) -> int | None:
        """Return where in this snapshot its author types; None if unknown, or if it is saved."""
        opened = self._opened.get(document.uri)
        return opened.typed_at if opened is not None and opened.document is document else None

    def is_begun(self, document: Document) -> bool:
        """Return whether it was empty when it was opened, and has not been saved yet."""
        opened = self._opened.get(document.uri)
        return opened is not None and opened.began_empty and not opened.was_saved

    def is_current(self, document: Document) -> bool:
        """Return whether no newer text of this document has come."""
        opened = self._opened.get(document.uri)
        return opened is not None and opened.document is document

    def open(self, uri: str, language: str, version: int, text: str) -> None:
        """Remember a document that was opened; one that is open already is replaced."""
        self.close(uri)
        text = _well_formed(text)
        self._opened[uri] = _Opened(
            uri, language, version, text, began_empty=is_blank_text(text), settled=text
        )

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        """Apply edits in order; each one's positions refer to the text after the one before."""
        opened = self._opened.get(uri)
        if opened is None:
            return
        lines = opened.document.lines if opened.document else None
        text = opened.text
        before = len(text)
        for change in changes:
            text = self._changed(text, lines, change)
            lines = None
        document = opened.document.replaced(text, version) if opened.document else None
        typed_at = None
        if len(changes) == 1 and (place := changes[0].range) is not None:
            # Counted from the end: the text after the edit has not changed.
            old = LineIndex(opened.text) if opened.document is None else opened.document.lines
            start = old.offset(*place[:2], self.encoding)
            end = max(start, old.offset(*place[2:], self.encoding))
            typed_at = len(text) - (before - end)
        # A claimed document stays claimed while it is half typed, at no cost for a keystroke.
        judged = document is not None and opened.judged
        self._opened[uri] = replace(
            opened, version=version, text=text, document=document, judged=judged, typed_at=typed_at
        )
        if document is not None:
            self.workspace = self.workspace.with_document(document)

    def close(self, uri: str) -> None:
        """Forget a document."""
        opened = self._opened.pop(uri, None)
        if opened is not None and opened.document is not None:
            self._withdraw(uri)

    def saved(self, uri: str) -> bool:
        """Take the text of a document as finished, and evaluate its claim again.

        Returns whether its author was typing until now.
        """
        opened = self._opened.get(uri)
        if opened is None:
            return False
        self._opened[uri] = replace(opened, typed_at=None, was_saved=True, settled=opened.text)
        self.check_claims_again(uri)
        return opened.typed_at is not None

    def check_claims_again(self, uri: str | None = None) -> None:
        """Evaluate claims again: of one document that was saved, or of all at their next use."""
        for opened in tuple(self._opened.values()):
            if uri is None:
                again = opened.judged or opened.asked_again
                self._opened[opened.uri] = replace(opened, judged=False, asked_again=again)
            elif uri == opened.uri:
                self._judge(opened)

    def apply_found_suites(self) -> bool:
        """Take a new view if suites elsewhere may pick up open documents; return whether so."""
        paths = [path for path in map(path_of, self._opened) if path is not None]
        if not self.project.far.pop_new_globs(paths):
            return False
        self._use(self.project.with_roots(self.project.roots))
        self.check_claims_again()
        self.on_claims_changed()
        return True

    def files_changed(
        self, roots: Iterable[Path] | None = None, changed: Iterable[Path] | None = None
    ) -> None:
        """Take a new view of the disk, and of other folders when given; ``changed`` when that is all."""
        reread_suites(self.project, changed)
        self.suites_of_skills.forget()
        self._use(self.project.with_roots(self.project.roots if roots is None else roots))
        self.check_claims_again()

    def texts(self) -> dict[str, str]:
        """Return the texts that are open, by their paths."""
        paths = ((path_of(document.uri), document.text) for document in self.documents)
        return {str(path): text for path, text in paths if path is not None}

    def unsaved(self, folder: Path) -> tuple[Path, ...]:
        """Return the skills, and the files of ours in and below a folder, that differ from the disk."""
        found: list[Path] = []
        for document in self.documents:
            path = path_of(document.uri) if document.kind != "skill" else None
            if path is not None and path.is_relative_to(folder) and _differs_from_disk(path, document.text):
                found.append(path)
        skills = (self.skill(uri) for uri in tuple(self._opened))
        return (*found, *(one.path for one in skills if one and _differs_from_disk(one.path, one.text)))

    def is_in_open_folders(self, suite: Path) -> bool:
        """Return whether a suite lies inside the open folders, or the user has let it run.

        Links are followed first. Without an open folder, that of an open file of the suite counts as one.
        """
        path = resolved(suite)
        if path in self.confirmed_suites:
            return True
        if self.project.roots:
            return any(path.is_relative_to(resolved(root)) for root in self.project.roots)
        if not path.is_relative_to(resolved(suite.parent)):
            return False
        opened = (path_of(document.uri) for document in self.documents)
        return any(found.path == suite for file in opened if file for found in self.project.suites_of(file))

    def _claim_all(self) -> None:
        """Read all open documents, and evaluate claims until no claim changes any more.

        Most edits do not affect the claims of other documents, and cost a comparison.
        """
        for _ in range(MOST_ROUNDS):
            while unread := tuple(filter(_is_unread, self._opened.values())):
                for opened in unread:
                    document = self.claimed(opened.uri)
                    if document is not None:
                        outline_of(document)
            basis = frozenset(_claimed_by(self._opened.values()))
            if basis == self._basis:
                break
            self._basis = basis
            self.check_claims_again()
        if self._claims_differ:
            self._claims_differ = False
            self.on_claims_changed()

    def _use(self, project: Project) -> None:
        self.workspace = self.workspace.with_project(project)

    def _withdraw(self, uri: str) -> None:
        """Take a document out of the project; of a file that is open by another URI, too, that one counts."""
        project, path = self.project.without(uri), path_of(uri)
        for other in self._opened.values():
            if other.document is not None and other.uri != uri and path_of(other.uri) == path:
                project = project.with_document(other.document)
        self._use(project)

    def _judge(self, opened: _Opened) -> _Opened:
        kind = self._kind(opened)
        if kind is None and opened.document is not None:
            kind = self._kind(replace(opened, text=opened.settled))
        document = opened.document
        if kind is None or document is None or document.kind != kind:
            self._claims_differ |= opened.asked_again and kind != (document and document.kind)
            document = None if kind is None else Document(opened.uri, opened.version, opened.text, kind)
        if document is not None:
            if self.project.documents.get(path_of(opened.uri) or Path()) is not document:
                self.workspace = self.workspace.with_document(document)
        elif opened.document is not None:
            self._withdraw(opened.uri)
        settled = opened.settled if opened.document is not None else opened.text
        judged = replace(opened, document=document, judged=True, asked_again=False, settled=settled)
        self._opened[opened.uri] = judged
        return judged

    def _kind(self, opened: _Opened) -> DocumentKind | None:
        path = path_of(opened.uri)
        if path is not None:
            kind = self.project.claim(path, opened.text)
            return "eval" if kind is None and self._may_become_suite(path, opened) else kind
        return claim(UNTITLED, opened.text) if opened.language == "yaml" else None

    def _may_become_suite(self, path: Path, opened: _Opened) -> bool:
        """Return whether a file is named and begins like an eval file, and there is a skill to evaluate."""
        if path.name not in self.project.eval_names(path):
            return False
        if not begins_eval(opened.text, begun=opened.began_empty):
            return False
        return bool(Nearby(self.project, Document(opened.uri, 0, opened.text, "eval")).skill_files())

    def _changed(self, text: str, lines: LineIndex | None, change: Change) -> str:
        new = _well_formed(change.text)
        if change.range is None:
            return new
        start_line, start_column, end_line, end_column = change.range
        lines = lines or LineIndex(text)
        start = lines.offset(start_line, start_column, self.encoding)
        end = max(start, lines.offset(end_line, end_column, self.encoding))
        return "".join((text[:start], new, text[end:]))


def _is_unread(opened: _Opened) -> bool:
    return not opened.judged or (opened.document is not None and not is_outlined(opened.document))


def _claimed_by(opened: Iterable[_Opened]) -> Iterator[tuple[object, ...]]:
    """Yield what open documents say that the claims of others depend on."""
    for document in (one.document for one in opened):
        if document is not None and document.kind == "eval":
            outline = outline_of(document)
            yield document.uri, outline.patterns, outline.skill_directories
            yield document.uri, outline.tasks_from, outline.adapter, outline.recording
        elif document is not None and document.kind == "project_config":
            yield document.uri, configured_eval_name(document.tree)


def _well_formed(text: str) -> str:
    """Return the text with halves of surrogate pairs replaced, which JSON can carry and nothing else can.

    The replacement is one code unit in UTF-16 as well, so positions stay what they are for the client.
    """
    return text if text.isascii() else _HALF_PAIR.sub("\ufffd", text)


def _differs_from_disk(path: Path, text: str) -> bool:
    try:
        return read_bytes(path, MAX_BYTES) != content_of(path, text)
    except FileError:
        return True


def client_session(client: ClientConnection, run_settings: RunSettings, refresh: RefreshRequests) -> Session:
    """Return a session with the folders and settings of the client."""
    encoding = cast("Encoding", str(client.server_capabilities.position_encoding or "utf-16"))
    session = Session(client_roots(client), encoding)
    if client.options.severity is not None:
        from waza_language_server.analysis.directives import known_severities

        session.use_severities(known_severities(client.options.severity))
    # Requested each time, because settings change.
    session.project.run_with(lambda suite: dict(run_settings.of(suite)))
    session.on_claims_changed = refresh.ask_for_all

    def uncached_disk() -> AbstractContextManager[None]:
        # The disk may be another one when the client has opened other folders.
        return session.project.disk.uncached_lookups()

    client.turns.set_aside(uncached_disk)
    return session


def client_roots(client: ClientConnection) -> list[Path]:
    """Return the folders that the client has open now, those on a disk; boundaries of suites count them."""
    roots = [path_of(folder.uri) for folder in client.workspace.folders.values()]
    found = [root for root in roots if root is not None]
    note_open_folders(found)
    return found


def resolved(path: Path) -> Path:
    """Return a path with its links followed, as far as that is possible."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()
