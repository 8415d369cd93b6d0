"""``run`` and ``extract``: what an agent prints for each prompt, and the answers in what it has printed."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from waza_engine.counting import in_seconds
from waza_engine.executors.adapter.command_turn import Turn
from waza_engine.graders.base import GradingContext
from waza_engine.graders.programs.input import trajectory
from waza_engine.harness.agent import Agent, milliseconds, relative_step
from waza_engine.harness.row_values import is_input
from waza_engine.harness.rows import HarnessError, Prompt, Row
from waza_engine.processes.programs import run_bounded
from waza_engine.results.json_values import Json, block_of, texts_of
from waza_engine.spec.adapter import AdapterFile

_PLACEHOLDER = "{}"
_MOST_BYTES = 50_000_000
_KEPT = ("hint", "metadata", "cwd")

Printed = tuple[list[str], str]
"""The lines that an agent printed, and its error, "" without one."""


def raw_rows(prompts: Iterable[Prompt], printed_by: Callable[[Prompt], Printed]) -> Iterator[Json]:
    """Yield the lines that an agent prints for each prompt, and the time that it takes."""
    for prompt in prompts:
        started = milliseconds()
        lines, error = printed_by(prompt)
        ended = milliseconds()
        yield {
            "id": prompt.id,
            "input": prompt.input,
            **({} if prompt.hint is None else {"hint": prompt.hint}),
            **({} if prompt.metadata is None else {"metadata": prompt.metadata}),
            "rawLines": lines,
            "timing": {"start": started, "end": ended, "total": ended - started},
            **({"error": error} if error else {}),
        }


def printed_by_agent(agent: Agent) -> Callable[[Prompt], Printed]:
    """Return a function that asks an agent. All its lines are kept, also the event that ends a turn."""

    def printed(prompt: Prompt) -> Printed:
        agent.check([prompt])
        lines: list[str] = []
        answer, _ = agent.ask(prompt, prompt.id, heard=lines.append)
        return [line for line in lines if line], "; ".join(answer.get("errors", ()))

    return printed


def printed_by_shell(
    arguments_of: Callable[[str], tuple[str, Mapping[str, str]]], seconds: float
) -> Callable[[Prompt], Printed]:
    """Return a function that runs a command of the shell for each turn of a prompt."""

    def printed(prompt: Prompt) -> Printed:
        lines: list[str] = []
        errors: list[str] = []
        for turn in prompt.turns:
            command, variables = arguments_of(turn)
            if "\0" in turn:
                errors.append("the prompt holds a NUL character, which no argument can")
                continue
            finished = run_bounded(
                ["/bin/sh", "-c", command],
                stdin="",
                timeout_seconds=seconds,
                cwd=Path.cwd(),
                environment=variables,
                limit_bytes=_MOST_BYTES,
            )
            lines += [line for line in finished.stdout.strip().split("\n") if line]
            if finished.timed_out:
                errors.append(f"the command did not end within {in_seconds(seconds)}")
            elif finished.exit_code:
                errors.append(finished.stderr.strip() or f"the command {finished.ended_words(seconds)}")
        return lines, "\n".join(errors)

    return printed


def simple_command(template: str) -> Callable[[str], tuple[str, Mapping[str, str]]]:
    """Return a function that puts a prompt, quoted for the shell, in place of each ``{}``."""
    if _PLACEHOLDER not in template:
        raise HarnessError("`--simple` needs `{}` where the prompt belongs, as in `--simple 'agent -p {}'`.")
    return lambda prompt: (template.replace(_PLACEHOLDER, shlex.quote(prompt)), {})


def shell_template(template: str) -> Callable[[str], tuple[str, Mapping[str, str]]]:
    """Return a function that gives a template of the shell its prompt in the variable ``PROMPT``."""
    return lambda prompt: (template, {"PROMPT": prompt})


def extracted_rows(rows: Iterable[Row], adapter: AdapterFile) -> Iterator[Json]:
    """Yield the answer and the trajectory in each row of raw lines. Raises ``HarnessError``."""
    for row in rows:
        block = row.block
        lines: object = block.get("rawLines")
        if not is_input(block.get("input")) or not isinstance(lines, list):
            raise HarnessError(f"{row.place}: `input` and `rawLines` are missing; `run` writes such rows.")
        output, steps = _answer_in(texts_of(block["rawLines"]), adapter)
        timing = block_of(block, "timing")
        error = block.get("error")
        failed = any(step.get("status") == "failed" for step in steps)
        yield {
            "id": row.id,
            "input": block["input"],
            **{key: block[key] for key in _KEPT if key in block},
            "output": output,
            "trajectory": steps,
            "toolErrors": failed or bool(error),
            "timing": dict(timing),
            **({"error": error} if error else {}),
        }


def _answer_in(lines: Sequence[str], adapter: AdapterFile) -> tuple[str, list[Json]]:
    if adapter.extensions.output_mode == "text":
        return "\n".join(lines), []
    numbers = itertools.count(1)
    turn = Turn(adapter, new_id=lambda: f"call-{next(numbers)}")
    for line in lines:
        turn.take(line.encode("utf-8", "replace"))
    turn.close()
    steps = trajectory(GradingContext(transcript=turn.events, tool_calls=turn.tool_calls))
    # The time of an event is not in the lines.
    return turn.output, [relative_step(step, step["timestamp"]) for step in steps]
