"""A document that was made to be slow costs no more than a long one, and reading it can pause."""

import random
from collections.abc import Callable, Sequence
from typing import Literal

import pytest

from tests.server.project.files import workspace_with
from tests.server.syntax.outline import outline
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document
from waza_language_server.syntax import pieces, repair
from waza_language_server.syntax.characters import MAX_CHARACTERS
from waza_language_server.syntax.libyaml_events import Part, Reading, read, read_parts
from waza_language_server.syntax.tree import MOST_FAULTS, Tree, parse

HEAD = "name: s\nskill: s\ngraders:\n  - type: text\n    name: a\ntasks:\n  - t\n"
HOSTILE: dict[str, Callable[[int], str]] = {
    "open brackets": lambda size: HEAD + "[\n" * size,
    "open braces": lambda size: HEAD + "{\n" * size,
    "double quotes": lambda size: HEAD + '"\n' * (size + 1),
    "single quotes": lambda size: HEAD + "'\n" * (size + 1),
    "bars": lambda size: HEAD + "|\n" * size,
    "dashes": lambda size: "graders:\n  " + "- " * size,
    "question marks": lambda size: HEAD + "? " * size,
    "colons": lambda size: HEAD + "a: b: c: d\n" * size,
    "keys with open brackets": lambda size: "".join(f"k{i}: [\n" for i in range(size)),
    "keys with open quotes": lambda size: "".join(f'k{i}: "\n' for i in range(size + 1)),
    "nested keys with open brackets": lambda size: "config:\n" + "".join(f"  k{i}: [\n" for i in range(size)),
    "items with open brackets": lambda size: "graders:\n" + "  - [\n" * size,
    "deep indentation": lambda size: HEAD + "".join(" " * i + "a:\n" for i in range(size)),
    "deep brackets": lambda size: HEAD + "x: " + "[" * size,
    "tabs": lambda size: HEAD + "x:\n" + "\ta: b\n" * size,
    "keys off by one": lambda size: HEAD + " kk: v\n" * size,
    "words": lambda size: HEAD + "word\n" * size,
    "every break": lambda size: "".join(f"k{i}: v" + "\n\r\x85\u2028"[i % 4] for i in range(size)),
}
BITS = ["x", "[", '"', "\n", ": ", "- ", "  ", "]", "'", "\n  - "]


class Counter:
    """Counts the work of reading, in units of ``Reading.work``."""

    def __init__(self) -> None:
        self.work = 0

    def read(self, text: str) -> Reading:
        reading = read(text)
        self.work += reading.work
        return reading

    def read_parts(self, text: str, cuts: Sequence[int], kind: Literal["mapping", "sequence"]) -> list[Part]:
        parts = read_parts(text, cuts, kind)
        # As much as reading in one go what came out, and the piece that did not.
        self.work += read(text[: cuts[min(len(parts) + 1, len(cuts) - 1)]]).work
        return parts


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Counter:
    counter = Counter()
    for reader in (pieces, repair):
        monkeypatch.setattr(reader, "read", counter.read)
    monkeypatch.setattr(pieces, "read_parts", counter.read_parts)
    return counter


def same(left: Tree, right: Tree) -> bool:
    return outline(left) == outline(right) and left.errors == right.errors


@pytest.mark.parametrize("shape", HOSTILE)
def test_an_edit_of_a_hostile_document_gives_the_tree_of_a_fresh_one(shape: str) -> None:
    randomness = random.Random(shape)
    text = HOSTILE[shape](25)
    tree = parse(text)
    for _ in range(15):
        at = randomness.randrange(len(text) + 1)
        text = text[:at] + randomness.choice(BITS) + text[at + randomness.randrange(2) :]
        tree = parse(text, tree)
        assert same(tree, parse(text)), text


@pytest.mark.parametrize("shape", HOSTILE)
def test_reading_a_hostile_document_is_about_linear_and_an_edit_cheaper(shape: str, counter: Counter) -> None:
    text = HOSTILE[shape](600)
    tree = parse(text)
    # A few units for every line or word, and what may be spent in vain once.
    assert counter.work < 60 * 600 + pieces.MOST_WASTED + repair.MOST_WORK
    for at in (len(HEAD) // 2, len(text) // 2, len(text)):
        before, counter.work = counter.work, 0
        parse(text[:at] + "x" + text[at:], tree)
        assert counter.work < 4 * repair.MOST_WORK, (before, at)


def test_a_large_broken_item_keeps_what_stands_before_its_first_error() -> None:
    text = "x:\n" + "".join(f"  k{i}: v\n" for i in range(repair.LONGEST_LINES)) + "  last: [\n"
    tree = parse(text)
    assert tree.root is not None
    assert tree.root.get("x", "k7") is not None
    assert len(tree.errors) == 1


def test_the_budget_of_a_repair_leaves_the_rest_broken_and_says_one_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repair, "MOST_WORK", 10)
    tree = parse("config:\n  a: [\n  b: 1\n  c: 2\n")
    assert tree.errors
    assert tree.root is not None
    assert tree.root.get("config") is not None


def test_only_so_many_faults_are_told_and_none_is_forgotten() -> None:
    tree = parse(HEAD + "word\n" * (2 * MOST_FAULTS) + "x: [\n")
    assert len(tree.errors) == MOST_FAULTS
    assert tree.root is not None
    node = tree.root.get("x")
    assert node is not None
    assert tree.broken(node)


def test_a_document_that_is_too_long_is_not_read_and_says_so() -> None:
    document = Document("file:///eval.yaml", 1, HEAD + "#" * MAX_CHARACTERS, "eval")
    assert document.tree.root is None
    (problem,) = diagnose(document, workspace_with())
    assert (problem.code, problem.severity, problem.span.start) == ("not-text", "information", 0)
    assert "4,000,000" in problem.message
