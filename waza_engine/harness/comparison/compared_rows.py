"""The rows of a run, as far as a comparison needs them: numbers in memory, the rest in the file."""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from waza_engine.harness.row_values import number_in, score_in
from waza_engine.harness.rows import STANDARD_STREAM, HarnessError, Row, opened_rows, rows_in
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, items_of, text_of
from waza_engine.spec.harness_files import row_kind
from waza_engine.terminal import complain

Kind: TypeAlias = Literal["capture", "trials"]
_TIMEOUT = "timeout"
_RICH = {"thought", "tool_call"}


@dataclass(frozen=True, slots=True)
class CaptureRecord:
    """The facts of a capture. ``score`` is None when it is not graded; times are in milliseconds.

    ``offset`` is where its line begins, in bytes.
    """

    offset: int
    score: float | None
    passed: bool
    duration: float | None
    first_response: float | None
    tool_errors: bool
    timed_out: bool
    completed: bool
    steps: int
    richness: str


@dataclass(frozen=True, slots=True)
class TrialsRecord:
    """The facts of the trials of a prompt. pass@k and pass^k are None when they are not graded."""

    offset: int
    k: int
    pass_at_k: float | None
    pass_exp_k: float | None
    passed: bytes
    scores: array[float]
    durations: array[float]

    @property
    def is_graded(self) -> bool:
        """Return whether it has a verdict."""
        return self.pass_at_k is not None

    @property
    def flakiness(self) -> float:
        """Return how far pass@k and pass^k are apart, 0 to 1."""
        return max(0.0, (self.pass_at_k or 0.0) - (self.pass_exp_k or 0.0))


Record: TypeAlias = CaptureRecord | TrialsRecord


def loaded_runs(
    written: Sequence[str], kind: Kind | None, stack: ExitStack, *, show: bool
) -> list[LoadedRun]:
    """Return the runs of arguments such as ``label:path`` or ``path``; ``stack`` closes their files.

    ``show`` prints their paths on standard error. Raises ``HarnessError``.
    """
    named = [_named_run(each) for each in written]
    if len(named) < 2:
        raise HarnessError("Name at least two files to compare.")
    labels = [label for label, _ in named]
    for label in labels:
        if labels.count(label) > 1:
            raise HarnessError(f"Two runs are called `{label}`; write `label:path` for each of them.")
    runs: list[LoadedRun] = []
    for label, path in named:
        if show:
            complain(str(path))
        runs.append(LoadedRun(label, path, kind, stack))
    if len({run.kind for run in runs}) > 1:
        kinds = ", ".join(f"`{run.label}` has {run.kind}" for run in runs)
        raise HarnessError(f"The files do not have the same kind of rows: {kinds}.")
    return runs


def _named_run(written: str) -> tuple[str, Path]:
    label, colon, path = written.partition(":")
    is_drive = os.name == "nt" and len(label) == 1 and path.startswith(("\\", "/"))
    if not colon or not label or is_drive or Path(written).exists():
        return ("stdin" if written == str(STANDARD_STREAM) else Path(written).stem), Path(written)
    return label, Path(path)


class LoadedRun:
    """The records of a run by the id of their prompt."""

    def __init__(self, label: str, path: Path, kind: Kind | None, stack: ExitStack) -> None:
        """Read all rows; without a ``kind`` the first one decides. Raises ``HarnessError``."""
        self.label = label
        self.path = path
        self._name = str(path)
        self._file = stack.enter_context(opened_rows(path))
        self.kind: Kind | None = kind
        self.records: dict[str, Record] = {}
        for offset, row in self._rows():
            self.kind = self.kind or _kind_of(row)
            # Runs of the same prompts share their ids.
            self.records[sys.intern(row.id)] = (
                _capture(row.block, offset) if self.kind == "capture" else _trials(row.block, offset)
            )
        if self.kind is None:
            raise HarnessError(f"{self._name} has no rows to compare.")

    def row(self, record: Record) -> Json:
        """Return the row of a record."""
        self._file.seek(record.offset)
        return next(rows_in(self._file.readline, self._name)).block

    def _rows(self) -> Iterator[tuple[int, Row]]:
        offset = 0

        def line(limit: int) -> bytes:
            nonlocal offset
            offset = self._file.tell()
            return self._file.readline(limit)

        for row in rows_in(line, self._name):
            yield offset, row


def _kind_of(row: Row) -> Kind:
    kind = row_kind(row.block)
    if kind in ("capture", "trials"):
        return kind
    raise HarnessError(f"{row.place} is neither a capture nor trials; name the kind with --input-format.")


def _capture(block: Block, offset: int) -> CaptureRecord:
    timing, score, metadata = block_of(block, "timing"), score_in(block), block_of(block, "metadata")
    errors = [str(error) for error in items_of(block.get("errors"))]
    steps = blocks_of(block.get("trajectory"))
    timed_out = metadata.get("timedOut") is True or any(_TIMEOUT in error.lower() for error in errors)
    return CaptureRecord(
        offset,
        None if score is None else number_in(score, "score"),
        score is not None and score["pass"],
        number_in(timing, "total") if "timing" in block else None,
        number_in(timing, "firstResponse") if "firstResponse" in timing else None,
        block.get("toolErrors") is True,
        timed_out,
        bool(block.get("output")) and not errors,
        len(steps),
        sys.intern(text_of(metadata.get("trajectoryRichness")) or _richness(steps)),
    )


def _richness(steps: Sequence[Block]) -> str:
    if any(step.get("type") in _RICH for step in steps):
        return "full"
    return "messages-only" if steps else "minimal"


def _trials(block: Block, offset: int) -> TrialsRecord:
    entries = blocks_of(block.get("trials"))
    return TrialsRecord(
        offset,
        int(number_in(block, "k")),
        _known(block, "passAtK"),
        _known(block, "passExpK"),
        bytes(entry.get("pass") is True for entry in entries),
        array("d", [number_in(entry, "score") for entry in entries if _is_number(entry.get("score"))]),
        array("d", [number_in(entry, "duration") for entry in entries]),
    )


def _known(block: Block, key: str) -> float | None:
    return number_in(block, key) if _is_number(block.get(key)) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def records_by_prompt(runs: Sequence[LoadedRun]) -> Iterator[tuple[str, Mapping[str, Record]]]:
    """Yield each id that any run has, with the records of the runs that have it."""
    for prompt in dict.fromkeys(prompt for run in runs for prompt in run.records):
        yield prompt, {run.label: run.records[prompt] for run in runs if prompt in run.records}
