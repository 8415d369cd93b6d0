"""A dataset in CSV: its rows, and errors that hide its prompts from a run. For the engine and the editor.

Architecture invariant: light, because the language server reads datasets, too.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from waza_engine.counting import counted
from waza_engine.files import printable
from waza_engine.frozen import frozen

PROMPT = "prompt"
OTHER_PROMPT_NAMES = (
    *("input", "message", "query", "question", "instruction", "instructions", "user", "user_prompt"),
    *("text", "content"),
)
"""Names that people write for the prompt."""
_DELIMITERS = {";": "`;`", "\t": "tabs", "|": "`|`"}
_SAMPLE = 64 * 1024
_LONGEST_CELL = 8 * 1024 * 1024
_MOST_SHOWN = 12


class TableError(Exception):
    """An error in a table, in one sentence, and its line, from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@frozen()
class Row:
    """One task of a table. ``number`` counts rows, ``line`` is where it begins."""

    number: int
    line: int
    cells: Mapping[str, str]


@frozen()
class Table:
    """The rows of a table. ``warnings`` are lines with parts without effect."""

    rows: Sequence[Row]
    warnings: Sequence[tuple[int, str]]


def read_table(text: str) -> Table:
    """Return the rows of CSV text. Raises ``TableError`` where a row has no prompt."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    delimiter = _delimiter(text)
    warnings: list[tuple[int, str]] = []
    records = _records(text, delimiter)
    line, header = next(records, (1, list[str]()))
    if not header:
        raise TableError(1, "the dataset is empty; start it with a header such as `id,prompt`")
    names = [name.strip() for name in header]
    if PROMPT not in names:
        raise TableError(line, _without_prompt(names))
    if delimiter != ",":
        warnings.append(
            (line, f"the columns are separated by {_DELIMITERS[delimiter]}; upstream reads commas")
        )
    twice = dict.fromkeys(name for name in names if names.count(name) > 1)
    warnings += [(line, f"column `{name}` occurs twice; the last one counts") for name in twice]
    rows: list[Row] = []
    for line, record in records:
        if len(record) != len(names):
            cells = counted(len(record), "cell")
            quote = "quote a cell that holds a comma" if delimiter == "," else "quote cells that hold one"
            raise TableError(line, f"the row has {cells}, the header {len(names)}; {quote}")
        cells = dict(zip(names, record, strict=True))
        if not cells[PROMPT].strip():
            raise TableError(line, "the cell `prompt` of this row is empty; write what the agent is asked")
        rows.append(Row(len(rows) + 1, line, cells))
    return Table(rows, warnings)


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line that it begins on."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error:
        message = (
            'a quoted cell is not closed, or text follows its closing quote; write `""` for a quote in it'
        )
        raise TableError(line, message) from None


def _delimiter(text: str) -> str:
    """Return the separator of the columns: a comma, unless another one is certain.

    It is when the header has the prompt with it alone and ``csv.Sniffer`` finds the same.
    """
    header = next((row for row in text.split("\n") if row.strip()), "")
    if PROMPT in _names(header, ","):
        return ","
    try:
        found = csv.Sniffer().sniff(text[:_SAMPLE], "".join((",", *_DELIMITERS))).delimiter
    except csv.Error:
        found = next((each for each in _DELIMITERS if each in header), ",")
    return found if found in _DELIMITERS and PROMPT in _names(header, found) else ","


def _names(header: str, delimiter: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([header], delimiter=delimiter), list[str]())]
    except csv.Error:
        return []


def _without_prompt(names: Sequence[str]) -> str:
    """Return which columns exist instead, and which of them is the prompt, or what separates them."""
    columns = ", ".join(f"`{printable(name)}`" for name in names[:_MOST_SHOWN])
    found = f"the dataset has no column `{PROMPT}`, only {columns}"
    if len(names) == 1:
        for delimiter, called in _DELIMITERS.items():
            if delimiter in names[0]:
                return f"{found}: separate the columns with commas, not with {called}"
    for other in (PROMPT, *OTHER_PROMPT_NAMES):
        for name in names:
            if name.casefold().replace(" ", "_") == other:
                return f"{found}; rename `{printable(name)}` to `{PROMPT}`"
    return f"{found}; name the column with the prompts `{PROMPT}`"
