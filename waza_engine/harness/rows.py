"""Read and write JSON Lines: one object a line, never more than one line in memory.

Readers are lenient: blank lines, a byte order mark, Windows line ends and unknown keys are fine; a record
needs only the keys that a command uses. Lines are counted as an editor counts them.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from waza_engine.files import FileError, opened_to_read
from waza_engine.harness.row_values import complete_capture, is_capture, is_input, missing_in_capture
from waza_engine.results.json_values import Block, Json
from waza_engine.results.writing.store import (
    ResultsError,
    is_persistent,
    opened_output,
)
from waza_engine.spec.reading.json_reader import json_fault, loads
from waza_engine.terminal import Notation, complain, json_text, say_document, visible_lines, write_whole

ItemT = TypeVar("ItemT", bound="Row | Prompt")
STANDARD_STREAM = Path("-")
"""The name of standard input and output."""
LONGEST_LINE_BYTES = 64_000_000
_CHUNK_BYTES = 1_000_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_NOTES = 10
_OLDER_HINT = "expected"


class HarnessError(Exception):
    """A command cannot do its work: a file, a record or an option is wrong. The message is one sentence."""


class Notes:
    """Prints what is unusual in a file: each kind once, and at most ten kinds."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def add(self, place: str, note: str) -> None:
        """Print a note with its place on standard error, unless the same was noted before."""
        if note not in self._known and len(self._known) < _MOST_NOTES:
            self._known.add(note)
            complain(f"note: {place}: {note}")


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file, and its place for messages: ``results.jsonl:12``."""

    block: Json
    place: str

    @property
    def id(self) -> str:
        """Return the id. Raises ``HarnessError`` when it has none."""
        found = self.block.get("id")
        if not isinstance(found, str):
            raise HarnessError(f"{self.place}: `id` must be a string.")
        return found


@dataclass(frozen=True, slots=True)
class Prompt:
    """A line of ``prompts.jsonl``. ``timeout`` is in milliseconds; ``block`` is the line as it is written."""

    id: str
    input: str | list[str]
    hint: str | None = None
    reference: str | None = None
    metadata: Block | None = None
    timeout: float | None = None
    block: Block = field(default_factory=dict[str, Any])

    @property
    def turns(self) -> list[str]:
        """Return the prompts of its conversation."""
        return [self.input] if isinstance(self.input, str) else self.input


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the objects of a file, or of standard input for ``-``. Raises ``HarnessError``."""
    name = "standard input" if path == STANDARD_STREAM else str(path)
    if path == STANDARD_STREAM:
        if sys.stdin.isatty():
            raise HarnessError("Standard input is a terminal; name a file, or pipe the rows in.")
        yield from rows_in(sys.stdin.buffer.readline, name)
        return
    with contextlib.closing(opened_rows(path)) as file:
        yield from rows_in(file.readline, name)


def opened_rows(path: Path) -> IO[bytes]:
    """Return a file opened so that its rows can be read twice. Raises ``HarnessError``."""
    if path == STANDARD_STREAM:
        copy = cast("IO[bytes]", tempfile.TemporaryFile())  # noqa: SIM115 - closed by the caller
        while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
            copy.write(chunk)
        copy.seek(0)
        return copy
    try:
        return opened_to_read(path)
    except FileError as error:
        raise HarnessError(f"{path} cannot be read: {error.why}.") from None


def rows_in(read_line: Callable[[int], bytes], name: str) -> Iterator[Row]:
    """Yield the objects in lines; ``name`` is that of their file. Raises ``HarnessError``."""
    number = 0
    while line := read_line(LONGEST_LINE_BYTES + 1):
        number += 1
        place = f"{name}:{number}"
        if len(line) > LONGEST_LINE_BYTES:
            raise HarnessError(f"{place}: the line is longer than {LONGEST_LINE_BYTES // 1_000_000} MB.")
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise HarnessError(f"{place}: the line is not UTF-8 text.") from None
        if text.strip():
            yield Row(_object_in(text, place), place)


def _object_in(text: str, place: str) -> Json:
    try:
        found = loads(text)
    except json.JSONDecodeError as error:
        raise HarnessError(f"{place}: {json_fault(error, text)}.") from None
    if not isinstance(found, dict):
        raise HarnessError(f"{place}: the line must be a JSON object.")
    return cast("Json", found)


def prompts_in(path: Path, notes: Notes) -> Iterator[Prompt]:
    """Yield the prompts of a file. Raises ``HarnessError`` for the first line that is not a prompt."""
    lines_of: dict[str, str] = {}
    for row in read_rows(path):
        prompt = _prompt_of(row, notes)
        if prompt.id in lines_of:
            notes.add(row.place, f"the id `{prompt.id}` is taken by {lines_of[prompt.id]}")
        lines_of.setdefault(prompt.id, row.place)
        yield prompt


_TYPES: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "id": (str, "a string"),
    "hint": (str, "a string"),
    "reference": (str, "a string"),
    "metadata": (dict, "an object"),
    "timeout": ((int, float), "a number of milliseconds"),
}


def _prompt_of(row: Row, notes: Notes) -> Prompt:
    block = row.block
    if _OLDER_HINT in block and "hint" not in block:
        notes.add(row.place, f"`{_OLDER_HINT}` is the older name of `hint`; write `hint`")
        block = {**block, "hint": block[_OLDER_HINT]}
    wrong = [
        f"`{key}` must be {words}"
        for key, (kind, words) in _TYPES.items()
        if (key in block and not _is(block[key], kind)) or (key == "id" and key not in block)
    ]
    if not is_input(block.get("input")):
        wrong.append("`input` must be a string or a list of strings")
    if wrong:
        raise HarnessError(f"{row.place}: {'; '.join(wrong)}.")
    for key in block.keys() - _TYPES.keys() - {"input", _OLDER_HINT}:
        notes.add(row.place, f"`{key}` has no effect: it is not a key of a prompt")
    known = {key: block[key] for key in _TYPES if key in block}
    return Prompt(input=block["input"], block=row.block, **known)


def _is(value: object, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def capture_in(row: Row, notes: Notes) -> Json:
    """Return a row as a complete capture. Raises ``HarnessError`` when it is not one.

    Missing values are empty; those that agent-eval-harness would reject the row for are noted.
    """
    if isinstance(row.block.get("trials"), list):
        raise HarnessError(
            f"{row.place}: this row holds trials; `compare` reads them, this command does not."
        )
    if not is_capture(row.block):
        raise HarnessError(f"{row.place}: `input` and `output` must be strings; this is not a capture.")
    if missing := missing_in_capture(row.block):
        named = ", ".join(f"`{key}`" for key in missing)
        notes.add(row.place, f"{named} missing, so agent-eval-harness cannot load this file")
    return complete_capture({**row.block, "id": row.id})


def echo_ids(items: Iterable[ItemT], *, show: bool) -> Iterator[ItemT]:
    """Yield rows or prompts; ``show`` prints their ids on standard error."""
    for item in items:
        if show:
            complain(item.id)
        yield item


def line_of(row: Block) -> bytes:
    """Return a row as a line, without credentials."""
    return json_text(row).encode("utf-8", "replace") + b"\n"


def write_out(
    parts: Iterable[bytes],
    output: Path | None,
    *,
    notation: Notation = "json",
    append: bool = False,
    sources: Sequence[Path | None] = (),
) -> None:
    """Write each part immediately: to a file, or to standard output without one or for ``-``.

    Parts consist of whole lines. On a terminal control characters are escaped.

    Raises ``HarnessError`` when it cannot be written, or is one of the ``sources``.
    """
    check_output(output, sources)
    if output is None or output == STANDARD_STREAM:
        # JSON has its own notation for control characters; a file or a pipe gets the bytes as they are.
        is_shown = notation != "json" and sys.stdout.isatty()
        for part in parts:
            shown = visible_lines(part.decode("utf-8", "replace")).encode() if is_shown else part
            say_document(shown, notation)
        return
    try:
        with contextlib.closing(opened_output(output, append=append)) as file:
            if append and _ends_in_a_line(file):
                write_whole(file, b"\n")
            for part in parts:
                write_whole(file, part)
    except ResultsError as error:
        raise HarnessError(str(error)) from None
    except OSError as error:
        raise HarnessError(f"{output} cannot be written: {error.strerror or error}.") from None


def check_output(output: Path | None, sources: Iterable[Path | None]) -> None:
    """Raise ``HarnessError`` when an output is also one of the files that its command reads."""
    if output is None or output == STANDARD_STREAM or not is_persistent(output):
        return
    for source in filter(None, sources):
        # Standard input may be the same file: `< rows.jsonl`. One that is no file raises.
        with contextlib.suppress(OSError):
            read = os.fstat(sys.stdin.fileno()) if source == STANDARD_STREAM else source.stat()
            if os.path.samestat(read, output.stat()):
                raise HarnessError(f"{output} is read by this command; name another file with --output.")


def _ends_in_a_line(file: IO[bytes]) -> bool:
    """Return whether the last line of a file has no line break; false for what cannot be read."""
    if not file.seekable() or file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"
