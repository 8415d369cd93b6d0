"""Completion at a ``<CURSOR>`` in a small text, and what the text is after an item is taken."""

from pathlib import Path

from tests.server.project.files import workspace_with
from waza_language_server.features.completion.complete import Completion, Completions, complete
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.uris import uri_of

CURSOR = "<CURSOR>"


def completions(
    source: str, kind: DocumentKind = "eval", path: Path = Path("/nowhere/eval.yaml")
) -> tuple[str, Completions]:
    """Return the text without the cursor and what can be written there."""
    offset = source.index(CURSOR)
    text = source.replace(CURSOR, "")
    document = Document(uri_of(path), 1, text, kind)
    return text, complete(document, workspace_with(document), offset)


def labels(source: str, kind: DocumentKind = "eval", path: Path = Path("/nowhere/eval.yaml")) -> list[str]:
    """Return the labels, best first."""
    return [item.label for item in completions(source, kind, path)[1].items]


def item(
    source: str, label: str, kind: DocumentKind = "eval", path: Path = Path("/nowhere/eval.yaml")
) -> Completion:
    """Return one item."""
    return next(item for item in completions(source, kind, path)[1].items if item.label == label)


def taken(
    source: str, label: str, kind: DocumentKind = "eval", path: Path = Path("/nowhere/eval.yaml")
) -> str:
    """Return the text after an item was taken, as an editor without snippets inserts it.

    Lines after the first get the indentation that the line has before the edit.
    """
    text, _ = completions(source, kind, path)
    edit = item(source, label, kind, path).edit
    inserted = item(source, label, kind, path).text_without_placeholders
    start = max(text.rfind("\n", 0, edit.span.start), text.rfind("\r", 0, edit.span.start)) + 1
    before = text[start : edit.span.start]
    indent = before[: len(before) - len(before.lstrip(" "))]
    first, *others = inserted.split("\n")
    inserted = "\n".join([first, *(indent + line for line in others)])
    return text[: edit.span.start] + inserted + text[edit.span.end :]
