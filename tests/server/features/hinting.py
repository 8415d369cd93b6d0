"""An editor that asks for inlay hints, and remembers results from one look to the next."""

from pathlib import Path

from tests.server.features.results import NOW
from tests.server.project.files import opened, workspace_with
from waza_language_server.features.annotated_source import Hint, annotate_source
from waza_language_server.features.scores.inlay_hints import InlayHint, inlay_hints
from waza_language_server.project.document import DocumentKind
from waza_language_server.project.workspace import Workspace


class Editor:
    """One editor on one project: what a file said at the time of a run is known from the first look."""

    def __init__(self) -> None:
        self.workspace: Workspace = workspace_with()

    def hints(self, path: Path, kind: DocumentKind, text: str | None = None) -> tuple[InlayHint, ...]:
        document = opened(path, kind, text)
        self.workspace = self.workspace.with_document(document)
        return inlay_hints(document, self.workspace, now=NOW)

    def drawn(self, path: Path, kind: DocumentKind, text: str | None = None) -> str:
        text = text or path.read_text()
        marks = [Hint(hint.offset, hint.label) for hint in self.hints(path, kind, text)]
        return annotate_source(text, marks, context=0)

    def label(self, path: Path, kind: DocumentKind, text: str | None = None) -> str:
        """Return the label of a grader; the first line of a task has its verdict, and those of the suite."""
        own = [hint for hint in self.hints(path, kind, text) if "suite" not in hint.label]
        return own[kind == "task"].label
