"""After every edit a server answers as one that has just opened the text."""

import random
import re
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.engine.suites import run
from tests.protocol.editor import Editor, editing, write_suite
from waza_language_server.text.line_index import LineIndex

pytestmark = pytest.mark.check

EDITS = 16
OPTIONS = {
    "drawsMarks": True,
    "runWithCommand": "waza.runWith",
    # What the engine tells comes when it comes.
    "lens": {"cost": False, "affected": False},
    "hints": {"history": False},
}
HEAD = """\
name: reads
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
metrics:
  - {name: task_completion, weight: 1.0, threshold: 0.5}
tasks:
  - "tasks/*.yaml"
  - id: inline
    name: inline
    inputs: {prompt: Say hello}
    expected: {output_contains: [hello, never]}
    graders:
      - {type: code, name: own, config: {assertions: [len(output) > 3, "'x' in output"]}}
graders:
"""
GRADERS = (
    "  - type: text\n    name: g{0}\n    config:\n      contains:\n        - hello\n        - no {0}\n",
    "  - type: code # é😋\n    name: g{0}\n    config:\n      assertions: [len(output) > {0}]\n\n",
    "  - {{type: text, name: g{0}, config: {{regex_match: ['h+😋?\\w']}}}}\n",
    "# between\n  - name: g{0}\n    type: text\n    config: {{regex_match: ['(?i)say', '[a-z]{{2}}']}}\n",
    "  - {{type: json_schema, name: g{0}, config: {{schema_file: answer.json}}}}\n",
)
SUITE = HEAD + "".join(GRADERS[number % len(GRADERS)].format(number) for number in range(16))
TASK = """\
id: one
name: one
inputs:
  prompt: Say hello
expected:
  output_contains:
    - hello
    - 'never 😋'
  graders:
    - {type: code, name: expects, config: {assertions: ["'h' in output"]}}
graders:
  - type: text
    name: mine
    config: {contains: [hello]}
  - {type: json_schema, name: formed, config: {schema_file: answer.json}}
"""
PIECES = (
    *"abc:-#\"'[]{} \n\n\n",
    ": ", "- ", "\n  - ", "\n    ", "# c\n", "é😋", "\r\n", "&a ", "*a ", "<<: *a\n", "config:\n",
    "len(output)",
    "  - type: text\n    name: new\n    config: {contains: [hello]}\n", "graders:\n", "type: code", "\n\n\n",
    "  - {type: text, name: g3, config: {regex_match: ['a+']}}\n", "name: ", "|\n", "id: two\n", "---\n",
)  # fmt: skip
_AGE = re.compile(r"Recorded [^(;.]*")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = write_suite(tmp_path, SUITE, one=TASK)
    path.with_name("answer.json").write_text("{}", "utf-8")
    run(path)
    return path


@pytest.mark.parametrize("name", ["eval.yaml", "tasks/one.yaml"])
async def test_answers_after_edits_are_those_to_the_text_alone(suite: Path, name: str) -> None:
    path = suite.parent / name
    first = text = path.read_text("utf-8")
    randomness = random.Random(name)
    async with AsyncExitStack() as both:
        kept, fresh = [
            await both.enter_async_context(editing(suite.parent, options=OPTIONS)) for _ in range(2)
        ]
        uri = kept.open(path)
        tokens = _Tokens(kept, uri)
        await tokens.read()
        for version in range(2, EDITS + 2):
            before, text = text, edited(text, randomness) if version % 10 else first
            kept.edit(uri, version, *changes(before, text, randomness))
            fresh.open_uri(uri, text)
            assert await tokens.read() == await _Tokens(fresh, uri).read(), text
            told = await answers(kept, uri, text)
            assert told == await answers(fresh, uri, text), text
            assert text != first or all(told.values()), told
            fresh.close(uri)


def edited(text: str, randomness: random.Random) -> str:
    """Return the text with one random edit: a piece comes or goes, a line goes, comes twice or moves."""
    start = randomness.randrange(len(text) + 1)
    lines = text.splitlines(keepends=True)
    number = randomness.randrange(len(lines)) if lines else 0
    kinds: dict[str, Callable[[], str]] = {
        "piece": lambda: text[:start] + randomness.choice(PIECES) + text[start:],
        "letter": lambda: text[:start] + randomness.choice("xyz19") + text[start:],
        "less": lambda: text[:start] + text[start + randomness.choice([1, 1, 2, 4, 20]) :],
        "line": lambda: "".join([*lines[:number], *lines[number + 1 :]]),
        "twice": lambda: "".join([*lines[: number + 1], *lines[number:]]),
        "at a line": lambda: "".join([*lines[:number], randomness.choice(PIECES), *lines[number:]]),
    }
    return kinds[randomness.choice([*kinds, "letter", "letter"])]()


def changes(old: str, new: str, randomness: random.Random) -> Iterator[types.TextDocumentContentChangeEvent]:
    """Yield what makes the new text: the difference alone, or sometimes everything."""
    if randomness.random() < 0.05:
        yield types.TextDocumentContentChangeWholeDocument(new)
        return
    head = sum(takewhile(bool, map(eq, old, new)))
    tail = sum(takewhile(bool, map(eq, reversed(old[head:]), reversed(new[head:]))))
    lines = LineIndex(old)
    while head and old[head - 1] == "\r":
        head -= 1
    if old[len(old) - tail :].startswith("\n"):
        tail -= 1
    start, end = (types.Position(*lines.position(at)) for at in (head, len(old) - tail))
    yield types.TextDocumentContentChangePartial(types.Range(start, end), new[head : len(new) - tail])


class _Tokens:
    """The numbers of the semantic tokens of a document, as a client keeps them."""

    def __init__(self, editor: Editor, uri: str) -> None:
        self._editor = editor
        self._document = types.TextDocumentIdentifier(uri)
        self._data: list[int] = []
        self._known: str | None = None

    async def read(self) -> list[int]:
        """Return them, asking for what differs where some are known."""
        if self._known is None:
            params = types.SemanticTokensParams(self._document)
            found = await self._editor.text_document_semantic_tokens_full_async(params)
        else:
            differs = types.SemanticTokensDeltaParams(self._document, self._known)
            found = await self._editor.text_document_semantic_tokens_full_delta_async(differs)
        if isinstance(found, types.SemanticTokensDelta):
            for edit in found.edits:
                self._data[edit.start : edit.start + edit.delete_count] = edit.data or ()
        else:
            self._data = list(found.data) if found is not None else []
        self._known = found.result_id if found is not None else None
        return self._data


async def answers(editor: Editor, uri: str, text: str) -> dict[str, Any]:
    """Return what an editor is told of a document, as far as it does not depend on the time."""
    document: Any = {"textDocument": {"uri": uri}}
    lines = text.count("\n")
    shown = types.Range(types.Position(lines // 3, 0), types.Position(lines * 2 // 3, 0))
    identifier = types.TextDocumentIdentifier(uri)
    part = types.SemanticTokensRangeParams(identifier, shown)
    hints = types.InlayHintParams(identifier, shown)
    found = {
        "lenses": await editor.lenses(uri),
        "hints": await editor.hints(uri),
        "links": await editor.text_document_document_link_async(types.DocumentLinkParams(identifier)),
        "hints of a part": await editor.text_document_inlay_hint_async(hints),
        "tokens of a part": await editor.text_document_semantic_tokens_range_async(part),
        **{
            method: await editor.protocol.send_request_async(method, document)
            for method in ("waza/marks", "waza/runnables", "waza/suiteState")
        },
    }
    return {name: _AGE.sub("Recorded", repr(answer)).split("), ") for name, answer in found.items()}
