"""Decide whether a rubric is the path of a file. Light: the editor uses it too."""

from __future__ import annotations

import re

MARKDOWN_RUBRICS = (".md", ".markdown")
YAML_RUBRICS = (".yaml", ".yml", ".json")
_TEXT_RUBRICS = (".txt", ".prompt", ".prompty")


def example_rubric(written: str) -> str:
    """Return the name of a rubric in upstream's `examples/rubrics`, "" for another path."""
    found = re.search(r"(?:^|[\\/])examples[\\/]rubrics[\\/]([\w-]+)\.ya?ml$", written.strip())
    return found[1] if found else ""


def is_rubric_path(written: str) -> bool:
    """Return whether a rubric is written as a path: one line, and few spaces, before a known ending."""
    text = written.strip()
    if not text or "\n" in text:
        return False
    if text.lower().endswith((*MARKDOWN_RUBRICS, *YAML_RUBRICS, *_TEXT_RUBRICS)):
        return len(re.findall(r"\s", text)) < 4
    return not re.search(r"\s", text) and (text[0] in "./~" or "/" in text or "\\" in text)
