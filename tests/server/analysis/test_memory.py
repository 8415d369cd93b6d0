"""What is no longer needed is gone at once: no circle of references waits for the garbage collector.

The collector looks at long-lived objects seldom, and what was read from a version of a text is large: kept in
circles, it had let a server of small files grow by 100 MiB within minutes of typing.
"""

import gc
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.actions.code_actions import code_actions, fix_all, fixed
from waza_language_server.project.document import Document
from waza_language_server.project.workspace import Workspace
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.span import Span

HEAD = "name: s\nskill: s\ntasks: [t]\n"
GRADER = "  - type: text\n    name: {name}\n    config:\n      contians: [a]\n"
TEXTS = {
    "misspelt options": HEAD + "graders:\n" + GRADER.format(name="a") + GRADER.format(name="b"),
    "a misspelt type": HEAD + "graders:\n  - type: txet\n    name: a\n    config: {contains: [a]}\n",
    "an open bracket": HEAD + "graders:\n" + GRADER.format(name="a") + "  - type: [txet\n    name: b\n",
    "an open quote": HEAD + "graders:\n" + GRADER.format(name='"a') + GRADER.format(name="b"),
    "a wrong indentation": HEAD + "graders:\n" + GRADER.format(name="a") + " - type: text\n",
    "a key without a colon": HEAD + "config\n  trials: 2\ngraders:\n" + GRADER.format(name="a"),
    "an alias of nothing": HEAD + "graders: *none\n",
    "too deep": HEAD + "inputs: " + "[" * 500 + "\n",
}


@pytest.fixture(autouse=True)
def _no_collection_of_garbage() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


def type_once(document: Document, workspace: Workspace, number: int) -> Document:
    """Change the text, judge it, and make its fixes."""
    edited = document.replaced(f"{document.text}# {number}\n", number)
    problems = diagnose(edited, workspace)
    code_actions(edited, workspace, Span(0, len(edited.text)), problems)
    fix_all(edited, fixed(edited, workspace, problems))
    return edited


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_an_edit_leaves_nothing_in_circles(text: str) -> None:
    workspace = workspace_with()
    document = type_once(Document("file:///eval.yaml", 1, text, "eval"), workspace, 2)
    gc.collect()
    type_once(document, workspace, 3)
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    assert Counter(type(left).__qualname__ for left in gc.garbage) == Counter()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_trees_of_old_texts_are_gone(text: str) -> None:
    workspace = workspace_with()
    document = Document("file:///eval.yaml", 1, text, "eval")
    before = _trees()
    for number in range(2, 12):
        document = type_once(document, workspace, number)
    # That of the text, and the last one that was tried for a fix with the one before it.
    assert _trees() <= before + 3


def _trees() -> int:
    return sum(isinstance(found, Tree) for found in gc.get_objects())
