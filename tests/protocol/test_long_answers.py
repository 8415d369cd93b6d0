"""Answers of thousands of items are written between the messages, and are what they are at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.protocol import default_converter

from tests.protocol.editor import editing, write_suite
from waza_engine.steps import finished
from waza_language_server.protocol.long_answers import LONG, is_long, written

pytestmark = pytest.mark.check

MANY = LONG + 1
CONVERTER = default_converter()


def at(line: int) -> types.Range:
    return types.Range(types.Position(line, 0), types.Position(line, 4))


def lens(line: int) -> types.CodeLens:
    command = types.Command("▶ Run", "waza.run", arguments=[{"id": f"é{line}", "more": [None, True, 0.5]}])
    return types.CodeLens(at(line), command)


def symbol(line: int, *below: types.DocumentSymbol) -> types.DocumentSymbol:
    kind = types.SymbolKind.Method
    return types.DocumentSymbol(f"s{line}", kind, at(line), at(line), children=list(below))


LENSES = [lens(line) for line in range(MANY)]
SYMBOLS = [symbol(0), symbol(1, *(symbol(line, symbol(line)) for line in range(MANY))), symbol(2)]
TOKENS = types.SemanticTokens(list(range(50_000)), "3")
CHANGED = types.SemanticTokensDelta([types.SemanticTokensEdit(5, 0, list(range(MANY)))], "4")
COMPLETIONS = types.CompletionList(False, [types.CompletionItem(f"w{number}") for number in range(MANY)])


@pytest.mark.parametrize("answer", [LENSES, SYMBOLS, TOKENS, CHANGED, COMPLETIONS])
def test_a_long_answer_is_what_it_is_at_once(answer: object) -> None:
    assert is_long(answer)
    text = finished(written(answer, CONVERTER.unstructure))
    assert json.loads(text) == CONVERTER.unstructure(answer)
    assert sum(1 for _ in written(answer, CONVERTER.unstructure)) > 3


@pytest.mark.parametrize(
    "answer", [None, [], LENSES[:LONG], symbol(1, symbol(2)), {"items": LENSES}], ids=type
)
def test_other_answers_are_written_at_once(answer: object) -> None:
    assert not is_long(answer)


async def test_a_server_sends_a_long_answer_to_its_request(tmp_path: Path) -> None:
    graders = "".join(f"  - {{type: text, name: g{n}, config: {{contains: [x]}}}}\n" for n in range(MANY))
    path = write_suite(tmp_path, f"name: long\nconfig: {{executor: mock, model: none}}\ngraders:\n{graders}")
    async with editing(tmp_path) as editor:
        uri = editor.open(path)
        identifier = types.TextDocumentIdentifier(uri)
        tokens = editor.text_document_semantic_tokens_full_async(types.SemanticTokensParams(identifier))
        symbols = await editor.text_document_document_symbol_async(types.DocumentSymbolParams(identifier))
        assert symbols is not None
        listed = symbols[-1]
        assert isinstance(listed, types.DocumentSymbol)
        assert [each.name for each in listed.children or ()] == [f"g{n}" for n in range(MANY)]
        coloured = await tokens
        assert coloured is not None
        assert len(coloured.data) >= 5 * 2 * MANY
