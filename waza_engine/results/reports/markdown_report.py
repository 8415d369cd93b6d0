"""A run as Markdown for a comment on GitHub: the result in one line, a table, failures to unfold."""

from __future__ import annotations

import html
from collections.abc import Iterator

from waza_engine.counting import counted, cut
from waza_engine.markdown import cell, cell_sentence, code, sentence
from waza_engine.number_formats import format_score, format_scores
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import Conclusion, RunVerdict, TriggerConclusion, conclude
from waza_engine.results.conclusion_descriptions import describe_other_counts
from waza_engine.results.json_values import Block, block_of
from waza_engine.results.record import RunHeader
from waza_engine.results.reports.descriptions import (
    describe_misclassification,
    describe_repeated_trials,
    describe_spending,
    describe_triggers,
    verdict_label,
)
from waza_engine.results.reviews import calibrations, describe_agreement
from waza_engine.results.task_conclusion import GraderConclusion, TaskConclusion
from waza_engine.terminal import harmless_lines, visible
from waza_engine.vocabulary import grader_label

LONGEST_CHARACTERS = 60_000
_MARKS = {
    "passed": "✅",
    "failed": "❌",
    "errored": "⚠️",
    "skipped": "⏭️",
    "lost": "⚠️",
    "not run": "⏭️",
    "unjudged": "⏭️",
}
_RUN_MARKS: dict[RunVerdict, str] = {"passed": "✅", "errored": "⚠️", "unjudged": "⏭️"}
_FEEDBACK_CHARACTERS = 500
_CUT = "\nThe rest is in the result file.\n"


def markdown_report(document: Block, *, fail_under: float | None = None) -> str:
    """Return the comment of a result document in the current layout.

    Text from the suite, its agents and graders is shown as code: it makes no link and mentions nobody. A
    comment that is too long for GitHub ends with a note.
    """
    run = run_of(document)
    found = conclude(run, fail_under=fail_under)
    text = ""
    for part in map(harmless_lines, _parts(document, run.header, found)):
        if len(text) + len(part) > LONGEST_CHARACTERS:
            return text + _CUT
        text += part
    return text


def _parts(document: Block, header: RunHeader, found: Conclusion) -> Iterator[str]:
    summary = block_of(document, "summary")
    name = code(header.eval_name) or "Evaluation"
    counts = found.counts
    mark = _RUN_MARKS.get(found.verdict, "❌")
    passed = f"{counts.passed} of {counted(counts.total, 'task')} passed" if counts.total else found.results
    yield f"## {mark} {name}: {passed}\n\n"
    yield " · ".join([f"**{verdict_label(found)}**", *describe_other_counts(counts)]) + "\n\n"
    for reason in (reason for reason in found.reasons if not reason.is_counted):
        yield f"{_MARKS[reason.kind]} {sentence(reason.words)}\n\n"
    for note in found.notes:
        yield f"Note: {sentence(note)}\n\n"
    facts = [
        ("Skill", code(header.skill)),
        ("Model", code(header.asked_model)),
        ("Executor", code(header.executor)),
        ("Score", format_scores(found.score, found.plain_score) if found.scored else ""),
        ("Duration", _duration(summary.get("duration_ms"))),
        # This text may contain names of models.
        ("Spent", code(describe_spending(document))),
        ("Triggers", describe_triggers(found.triggers) if found.triggers else ""),
        ("Repeated", describe_repeated_trials(found)),
    ]
    yield " · ".join(f"{label}: **{value}**" for label, value in facts if value) + "\n\n"
    for name, numbers in calibrations(document).items():
        yield f"{code(name)}: {code(describe_agreement(numbers))}\n\n"
    if found.tasks:
        more = (" Estimates |", "---|") if found.repeated else ("", "")
        yield f"| | Task | Score | Trials passed |{more[0]}\n|---|---|--:|--:|{more[1]}\n"
    for task in found.tasks:
        score = format_scores(task.score, task.plain_score) if task.scored else ""
        cells = f"{task.share} |"
        if found.repeated:
            cells += f" {task.estimates.words if task.estimates is not None else ''} |"
        score += f" ({cell_sentence(task.hidden_reason)})" if task.hidden_reason else ""
        score += f" so far: {cell_sentence(task.cut_short)}" if task.cut_short else ""
        yield f"| {_MARKS[task.verdict]} | {cell(task.id or task.name)} | {score} | {cells}\n"
    yield from _flaky(found)
    if found.triggers is not None:
        yield from _mistakes(found.triggers)
    for task in found.tasks:
        if (task.verdict != "passed" or task.has_advice) and (task.graders or task.error):
            yield _details(task)


def _flaky(found: Conclusion) -> Iterator[str]:
    flaky = [task for task in found.tasks if task.flaky]
    if flaky:
        yield "\n### Flaky tasks\n\n| Task | Passed | Failed |\n|---|--:|--:|\n"
    for task in flaky:
        failed = task.trials.count("failed")
        yield f"| {cell(task.id or task.name)} | {task.passed_trials} | {failed} |\n"


def _mistakes(found: TriggerConclusion) -> Iterator[str]:
    if found.mistakes or found.broken:
        yield "\n### Trigger prompts\n\n"
    for trigger in (*found.mistakes, *found.broken):
        mark = _MARKS["errored" if trigger.error else "failed"]
        texts = (
            cut(text, _FEEDBACK_CHARACTERS) for text in (trigger.prompt, describe_misclassification(trigger))
        )
        yield f"- {mark} {' '.join(map(code, texts))}\n"


def _details(task: TaskConclusion) -> str:
    messages = [task.error] if task.error else []
    if not messages and all(grader.verdict == "passed" for grader in task.graders):
        messages = [task.reason]
    lines = [] if task.cause is None else [f"{task.cause.kind}: {sentence(task.cause.evidence)}\n"]
    lines += [f"- {code(cut(text, _FEEDBACK_CHARACTERS))}" for text in messages]
    lines += [_line(grader) for grader in task.graders if grader.verdict != "passed"]
    # A block of HTML goes on until the blank line, so there is no Markdown in the title.
    title = html.escape(visible(" ".join((task.id or task.name).split())))
    body = "\n".join(lines)
    mark = _MARKS[task.verdict]
    return f"\n<details><summary>{mark} <code>{title}</code></summary>\n\n{body}\n\n</details>\n"


def _line(grader: GraderConclusion) -> str:
    feedback = code(cut(grader.feedback, _FEEDBACK_CHARACTERS))
    score = "pending" if grader.verdict == "pending" else format_score(grader.score)
    trials = f", {grader.passed_trials} of {grader.trials} trials passed" if grader.trials > 1 else ""
    advisory = " (advisory)" if grader.verdict == "advisory" else ""
    name = f"**{code(grader_label(grader.name))}**{advisory}"
    return f"- {name} {score}{trials}{': ' if feedback else ''}{feedback}"


def _duration(milliseconds: object) -> str:
    return f"{milliseconds / 1000:.1f} s" if isinstance(milliseconds, int | float) else ""
