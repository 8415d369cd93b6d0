"""Add an item to a list in a hand-written YAML file, without touching another character.

A position is proposed from the marks of the parser; the new text is accepted only when it reads as the old
data and the new item. Comments, quotes, anchors and line ends stay as they are.

A round trip through ``ruamel.yaml`` would keep comments and quotes, but not the rest of the layout: of 289
files that people wrote it changes 88, even with the indentation of the file (spaces inside ``{ }``, the
indentation of folded scalars, spaces at line ends, line ends).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import yaml

from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.scalars import Json
from waza_engine.spec.reading.yaml_reader import parse_yaml

_INDENT = "  "


def with_item(text: str, key: str, item: str, path: Path) -> str | None:
    """Return the text with an item at the end of the list under a top-level key.

    None when there is no safe way to write it. ``item`` is YAML from column 0, beginning with ``- ``. A
    missing or empty key is written, too. Raises ``SuiteFileError`` when the text is not YAML.
    """
    old = parse_yaml(text, path).value
    if not isinstance(old, dict | None):
        return None
    block = {} if old is None else old
    before = block.get(key)
    if not isinstance(before, list | None):
        return None
    added = parse_yaml(item, path).value
    assert isinstance(added, list)
    wanted: dict[str, Json] = {**block, key: [*(before or []), *added]}
    newline = "\r\n" if "\r\n" in text else "\n"
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None  # several documents
    value = value_of_key(root, key)
    lines = item.replace("\n", newline)
    for proposed in _proposals(text, key, value, lines, added, newline):
        try:
            if parse_yaml(proposed, path).value == wanted:
                return proposed
        except SuiteFileError:
            continue
    return None


def _proposals(
    text: str, key: str, value: yaml.Node | None, item: str, added: list[Json], newline: str
) -> Iterator[str]:
    if value is None:
        whole = text if not text or text.endswith("\n") else text + newline
        yield f"{whole}{key}:{newline}{_indented(item, _INDENT)}"
    elif isinstance(value, yaml.SequenceNode) and not value.flow_style:
        column = " " * value.start_mark.column
        last = value.end_mark.index
        for end in (_content_end(text, last), len(text[:last].rstrip()), last):
            yield _with_lines(text, end, _indented(item, column), newline)
    elif isinstance(value, yaml.SequenceNode):
        yield from _flow_proposals(text, value, item, added, newline)
    elif isinstance(value, yaml.ScalarNode):
        emptied = text[: value.start_mark.index] + text[value.end_mark.index :]
        yield _with_lines(emptied, value.start_mark.index, _indented(item, _INDENT), newline)


def _flow_proposals(
    text: str, value: yaml.SequenceNode, item: str, added: list[Json], newline: str
) -> Iterator[str]:
    start, end = value.start_mark.index, value.end_mark.index
    if not value.value:
        emptied = text[:start].rstrip(" ") + text[end:]
        yield _with_lines(emptied, start, _indented(item, _INDENT), newline)
    written = json.dumps(added, ensure_ascii=False)[1:-1]
    last = _content_end(text, end - 1)
    comma = "" if text[last - 1] in ",[" else ","
    yield f"{text[:last]}{comma} {written}{text[last:]}"


def value_of_key(root: yaml.Node | None, key: str) -> yaml.Node | None:
    """Return the value of a key, None when the node has none."""
    if not isinstance(root, yaml.MappingNode):
        return None
    pairs: list[tuple[yaml.Node, yaml.Node]] = root.value
    return next((value for name, value in pairs if name.value == key), None)


def _with_lines(text: str, position: int, lines: str, newline: str) -> str:
    """Return the text with lines after the one in which the position is."""
    end = text.find("\n", max(0, position - 1) if text[position - 1 : position] == "\n" else position)
    return f"{text}{newline}{lines}" if end < 0 else f"{text[: end + 1]}{lines}{text[end + 1 :]}"


def _content_end(text: str, position: int) -> int:
    """Return the end of the content before a position, ignoring blank lines and comments."""
    lines = text[:position].split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return len("\n".join(lines).rstrip())


def _indented(item: str, indent: str) -> str:
    lines = item.splitlines(keepends=True)
    return "".join(indent + line if line.strip() else line for line in lines)
