"""A run as Markdown for a comment on GitHub: the result in one line, a table, what failed unfolds."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import cast

from waza_engine.results.calibration import agreement_words, calibrations
from waza_engine.results.formats import moment, task_result
from waza_engine.results.json_values import Block, block_of
from waza_engine.results.scores import GraderResult, TaskResult
from waza_engine.results.words import baseline_words, spending_words

LONGEST_CHARACTERS = 60_000
_MARKS = {"passed": "✅", "failed": "❌", "error": "⚠️", "skipped": "⏭️"}
_FEEDBACK_CHARACTERS = 500
_SPECIAL = re.compile(r"([\\`*_{}\[\]()|~$])")
_CUT = "\nThe rest is in the result file.\n"


def markdown_report(document: Block) -> str:
    """Return the comment of a result document in today's layout.

    Texts of agents and graders are escaped, and mention nobody. A comment that GitHub would refuse for its
    length ends with a note.
    """
    timestamp = moment(document.get("timestamp"))
    tasks = document.get("tasks")
    found = [
        task_result(cast("Block", task), timestamp)
        for task in (cast("list[object]", tasks) if isinstance(tasks, list) else [])
        if isinstance(task, Mapping)
    ]
    text = ""
    for part in _parts(document, found):
        if len(text) + len(part) > LONGEST_CHARACTERS:
            return text + _CUT
        text += part
    return text


def _parts(document: Block, tasks: list[TaskResult]) -> Iterator[str]:
    config, summary = block_of(document, "config"), block_of(document, "summary")
    passed = sum(task.status == "passed" for task in tasks)
    well = all(task.status in ("passed", "skipped") for task in tasks)
    name = _escaped(str(document.get("eval_name") or "Evaluation"))
    yield f"## {'✅' if well else '❌'} {name}: {passed} of {len(tasks)} tasks passed\n\n"
    facts = [
        ("Skill", document.get("skill")),
        ("Model", config.get("model_id")),
        ("Executor", config.get("engine_type")),
        ("Score", _figure(summary.get("aggregate_score"))),
        ("Duration", _duration(summary.get("duration_ms"))),
        ("Spent", spending_words(document)),
        ("Baseline", baseline_words(document)),
    ]
    yield " · ".join(f"{label}: **{_escaped(str(value))}**" for label, value in facts if value) + "\n\n"
    for name, figures in calibrations(document).items():
        yield f"{_escaped(name)}: {_escaped(agreement_words(figures))}\n\n"
    if tasks:
        yield "| | Task | Score | Trials passed |\n|---|---|--:|--:|\n"
    for task in tasks:
        trials = f"{task.passed_trials}/{task.trials}" if task.trials else ""
        yield f"| {_mark(task)} | {_escaped(task.id or task.name)} | {task.score:.2f} | {trials} |\n"
    for task in tasks:
        if task.status != "passed" and (task.graders or task.error):
            yield _details(task)


def _details(task: TaskResult) -> str:
    lines = [f"- {_escaped(_shortened(task.error))}"] if task.error else []
    lines += [_line(grader) for grader in task.graders.values() if not grader.passed]
    title = html.escape(_one_line(task.id or task.name), quote=False)
    body = "\n".join(lines)
    return f"\n<details><summary>{_mark(task)} {_silent(title)}</summary>\n\n{body}\n\n</details>\n"


def _line(grader: GraderResult) -> str:
    feedback = _escaped(_shortened(grader.feedback))
    score = "pending" if grader.status == "pending" else f"{grader.score:.2f}"
    trials = f", {grader.passed_trials} of {grader.trials} trials passed" if grader.trials > 1 else ""
    return f"- **{_escaped(grader.name)}** {score}{trials}{': ' if feedback else ''}{feedback}"


def _mark(task: TaskResult) -> str:
    return _MARKS.get(task.status, "❔")


def _escaped(text: str) -> str:
    """Return the text on one line, so that it shows as written and mentions nobody."""
    return _silent(_SPECIAL.sub(r"\\\1", html.escape(_one_line(text), quote=False)))


def _silent(text: str) -> str:
    # A comment inside the word keeps GitHub from making a mention or a link of it.
    return re.sub(r"([@#])(?=[\w-])", r"\1<!-- -->", text.replace("://", ":<!-- -->//"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shortened(text: str) -> str:
    return text if len(text) <= _FEEDBACK_CHARACTERS else text[:_FEEDBACK_CHARACTERS] + "…"


def _figure(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else ""


def _duration(milliseconds: object) -> str:
    return f"{milliseconds / 1000:.1f} s" if isinstance(milliseconds, int | float) else ""
