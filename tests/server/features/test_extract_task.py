"""An inline task moves to a file of its own and back: it stays the same task of the same suite."""

from pathlib import Path

import pytest

from tests.server.features.suites import open_at_cursor
from waza_language_server.features.actions.inline_task import extract_task, inline_task
from waza_language_server.project.uris import path_of
from waza_language_server.text.span import Span

HEAD = "skill: x\nconfig: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n"
INLINE = """\
tasks:
  - id: fir<CURSOR>st # why
    # what is asked
    inputs:
      prompt: |
        Go

        on
    name: First # last
  - id: second
    inputs: {prompt: Stop}
"""
FILE = "id: first # why\n# what is asked\ninputs:\n  prompt: |\n    Go\n\n    on\nname: First # last\n"


def extracted(folder: Path, text: str) -> dict[str, str] | None:
    """Return the texts that change and the new ones; None where nothing is offered."""
    opened = open_at_cursor(folder, {"eval.yaml": HEAD + text}, "eval")
    action = extract_task(opened.document, opened.workspace, Span(opened.offset, opened.offset))
    if action is None:
        return None
    texts = opened.after(action.change)
    for new in action.change.creations:
        path = path_of(new.uri)
        assert path is not None
        texts[path.relative_to(folder).as_posix()] = new.text
    return texts


def test_a_task_moves_with_its_comments_and_is_listed_by_its_path(tmp_path: Path) -> None:
    rest = "tasks:\n  - tasks/first.yaml\n  - id: second\n    inputs: {prompt: Stop}\n"
    assert extracted(tmp_path, INLINE) == {"eval.yaml": HEAD + rest, "tasks/first.yaml": FILE}


def test_a_task_that_a_glob_picks_up_is_not_listed_again(tmp_path: Path) -> None:
    rest = "tasks:\n  - id: second\n    inputs: {prompt: Stop}\n  - cases/*.yml\n"
    assert extracted(tmp_path, INLINE + "  - cases/*.yml\n") == {
        "eval.yaml": HEAD + rest,
        "cases/first.yml": FILE,
    }


def test_line_breaks_stay_what_they_are(tmp_path: Path) -> None:
    opened = open_at_cursor(tmp_path, {"eval.yaml": (HEAD + INLINE).replace("\n", "\r\n")}, "eval")
    action = extract_task(opened.document, opened.workspace, Span(opened.offset, opened.offset))
    assert action is not None
    assert [new.text for new in action.change.creations] == [FILE.replace("\n", "\r\n")]


@pytest.mark.parametrize(
    "text",
    [
        INLINE.replace("prompt: |", "prompt_file: a.md #"),
        INLINE.replace("id: fir<CURSOR>st", "id: fir<CURSOR>st/one"),
        INLINE.replace("id: fir<CURSOR>st # why", "name<CURSOR>: No id"),
        INLINE.replace("name: First", "name: &first First"),
        INLINE.replace("name: First", "name: 'First"),
        "tasks: [{id: fir<CURSOR>st, inputs: {prompt: Go}}]\n",
        "tasks:\n  - tas<CURSOR>ks/*.yaml\n",
    ],
)
def test_nothing_is_offered_where_it_would_be_another_task(tmp_path: Path, text: str) -> None:
    assert extracted(tmp_path, text) is None


def test_no_file_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "first.yaml").write_text("id: other\n")
    assert extracted(tmp_path, INLINE) is None


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_comments_about_a_task_go_with_it(ending: str, tmp_path: Path) -> None:
    about = "  # about the first\n  - id: fir<CURSOR>st\n    inputs: {prompt: Go}\n    # to do: more\n"
    others = "  # about the second\n  - id: second\n    inputs: {prompt: Stop}\n  - tasks/*.yaml\n"
    opened = open_at_cursor(
        tmp_path, {"eval.yaml": (HEAD + f"tasks:\n{about}{others}").replace("\n", ending)}, "eval"
    )
    action = extract_task(opened.document, opened.workspace, Span(opened.offset, opened.offset))
    assert action is not None
    assert opened.after(action.change)["eval.yaml"] == (HEAD + "tasks:\n" + others).replace("\n", ending)
    file = "# about the first\nid: first\ninputs: {prompt: Go}\n# to do: more\n"
    assert [new.text for new in action.change.creations] == [file.replace("\n", ending)]


def test_comments_at_the_end_of_a_listed_task_go_with_it(tmp_path: Path) -> None:
    graders = "    graders:\n      - {type: text, name: a}\n      # more\n   # end\n  # next\n"
    assert extracted(tmp_path, "tasks:\n  - id: fir<CURSOR>st\n" + graders) == {
        "eval.yaml": HEAD + "tasks:\n  - tasks/first.yaml\n  # next\n",
        "tasks/first.yaml": "id: first\ngraders:\n  - {type: text, name: a}\n  # more\n# end\n",
    }


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
    text = out["eval.yaml"].removeprefix(HEAD).replace("tasks/first", "tasks/<CURSOR>first")
    found = inlined(tmp_path / "in", text, out["tasks/first.yaml"])
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
def test_no_file_moves_in_that_would_be_another_task(tmp_path: Path, text: str, file: str) -> None:
    assert inlined(tmp_path, text, file) is None
