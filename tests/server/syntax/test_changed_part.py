"""Outside of the part that an edit concerns the same nodes stand in the same places."""

from __future__ import annotations

import random

import pytest

from tests.server.syntax.test_incremental import LAYOUTS, edited
from waza_language_server.syntax.changed_part import ChangedPart, changed_part
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree, parse

SUITE = "name: x\ngraders:\n  - name: a\n    type: text\n\n  - name: b\n  # c\n  - name: d\ntags: [e, f]\n"


def part(old: str, new: str) -> tuple[str, str] | None:
    """Return the old and the new text of the part."""
    before = parse(old)
    found = changed_part(before, parse(new, before))
    return None if found is None else (old[found.start : found.old_end], new[found.start : found.new_end])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name: b", "name: bc", ("name: b", "name: bc")),
        ("  # c", "  # cc", ("name: b\n  # c", "name: b\n  # cc")),
        ("  # c\n", "", ("name: b\n  # c", "name: b")),
        ("tags", "\ntags", ("name: d", "name: d")),
        ("[e, f]", "[e, g]", ("e, f", "e, g")),
        ("  - name: b\n  # c\n", "", ("name: b\n  # c\n  - name:", "name:")),
        ("[e, f]", "[e, f, g]", ("e, f", "e, f, g")),
        ("name: x", "name: y", ("x", "y")),
    ],
)
def test_it_is_as_small_as_the_value_or_the_item(old: str, new: str, expected: tuple[str, str]) -> None:
    found = part(SUITE, SUITE.replace(old, new, 1))
    assert found is not None
    assert [each.strip() for each in found] == [each.strip() for each in expected]


@pytest.mark.parametrize(("old", "new"), [("tags:", "tag:"), ("name: a", "name: &a a"), (SUITE, "# nothing")])
def test_a_key_of_the_file_or_an_anchor_may_concern_everything(old: str, new: str) -> None:
    assert part(SUITE, SUITE.replace(old, new, 1)) is None


@pytest.mark.parametrize("name", LAYOUTS)
def test_outside_of_it_stand_the_same_nodes(name: str) -> None:
    randomness = random.Random(name)
    text = LAYOUTS[name]
    tree = parse(text)
    for _ in range(150):
        text = edited(text, randomness) or LAYOUTS[name]
        before, tree = tree, parse(text, tree)
        found = changed_part(before, tree)
        if found is None:
            continue
        moved = found.new_end - found.old_end
        assert before.text[: found.start] == text[: found.start]
        assert before.text[found.old_end :] == text[found.new_end :]
        assert outside(before, found, found.old_end, moved) == outside(tree, found, found.new_end, 0), text


def outside(tree: Tree, part: ChangedPart, end: int, moved: int) -> list[tuple[int, str, str]]:
    """Return where the nodes without children outside of a part stand, those behind it as they were moved."""
    assert tree.root is not None
    found: list[tuple[int, str, str]] = []
    for node in tree.root.walk():
        if node.green.children or not len(node.span):
            continue
        if node.span.end < part.start:
            found.append(said(node, 0))
        elif node.span.start > end:
            found.append(said(node, moved))
    return found


def said(node: Node, moved: int) -> tuple[int, str, str]:
    return node.span.start + moved, node.kind, node.value
