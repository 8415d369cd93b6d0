"""Files pasted from a chat, with the fences and the sentences around them."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, problems
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(("text", "kind"), [(TASK, "task"), (EVAL, "eval"), (f"---\n# c\n{TASK}", "task")])
@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("```yaml\n", "```"),
        ("~~~\n", "~~~  \n"),
        ("Here's the file:\n\n```yml\n", "```\n\nLet me know: I can help.\n\n- more\n"),
        ("Sure\n```yaml\n", ""),
        ("", "```\n\n**Notes**\n"),
    ],
)
def test_what_is_around_the_yaml_goes_at_once(
    above: str, below: str, text: str, kind: DocumentKind, line_break: str
) -> None:
    meant, pasted = (each.replace("\n", line_break) for each in (text, above + text + below))
    [problem] = problems(pasted, kind)
    assert pasted.startswith(pasted[problem.span.start : problem.span.end]) == bool(above)
    assert problem.message == "The YAML stands in a block of Markdown; delete what is around it."
    [fix] = problem.fixes
    assert fix.preferred
    assert apply(pasted, fix.edits) == meant


def test_what_is_wrong_in_the_block_is_told_as_well() -> None:
    _, problem = problems(text := f"```yaml\n{TASK}tags [a]\n```\n")
    assert problem.message == "A colon is missing behind `tags`; write `tags: ` before the value."
    assert apply(text, problem.fixes[0].edits) == text.replace("tags", "tags:")


@pytest.mark.parametrize(
    "text",
    [
        f"```yaml\n{TASK}```\n\n```yaml\n{TASK}```\n",
        f"id: a\n```yaml\n{TASK.removeprefix('id: t')}```\n",
        TASK.replace("Go", "Go\n```\ncode\n```") + "tags: [a]\n",
    ],
)
def test_keys_outside_of_the_fences_are_kept(text: str) -> None:
    titles = {fix.title for problem in problems(text) for fix in problem.fixes}
    assert "Delete what is around the YAML" not in titles


@pytest.mark.parametrize("above", ["Here is the file.\n\n", "yaml\nCopy code\n"])
def test_a_sentence_above_the_first_key(above: str) -> None:
    [problem] = problems(text := above + TASK)
    comment, delete = problem.fixes
    assert apply(text, delete.edits) == TASK
    assert problems(apply(text, comment.edits)) == ()
    assert not comment.preferred
    assert not delete.preferred


@pytest.mark.parametrize("above", ["des\n", "name My first task\n"])
def test_a_key_that_lacks_its_colon_is_no_sentence(above: str) -> None:
    titles = {fix.title for problem in problems(above + TASK) for fix in problem.fixes}
    assert not titles & {"Make it a comment", "Delete it"}
