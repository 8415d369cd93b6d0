"""The hover of a value that names something says what that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.project.files import opened, put, workspace_with
from waza_language_server.features.hover import hover
from waza_language_server.project.document import DocumentKind
from waza_language_server.schema.catalog import default_catalog

EVAL = """\
name: my-eval
skill: my-skill
metrics:
  - {name: task_completion}
graders:
  - {type: text, name: says, config: {contains: [x]}}
tasks: [tasks/*.yaml]
"""
TASK = "id: first\nname: first\ninputs: {prompt: Do it, files: [{path: notes.txt}]}\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    put(tmp_path, "SKILL.md", "---\nname: my-skill\ndescription: Writes notes.\n---\nDo it.\n")
    put(tmp_path, "fixtures/notes.txt", "".join(f"line {number}\n" for number in range(40)))
    put(tmp_path, "tasks/first.yaml", TASK)
    return put(tmp_path, "eval.yaml", EVAL)


def told(path: Path, kind: DocumentKind, at: str) -> str | None:
    document = opened(path, kind)
    workspace = workspace_with().with_document(document)
    found = hover(document, workspace, document.text.index(at) + 1, documentation="docs/")
    return found.text if found is not None else None


def test_a_skill_tells_its_description_and_where_it_is(suite: Path) -> None:
    assert (
        told(suite, "eval", "my-skill") == "**Skill `my-skill`**\n\n```text\nWrites notes.\n```\n\n`SKILL.md`"
    )


def test_a_skill_that_nobody_knows_tells_nothing(suite: Path) -> None:
    (suite.parent / "SKILL.md").unlink()
    assert told(suite, "eval", "my-skill") is None


def test_a_fixture_shows_its_first_lines(suite: Path) -> None:
    text = told(suite.parent / "tasks/first.yaml", "task", "notes.txt")
    assert text is not None
    assert text.startswith("`../fixtures/notes.txt` · 40 lines")
    assert "line 14" in text
    assert "line 15" not in text


def test_a_metric_tells_what_it_is(suite: Path) -> None:
    text = told(suite, "eval", "task_completion")
    assert text is not None
    assert "share of tasks" in text


def test_the_key_type_lists_all_grader_types(suite: Path) -> None:
    text = told(suite, "eval", "type: text")
    assert text is not None
    assert [name for name in default_catalog().grader_types if f"- `{name}`: " not in text] == []
