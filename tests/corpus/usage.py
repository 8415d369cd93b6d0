"""Counts what the public suites write; ``python -m tests.corpus.usage`` prints what ``usage.json`` holds."""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.shared_corpus import SUITES, suite_files
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.schema.locate import shape_at, shape_below
from waza_language_server.schema.usage import GRADER_TYPES, section_of
from waza_language_server.syntax.nodes import Node

RARE = 2
"""What fewer files use says nothing about what authors want."""


def used_names() -> dict[str, list[str]]:
    """Return the keys of each kind of mapping, and the grader types, those of most files first."""
    files_with: defaultdict[str, Counter[str]] = defaultdict(Counter)
    project = Project([SUITES])
    for file in suite_files():
        for section, name in _names_in(project, file):
            files_with[section][name] += 1
    return {
        section: [name for name, _ in sorted(names.items(), key=lambda item: (-item[1], item[0]))]
        for section, names in sorted(
            (section, {name: files for name, files in counted.items() if files >= RARE})
            for section, counted in files_with.items()
        )
        if len(names) > 1
    }


def _names_in(project: Project, file: Path) -> set[tuple[str, str]]:
    kind = project.claim(file)
    if kind is None:
        return set()
    document = Document(uri_of(file), 0, project.text(file).value, kind)
    root = document.tree.root
    return set(_below(document, root, ())) if root is not None else set()


def _below(document: Document, node: Node, path: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    if node.kind == "mapping":
        section = section_of(document.kind, path, document.tree.root)
        if section.startswith("grader.") and section.count(".") == 1:
            yield GRADER_TYPES, section.removeprefix("grader.")
        shape = shape_at(document.kind, path, document.tree.root, default_catalog())
        for entry in node.entries:
            if shape is not None and shape_below(shape, entry.key.value) is not shape.additional:
                yield section, entry.key.value
            yield from _below(document, entry.value, (*path, entry.key.value))
    for index, item in enumerate(node.items):
        yield from _below(document, item, (*path, index))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(used_names(), indent=1) + "\n")
