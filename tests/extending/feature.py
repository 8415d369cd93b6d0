"""An editor feature: a pure function, a thin handler, and its row."""

from __future__ import annotations

from tests.extending.addition import Addition, Lines

SERVER = "server/waza_language_server"

FOLDING = Addition(
    files={
        f"{SERVER}/features/folding.py": '''\
"""Folding: every grader can be folded into its first line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.project.suite_file import SuiteFile
from waza_engine.steps import Steps, in_steps

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.text.span import Span


def folds_in_steps(document: Document) -> Steps[tuple[Span, ...]]:
    """Return what can be folded, in the order of the text."""
    found = yield from in_steps(grader.item.span for grader in SuiteFile(document.tree).graders())
    return tuple(sorted(found))
''',
        f"{SERVER}/protocol/handlers/folding.py": '''\
"""What can be folded in a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.folding import folds_in_steps
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.services.schedule import Answer
    from waza_language_server.protocol.server import WazaServer
    from waza_engine.steps import Steps


def folding(ls: WazaServer, params: types.FoldingRangeParams) -> Answer[list[types.FoldingRange]]:
    """Return the lines that can be folded."""

    def find(document: Document) -> Steps[list[types.FoldingRange]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        folds = yield from folds_in_steps(document)
        lines = [convert.range(span) for span in folds]
        return [types.FoldingRange(fold.start.line, fold.end.line) for fold in lines]

    return ls.diagnostics.answer(params.text_document.uri, find)
''',
    },
    lines=(
        Lines(
            f"{SERVER}/protocol/feature_table.py",
            '    Feature(types.TEXT_DOCUMENT_HOVER, "hover.hover"),',
            '    Feature(types.TEXT_DOCUMENT_FOLDING_RANGE, "folding.folding"),\n',
        ),
    ),
)
