"""Compose a new YAML file from an existing text, whose comments and layout stay: the only writer of YAML.

Files that people wrote are changed elsewhere, by minimal edits of their text (``yaml_lists.py``).

Architecture invariant: ``ruamel`` is imported by the first text that is composed. The engine process of an
editor starts without it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, cast

import yaml as reader_of_1_1

from waza_engine.later_patterns import compiled_later

_WIDEST = 10_000_000
_RESOLVER: Any = reader_of_1_1.resolver.Resolver()
_TEXT_TAG = "tag:yaml.org,2002:str"
_NOT_IN_A_BLOCK = compiled_later(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
"""Characters that only a double-quoted scalar can hold as escapes."""


def compose(template: str, **values: object) -> str:
    """Return a YAML text with values in the places of the scalars ``$name``.

    Values are plain data. Raises ``ValueError`` when the template is not YAML.
    """
    return written(_filled(loaded(template), {f"${name}": value for name, value in values.items()}))


def loaded(text: str) -> Any:
    """Return a YAML text as data that remember their comments, quotes and styles.

    Raises ``ValueError`` when it is not one YAML document.
    """
    from ruamel.yaml.error import YAMLError

    try:
        return _round_trip().load(text)
    except YAMLError as error:
        raise ValueError(str(error)) from None


def written(data: object) -> str:
    """Return what ``loaded`` has returned, or plain data, as a YAML text in block style."""
    stream = io.StringIO()
    _round_trip().dump(_node(data), stream)
    text = stream.getvalue()
    if isinstance(data, list):
        # The offset of the items of lists counts for one at the left margin, too.
        return "".join(line.removeprefix("  ") for line in text.splitlines(keepends=True))
    return text


def _round_trip() -> Any:  # its types are unfinished
    from ruamel.yaml import YAML

    yaml: Any = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = _WIDEST
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


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
    is_text = _RESOLVER.resolve(reader_of_1_1.ScalarNode, text, (True, False)) == _TEXT_TAG
    return text if is_text else DoubleQuotedScalarString(text)
