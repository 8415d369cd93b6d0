"""Read a suite file: YAML as upstream reads it, with the line of every value for clear messages.

Only the first document counts; duplicate keys are rejected; numbers keep their source text, so that a string
field gets ``1.0`` and not ``1``.

A file nested a thousand levels deep, an anchor that multiplies itself or text that is not YAML gives one
``YamlFaultError``.

Architecture invariant: no constructor of the YAML library runs. Values come from the event stream through the
one scalar resolver that the editor uses too, so nothing in a file can build anything but plain data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import yaml

from waza_engine.files import Boundary, FileError
from waza_engine.frozen import frozen
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading import yaml_faults
from waza_engine.spec.reading.scalars import MAX_ALIASED_NODES, MERGE_KEY, Json, resolve_scalar
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_faults import NO_BLOCK_TO_MERGE, duplicate_key, events_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from waza_engine.spec.reading.yaml_faults import Event


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
            raise YamlFaultError(line, f"`*{name}` is inside the value that it refers to")
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
    message = f"{error.problem} {error.context}"
    start, place = error.context_mark, error.problem_mark or error.context_mark
    if start is not None and "quoted scalar" in message and any(part in message for part in _UNCLOSED):
        return _broken(start.line, yaml_faults.unclosed_quote(text[start.index]))
    if place is None:
        return _broken(0, yaml_faults.DOES_NOT_FIT)
    return _broken(place.line, _meaning(message, text, place.index))


def _unmerged_fault(text: str, fault: YamlFaultError) -> YamlFaultError | None:
    """Return the fault of the first merge marker when it caused ``fault``, which is no earlier."""
    mark = yaml_faults.MERGE_MARK.search(text)
    line = 0 if mark is None else text.count("\n", 0, mark.start()) + 1
    return YamlFaultError(line, yaml_faults.UNMERGED) if 0 < line <= fault.line else None


def _meaning(message: str, text: str, at: int) -> str:
    """Return the meaning of the parser's message for the text at an offset."""
    if any(part in message for part in _ESCAPES):
        backslash = text.rindex("\\", 0, at + 1)
        return yaml_faults.wrong_escape(yaml_faults.escape_at(text, backslash))
    if not text[text.rfind("\n", 0, at) + 1 : at].strip(" ") and text.startswith("\t", at):
        return yaml_faults.TAB
    if text[at : at + 1] in yaml_faults.RESERVED:
        return yaml_faults.reserved_start(text[at])
    return next((meaning for part, meaning in _MEANINGS if part in message), yaml_faults.DOES_NOT_FIT)


def _broken(line: int, meaning: str) -> YamlFaultError:
    return YamlFaultError(line + 1, f"the YAML is broken: {meaning}")


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


MAX_BYTES = 8 * 1024 * 1024


@frozen()
class YamlFile:
    """The data of a file with its lines. ``second_document`` is the line where another document starts."""

    path: Path
    value: Json
    root: YamlNode | None
    second_document: int | None = None

    def line_of(self, location: Sequence[str | int]) -> int:
        """Return the line (from 1) of the key or item at a path, or of the nearest value around it."""
        node, line = self.root, 1 if self.root is None else self.root.line
        for part in location:
            node, line = _step(node, part, line)
            if node is None:
                break
        return line


def read_yaml(path: Path, *, files: SuiteFiles = DISK) -> Json:
    """Return the data of a YAML file. Raises ``SuiteFileError``."""
    return read_yaml_file(path, files=files).value


def read_yaml_file(path: Path, *, within: Boundary | None = None, files: SuiteFiles = DISK) -> YamlFile:
    """Return the data of a YAML file with its lines. Raises ``SuiteFileError``, as ``read_text`` does."""
    return parse_yaml(read_text(path, within=within, files=files), path)


def parse_yaml(text: str, path: Path) -> YamlFile:
    """Return the data of YAML text; ``path`` names it in errors. Raises ``SuiteFileError``."""
    try:
        root, second = read_nodes(text)
        return YamlFile(path, None if root is None else value_of(root), root, second)
    except YamlFaultError as fault:
        raise SuiteFileError(path, fault.line, fault.message) from None


def read_text(path: Path, *, within: Boundary | None = None, files: SuiteFiles = DISK) -> str:
    """Return the text of a suite file without its byte order mark. Raises ``SuiteFileError``.

    With ``within`` a link that leads out of there is such an error, too. Open files of ``files`` win.
    """
    try:
        return files.text_of(path, MAX_BYTES, within=within)
    except FileError as error:
        raise SuiteFileError(path, error.line, error.why) from None


def _step(node: YamlNode | None, part: str | int, line: int) -> tuple[YamlNode | None, int]:
    if node is None or node.kind == "scalar":
        return None, line
    if node.kind == "sequence":
        fits = isinstance(part, int) and part < len(node.items)
        return (node.items[part], node.items[part].line) if fits and isinstance(part, int) else (None, line)
    for key, item in node.entries:
        if key.text == str(part):
            return item, key.line
    return None, line
