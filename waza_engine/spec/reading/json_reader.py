"""Read a JSON file of a suite, with the line of every value for clear messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from waza_engine.boundary import Boundary
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.scalars import Json
from waza_engine.spec.reading.yaml_reader import YamlFaultError, YamlFile, read_nodes, read_text


def read_json_file(path: Path, *, within: Boundary | None = None) -> YamlFile:
    """Return the data of a JSON object with its lines. Raises ``SuiteFileError``."""
    text = read_text(path, within=within)
    try:
        value = cast("Json", json.loads(text))
    except json.JSONDecodeError as error:
        raise SuiteFileError(path, error.lineno, json_fault(error, text)) from None
    except (RecursionError, ValueError):
        raise SuiteFileError(path, 1, "the JSON cannot be read: it is nested too deeply") from None
    if not isinstance(value, dict):
        raise SuiteFileError(path, 1, "the file must be a JSON object: `{ … }`")
    try:
        # JSON is nearly YAML: where it is not, every value is in line 1.
        root = read_nodes(text)[0]
    except YamlFaultError:
        root = None
    return YamlFile(path, value, root)


def json_fault(error: json.JSONDecodeError, text: str) -> str:
    """Return why text is not JSON, in one sentence."""
    if not text.strip():
        return "there is nothing in it; write a JSON object: `{ … }`"
    place = f"column {error.colno}"
    match error.msg:
        case "Expecting property name enclosed in double quotes":
            why = "a key in double quotes is due; a comma after the last one is not JSON"
        case "Expecting value" if text[error.pos : error.pos + 1] in ("]", "}"):
            why = "a value is due; a comma after the last one is not JSON"
        # Python 3.13 and newer see the comma itself.
        case message if message.startswith("Illegal trailing comma"):
            why = "a comma after the last one is not JSON; remove it"
        case "Expecting value":
            why = "a value is expected; write strings in double quotes"
        case message if message.startswith("Expecting"):
            why = f"{message.removeprefix('Expecting ').replace(' delimiter', '')} is due"
        case "Extra data":
            why = "the JSON has ended already"
        case "Invalid control character at":
            why = "a line break or tab inside text is written `\\n` or `\\t`"
        case message if "escape" in message:
            why = "a backslash in text is written `\\\\`"
        case _:
            why = "a text is not closed"
    return f"this is not JSON ({place}): {why}"
