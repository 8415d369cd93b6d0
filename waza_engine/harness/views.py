"""``format`` and ``summarize``: rows as CSV, as Markdown, or shortened.

Every row is written before the next one is read, except where the beginning of a document depends on all of
them; then the rest waits in a temporary file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import IO

from waza_engine.counting import cut
from waza_engine.harness.row_values import input_text, number_in, score_in
from waza_engine.harness.rows import Notes, Row, capture_in, line_of
from waza_engine.harness.summary import fixed, score_lines, summary_lines
from waza_engine.markdown import code, fenced
from waza_engine.masking import masked
from waza_engine.results.json_values import Block, block_of, items_of, text_of

_CHUNK_BYTES = 1_000_000
_INPUT_CHARACTERS, _OUTPUT_CHARACTERS = 100, 500
_COLUMNS = ("id", "input", "hint", "output", "tool_errors", "duration_ms")
_SCORE_COLUMNS = ("pass", "score", "reasoning")


def csv_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield the rows as CSV; the columns of the score are there if any row is graded."""
    with tempfile.TemporaryFile() as waiting:
        ungraded = 0
        graded = False
        for row in rows:
            score = score_in(row.block)
            cells = _cells(row.block)
            if not graded and score is None:
                waiting.write(_csv_line(cells))
                ungraded += 1
                continue
            if not graded:
                graded = True
                yield _csv_line([*_COLUMNS, *_SCORE_COLUMNS])
                yield from _with_empty_scores(waiting)
            yield _csv_line([*cells, *(_score_cells(score) if score else ("", "", ""))])
        if not graded:
            yield _csv_line(_COLUMNS)
            yield from _content(waiting)


def _cells(block: Block) -> list[str]:
    return [
        _quoted(text_of(block.get("id"))),
        _quoted(input_text(block.get("input"), " | ")),
        _quoted(text_of(block.get("hint"))),
        _quoted(text_of(block.get("output"))),
        _word(block.get("toolErrors")),
        f"{number_in(block_of(block, 'timing'), 'total'):g}",
    ]


def _score_cells(score: Block) -> tuple[str, str, str]:
    return (
        _word(score.get("pass")),
        fixed(number_in(score, "score"), 3),
        _quoted(text_of(score.get("reasoning"))),
    )


def _word(value: object) -> str:
    return "true" if value is True else "false"


def _quoted(text: str) -> str:
    return '"' + masked(text).replace('"', '""').replace("\n", "\\n") + '"'


def _csv_line(cells: Iterable[str]) -> bytes:
    return ",".join(cells).encode("utf-8", "replace") + b"\n"


def _with_empty_scores(waiting: IO[bytes]) -> Iterator[bytes]:
    waiting.seek(0)
    for line in waiting:
        yield line.rstrip(b"\n") + b",,,\n"


def _content(waiting: IO[bytes]) -> Iterator[bytes]:
    waiting.seek(0)
    while some := waiting.readlines(_CHUNK_BYTES):
        yield b"".join(some)


def markdown_report(rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield the rows as a report, with the pass rate of the graded ones at its top."""
    with tempfile.TemporaryFile() as waiting:
        total = graded = passed = 0
        sum_of_scores = 0.0
        for row in rows:
            total += 1
            score = score_in(row.block)
            if score is not None:
                graded += 1
                passed += score.get("pass") is True
                sum_of_scores += number_in(score, "score")
            waiting.write(encoded_lines(_section(row.block, score)))
        lines = [
            "# Evaluation results",
            "",
            f"Generated: {datetime.now(UTC).isoformat()}",
            f"Total: {total}",
            "",
        ]
        if graded:
            rate = f"{passed}/{graded} ({fixed(100 * passed / graded, 1)}%)"
            average = fixed(sum_of_scores / graded, 3)
            lines += ["## Summary", "", f"- **Pass rate**: {rate}", f"- **Average score**: {average}", ""]
        yield encoded_lines([*lines, "## Results", ""])
        yield from _content(waiting)


def _section(block: Block, score: Block | None) -> list[str]:
    shown = input_text(block.get("input"), " → ")
    lines = [
        f"### {code(text_of(block.get('id')))}",
        "",
        f"**Input**: {code(cut(shown, _INPUT_CHARACTERS))}",
        "",
    ]
    if hint := text_of(block.get("hint")):
        lines += [f"**Hint**: {code(hint)}", ""]
    lines += ["**Output**:", "", fenced(cut(text_of(block.get("output")), _OUTPUT_CHARACTERS)), ""]
    if score is not None:
        lines += score_lines("Score", score, fixed(number_in(score, "score"), 3))
    if block.get("toolErrors") is True:
        lines += ["⚠ **A tool failed, or the time was over**", ""]
    for error in [*items_of(block.get("errors")), *filter(None, [block.get("error")])]:
        lines += [f"✗ **Error**: {code(str(error))}", ""]
    return [*lines, "---", ""]


def encoded_lines(lines: Iterable[str]) -> bytes:
    """Return lines of a document without credentials."""
    return masked("".join(f"{line}\n" for line in lines)).encode("utf-8", "replace")


def summaries(rows: Iterable[Row], notes: Notes) -> Iterator[bytes]:
    """Yield each capture shortened to its answer and the names of its tool calls, as a line of JSON."""
    for row in rows:
        capture = capture_in(row, notes)
        timing = capture["timing"]
        yield line_of(
            {
                "id": capture["id"],
                "input": input_text(capture["input"], "\n"),
                "output": capture["output"],
                "toolCalls": [
                    text_of(step.get("name"))
                    for step in capture["trajectory"]
                    if step.get("type") == "tool_call"
                ],
                "duration": timing["end"] - timing["start"],
            }
        )


def summaries_in_markdown(rows: Iterable[Row], notes: Notes) -> Iterator[bytes]:
    """Yield each capture with its numbered steps, as Markdown for people and judges."""
    for row in rows:
        yield encoded_lines(summary_lines(capture_in(row, notes)))
