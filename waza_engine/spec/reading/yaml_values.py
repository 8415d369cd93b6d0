"""YAML nodes as plain Python data: strings, numbers, booleans, lists and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from waza_engine.spec.reading.scalars import MERGE_KEY, Json, resolve_scalar
from waza_engine.spec.reading.yaml_faults import NO_BLOCK_TO_MERGE, duplicate_key
from waza_engine.spec.reading.yaml_nodes import YamlFaultError

if TYPE_CHECKING:
    from waza_engine.spec.reading.yaml_nodes import YamlNode

# The values of these keys are JSON. Elsewhere a list never holds switches: `True` in one is a word to search
# for.
_JSON_KEYS = frozenset(
    {"schema", "input_schema", "match", "match_schema", "json_schema", "return", "equals", "mcp_servers"}
)
_WORD_MAPS = frozenset({"environment", "inputs"})


class WrittenInt(int):
    """A whole number that keeps its source text: ``str()`` returns the text of the file."""

    written: str

    def __str__(self) -> str:
        return self.written

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (int(self),)


class WrittenFloat(float):
    """A number that keeps its source text: ``str()`` returns the text of the file."""

    written: str

    def __str__(self) -> str:
        return self.written

    def __reduce__(self) -> tuple[Any, ...]:
        return float, (float(self),)


def value_of(node: YamlNode) -> Json:
    """Return the data of a node. Raises ``YamlFaultError`` for a duplicate key or one that is not a word."""
    return cast("Json", _Values().of(node, json=False, words=False))


class _Values:
    """Values by node, so that a value reached through several aliases is built once.

    ``json``: the node is JSON data. ``words``: scalars directly inside the node are strings in every model.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool, bool], Any] = {}

    def of(self, node: YamlNode, *, json: bool, words: bool) -> Any:
        if node.kind == "scalar":
            return _scalar(node, words=words and not json)
        place = (id(node), json, words)
        if place not in self._known:
            if node.kind == "sequence":
                self._known[place] = [
                    self.of(item, json=json, words=item.kind == "scalar") for item in node.items
                ]
            else:
                self._known[place] = self._mapping(node, json=json, words=words)
        return self._known[place]

    def _mapping(self, node: YamlNode, *, json: bool, words: bool) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, item in node.entries:
            if key.kind != "scalar":
                raise YamlFaultError(key.line, "a key must be a word, not a list or a block")
            if key.plain and key.text == MERGE_KEY:
                merged = {**self._merged(item, json=json), **merged}
                continue
            if key.text in own:
                raise YamlFaultError(key.line, duplicate_key(key.text))
            own[key.text] = self.of(
                item,
                json=json or key.text in _JSON_KEYS,
                words=words if item.kind == "scalar" else key.text in _WORD_MAPS,
            )
        return {**merged, **own} if merged else own

    def _merged(self, item: YamlNode, *, json: bool) -> dict[str, Any]:
        sources = item.items if item.kind == "sequence" else [item]
        result: dict[str, Any] = {}
        for source in sources:
            if source.kind != "mapping":
                raise YamlFaultError(source.line, NO_BLOCK_TO_MERGE)
            result = {**cast("dict[str, Any]", self.of(source, json=json, words=False)), **result}
        return result


def _scalar(node: YamlNode, *, words: bool) -> Any:
    value = resolve_scalar(node.text, plain=node.plain, tag=node.tag)
    if isinstance(value, bool):
        return node.text if words and node.text not in {"true", "false"} else value
    if isinstance(value, int) and str(value) != node.text:
        whole = WrittenInt(value)
        whole.written = node.text
        return whole
    if isinstance(value, float) and str(value) != node.text:
        number = WrittenFloat(value)
        number.written = node.text
        return number
    return value
