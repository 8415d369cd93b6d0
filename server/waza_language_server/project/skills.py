"""The name of a skill, from the front matter of its ``SKILL.md``."""

from __future__ import annotations

import re

from waza_language_server.project.facts import Fact
from waza_language_server.syntax.tree import parse

_FRONT_MATTER = re.compile(r"\A\ufeff?---[^\n]*\n(.*?)^---", re.DOTALL | re.MULTILINE)


def skill_name(text: Fact[str]) -> str | None:
    """Return the ``name`` of the front matter, "" when there is none, None when there is no such file."""
    if text.absent:
        return None
    matter = _FRONT_MATTER.search(text.value[:20_000])
    root = parse(matter[1]).root if matter else None
    node = root.get("name") if root else None
    return node.value.strip() if node and node.kind == "scalar" else ""
