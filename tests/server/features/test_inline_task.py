"""A task file moves into the eval file that names it: it stays the same task, and moving it out undoes it."""

from pathlib import Path

import pytest

from tests.server.features.suites import open_at_cursor
from tests.server.features.test_extract_task import FILE, HEAD, INLINE, extracted
from waza_language_server.features.actions.inline_task import inline_task
from waza_language_server.text.span import Span

NAMED = "tasks:\n  - tasks/fir<CURSOR>st.yaml\n  - id: second\n    inputs: {prompt: Stop}\n"


def inlined(
    folder: Path, text: str, file: str = FILE, head: str = HEAD
) -> tuple[dict[str, str], list[str]] | None:
    opened = open_at_cursor(folder, {"tasks/first.yaml": file, "eval.yaml": head + text}, "eval")
    action = inline_task(opened.document, opened.workspace, Span(opened.offset, opened.offset))
    if action is None:
        return None
    assert action.kind == "refactor.inline"
    return opened.after(action.change), [opened.name(each.uri) for each in action.change.deletions]


def test_a_task_moves_in_with_its_comments_and_its_file_goes(tmp_path: Path) -> None:
    found = inlined(tmp_path, NAMED)
    assert found == ({"eval.yaml": HEAD + INLINE.replace("<CURSOR>", "")}, ["tasks/first.yaml"])


def test_moving_out_and_in_again_changes_no_byte(tmp_path: Path) -> None:
    out = extracted(tmp_path / "out", INLINE)
    assert out is not None
    text = out[1]["eval.yaml"].removeprefix(HEAD).replace("tasks/first", "tasks/<CURSOR>first")
    found = inlined(tmp_path / "in", text, out[1]["tasks/first.yaml"])
    assert found is not None
    assert found[0]["eval.yaml"] == HEAD + INLINE.replace("<CURSOR>", "")


def test_comments_above_the_task_stand_above_its_dash(tmp_path: Path) -> None:
    head = "# yaml-language-server: $schema=../task.json\n# About\n# the task\n\n"
    found = inlined(tmp_path, NAMED, head + FILE)
    inline = INLINE.replace("<CURSOR>", "")
    assert found is not None
    assert found[0]["eval.yaml"] == HEAD + inline.replace(
        "  - id: first", "  # About\n  # the task\n\n  - id: first"
    )


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (NAMED.replace("fir<CURSOR>st.yaml", "<CURSOR>*.yaml"), FILE),
        (NAMED + "  - tasks/*.yaml\n", FILE),
        (NAMED.replace("st.yaml", "st.yaml # why"), FILE),
        (NAMED, f"---\n{FILE}"),
        (NAMED, f"\ufeff{FILE}"),
        (NAMED, FILE.replace("prompt: |", "prompt_file: a.md #")),
        (NAMED, FILE.replace("id: first # why", "other: 1")),
        (NAMED, FILE.replace("\n", "\r\n")),
        (NAMED, FILE.replace("name: First", "name: 'First")),
        (NAMED, FILE.replace("id: first", "id: second")),
    ],
)
def test_nothing_is_offered_where_it_would_be_another_task(tmp_path: Path, text: str, file: str) -> None:
    assert inlined(tmp_path, text, file) is None
