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
