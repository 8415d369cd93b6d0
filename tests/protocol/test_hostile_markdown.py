"""Images, links, HTML, icons and commands in every field of a suite and its results: none gets through.

What comes from files carries a mark. Wherever a client renders Markdown the mark may stand in code only;
where it shows a title, a label or a message, there must be no icon, no link and no character that hides.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.engine.suites import recorded
from tests.hostile_text import HOSTILE, HOSTILE_LINE, hidden_in, outside_of_code, rendered, replaced
from tests.protocol.editor import Editor, editing, write_suite

pytestmark = pytest.mark.check

MARK = "zzz"
OURS = "file:///docs/graders.md#text"
OUR_PAGE = re.compile(r"file:///\S+/graders\.md#[a-z_]+")
# Other names and keys than these have to be what they are for a result to belong to its suite.
FIXED = {"test_id", "timestamp", "status", "eval_file", "type", "path", "outcome"}


def hostile_suite(folder: Path) -> Path:
    """Write a suite that runs and whose every name, prompt and value is hostile; return its eval file."""
    evil, line, own = map(json.dumps, (HOSTILE, HOSTILE_LINE, f"own {HOSTILE_LINE}"))
    return write_suite(
        folder,
        f"""\
name: {evil}
description: {evil}
skill: {line}
{line}: 1
config: {{trials_per_task: 2, timeout_seconds: 20, executor: mock, model: {line}, modle: {line}}}
inputs: {{{line}: {line}}}
graders:
  - {{type: text, name: {line}, config: {{contains: [{line}], not_contains: [Mock], containz: 1}}}}
  - {{type: tool_constraint, name: tools, config: {{expect_tools: [{{tool: {line}}}]}}}}
  - {{type: program, name: {line}, config: {{command: {line}}}}}
tasks: ["tasks/*.yaml"]
metrics: [{{name: {line}, weight: 1, threshold: 0.5}}]
""",
        one=f"""\
id: {line}
name: {evil}
tags: [{line}]
inputs: {{prompt: {evil}, files: [{{path: {line}}}]}}
graders:
  - {{type: code, name: {own}, config: {{assertions: ["len(output) > 9999", {line}]}}}}
  - {{type: {line}, name: x}}
expected: {{graders: [{line}], {line}: {line}}}
""",
    )


def planted(value: Any) -> Any:
    """Return a result in which every text that nothing depends on is hostile."""
    match value:
        case dict():
            return {key: item if key in FIXED else planted(item) for key, item in value.items()}
        case list():
            return [planted(item) for item in value]
        case _:
            return replaced(value, HOSTILE)


async def test_every_hover_tooltip_item_lens_and_problem_shows_it_as_text(tmp_path: Path) -> None:
    suite = hostile_suite(tmp_path / "$(bell) suite")
    task = suite.parent / "tasks" / "one.yaml"
    # A grader of no known type is only opened: with it the task would not run.
    text = task.read_text("utf-8")
    task.write_text(re.sub(r"  - \{type: \"zzz.*\n", "", text), "utf-8")
    record = recorded(suite)
    result = json.loads(record.read_text("utf-8"))
    # One of another version is not read.
    spoilt = planted(result) | {"schemaVersion": result["schemaVersion"]}
    record.write_text(json.dumps(spoilt), "utf-8")
    markdown: list[str] = []
    plain: list[str] = []
    async with editing(suite.parent) as editor:
        for path, written in ((suite, suite.read_text("utf-8")), (task, text)):
            uri = editor.open(path, written)
            markdown += await rendered_of(editor, uri, written)
            plain += await shown_of(editor, uri, written)
    assert any(MARK in told for told in markdown)
    assert any("stale" in told for told in markdown)
    for told in markdown:
        assert MARK not in outside_of_code(told), told
        assert hidden_in(told) == set(), told
        for token in rendered(told):
            assert token.type not in {"image", "html_inline", "html_block"}, told
            assert OUR_PAGE.fullmatch(str(token.attrs.get("href", OURS))), told
    assert any(MARK in told for told in plain)
    for told in plain:
        assert hidden_in(told) == set(), told


async def rendered_of(editor: Editor, uri: str, text: str) -> list[str]:
    """Return all Markdown that a document can bring about."""
    found: list[str] = []
    places = [
        (number, match.start() + 1)
        for number, line in enumerate(text.splitlines())
        for match in list(re.finditer(r"[\w]{2,}", line))[:40]
    ]
    for line, column in places:
        told = await editor.hover(uri, line, column)
        if told is not None:
            assert isinstance(told.contents, types.MarkupContent)
            found.append(told.contents.value)
    for hint in await editor.hints(uri):
        assert not isinstance(hint.tooltip, str)
        found += [hint.tooltip.value] if hint.tooltip else []
    for line in range(len(text.splitlines())):
        for item in await editor.complete(uri, line, 2):
            if isinstance(item.documentation, types.MarkupContent):
                found.append(item.documentation.value)
    return found


async def shown_of(editor: Editor, uri: str, text: str) -> list[str]:
    """Return all titles, labels and messages that a document can bring about; no title has an icon."""
    found: list[str] = []
    for diagnostic in await editor.problems(uri):
        found += [diagnostic.message, *(place.message for place in diagnostic.related_information or ())]
    titles: list[str] = []
    for lens in await editor.lenses(uri):
        assert lens.command is not None
        titles.append(lens.command.title)
    for number, line in enumerate(text.splitlines()):
        found += [action.title for action in await editor.actions(uri, number)]
        for column in (line.find("model: ") + 8, line.find("graders: [") + 11, line.find("tool: ") + 7):
            for item in await editor.complete(uri, number, column) if column > 10 else ():
                titles.append(item.label)
                found.append(item.detail or "")
    for title in titles:
        assert not re.search(r"(?<!\\)\$\([\w-]+\)", title), title
    return found + titles


async def test_messages_refusals_and_progress_make_no_links_and_no_icons(tmp_path: Path) -> None:
    name = f"{HOSTILE_LINE[:40]}](command:x) $(bell)".replace("/", "")
    graders = 'graders: [{type: text, name: "$(bell) [a](command:x)", config: {contains: [Mock]}}]\n'
    config = "config: {trials_per_task: 1, timeout_seconds: 9, executor: mock}\n"
    task = json.dumps(HOSTILE_LINE)
    start = f"name: s\nskill: s\n{config}{graders}"
    suite = write_suite(tmp_path / name, f"{start}tasks: [{{id: {task}, inputs: {{prompt: hello}}}}]\n")
    told: list[str] = []
    async with editing(tmp_path) as editor:
        told += await run_told(editor, suite)
        suite.write_text(f"{start}tasks: [{{{task}: x, {task}: y}}]\n", "utf-8")
        told += await run_told(editor, suite)
        told += await run_told(editor, suite.with_name("[a](command:x) \x1b]0;t\x07 bell.yaml"))
    assert sum("bell" in text for text in told) >= 2
    for text in told:
        assert "](" not in text, text
        assert hidden_in(text) == set(), text


async def run_told(editor: Editor, suite: Path) -> list[str]:
    """Return what the user is told when a suite is run: messages, the title and steps of its progress."""
    told: list[str] = []
    before = len(editor.messages)
    try:
        await editor.command("waza.run", {"suite": str(suite)}, token="progress")
    except Exception as error:  # noqa: BLE001 - a refusal is what is looked at
        told.append(str(error))
    for report in editor.progress_reports.pop("progress", ()):
        values = (getattr(report, "title", None), getattr(report, "message", None))
        told += [value for value in values if value]
    return told + [message.message for message in editor.messages[before:]]
