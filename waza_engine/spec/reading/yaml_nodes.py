"""YAML text as a small tree of nodes with line numbers, without recursion and within a budget.

A file nested a thousand levels deep, an anchor that multiplies itself or text that is not YAML gives one
``YamlFaultError``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import yaml

from waza_engine.spec.reading import yaml_faults
from waza_engine.spec.reading.scalars import MAX_ALIASED_NODES
from waza_engine.spec.reading.yaml_events import events_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from waza_engine.spec.reading.yaml_events import Event

# Messages of libyaml and PyYAML whose position alone matters, and their meaning for the author.
_MEANINGS = (
    ("tab character that violates", yaml_faults.TAB),
    ("entries are not allowed", yaml_faults.ITEM_NEEDS_LINE),
    ("did not find expected '-'", yaml_faults.MISSING_DASH),
    (
        "mapping values are not allowed",
        "there is a `:` where none can be; put the text into quotes or check the indentation",
    ),
    (
        "could not find expected ':'",
        "a `:` is missing after a key, or the line is not indented as the ones around it",
    ),
    ("did not find expected key", "the indentation does not fit the lines above, or a quote is not closed"),
    ("did not find expected ',' or", "a `[` or `{` is not closed"),
    ("expected ',' or", "a `[` or `{` is not closed"),
    ("unacceptable character", "there is a character here that YAML does not allow"),
    ("control characters", "there is a character here that YAML does not allow"),
)
_ESCAPES = (
    "unknown escape character",
    "expected escape sequence",
    "expected hexdecimal number",
    "invalid Unicode character escape",
)
_UNCLOSED = ("unexpected end of stream", "unexpected document indicator")


class YamlFaultError(Exception):
    """Text that is not usable YAML; ``line`` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(slots=True)
class YamlNode:
    """A scalar, a sequence, or a mapping whose items are its keys and values in turn.

    ``size`` counts the node and all below it, aliases expanded.
    """

    kind: Literal["scalar", "sequence", "mapping"]
    line: int
    text: str = ""
    plain: bool = False
    tag: str | None = None
    items: list[YamlNode] = field(default_factory=list["YamlNode"])
    size: int = 1
    open: bool = True

    @property
    def entries(self) -> Iterator[tuple[YamlNode, YamlNode]]:
        """The pairs of a mapping."""
        return zip(self.items[::2], self.items[1::2], strict=True)


def read_nodes(text: str) -> tuple[YamlNode | None, int | None]:
    """Return the root of the first document (None when there is none) and the line of a second document.

    Raises:
        YamlFaultError: the text is not YAML, is nested too deeply, or multiplies itself with aliases.

    """
    parser = _Parser()
    try:
        for event in events_of(text):
            if parser.finished and isinstance(event, yaml.DocumentStartEvent):
                return parser.root, _line(event)
            parser.take(event)
    except yaml.YAMLError as error:
        if parser.finished:
            return parser.root, None
        fault = _fault(error, text)
        raise _unmerged_fault(text, fault) or fault from None
    return parser.root, None


class _Parser:
    """Builds nodes from events, one after the other."""

    def __init__(self) -> None:
        self.root: YamlNode | None = None
        self.finished = False
        self._open: list[YamlNode] = []
        self._anchors: dict[str, YamlNode] = {}
        self._aliased = 0

    def take(self, event: Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            plain = event.style is None or event.style == ""
            self._add(
                YamlNode("scalar", _line(event), event.value, plain, event.tag, open=False), event.anchor
            )
        elif isinstance(event, yaml.AliasEvent):
            self._add_alias(event.anchor or "", _line(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._begin(YamlNode("sequence", _line(event)), event.anchor)
        elif isinstance(event, yaml.MappingStartEvent):
            self._begin(YamlNode("mapping", _line(event)), event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.DocumentEndEvent):
            self.finished = True

    def _begin(self, node: YamlNode, anchor: str | None) -> None:
        if len(self._open) >= yaml_faults.MAX_DEPTH:
            raise YamlFaultError(node.line, yaml_faults.TOO_DEEP)
        self._add(node, anchor)
        self._open.append(node)

    def _end(self) -> None:
        node = self._open.pop()
        node.size = 1 + sum(item.size for item in node.items)
        node.open = False

    def _add(self, node: YamlNode, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if self._open:
            self._open[-1].items.append(node)
        else:
            self.root = node

    def _add_alias(self, name: str, line: int) -> None:
        node = self._anchors.get(name)
        if node is None:
            raise YamlFaultError(line, yaml_faults.unknown_anchor(name))
        if node.open:
            raise YamlFaultError(line, f"`*{name}` stands inside the value that it refers to")
        self._aliased += node.size
        if self._aliased > MAX_ALIASED_NODES:
            raise YamlFaultError(line, yaml_faults.TOO_MANY_ALIASES)
        self._open[-1].items.append(node)


def _line(event: Event) -> int:
    return event.start_mark.line + 1


def _fault(error: yaml.YAMLError, text: str) -> YamlFaultError:
    if not isinstance(error, yaml.MarkedYAMLError):
        position: int = getattr(error, "position", 0) or 0
        return _broken(text.count("\n", 0, position), _meaning(str(error), text, position))
    said = f"{error.problem} {error.context}"
    start, place = error.context_mark, error.problem_mark or error.context_mark
    if start is not None and "quoted scalar" in said and any(part in said for part in _UNCLOSED):
        return _broken(start.line, yaml_faults.unclosed_quote(text[start.index]))
    if place is None:
        return _broken(0, yaml_faults.DOES_NOT_FIT)
    return _broken(place.line, _meaning(said, text, place.index))


def _unmerged_fault(text: str, fault: YamlFaultError) -> YamlFaultError | None:
    """Return the fault of the first merge marker when it caused ``fault``, which is no earlier."""
    mark = yaml_faults.MERGE_MARK.search(text)
    line = 0 if mark is None else text.count("\n", 0, mark.start()) + 1
    return YamlFaultError(line, yaml_faults.UNMERGED) if 0 < line <= fault.line else None


def _meaning(said: str, text: str, at: int) -> str:
    """Return the meaning of the parser's message for the text at an offset."""
    if any(part in said for part in _ESCAPES):
        backslash = text.rindex("\\", 0, at + 1)
        return yaml_faults.wrong_escape(yaml_faults.escape_at(text, backslash))
    if not text[text.rfind("\n", 0, at) + 1 : at].strip(" ") and text.startswith("\t", at):
        return yaml_faults.TAB
    if text[at : at + 1] in yaml_faults.RESERVED:
        return yaml_faults.reserved_start(text[at])
    return next((meaning for part, meaning in _MEANINGS if part in said), yaml_faults.DOES_NOT_FIT)


def _broken(line: int, meaning: str) -> YamlFaultError:
    return YamlFaultError(line + 1, f"the YAML is broken: {meaning}")
