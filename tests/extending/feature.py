"""An editor feature: a pure function, a thin handler, and its row."""

from __future__ import annotations

from tests.extending.addition import Addition, Lines

SERVER = "server/waza_language_server"

LINKED_NAMES = Addition(
    files={
        f"{SERVER}/features/linked_names.py": '''\
"""Linked names: graders of one name are written together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.project.suite_file import SuiteFile

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.text.span import Span


def linked_names(document: Document, offset: int) -> tuple[Span, ...]:
    """Return the names of graders that are the same as the one at an offset, in the order of the text."""
    named: dict[str, list[Span]] = {}
    wanted = ""
    for grader in SuiteFile(document.tree).graders():
        name = grader.node.get("name")
        if name is not None:
            named.setdefault(grader.name, []).append(name.span)
            wanted = grader.name if name.span.contains(offset) else wanted
    return tuple(sorted(named.get(wanted, ())))
''',
        f"{SERVER}/protocol/handlers/linked_names.py": '''\
"""Which names of a document are written together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.linked_names import linked_names as feature
from waza_language_server.protocol.lsp_conversion import Converter

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer


def linked_names(
    ls: WazaServer, params: types.LinkedEditingRangeParams
) -> types.LinkedEditingRanges | None:
    """Return the names that change with the one at a position."""

    def find(document: Document) -> types.LinkedEditingRanges:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        names = feature(document, convert.offset(params.position))
        return types.LinkedEditingRanges([convert.range(name) for name in names])

    return ls.diagnostics.answer(params.text_document.uri, find)
''',
    },
    lines=(
        Lines(
            f"{SERVER}/protocol/feature_table.py",
            '    Feature(types.TEXT_DOCUMENT_HOVER, "hover.hover"),',
            '    Feature(types.TEXT_DOCUMENT_LINKED_EDITING_RANGE, "linked_names.linked_names"),\n',
        ),
    ),
)
