"""Where the next line begins after Enter, at a ``<CURSOR>`` where the editor has put it."""

import pytest

from tests.server.features.completing import CURSOR
from tests.server.project.files import workspace_with
from waza_language_server.features.new_line import indent_new_line
from waza_language_server.project.document import Document, DocumentKind


def indented(source: str, kind: DocumentKind = "eval") -> str:
    """Return the text after Enter with the cursor behind the indentation of the new line."""
    offset = source.index(CURSOR)
    text = source.replace(CURSOR, "")
    document = Document("file:///nowhere/eval.yaml", 1, text, kind)
    edit = indent_new_line(document, workspace_with(document), offset)
    if edit is None:
        return source
    return text[: edit.span.start] + edit.text + CURSOR + text[edit.span.end :]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("graders:\n  - type: code\n  <CURSOR>", "graders:\n  - type: code\n    <CURSOR>"),
        ("graders:\n- type: code\n<CURSOR>", "graders:\n- type: code\n  <CURSOR>"),
        (
            "graders:\n  - type: code\n  <CURSOR>\ntasks:\n",
            "graders:\n  - type: code\n    <CURSOR>\ntasks:\n",
        ),
        ("graders:\n  - type: code # why\n<CURSOR>", "graders:\n  - type: code # why\n    <CURSOR>"),
        ("graders:\n  - name: 'a'\n  <CURSOR>", "graders:\n  - name: 'a'\n    <CURSOR>"),
        (
            "metrics:\n  - name: task_completion\n  <CURSOR>",
            "metrics:\n  - name: task_completion\n    <CURSOR>",
        ),
        ("graders:\r\n  - type: code\r\n  <CURSOR>", "graders:\r\n  - type: code\r\n    <CURSOR>"),
    ],
)
def test_behind_a_value_it_begins_below_the_key(typed: str, expected: str) -> None:
    assert indented(typed) == expected


def test_in_task_files_and_trigger_tests_as_well() -> None:
    task = "id: a\nexpected:\n  output_contains:\n    - x\ngraders:\n  - type: text\n  <CURSOR>\n"
    assert indented(task, "task") == task.replace("  <CURSOR>", "    <CURSOR>")
    triggers = "skill: a\nshould_trigger_prompts:\n  - prompt: hello\n  <CURSOR>\n"
    assert indented(triggers, "trigger_tests") == triggers.replace("  <CURSOR>", "    <CURSOR>")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("graders:\n  - config:\n    <CURSOR>", "graders:\n  - config:\n      <CURSOR>"),
        ("graders:\n<CURSOR>", "graders:\n  <CURSOR>"),
        ("tasks:\n- a.yaml\ngraders:\n  <CURSOR>", "tasks:\n- a.yaml\ngraders:\n<CURSOR>"),
        ("description: |\n<CURSOR>", "description: |\n  <CURSOR>"),
        (
            "config:\n    model: x\ngraders:\n    - config:\n      <CURSOR>",
            "config:\n    model: x\ngraders:\n    - config:\n          <CURSOR>",
        ),
        (
            "config:\n    model: x\ndescription: |\n<CURSOR>",
            "config:\n    model: x\ndescription: |\n    <CURSOR>",
        ),
        ("graders: &all\n<CURSOR>", "graders: &all\n  <CURSOR>"),
        ("config:\n\tmodel: x\ngraders:\n<CURSOR>", "config:\n\tmodel: x\ngraders:\n  <CURSOR>"),
        (
            "graders:\n  - config: &shared # both\n    <CURSOR>",
            "graders:\n  - config: &shared # both\n      <CURSOR>",
        ),
        ("description: >-\n<CURSOR>", "description: >-\n  <CURSOR>"),
        ("description: !!str &a | # why\n<CURSOR>", "description: !!str &a | # why\n  <CURSOR>"),
        ("description: |4-\n<CURSOR>", "description: |4-\n    <CURSOR>"),
        (
            "config:\n    model: x\ndescription: |2\n<CURSOR>",
            "config:\n    model: x\ndescription: |2\n  <CURSOR>",
        ),
        ("tags:\n  - |\n  <CURSOR>", "tags:\n  - |\n    <CURSOR>"),
        ("tags:\n- >- # why\n<CURSOR>", "tags:\n- >- # why\n  <CURSOR>"),
        ("tags:\n  - - |4\n  <CURSOR>", "tags:\n  - - |4\n        <CURSOR>"),
    ],
)
def test_behind_a_key_it_begins_where_the_value_belongs(typed: str, expected: str) -> None:
    assert indented(typed) == expected


@pytest.mark.parametrize(
    "typed",
    [
        "graders:\n  - type: code\n    <CURSOR>",
        "graders:\n  - type: code\n\n<CURSOR>",
        "graders:\n  - type: code\n  <CURSOR>name: x",
        "tasks:\n  - tasks/*.yaml\n  <CURSOR>",
        "description: |\n  - type: code\n  <CURSOR>",
        "description: |\n  - |\n  <CURSOR>",
        "tags: [\n  - |\n  <CURSOR>",
        "|\n<CURSOR>",
        'description: "- type: code\n  - type: code\n  <CURSOR>"',
        "graders:\n  - {type: code,\n  <CURSOR>",
        "tags: [a,\n<CURSOR>",
        "# - type: code\n<CURSOR>",
        "- <CURSOR>",
        "nobody_knows:\n    <CURSOR>",
    ],
)
def test_elsewhere_the_line_stays_where_the_editor_put_it(typed: str) -> None:
    assert indented(typed) == typed
