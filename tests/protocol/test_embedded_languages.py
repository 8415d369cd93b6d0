"""The languages inside strings, through the real server: in every style of a scalar, at the right columns.

``¦`` marks the cursor; an emoji in front of it counts two columns, as editors count.
"""

from pathlib import Path
from tempfile import mkdtemp

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, write_suite
from waza_language_server.protocol.feature_table import KINDS, PARTS
from waza_language_server.text.line_index import LineIndex

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

CURSOR = "¦"
STYLES = {
    "plain": "- {}\n",
    "single": "- '{}'\n",
    "double": '- "{}"\n',
    "literal": "- |\n          {}\n",
    "folded": "- >-\n          {}\n",
}


async def opened_at(
    editor: Editor, folder: Path, source: str
) -> tuple[types.TextDocumentIdentifier, types.Position, str]:
    """Open a text without its cursor; return the document, the cursor's position and the text."""
    offset, text = source.index(CURSOR), source.replace(CURSOR, "")
    path = Path(mkdtemp(dir=folder)) / "eval.yaml"
    path.write_text(text)
    document = types.TextDocumentIdentifier(editor.open(path))
    return document, types.Position(*LineIndex(text).position(offset, "utf-16")), text


def assertion(style: str, written: str) -> str:
    """Return a suite with one assertion in a style of YAML."""
    if style == "single":
        written = written.replace("'", "''")
    elif style == "double":
        written = written.replace("\\", "\\\\").replace('"', '\\"')
    return (
        "name: s\nskill: s\ngraders:\n  - type: code\n    name: g\n    config:\n      "
        f"assertions:\n        {STYLES[style].format(written)}"
    )


async def test_python_is_understood_in_every_style(editor: Editor, own_folder: Path) -> None:
    for style in STYLES:
        source = assertion(style, "len(['😀']) + len(tool_¦calls) > 1")
        found = await explained(editor, own_folder, source)
        assert found[0] == "tool_calls"
        assert "`tool_calls: list[tool call]`" in found[1]
        source = assertion(style, "len('😀') and [t for t in tool_calls if t['¦']]")
        keys = await completed(editor, own_folder, source)
        assert keys == ["name", "arguments", "success", "id", "result"]
        source = assertion(style, "len('😀') and [output.lower().start¦]")
        attributes = await completed(editor, own_folder, source)
        assert "startswith('')" in attributes
        assert not {"__class__", "mro", "append"} & set(attributes)
        source = assertion(style, "len('😀') and re.findall('a, b', ¦output)")
        document, position, _ = await opened_at(editor, own_folder, source)
        params = types.SignatureHelpParams(document, position)
        call = await editor.text_document_signature_help_async(params)
        assert call is not None
        assert call.signatures[0].label == "findall(pattern, string, flags=0) → list"
        assert call.active_parameter == 1
        source = assertion(style, "len('😀') > 3 and t in output") + CURSOR
        document, _, text = await opened_at(editor, own_folder, source)
        assert await tokens_in(editor, document.uri, text) == [
            ("s", "namespace", ""),
            ("code", "type", ""),
            ("g", "method", "declaration"),
            ("len", "function", "defaultLibrary"),
            ("''😀''" if style == "single" else "'😀'", "string", ""),
            (">", "operator", ""),
            ("3", "number", ""),
            ("and", "keyword", ""),
            ("t", "variable", ""),
            ("in", "keyword", ""),
            ("output", "variable", "defaultLibrary"),
        ]


async def test_a_pattern_is_explained_in_every_style(editor: Editor, own_folder: Path) -> None:
    for style in STYLES.values():
        found = await explained(editor, own_folder, PATTERN + style.format("it is 😀(a¦|b)+"))
        assert found[0].strip() == "it is 😀(a|b)+"
        assert "- the text `it is 😀`\n- once or more: group 1:" in found[1]


async def completed(editor: Editor, folder: Path, source: str) -> list[str]:
    """Return the labels of what can be written at the cursor."""
    document, position, _ = await opened_at(editor, folder, source)
    return [item.label for item in await editor.complete(document.uri, position.line, position.character)]


async def explained(editor: Editor, folder: Path, source: str) -> tuple[str, str]:
    """Return what is explained at the cursor, and the explanation."""
    document, position, text = await opened_at(editor, folder, source)
    found = await editor.hover(document.uri, position.line, position.character)
    assert found is not None
    assert found.range is not None
    assert isinstance(found.contents, types.MarkupContent)
    lines = LineIndex(text)
    start, end = (
        lines.offset(at.line, at.character, "utf-16") for at in (found.range.start, found.range.end)
    )
    return text[start:end], found.contents.value


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
"""


async def test_words_of_a_suite_and_parts_of_patterns_are_coloured(editor: Editor, own_folder: Path) -> None:
    uri = editor.open(write_suite(own_folder, SUITE))
    found = await tokens_in(editor, uri, SUITE)
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


async def test_a_part_and_what_differs_say_the_same_as_the_whole(editor: Editor, own_folder: Path) -> None:
    uri = editor.open(write_suite(own_folder, SUITE))
    document = types.TextDocumentIdentifier(uri)
    whole = await editor.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    assert whole is not None
    assert whole.result_id is not None
    part = types.Range(types.Position(4, 0), types.Position(8, 0))
    params = types.SemanticTokensRangeParams(document, part)
    visible = await editor.text_document_semantic_tokens_range_async(params)
    assert visible is not None
    assert [each[0] for each in decoded(list(visible.data), SUITE)][:2] == ["text", "greets"]
    editor.replace(uri, 2, SUITE.replace("name: asks", "name: asks_twice"))
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


async def test_what_differs_from_nobody_knows_what_is_everything(editor: Editor, own_folder: Path) -> None:
    uri = editor.open(write_suite(own_folder, SUITE))
    delta = types.SemanticTokensDeltaParams(types.TextDocumentIdentifier(uri), "long ago")
    found = await editor.text_document_semantic_tokens_full_delta_async(delta)
    assert isinstance(found, types.SemanticTokens)
    assert found.data


PATTERN = (
    "name: s\nskill: s\ngraders:\n  - type: text\n    name: g\n    config:\n      regex_match:\n        "
)
