"""Signature help for the function around the cursor, in a language inside a string."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.features.surroundings import EmbeddedValue
from waza_language_server.schema.locate import shape_at

if TYPE_CHECKING:
    from waza_language_server.embedded.language import Signature
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace


def signature_help(document: Document, workspace: Workspace, offset: int) -> Signature | None:
    """Return how a function is called, None outside of all calls."""
    root = document.tree.root
    node = root.at(offset) if root is not None else None
    if node is None or node.kind != "scalar":
        return None
    shape = shape_at(document.kind, node.path, root, workspace.catalog)
    value = EmbeddedValue.of(document.text, node, shape.kind) if shape is not None else None
    if value is None:
        return None
    return value.language.signature(value.scalar.value, value.scalar.to_value(offset))
