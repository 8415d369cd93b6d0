"""Compose a new YAML file from an existing text, whose comments and layout stay: the only writer of YAML.

``with_item`` adds an item to a list in a file that people wrote, and leaves every other character as it is. A
round trip through ``ruamel.yaml`` would not: of 289 such files it changes the layout of 88, even with the
indentation of the file (spaces inside ``{ }``, folded scalars, spaces at line ends, line ends).

Architecture invariant: ``ruamel`` is imported by the first text that is composed. The engine process of an
editor starts without it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.scalars import Json
from waza_engine.spec.reading.yaml_reader import parse_yaml

_WIDEST = 10_000_000
_RESOLVER: Any = yaml.resolver.Resolver()
_TEXT_TAG = "tag:yaml.org,2002:str"
_NOT_IN_A_BLOCK = compiled_later(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
"""Characters that only a double-quoted scalar can hold as escapes."""


def compose(template: str, **values: object) -> str:
    """Return a YAML text with values in the places of the scalars ``$name``.

    Values are plain data. Raises ``ValueError`` when the template is not YAML.
    """
    return to_yaml(_filled(load_yaml(template), {f"${name}": value for name, value in values.items()}))


def load_yaml(text: str) -> Any:
    """Return a YAML text as data that remember their comments, quotes and styles.

    Raises ``ValueError`` when it is not one YAML document.
    """
    from ruamel.yaml.error import YAMLError

    try:
        return _round_trip().load(text)
    except YAMLError as error:
        raise ValueError(str(error)) from None


def to_yaml(data: object) -> str:
    """Return what ``load_yaml`` has returned, or plain data, as a YAML text in block style."""
    stream = io.StringIO()
    _round_trip().dump(_node(data), stream)
    text = stream.getvalue()
    if isinstance(data, list):
        # The offset of the items of lists counts for one at the left margin, too.
        return "".join(line.removeprefix("  ") for line in text.splitlines(keepends=True))
    return text


def _round_trip() -> Any:  # its types are unfinished
    from ruamel.yaml import YAML

    round_trip: Any = YAML(typ="rt")
    round_trip.preserve_quotes = True
    round_trip.width = _WIDEST
    round_trip.indent(mapping=2, sequence=4, offset=2)
    return round_trip


def _filled(node: Any, values: Mapping[str, object]) -> Any:
    """Replace placeholders in place, so that the comments next to them stay."""
    if isinstance(node, str):
        return _node(values[node]) if node in values else node
    if isinstance(node, dict | list):
        holder = cast("Any", node)
        for key in list(holder) if isinstance(node, dict) else range(len(holder)):
            holder[key] = _filled(holder[key], values)
        return holder
    return node


def _node(value: object) -> object:
    """Return plain data with styles: block lists and maps, strings that no version of YAML misreads."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if type(value) is str:
        return string_node(value)
    if type(value) is dict:
        pairs = cast("dict[str, object]", value).items()
        return CommentedMap({_node(name): _node(each) for name, each in pairs})
    if type(value) in (list, tuple):
        return CommentedSeq(map(_node, cast("list[object]", value)))
    return value


def string_node(text: str) -> str:
    """Return a string with the style in which it is easy to read, and means the same in YAML 1.1."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

    if _NOT_IN_A_BLOCK.search(text):
        return DoubleQuotedScalarString(text)
    lines = text.split("\n")
    if len(lines) > 1 and lines[0][:1].strip() and all(line == line.rstrip() for line in lines[:-1]):
        return LiteralScalarString(text)
    # `on` and `12:30` are strings in YAML 1.2 only.
    is_text = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) == _TEXT_TAG
    return text if is_text else DoubleQuotedScalarString(text)


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
