"""Items that an edit brings from one list of a file into another, against the same text read anew."""

from itertools import combinations, permutations

import pytest

from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.file_rules.grader_names import name_of
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.index import Project
from waza_language_server.project.outline import Outline, outline
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog

pytestmark = pytest.mark.check

HEAD = "name: s\nskill: s\n"
GRADER = "  - name: {name}\n    type: {type}\n    wieght: 2\n    config: {{contians: [x]}}\n"
TASK = (
    "  - id: {name}\n    name: {name}\n    inputs: {{prompt: p}}\n    graders:\n"
    "      - {{name: g, type: {type}}}\n      - {{name: g}}\n"
    "    expected:\n      graders: [{{name: h, type: {type}}}]\n"
    "    checkpoints:\n      - after_turn: 1\n        graders: [{{name: {name}, type: {type}}}]\n"
)
PROMPT = "  - prompt: {name}\n    type: {type}\n    confg: {{}}\n"
ITEMS = {"graders": GRADER, "tasks": TASK, "prompts": PROMPT}
KEYS: dict[DocumentKind, tuple[str, ...]] = {
    "eval": ("tasks:\n", "graders:\n", "mcp_mocks:\n"),
    "task": ("graders:\n", "checkpoints:\n", "expected:\n  graders:\n", "tags:\n"),
    "trigger_tests": ("should_trigger_prompts:\n", "should_not_trigger_prompts:\n", "graders:\n"),
}
PAIRS = [(kind, old, new) for kind, keys in KEYS.items() for old, new in combinations(keys, 2)]
ORDERED = [(kind, old, new) for kind, keys in KEYS.items() for old, new in permutations(keys, 2)]
MANY = 66
"""More items than one node of the tree of a text holds side by side."""

Told = tuple[list[tuple[object, ...]], list[str | None], list[str | None], Outline]


def items(of: str, number: int) -> str:
    """Return items of a list, of which some have the same name and some no type that there is."""
    types = ("text", "txt")
    return "".join(ITEMS[of].format(name=f"n{at // 2}", type=types[at % 2]) for at in range(number))


def reported(document: Document) -> Told:
    """Return all that is kept by lists: problems, names and what the file says about itself."""
    catalog = default_catalog()
    found = diagnose(document, Workspace(Project(), catalog))
    entries = GraderEntries(document.tree, document.kind, catalog)
    misspelt = [name_of(entry) for entry in entries.of_types(("txt",))]
    return (
        [(each.code, each.span, each.message, each.severity, each.related, each.tag) for each in found],
        [name_of(entry) for entry in entries],
        misspelt,
        outline(document.tree),
    )


def assert_as_fresh(kind: DocumentKind, *versions: str) -> None:
    """Compare the problems of each edited version of a text with those of a new document."""
    document = Document("untitled:edited", 0, versions[0], kind)
    reported(document)
    for number, text in enumerate(versions[1:], 1):
        document = document.replaced(text, number)
        assert reported(document) == reported(Document("untitled:fresh", number, text, kind))


@pytest.mark.parametrize("number", [4])
@pytest.mark.parametrize("of", ITEMS)
@pytest.mark.parametrize(("kind", "old", "new"), PAIRS)
def test_a_key_is_replaced_by_another(kind: DocumentKind, old: str, new: str, of: str, number: int) -> None:
    before, after = (HEAD + key + items(of, number) for key in (old, new))
    assert_as_fresh(kind, before, after, before)


@pytest.mark.parametrize("number", [MANY])
@pytest.mark.parametrize("of", ITEMS)
@pytest.mark.parametrize(("kind", "old", "new"), ORDERED)
def test_a_key_comes_between_the_items(kind: DocumentKind, old: str, new: str, of: str, number: int) -> None:
    first, rest = items(of, 1), items(of, number)
    before, after = (HEAD + old + first + key + rest for key in ("", new))
    assert_as_fresh(kind, before, after, before)


@pytest.mark.parametrize("number", [4, MANY])
def test_problems_of_graders_come_and_go_with_their_key(number: int) -> None:
    graders = items("graders", number)
    as_tasks, as_graders = (
        Document("untitled:a", 0, HEAD + key + graders, "eval") for key in ("tasks:\n", "graders:\n")
    )
    reported(as_tasks)
    codes = {code for code, *_ in reported(as_tasks.replaced(as_graders.text, 1))[0]}
    assert codes >= {"unknown-grader-type", "unknown-key", "missing-key", "duplicate-grader-name"}
