"""An inline task moves to a file of its own: it stays the same task of the same suite."""

from pathlib import Path

import pytest

from tests.server.features.suites import Opened, open_at_cursor
from waza_language_server.features.actions.inline_task import extract_task
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


def extracted(folder: Path, text: str) -> tuple[Opened, dict[str, str]] | None:
    opened = open_at_cursor(folder, {"eval.yaml": HEAD + text}, "eval")
    action = extract_task(opened.document, opened.workspace, Span(opened.offset, opened.offset))
    if action is None:
        return None
    texts = opened.after(action.change)
    for new in action.change.creations:
        path = path_of(new.uri)
        assert path is not None
        texts[path.relative_to(folder).as_posix()] = new.text
    return opened, texts


def test_a_task_moves_with_its_comments_and_is_listed_by_its_path(tmp_path: Path) -> None:
    found = extracted(tmp_path, INLINE)
    assert found is not None
    rest = "tasks:\n  - tasks/first.yaml\n  - id: second\n    inputs: {prompt: Stop}\n"
    assert found[1] == {"eval.yaml": HEAD + rest, "tasks/first.yaml": FILE}


def test_a_task_that_a_glob_picks_up_is_not_listed_again(tmp_path: Path) -> None:
    found = extracted(tmp_path, INLINE + "  - cases/*.yml\n")
    assert found is not None
    rest = "tasks:\n  - id: second\n    inputs: {prompt: Stop}\n  - cases/*.yml\n"
    assert found[1] == {"eval.yaml": HEAD + rest, "cases/first.yml": FILE}


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
    found = extracted(tmp_path, "tasks:\n  - id: fir<CURSOR>st\n" + graders)
    assert found is not None
    assert found[1] == {
        "eval.yaml": HEAD + "tasks:\n  - tasks/first.yaml\n  # next\n",
        "tasks/first.yaml": "id: first\ngraders:\n  - {type: text, name: a}\n  # more\n# end\n",
    }
