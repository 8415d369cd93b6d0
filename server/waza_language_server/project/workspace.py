"""The context that every rule and feature gets in addition to the document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.project.known_mentions import KnownMentions

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.schema.catalog import Catalog


@frozen()
class Workspace:
    """The files around a document, and what may be written in them.

    Architecture invariant: the owner of the files (a session, a terminal command) creates it and passes it
    on. No other code chooses a catalog: it would lack the grader types of plug-ins.
    """

    project: Project
    catalog: Catalog
    known: KnownMentions = field(default_factory=KnownMentions, compare=False, repr=False)
    """The mentions of closed files, as far as they were read."""

    severities: Mapping[str, str] = field(default_factory=dict[str, str])
    """The client's severity overrides by code: ``off`` or a severity."""

    def with_document(self, document: Document) -> Workspace:
        """Return the same in which this document is open as it is."""
        return replace(self, project=self.project.with_document(document))

    def with_project(self, project: Project) -> Workspace:
        """Return the same with other files."""
        known = self.known if project.disk is self.project.disk else KnownMentions()
        return replace(self, project=project, known=known)

    def with_catalog(self, catalog: Catalog) -> Workspace:
        """Return the same in which something else may be written."""
        return Workspace(self.project, catalog, severities=self.severities)
