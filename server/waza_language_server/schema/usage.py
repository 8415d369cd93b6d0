"""What authors write: the keys of each mapping and the grader types, by how many public files use them.

``usage.json`` is counted by ``python -m tests.corpus.usage``; completion begins with what is used most.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from waza_language_server.schema.locate import grader_type

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node

GRADER_TYPES = "grader types"
UNUSED = 999
"""The rank of what no file uses."""


def section_of(document_kind: str, path: Sequence[str | int], root: Node | None) -> str:
    """Return which mapping stands at a path, such as ``eval.config`` or ``grader.text.config``."""
    node = root.target if root is not None else None
    keys = [document_kind]
    for step in path:
        found = node.get(step) if node is not None else None
        node = found.target if found is not None else None
        if isinstance(step, str):
            keys.append(step)
        elif keys[-1] == "graders":
            written = grader_type(node) if node is not None and node.kind == "mapping" else None
            keys = ["grader", written or "?"]
    return ".".join(keys)


def usage_rank(section: str, name: str) -> int:
    """Return how many names of a section are used more than this one, at most ``UNUSED``."""
    return _ranks().get(section, {}).get(name, UNUSED)


@cache
def _ranks() -> Mapping[str, Mapping[str, int]]:
    text = Path(__file__).with_name("usage.json").read_text("utf-8")
    counted: dict[str, list[str]] = json.loads(text)
    return {section: {name: rank for rank, name in enumerate(names)} for section, names in counted.items()}
