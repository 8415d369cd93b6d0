"""The languages inside strings, through the real server: in every style of a scalar, at the right columns.

``¦`` marks the cursor; an emoji in front of it counts two columns, as editors count.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, editing
from waza_language_server.protocol.token_legend import KINDS, PARTS
from waza_language_server.text.line_index import LineIndex

pytestmark = pytest.mark.check

CURSOR = "¦"
STYLES = {
    "plain": "- {}\n",
    "single": "- '{}'\n",
    "double": '- "{}"\n',
    "literal": "- |\n          {}\n",
    "folded": "- >-\n          {}\n",
}


@asynccontextmanager
async def at_cursor(
    folder: Path, source: str, name: str = "eval.yaml"
) -> AsyncGenerator[tuple[Editor, str, types.Position, str]]:
    """Open a text without its cursor; yield the editor, the URI, the cursor's position and the text."""
    offset, text = source.index(CURSOR), source.replace(CURSOR, "")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    async with editing(folder) as editor:
        uri = editor.open(path)
        yield editor, uri, types.Position(*LineIndex(text).position(offset, "utf-16")), text


async def completed(folder: Path, source: str) -> list[str]:
    """Return the labels of what can be written at the cursor."""
    async with at_cursor(folder, source) as (editor, uri, position, _):
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), position)
        found = await editor.text_document_completion_async(params)
        assert isinstance(found, types.CompletionList)
        return [item.label for item in found.items]


async def explained(folder: Path, source: str) -> tuple[str, str] | None:
    """Return what is explained at the cursor, and the explanation."""
    async with at_cursor(folder, source) as (editor, uri, position, text):
        params = types.HoverParams(types.TextDocumentIdentifier(uri), position)
        found = await editor.text_document_hover_async(params)
        if found is None or found.range is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        lines = LineIndex(text)
        start, end = (
            lines.offset(each.line, each.character, "utf-16") for each in (found.range.start, found.range.end)
        )
        return text[start:end], found.contents.value


def assertion(style: str, written: str, language: str = "python") -> str:
    """Return a suite with one assertion in a style of YAML."""
    if style == "single":
        written = written.replace("'", "''")
    elif style == "double":
        written = written.replace("\\", "\\\\").replace('"', '\\"')
    config = f"language: {language}\n      " if language != "python" else ""
    return (
        "name: s\nskill: s\ngraders:\n  - type: code\n    name: g\n    config:\n      "
        f"{config}assertions:\n        {STYLES[style].format(written)}"
    )


@pytest.mark.parametrize("style", STYLES)
async def test_names_of_python_are_explained_in_every_style(style: str, tmp_path: Path) -> None:
    found = await explained(tmp_path, assertion(style, "len(['😀']) + len(tool_¦calls) > 1"))
    assert found is not None
    assert found[0] == "tool_calls"
    assert "`tool_calls: list[tool call]`" in found[1]


@pytest.mark.parametrize("style", STYLES)
async def test_keys_and_attributes_of_python_are_completed_in_every_style(style: str, tmp_path: Path) -> None:
    keys = await completed(tmp_path, assertion(style, "len('😀') and [t for t in tool_calls if t['¦']]"))
    assert keys == ["name", "arguments", "success", "id", "result"]
    attributes = await completed(tmp_path, assertion(style, "len('😀') and [output.lower().start¦]"))
    assert "startswith('')" in attributes
    assert not {"__class__", "mro", "append"} & set(attributes)


@pytest.mark.parametrize("style", STYLES)
async def test_a_call_of_python_tells_its_parameters_in_every_style(style: str, tmp_path: Path) -> None:
    source = assertion(style, "len('😀') and re.findall('a, b', ¦output)")
    async with at_cursor(tmp_path, source) as (editor, uri, position, _):
        params = types.SignatureHelpParams(types.TextDocumentIdentifier(uri), position)
        found = await editor.text_document_signature_help_async(params)
        assert found is not None
        assert found.signatures[0].label == "findall(pattern, string, flags=0) → list"
        assert found.active_parameter == 1


async def tokens_in(editor: Editor, uri: str, text: str) -> list[tuple[str, str, str]]:
    """Return what is coloured, how, and as which part."""
    params = types.SemanticTokensParams(types.TextDocumentIdentifier(uri))
    found = await editor.text_document_semantic_tokens_full_async(params)
    assert found is not None
    return list(decoded(list(found.data), text))


def decoded(data: list[int], text: str) -> list[tuple[str, str, str]]:
    """Return what five numbers a token say."""
    lines, line, column = LineIndex(text), 0, 0
    found: list[tuple[str, str, str]] = []
    for at in range(0, len(data), 5):
        down, right, length, kind, parts = data[at : at + 5]
        line, column = line + down, right if down else column + right
        start, end = (lines.offset(line, each, "utf-16") for each in (column, column + length))
        part = PARTS[parts.bit_length() - 1] if parts else ""
        found.append((text[start:end], KINDS[kind], part))
    return found


@pytest.mark.parametrize("style", STYLES)
async def test_words_of_python_are_coloured_in_every_style(style: str, tmp_path: Path) -> None:
    source = assertion(style, "len('😀') > 3 and t in output") + CURSOR
    async with at_cursor(tmp_path, source) as (editor, uri, _, text):
        found = await tokens_in(editor, uri, text)
        quoted = "''😀''" if style == "single" else "'😀'"
        assert found == [
            ("s", "namespace", ""),
            ("code", "type", ""),
            ("g", "method", "declaration"),
            ("len", "function", "defaultLibrary"),
            (quoted, "string", ""),
            (">", "operator", ""),
            ("3", "number", ""),
            ("and", "keyword", ""),
            ("t", "variable", ""),
            ("in", "keyword", ""),
            ("output", "variable", "defaultLibrary"),
        ]


SUITE = """\
name: s
skill: explainer
config: {executor: mock, model: gpt-5}
graders:
  - type: text
    name: greets
    config:
      regex_match: ['😀(a|\\d+)?$']
  - type: tool_calls
    name: asks
    config:
      required_tools: [bash]
tasks:
  - id: one
    inputs: {prompt: hi}
    expected: {graders: [greets]}
¦"""


async def test_words_of_a_suite_and_parts_of_patterns_are_coloured(tmp_path: Path) -> None:
    async with at_cursor(tmp_path, SUITE) as (editor, uri, _, text):
        found = await tokens_in(editor, uri, text)
        assert ("explainer", "namespace", "") in found
        assert ("mock", "enumMember", "") in found
        assert ("gpt-5", "enumMember", "") in found
        assert ("text", "type", "") in found
        assert ("greets", "method", "declaration") in found
        assert ("one", "function", "declaration") in found
        assert ("greets", "method", "") in found
        assert ("bash", "function", "") in found
        assert [each for each in found if each[1] == "regexp"] == [
            ("😀", "regexp", ""),
            ("(", "regexp", "group"),
            ("a", "regexp", ""),
            ("|", "regexp", "alternation"),
            ("\\d", "regexp", "class"),
            ("+", "regexp", "quantifier"),
            (")", "regexp", "group"),
            ("?", "regexp", "quantifier"),
            ("$", "regexp", "anchor"),
        ]


async def test_a_part_and_what_differs_say_the_same_as_the_whole(tmp_path: Path) -> None:
    async with at_cursor(tmp_path, SUITE) as (editor, uri, _, text):
        document = types.TextDocumentIdentifier(uri)
        whole = await editor.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
        assert whole is not None
        assert whole.result_id is not None
        part = types.Range(types.Position(4, 0), types.Position(8, 0))
        params = types.SemanticTokensRangeParams(document, part)
        visible = await editor.text_document_semantic_tokens_range_async(params)
        assert visible is not None
        assert [each[0] for each in decoded(list(visible.data), text)][:2] == ["text", "greets"]
        editor.replace(uri, 2, text.replace("name: asks", "name: asks_twice"))
        delta = types.SemanticTokensDeltaParams(document, whole.result_id)
        changed = await editor.text_document_semantic_tokens_full_delta_async(delta)
        fresh = await editor.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
        assert isinstance(changed, types.SemanticTokensDelta)
        assert fresh is not None
        (edit,) = changed.edits
        assert len(edit.data or ()) <= 5
        patched = list(whole.data)
        patched[edit.start : edit.start + edit.delete_count] = edit.data or ()
        assert patched == list(fresh.data)


async def test_what_differs_from_nobody_knows_what_is_everything(tmp_path: Path) -> None:
    async with at_cursor(tmp_path, SUITE) as (editor, uri, _, _text):
        delta = types.SemanticTokensDeltaParams(types.TextDocumentIdentifier(uri), "long ago")
        found = await editor.text_document_semantic_tokens_full_delta_async(delta)
        assert isinstance(found, types.SemanticTokens)
        assert found.data


PATTERN = (
    "name: s\nskill: s\ngraders:\n  - type: text\n    name: g\n    config:\n      regex_match:\n        "
)


@pytest.mark.parametrize("style", STYLES)
async def test_a_pattern_is_explained_in_every_style(style: str, tmp_path: Path) -> None:
    found = await explained(tmp_path, PATTERN + STYLES[style].format("it is 😀(a¦|b)+"))
    assert found is not None
    assert found[0].strip() == "it is 😀(a|b)+"
    assert "- the text `it is 😀`\n- once or more: group 1:" in found[1]
