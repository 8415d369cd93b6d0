"""``format`` and ``summarize``: rows as CSV, as Markdown, or shortened.

Every row is written before the next one is read, except where the beginning of a document depends on all of
them; then the rest waits in a temporary file.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import IO, Any, cast

from waza_engine.counting import cut
from waza_engine.executors.adapter.events import text_of as json_value
from waza_engine.harness.rows import Notes, Row, capture_in, line_of, number_in, score_in, shown_input
from waza_engine.markdown import code, fenced
from waza_engine.masking import masked
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, items_of, text_of

_CHUNK_BYTES = 1_000_000
_INPUT_CHARACTERS, _OUTPUT_CHARACTERS = 100, 500
_SUMMARY_CHARACTERS, _STEP_CHARACTERS, _PLAN_CHARACTERS = 200, 100, 80
_SHORT_CONTENT, _HEAD_LINES, _TAIL_LINES = 500, 8, 4
_COLUMNS = ("id", "input", "hint", "output", "tool_errors", "duration_ms")
_SCORE_COLUMNS = ("pass", "score", "reasoning")
_LANGUAGE = re.compile(r"\.([A-Za-z0-9]{1,10})$")


def fixed(value: float, digits: int) -> str:
    """Return a number with some decimals; a tie is rounded up, as JavaScript does."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


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
        _quoted(shown_input(block.get("input"), " | ")),
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
    shown = shown_input(block.get("input"), " → ")
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


def score_lines(title: str, score: Block, number: str) -> list[str]:
    """Return a verdict and its reason as Markdown."""
    passed = score.get("pass") is True
    lines = [f"**{title}**: {'✓' if passed else '✗'} {number} ({'PASS' if passed else 'FAIL'})", ""]
    if reasoning := text_of(score.get("reasoning")):
        lines += [f"**Reasoning**: {code(reasoning)}", ""]
    return lines


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
                "input": shown_input(capture["input"], "\n"),
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
        yield encoded_lines(_summary(capture_in(row, notes)))


def _summary(capture: Json) -> list[str]:
    identifier, timing = text_of(capture["id"]), capture["timing"]
    lines = [f"## {code(identifier)}", "", f"**Input:** {code(shown_input(capture['input'], ' '))}", ""]
    lines += ["**Trajectory:**", ""]
    for number, step in enumerate(capture["trajectory"], 1):
        words, *rest = step_lines(step)
        lines += [f"{number}. {words} [→{code(f'{identifier}-step-{number}')}]", *rest]
    metadata = ", ".join(
        f"{code(key)}={code(json_value(value) or 'null')}" for key, value in capture["metadata"].items()
    )
    lines += ["", f"**Output:** {code(cut(capture['output'], _SUMMARY_CHARACTERS))}", ""]
    lines += [f"**Metadata:** {metadata}", f"**Tool errors:** {_word(capture['toolErrors'])}"]
    lines += [f"**Duration:** {timing['end'] - timing['start']:g}ms", ""]
    score = score_in(capture)
    if score is not None:
        lines += score_lines("Score", score, f"{number_in(score, 'score'):g}")
    return [*lines, "---", ""]


def step_lines(step: Block) -> list[str]:
    """Return a step of a trajectory as lines of Markdown: its kind and beginning, and written content."""
    kind = text_of(step.get("type"))
    if kind == "tool_call":
        return _call_lines(step)
    if kind == "plan":
        entries = blocks_of(step.get("entries"))
        plan = ", ".join(f"{entry.get('content')}: {entry.get('status')}" for entry in entries)
        return [f"[PLAN] {code(cut(plan, _PLAN_CHARACTERS))}"]
    shown = code(cut(text_of(step.get("content")), _STEP_CHARACTERS))
    return [f"[{'THOUGHT' if kind == 'thought' else 'MESSAGE'}] {shown}"]


def _call_lines(step: Block) -> list[str]:
    duration = number_in(step, "duration")
    took = f" ({duration:g}ms)" if duration else ""
    lines = [f"[TOOL:{code(text_of(step.get('name')))}] -> {code(text_of(step.get('status')))}{took}"]
    given = cast("Any", step.get("input"))
    arguments: Block = cast("Block", given) if isinstance(given, dict) else {}
    path = text_of(arguments.get("file_path")) or text_of(arguments.get("path"))
    content = text_of(arguments.get("content")) or text_of(arguments.get("new_string"))
    if path:
        lines.append(f"   File: {code(path)}" + (f" ({len(content)} chars)" if content else ""))
    if content:
        suffix = _LANGUAGE.search(path)
        language = suffix[1] if suffix else "typescript"
        shown = (
            content if len(content) <= _SHORT_CONTENT else shortened_lines(content, _HEAD_LINES, _TAIL_LINES)
        )
        lines += [f"   {line}" for line in fenced(shown, language).split("\n")]
    return lines


def shortened_lines(text: str, head: int, tail: int) -> str:
    """Return the first and the last lines of a text, and how many are left out between them."""
    lines = text.split("\n")
    left_out = len(lines) - head - tail
    if left_out <= 0:
        return text
    return "\n".join([*lines[:head], f"// … {left_out} lines omitted …", *lines[-tail:]])
