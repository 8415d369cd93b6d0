"""What is asked of all grader entries, over edits, against the same asked of a text that was just read."""

from __future__ import annotations

import random

from waza_engine.steps import finished
from waza_language_server.analysis.file_rules.grader_names import name_of
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.project.outline import outline
from waza_language_server.schema.catalog import Catalog, default_catalog
from waza_language_server.syntax.tree import Tree, parse

GRADERS = (
    "  - {name: a, type: text}\n",
    "  - name: b\n    type: prompt\n    config: {model: m}\n",
    "  - name: a\n    type: tool_constraint\n    config: {required: [bash]}\n",
    "  - type: text\n",
    "  - word\n",
    "  - - name: c\n",
    "  - &x {name: d, type: text}\n",
    "  - *x\n",
)


def counts(tree: Tree, catalog: Catalog) -> tuple[dict[str | None, int], int]:
    counted = finished(GraderEntries(tree, "eval", catalog).counted(name_of))
    return {**counted.by_value}, counted.total


def test_names_and_outline_after_any_edits_are_those_of_the_text_alone() -> None:
    catalog, randomness = default_catalog(), random.Random(7)
    for _ in range(20):
        graders, tree = randomness.choices(GRADERS, k=6), None
        for _ in range(10):
            at = randomness.randrange(len(graders))
            graders[at : at + randomness.randrange(2)] = randomness.choices(
                GRADERS, k=randomness.randrange(3)
            )
            graders = graders or [GRADERS[0]]
            tree = parse("name: s\ngraders:\n" + "".join(graders), tree)
            fresh = parse(tree.text)
            assert outline(tree) == outline(fresh)
            assert counts(tree, catalog) == direct(fresh, catalog)


def direct(tree: Tree, catalog: Catalog) -> tuple[dict[str | None, int], int]:
    names = [name_of(grader) for grader in GraderEntries(tree, "eval", catalog)]
    return {name: names.count(name) for name in names}, len(names)
