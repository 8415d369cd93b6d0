"""A run as Markdown for a comment on GitHub: the result in one line, a table, what failed unfolds."""

from __future__ import annotations

import html
from collections.abc import Iterator

from waza_engine.markdown import cell, code
from waza_engine.results.codec.header import header_of
from waza_engine.results.json_values import Block, block_of, blocks_of
from waza_engine.results.reading.scores import GraderResult, TaskResult
from waza_engine.results.reading.task_scores import task_result
from waza_engine.results.record import RunHeader
from waza_engine.results.reports.words import baseline_words, ending_words, missed_metrics, spending_words
from waza_engine.results.reviews.calibration import agreement_words, calibrations
from waza_engine.terminal import harmless_lines, visible

LONGEST_CHARACTERS = 60_000
_MARKS = {"passed": "✅", "failed": "❌", "error": "⚠️", "skipped": "⏭️"}
_FEEDBACK_CHARACTERS = 500
_CUT = "\nThe rest is in the result file.\n"


def markdown_report(document: Block) -> str:
    """Return the comment of a result document in today's layout.

    What comes from the suite, its agents and graders stands in code: it makes no link and mentions nobody. A
    comment that GitHub would refuse for its length ends with a note.
    """
    header = header_of(document)
    tasks = [task_result(task, header.started) for task in blocks_of(document.get("tasks"))]
    text = ""
    for part in map(harmless_lines, _parts(document, header, tasks)):
        if len(text) + len(part) > LONGEST_CHARACTERS:
            return text + _CUT
        text += part
    return text


def _parts(document: Block, header: RunHeader, tasks: list[TaskResult]) -> Iterator[str]:
    summary = block_of(document, "summary")
    passed = sum(task.status == "passed" for task in tasks)
    ending, missed = ending_words(document), missed_metrics(document)
    well = not ending and not missed and all(task.status in ("passed", "skipped") for task in tasks)
    name = code(header.eval_name) or "Evaluation"
    yield f"## {'✅' if well else '❌'} {name}: {passed} of {len(tasks)} tasks passed\n\n"
    if ending:
        yield f"⚠️ {code(ending)}\n\n"
    for words in missed.values():
        yield f"❌ {code(words)}\n\n"
    facts = [
        ("Skill", code(header.skill)),
        ("Model", code(header.model)),
        ("Executor", code(header.executor)),
        ("Score", _figure(summary.get("aggregate_score"))),
        ("Duration", _duration(summary.get("duration_ms"))),
        # The names of models may be among these words.
        ("Spent", code(spending_words(document))),
        ("Baseline", baseline_words(document)),
    ]
    yield " · ".join(f"{label}: **{value}**" for label, value in facts if value) + "\n\n"
    for name, figures in calibrations(document).items():
        yield f"{code(name)}: {code(agreement_words(figures))}\n\n"
    if tasks:
        yield "| | Task | Score | Trials passed |\n|---|---|--:|--:|\n"
    for task in tasks:
        trials = f"{task.passed_trials}/{task.trials}" if task.trials else ""
        yield f"| {_mark(task)} | {cell(task.id or task.name)} | {task.score:.2f} | {trials} |\n"
    for task in tasks:
        if task.status != "passed" and (task.graders or task.error):
            yield _details(task)


def _details(task: TaskResult) -> str:
    lines = [f"- {code(_shortened(task.error))}"] if task.error else []
    lines += [_line(grader) for grader in task.graders.values() if not grader.passed]
    # A block of HTML goes on until the blank line, so there is no Markdown in the title.
    title = html.escape(visible(" ".join((task.id or task.name).split())))
    body = "\n".join(lines)
    return f"\n<details><summary>{_mark(task)} <code>{title}</code></summary>\n\n{body}\n\n</details>\n"


def _line(grader: GraderResult) -> str:
    feedback = code(_shortened(grader.feedback))
    score = "pending" if grader.status == "pending" else f"{grader.score:.2f}"
    trials = f", {grader.passed_trials} of {grader.trials} trials passed" if grader.trials > 1 else ""
    return f"- **{code(grader.name)}** {score}{trials}{': ' if feedback else ''}{feedback}"


def _mark(task: TaskResult) -> str:
    return _MARKS.get(task.status, "❔")


def _shortened(text: str) -> str:
    return text if len(text) <= _FEEDBACK_CHARACTERS else text[:_FEEDBACK_CHARACTERS] + "…"


def _figure(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else ""


def _duration(milliseconds: object) -> str:
    return f"{milliseconds / 1000:.1f} s" if isinstance(milliseconds, int | float) else ""
