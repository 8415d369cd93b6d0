"""References inside a JSON Schema without a target: the engine rejects such a schema."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import cast
from urllib.parse import unquote

from waza_engine.files import shown
from waza_engine.spec.reading.scalars import Json
from waza_language_server.analysis.problem import Problem
from waza_language_server.spelling import nearest, slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Fix

_MOST_VALUES = 20_000
_ANCHORS = ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$id", "id")
_UNTOLD = object()


class References:
    """The targets of the references of one schema."""

    def __init__(self, tree: Tree, schema: Node) -> None:
        self._tree = tree
        self._schema = schema.to_python()
        self._anchored = False
        self._elsewhere = False
        values = [*islice(_values(self._schema), _MOST_VALUES + 1)]
        for block in values:
            inner = block is not self._schema
            self._anchored |= any(key in block for key in _ANCHORS[:3])
            # Below another identifier a reference has another base.
            self._elsewhere |= inner and any(isinstance(block.get(key), str) for key in _ANCHORS[3:])
        self._elsewhere |= len(values) > _MOST_VALUES

    def of(self, node: Node) -> Iterator[Problem]:
        """Yield the problem of a ``$ref`` without a target in this schema."""
        written = node.value if node.kind == "scalar" else ""
        if not written.startswith("#") or self._elsewhere:
            return
        if written[1:2] not in {"", "/"}:
            if not self._anchored:
                message = f"`{shown(written)}` leads nowhere: no part of this schema has such an `$anchor`."
                yield Problem("value-not-allowed", node.span, message, "error")
            return
        value: object = self._schema
        parts = written.split("/")[1:]
        for at, part in enumerate(parts):
            step = unquote(part).replace("~1", "/").replace("~0", "~")
            below = _step(value, step)
            if below is _UNTOLD:
                yield self._nowhere(node, written, parts, at, value, step)
                return
            value = below

    def _nowhere(
        self, node: Node, written: str, parts: list[str], at: int, value: object, step: str
    ) -> Problem:
        names = list(cast("dict[str, object]", value)) if isinstance(value, dict) else []
        meant = nearest(step, names)
        fixes: tuple[Fix, ...] = ()
        advice = "."
        if meant is not None:
            right = "#/" + "/".join((*parts[:at], _escaped(meant), *parts[at + 1 :]))
            advice = f"; did you mean `{shown(right)}`?"
            repair = partial(replace_scalar, self._tree, node, right)
            fixes = (Fix(f"Change to `{shown(right)}`", repair, preferred=slip_of(step, names) == meant),)
        message = f"`{shown(written)}` leads nowhere in this schema{advice}"
        return Problem("value-not-allowed", node.span, message, "error", fixes)


def _values(value: Json) -> Iterator[dict[str, Json]]:
    waiting: list[Json] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _step(value: object, step: str) -> object:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).get(step, _UNTOLD)
    if isinstance(value, list) and step.isascii() and step.isdigit():
        items = cast("list[object]", value)
        return items[int(step)] if int(step) < len(items) else _UNTOLD
    return _UNTOLD


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
