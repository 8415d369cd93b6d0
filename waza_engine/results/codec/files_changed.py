"""The changes to a workspace's files, in a result file."""

from __future__ import annotations

from waza_engine.results.json_values import Block, Json, given, texts_of, whole
from waza_engine.results.record import FilesChanged


def files_changed_document(files: FilesChanged) -> Json:
    """Return ``files_changed`` of a trial; empty when no change is known."""
    return given(
        created=list(files.created),
        changed=list(files.changed),
        deleted=list(files.deleted),
        more=files.more,
    )


def files_changed_of(block: Block) -> FilesChanged:
    """Return the changes in a document. Everything may be missing or of another type."""
    return FilesChanged(
        texts_of(block.get("created")),
        texts_of(block.get("changed")),
        texts_of(block.get("deleted")),
        max(0, whole(block.get("more"))),
    )
