"""A capture as Markdown: its steps, its answer, its verdict. Light: the editor shows it, too."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any, cast

from waza_engine.counting import cut
from waza_engine.harness.row_values import input_text, number_in, score_in
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code, fenced
from waza_engine.results.json_values import Block, Json, blocks_of, text_of, value_text

_SUMMARY_CHARACTERS, _STEP_CHARACTERS, _PLAN_CHARACTERS = 200, 100, 80
_SHORT_CONTENT, _HEAD_LINES, _TAIL_LINES = 500, 8, 4
_LANGUAGE = compiled_later(r"\.([A-Za-z0-9]{1,10})$")


def summary_lines(capture: Json) -> list[str]:
    """Return a complete capture with its numbered steps, as lines of Markdown."""
    identifier, timing = text_of(capture["id"]), capture["timing"]
    lines = [f"## {code(identifier)}", "", f"**Input:** {code(input_text(capture['input'], ' '))}", ""]
    lines += ["**Trajectory:**", ""]
    for number, step in enumerate(capture["trajectory"], 1):
        words, *rest = step_lines(step)
        lines += [f"{number}. {words} [→{code(f'{identifier}-step-{number}')}]", *rest]
    metadata = ", ".join(
        f"{code(key)}={code(value_text(value) or 'null')}" for key, value in capture["metadata"].items()
    )
    lines += ["", f"**Output:** {code(cut(capture['output'], _SUMMARY_CHARACTERS))}", ""]
    lines += [f"**Metadata:** {metadata}", f"**Tool errors:** {'true' if capture['toolErrors'] else 'false'}"]
    lines += [f"**Duration:** {timing['end'] - timing['start']:g}ms", ""]
    score = score_in(capture)
    if score is not None:
        lines += score_lines("Score", score, f"{number_in(score, 'score'):g}")
    return [*lines, "---", ""]


def score_lines(title: str, score: Block, number: str) -> list[str]:
    """Return a verdict and its reason as Markdown."""
    passed = score.get("pass") is True
    lines = [f"**{title}**: {'✓' if passed else '✗'} {number} ({'PASS' if passed else 'FAIL'})", ""]
    if reasoning := text_of(score.get("reasoning")):
        lines += [f"**Reasoning**: {code(reasoning)}", ""]
    return lines


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


def fixed(value: float, digits: int) -> str:
    """Return a number with some decimals; a tie is rounded up, as JavaScript does."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
