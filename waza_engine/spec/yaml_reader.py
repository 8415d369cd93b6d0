"""Read a suite file: YAML as upstream reads it, with the line of every value for clear messages.

Only the first document counts; duplicate keys are refused; numbers keep the text they were written as, so
that a field of text gets ``1.0`` and not ``1``.

Architecture invariant: no constructor of the YAML library runs. Values come from the event stream through the
one scalar resolver that the editor uses too, so nothing in a file can build anything but plain data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.scalars import Json
from waza_engine.spec.yaml_nodes import YamlFaultError, YamlNode, read_nodes
from waza_engine.spec.yaml_values import value_of

MAX_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
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


def read_yaml(path: Path) -> Json:
    """Return the data of a YAML file. Raises ``SuiteFileError``."""
    return read_yaml_file(path).value


def read_yaml_file(path: Path) -> YamlFile:
    """Return the data of a YAML file with its lines. Raises ``SuiteFileError``."""
    return parse_yaml(read_text(path), path)


def parse_yaml(text: str, path: Path) -> YamlFile:
    """Return the data of YAML text; ``path`` names it in errors. Raises ``SuiteFileError``."""
    try:
        root, second = read_nodes(text)
        return YamlFile(path, None if root is None else value_of(root), root, second)
    except YamlFaultError as fault:
        raise SuiteFileError(path, fault.line, fault.message) from None


def read_text(path: Path) -> str:
    """Return the text of a suite file without its byte order mark. Raises ``SuiteFileError``."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise SuiteFileError(path, 0, "the file does not exist") from None
    except IsADirectoryError:
        raise SuiteFileError(path, 0, "this is a directory, not a file") from None
    except OSError as error:
        raise SuiteFileError(
            path, 0, f"the file cannot be read ({error.strerror or 'unknown reason'})"
        ) from None
    if len(data) > MAX_BYTES:
        raise SuiteFileError(
            path, 0, f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB, too large for a suite file"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SuiteFileError(path, line, "the file is not UTF-8 text") from None
    if "\0" in text:
        raise SuiteFileError(path, text.count("\n", 0, text.index("\0")) + 1, "the file is binary, not text")
    return text


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
