"""Refactorings keep the meaning and the comments; applied and undone, the text is what it was."""

import pytest

from tests.server.project.files import workspace_with
from tests.shared_corpus import needs_corpus, suite_files
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.actions.refactorings import refactorings
from waza_language_server.project.document import Document
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.span import Span

CURSOR = "¦"
GRADERS = "graders:\n  - type: code\n    name: c\n    config:\n      assertions:\n"


def offered(source: str) -> dict[str, str]:
    """Return the text after each change that is offered at the cursor, by title."""
    offset = source.index(CURSOR)
    text = source.replace(CURSOR, "")
    kind = "eval" if text.startswith(("tasks", "skill")) else "task"
    document = Document("untitled:a", 0, text, kind)
    workspace = workspace_with()
    span = Span(offset, offset)
    problems = diagnose(document, workspace)
    actions = refactorings(document, workspace, span, problems)
    assert all(action.kind == "refactor.rewrite" for action in actions)
    return {action.title: apply(text, action.change.files[0].edits) for action in actions}


def test_an_assertion_of_two_halves_becomes_two() -> None:
    source = (
        GRADERS + "        - \"¦'a' in output and (len(output) > 1 or not errors)\" # why\n        - errors\n"
    )
    assert offered(source)["Split into 2 assertions"] == GRADERS + (
        '        - "\'a\' in output"\n        - "len(output) > 1 or not errors" # why\n        - errors\n'
    )


@pytest.mark.parametrize(
    "value", ["'a' or 'b' and output", "not (output and errors)", "nope and output", "output"]
)
def test_other_assertions_are_not_split(value: str) -> None:
    assert "Split into 2 assertions" not in offered(f'{GRADERS}        - "¦{value}"\n')


@pytest.mark.parametrize(
    "source", ["|\n          # why\n          ¦a", "|  # why\n          ¦a", "|\n          ¦a  # why"]
)
def test_an_assertion_with_a_comment_is_not_split(source: str) -> None:
    source = source.replace("¦a", "¦'#' in output and output")
    assert "Split into 2 assertions" not in offered(f"{GRADERS}        - {source}\n")


def test_what_the_first_half_binds_is_known_in_the_second() -> None:
    found = offered(GRADERS + '        - "¦(n := len(output)) and n > 3"\n')
    assert '- "(n := len(output))"\n        - "n > 3"\n' in found["Split into 2 assertions"]


def test_quotes_change_where_the_text_stays() -> None:
    assert offered("name: ¦it's\n") == {
        "Write in double quotes": 'name: "it\'s"\n',
        "Write in single quotes": "name: 'it''s'\n",
    }
    assert offered("name: '¦1'\n") == {"Write in double quotes": 'name: "1"\n'}
    assert offered('name: "¦a\\tb"\n') == {}
    assert offered("trials: ¦3\n") == {}
    assert "Write without quotes" in offered("name: '¦one'\n")
    # Older readers end a text in brackets at its question mark.
    assert "Write without quotes" not in offered("tags: ['¦why?']\n")


def test_the_keys_of_a_grader_are_sorted_with_their_comments() -> None:
    source = (
        "graders:\n  # first\n  - config:  # options\n      contains: [a]\n"
        "    # what it is called\n    na¦me: x\n    type: text # kind\n  - type: code\n"
    )
    assert offered(source)["Sort the keys of the grader"] == (
        "graders:\n  # first\n  - type: text # kind\n    # what it is called\n    name: x\n"
        "    config:  # options\n      contains: [a]\n  - type: code\n"
    )


def test_tasks_are_sorted_by_id_with_their_comments() -> None:
    source = "skill: x\nta¦sks:\n  # two\n  - id: b\n    name: B\n  # one\n  - id: a\nname: y\n"
    assert offered(source)["Sort the tasks by id"] == (
        "skill: x\ntasks:\n  # one\n  - id: a\n  # two\n  - id: b\n    name: B\nname: y\n"
    )


def test_comments_at_the_end_of_a_task_are_sorted_with_it_and_blank_lines_stay() -> None:
    tasks = "tas¦ks:\n  - id: c\n    # of c\n\n  - id: b\n    # of b\n  # about a\n  - id: a\n    # of a"
    assert offered(tasks)["Sort the tasks by id"] == (
        "tasks:\n  # about a\n  - id: a\n    # of a\n\n  - id: b\n    # of b\n  - id: c\n    # of c"
    )


def test_what_is_in_order_is_not_offered() -> None:
    assert offered("graders:\n  - ty¦pe: text\n    name: x\n") == {}
    assert offered("skill: x\nta¦sks:\n  - id: a\n  - id: b\n") == {}


def test_what_brings_a_problem_is_not_offered() -> None:
    """A comment alone on its line is about the line behind it, which is another one then."""
    keys = "skill: x\ngraders:\n  # waza: ignore[unknown-key]\n  - {}: y\n    ty¦pe: text\n    name: z\n"
    assert "Sort the keys of the grader" in offered(keys.format("weight"))
    assert "Sort the keys of the grader" not in offered(keys.format("unheard_of"))


def test_a_comment_that_leaves_a_problem_out_moves_with_it() -> None:
    source = (
        "skill: x\ngraders:\n  - name: z\n    unheard_of: 1 # waza: ignore[unknown-key]\n    ty¦pe: text\n"
    )
    assert "    unheard_of: 1 # waza: ignore" in offered(source)["Sort the keys of the grader"]


@needs_corpus
def test_every_change_of_the_samples_keeps_their_meaning() -> None:
    workspace = workspace_with()
    tried = 0
    for path in suite_files()[::3]:
        text = path.read_bytes().decode("utf-8", "replace")
        document = Document("untitled:a", 0, text, "eval" if path.name == "eval.yaml" else "task")
        root = document.tree.root
        if root is None or document.tree.errors:
            continue
        problems = diagnose(document, workspace)
        for node in [each for each in root.walk() if each.kind == "scalar"][::4]:
            span = Span(node.span.start, node.span.start)
            for action in refactorings(document, workspace, span, problems):
                after = parse(apply(text, action.change.files[0].edits))
                assert not after.errors
                assert after.root is not None
                assert text.count("#") == after.text.count("#")
                if action.title.startswith("Write"):
                    assert after.root.to_python() == root.to_python()
                tried += 1
    assert tried > 100
