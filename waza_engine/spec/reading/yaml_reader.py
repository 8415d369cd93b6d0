"""Read a suite file: YAML as upstream reads it, with the line of every value for clear messages.

Only the first document counts; duplicate keys are rejected; numbers keep their source text, so that a string
field gets ``1.0`` and not ``1``.

Architecture invariant: no constructor of the YAML library runs. Values come from the event stream through the
one scalar resolver that the editor uses too, so nothing in a file can build anything but plain data.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from waza_engine.files import Boundary, FileError
from waza_engine.frozen import frozen
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.scalars import Json
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_nodes import YamlFaultError, YamlNode, read_nodes
from waza_engine.spec.reading.yaml_values import value_of

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
