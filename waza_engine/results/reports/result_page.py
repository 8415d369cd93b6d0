"""A page of Markdown for each recorded task that shows why it passed or failed.

The prompt, the agent's messages and calls, files it wrote, its usage, and each grader with its reasons. Text
from agents and graders is shown as code, and long strings are cut with a note.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.graders.matching.nearest import matching_loosened, nearest_text
from waza_engine.graders.matching.patterns import PatternError, find_all
from waza_engine.graders.matching.strings import lowered, quoted, shortened
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.markdown import cell, code, fenced, sentence
from waza_engine.masking import masked
from waza_engine.moments import SOME_TIME_AGO, local_time
from waza_engine.number_formats import format_score
from waza_engine.results.conclusion import Conclusion, TriggerConclusion, conclude, trigger_verdict
from waza_engine.results.json_values import value_at
from waza_engine.results.record import FilesChanged, RunHeader, RunOutcome, TrialOutcome, Validation
from waza_engine.results.reports.descriptions import (
    CAUSE_WORDS,
    describe_misclassification,
    describe_repeated_trials,
    describe_triggers,
    dollars,
    verdict_label,
)
from waza_engine.results.task_conclusion import GraderConclusion, TaskConclusion, tasks_by_name
from waza_engine.scoring.cost import tokens_of
from waza_engine.terminal import visible_lines
from waza_engine.vocabulary import Check, ToolCall, grader_label

LONGEST_CHARACTERS = 400_000
_NOTE_CHARACTERS = 200
"""Room for the sentence that something is left out."""
_TEXT_CHARACTERS = 20_000
_ARGUMENT_CHARACTERS = 500
_CONTEXT_CHARACTERS = 40
_MOST_CALLS = 200
_MOST_CHECKS = 100
_MOST_PROMPTS = 100
_OUTPUT_CHARACTERS = 1_000
NO_ANSWER = "There is no answer."
_MARKS = {
    "passed": "✓",
    "failed": "✗",
    "errored": "!",
    "pending": "◷",
    "skipped": "–",
    "lost": "!",
    "not run": "–",
}
_WRITES = frozenset({"create", "edit", "write", "write_file", "edit_file", "str_replace", "apply_patch"})
_LISTS = ("contains", "contains_cs", "not_contains", "not_contains_cs")


def result_page(
    header: RunHeader,
    found: Conclusion,
    prompts: Mapping[str, str] | None = None,
    task: str | None = None,
    *,
    goes_on: bool = False,
) -> str:
    """Return the page of a run, or of one of its tasks; of one that ``goes_on`` what is finished so far.

    Tasks that did not pass come first.

    ``prompts`` are those of the suite by task id, for records that hold none.
    """
    tasks = in_page_order(each for each in found.tasks if task is None or each.id == task)
    triggers = _triggers(found.triggers) if task is None and found.triggers else ""
    head = _head(header, found, goes_on=goes_on) + triggers
    known, room = prompts or {}, LONGEST_CHARACTERS - len(head)
    pages = [(each.verdict == "passed", partial(_task, each, known.get(each.id, ""), room)) for each in tasks]
    return head + _fitting(pages, room, "task")


def in_page_order(tasks: Iterable[TaskConclusion]) -> list[TaskConclusion]:
    """Return tasks as a page has them: those that did not pass first."""
    return sorted(tasks, key=lambda task: task.verdict == "passed")


def _fitting(parts: Sequence[tuple[bool, Callable[[], str]]], room: int, noun: str) -> str:
    """Return as many parts as there is room for, in their order, and before them how many are left out.

    Each has before it whether it passed: those that did not are left out last. None is made without room.
    """
    shown: dict[int, str] = {}
    for number in sorted(range(len(parts)), key=lambda number: parts[number][0]):
        if room < _NOTE_CHARACTERS:
            break
        part = parts[number][1]()
        if len(part) <= room:
            shown[number] = part
            room -= len(part)
    text = "".join(shown[number] for number in sorted(shown))
    left = len(parts) - len(shown)
    of = f"{left} of {counted(len(parts), noun)}"
    return f"\nFor its length this page leaves out {of}; the result file has all.\n{text}" if left else text


def _head(header: RunHeader, found: Conclusion, *, goes_on: bool) -> str:
    verdict = "goes on" if goes_on else verdict_label(found)
    lines = [
        f"# {code(header.eval_name) or 'Evaluation'}: {verdict}",
        "",
        found.results + (" so far" if goes_on else ""),
        "",
    ]
    lines += [f"- {sentence(reason.words)}" for reason in found.reasons if not reason.is_counted]
    lines += [f"- note: {sentence(note)}" for note in found.notes]
    lines += ["", repeated] if (repeated := describe_repeated_trials(found)) else []
    facts = (
        ("Executor", header.executor),
        ("Model", header.asked_model),
        ("Judge", header.judge_model),
        ("Skill", header.skill),
        ("Commit", header.commit.words if header.commit else ""),
    )
    lines += ["", " · ".join(f"{name}: {code(value)}" for name, value in facts if value), ""]
    # On its own line, because it always differs in a comparison, and the line above only for real changes.
    if started := local_time(header.started):
        lines += [f"Started: {code(started)}", ""]
    return "\n".join(lines)


def _triggers(found: TriggerConclusion) -> str:
    """Return the misclassified or untried trigger prompts, with the agent's output."""
    mark = "✗" if found.wrong else "!" if found.errored else "✓"
    lines = [f"\n## {mark} Trigger prompts", "", describe_triggers(found), ""]
    listed = (*found.mistakes, *found.broken)
    for prompt in listed[:_MOST_PROMPTS]:
        lines += [f"**{'!' if prompt.error else '✗'} {code(_cut(prompt.prompt, _ARGUMENT_CHARACTERS))}**", ""]
        lines += [sentence(describe_misclassification(prompt)), ""]
        if prompt.output:
            lines += [fenced(_cut(prompt.output, _OUTPUT_CHARACTERS)), ""]
    if len(listed) > _MOST_PROMPTS:
        lines += [f"… and {len(listed) - _MOST_PROMPTS} more", ""]
    return "\n".join([*lines, ""])


def _task(task: TaskConclusion, prompt: str, room: int) -> str:
    verdict = f"{task.verdict} so far" if task.cut_short else task.verdict
    lines = [f"\n## {_MARKS[task.verdict]} {code(task.name or task.id)}: {verdict}", ""]
    if task.estimates is not None:
        lines += [f"{task.share} trials passed · {task.estimates.words}", ""]
    # The reason why a grader broke is the evidence of the cause, which follows.
    told_below = task.verdict == "errored" and not task.error and task.cause is not None
    if (why := task.reason or task.cut_short) and not told_below:
        lines += [sentence(why), ""]
    if task.cause is not None:
        lines += [f"**{CAUSE_WORDS[task.cause.kind]}** {sentence(task.cause.evidence)}", ""]
    trials = [(trial.status == "passed", partial(_trial, task, trial, prompt)) for trial in task.task.trials]
    if trials:
        lines.append(_fitting(trials, room - len("\n".join(lines)) - _NOTE_CHARACTERS, "trial"))
    if not task.task.trials and prompt:
        lines += _section("Prompt", fenced(_cut(prompt)))
    return "\n".join([*lines, ""])


def _trial(task: TaskConclusion, trial: TrialOutcome, prompt: str) -> str:
    head = [f"### Trial {trial.number}: {trial.status}", ""] if len(task.task.trials) > 1 else []
    return "\n".join(
        [*head, *trial_sections(trial, prompt, _answer(trial) if trial.output else NO_ANSWER), ""]
    )


def trial_sections(trial: TrialOutcome, prompt: str, answer: str) -> Iterator[str]:
    """Yield the lines of a trial: its prompt and calls, and each grader; ``answer`` is its Markdown."""
    if trial.error:
        yield from (fenced(_cut(trial.error)), "")
    asked = [str(event.get("content", "")) for event in trial.events if event.get("type") == "user.message"]
    first = (asked[0] if asked else "") or prompt
    if first:
        yield from _section("Prompt", fenced(_cut(first)))
    yield from _section("Answer", answer)
    yield from _unjudged(trial)
    if trial.validations:
        yield from _section("Graders", "")
        for verdict in sorted(trial.validations.values(), key=lambda verdict: verdict.passed):
            yield from _verdict(verdict, trial.output)
    for checkpoint in trial.checkpoints:
        yield from _section(f"Checkpoint after turn {checkpoint.after_turn}: {checkpoint.status}", "")
        for verdict in checkpoint.validations.values():
            yield from _verdict(verdict, trial.output)
    if len(asked) > 1 or trial.tool_calls:
        yield from _section("Turns", "\n".join(_turns(trial)))
    if trial.files_changed:
        yield from _section("Files changed", "\n".join(_changed(trial.files_changed)))
    elif written := _written(trial.tool_calls or ()):
        yield from _section("Files written", "\n".join(f"- {code(path)}" for path in written))
    if trial.workspace:
        yield from _section("Workspace", code(trial.workspace))
    used = _used(trial)
    if used:
        yield from _section("Used", used)


def _unjudged(trial: TrialOutcome) -> Iterator[str]:
    for answer in trial.unjudged:
        yield from _section(f"Paid for and not judged: of the {answer.by}", fenced(_cut(answer.text)))


def call_line(call: ToolCall) -> str:
    """Return the line of a tool call: its name, and its arguments as JSON, in code."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
    failed = "" if call.success else " (failed)"
    return f"- ⚙ {code(call.name)}{failed} {code(_cut(arguments, _ARGUMENT_CHARACTERS))}"


def _answer(trial: TrialOutcome) -> str:
    """Return the answer with its graders' matches marked.

    Its fence shows which of its lines are marks: an answer may have lines that look like one.
    """
    marked = marked_answer(trial, _TEXT_CHARACTERS)
    if not marked.marks:
        return fenced(_cut(trial.output))
    kind = "-".join(("marked", *(str(number) for number in marked.marks)))
    left = len(trial.output) - _TEXT_CHARACTERS
    text = marked.text + (f"… ({left:,} more characters)" if left > 0 else "")
    return f"{fenced(text, kind)}\n\n{LEGEND}"


def _verdict(verdict: Validation, output: str) -> Iterator[str]:
    if verdict.status == "graded":
        against = "○" if verdict.shown_status == "advisory" else "✗"
        mark, score = "✓" if verdict.passed else against, f" {format_score(verdict.score)}"
        score += "" if verdict.required else ", advisory"
    else:
        mark, score = ("!", " could not grade") if verdict.status == "error" else ("◷", " waits for a review")
    yield f"**{mark} {code(grader_label(verdict.name))}**{score} ({code(verdict.type)})"
    yield ""
    if verdict.feedback:
        yield from (fenced(_cut(verdict.feedback)), "")
    shown = verdict.checks[:_MOST_CHECKS]
    for check in shown:
        # No table: a pattern may have a bar after a backslash, which no cell can show.
        met = _met(verdict, check, output)
        yield f"- {'✓' if check.passed else '✗'} {code(_rule(verdict, check))}{f' · {met}' if met else ''}"
    if len(verdict.checks) > len(shown):
        yield f"- … and {len(verdict.checks) - len(shown)} more"
    if shown:
        yield ""


def _rule(verdict: Validation, check: Check) -> str:
    text = sought_text(verdict, check.path) or check.rule
    path = ".".join(str(step) for step in check.path)
    return f"{path}: {text}" if text else path or grader_label(verdict.name)


def _met(verdict: Validation, check: Check, output: str) -> str:
    """Return where the answer matches a check, or why the check fails."""
    key = check.path[0] if check.path else ""
    wanted = sought_text(verdict, check.path)
    at = output.lower().find(wanted.lower()) if wanted and key in _LISTS else -1
    if at >= 0:
        before, after = output[max(0, at - _CONTEXT_CHARACTERS) : at], output[at + len(wanted) :]
        line = output.count("\n", 0, at) + 1
        around = f"{before}⟦{output[at : at + len(wanted)]}⟧{after[:_CONTEXT_CHARACTERS]}"
        return f"line {line}: {code(around)}"
    return sentence(_cut(check.message, _ARGUMENT_CHARACTERS))


def _turns(trial: TrialOutcome) -> Iterator[str]:
    calls = {call.id: call for call in trial.tool_calls or () if call.id}
    shown = 0
    for event in trial.events:
        kind, content = event.get("type"), str(event.get("content") or "").strip()
        if kind == "user.message" and content:
            yield f"- **user** {code(_cut(content, _ARGUMENT_CHARACTERS))}"
        elif kind == "assistant.message" and content:
            yield f"- **agent** {code(_cut(content, _ARGUMENT_CHARACTERS))}"
        elif kind == "tool.execution_start" and shown < _MOST_CALLS:
            call = calls.pop(str(event.get("tool_call_id", "")), None)
            if call is not None:
                shown += 1
                yield call_line(call)
    for call in [*calls.values(), *(call for call in trial.tool_calls or () if not call.id)][
        : _MOST_CALLS - shown
    ]:
        shown += 1
        yield call_line(call)
    left = len(trial.tool_calls or ()) - shown
    if left > 0:
        yield f"- … and {counted(left, 'more tool call')}"


def _changed(files: FilesChanged) -> Iterator[str]:
    """Yield a line for each file that the agent created, changed or deleted."""
    for sign, paths, what in (
        ("+", files.created, "created"),
        ("~", files.changed, "changed"),
        ("−", files.deleted, "deleted"),
    ):
        yield from (f"- {sign} {code(path)} {what}" for path in paths)
    if files.more:
        yield f"- … and {counted(files.more, 'more file')}"


def _written(calls: Sequence[ToolCall]) -> list[str]:
    paths = (call.arguments.get("path") for call in calls if call.name in _WRITES)
    return list(dict.fromkeys(path for path in paths if isinstance(path, str) and path))


def _used(trial: TrialOutcome) -> str:
    words = [f"{trial.duration_ms / 1000:.1f} s"]
    if trial.attempts > 1:
        words.append(f"{trial.attempts} attempts")
    for what, usage in (("agent", trial.usage), ("judges", trial.judge_usage), ("other", trial.other_usage)):
        if tokens := tokens_of(usage):
            words.append(f"{what}: {tokens:,} tokens")
    if trial.cost is not None and trial.cost.usd:
        words.append(dollars(trial.cost.usd) + ("" if trial.cost.known else " and more"))
    return " · ".join(words)


def _section(title: str, text: str) -> Iterator[str]:
    yield from (f"#### {title}", "")
    if text:
        yield from (text, "")


def _cut(text: str, longest: int = _TEXT_CHARACTERS) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"


LONGEST_ANSWER = 200_000
"""Characters of an answer that are shown."""
LONGEST_REST = 200_000
"""The length in characters of the rest below it: calls and verdicts."""


@frozen()
class TrialPage:
    """A page's text, and marks that count its characters."""

    text: str
    marks: Sequence[Mark]


def trial_page(
    title: str, trial: TrialOutcome, prompt: str, judged: Collection[str], started: datetime
) -> TrialPage:
    """Return the page of a trial that was recorded in the run ``started`` then.

    ``judged`` are the names of the current verdicts, ``title`` is the name of the task, ``prompt`` that of
    its suite.
    """
    # Compute marks from the shown text: masking and escaping change its length.
    trial = replace(trial, output=visible_lines(masked(trial.output)))
    shown = trial.output[:LONGEST_ANSWER]
    answer = fenced(shown) if shown else NO_ANSWER
    head = [f"# {code(title)}, trial {trial.number}", "", _origin(trial, judged, started), ""]
    lines = [*head, *trial_sections(trial, prompt, answer), ""]
    # The prompt may be the same text, so the answer is found by identity.
    answer_at = next((number for number, line in enumerate(lines) if line is answer), 0)
    before = masked("".join(f"{line}\n" for line in lines[:answer_at]))
    text = before + "\n".join(
        [*lines[answer_at : answer_at + 1], masked(_bounded("\n".join(lines[answer_at + 1 :])))]
    )
    if not shown or masked(text) != text:
        return TrialPage(masked(text), ())
    start = len(before) + answer.index("\n") + 1
    end = start + len(shown)
    marks = marks_in(trial, LONGEST_ANSWER)
    placed = [replace(mark, start=mark.start + start, end=min(mark.end + start, end)) for mark in marks]
    return TrialPage(text, placed)


def _bounded(text: str) -> str:
    return (
        text if len(text) <= LONGEST_REST else f"{text[:LONGEST_REST]}\n\nThe rest is in the result file.\n"
    )


def _origin(trial: TrialOutcome, judged: Collection[str], started: datetime) -> str:
    """Return when the answer was given, and when the verdicts on it."""
    names = [verdict.name for verdict in (trial.validations or {}).values()]
    kept = [code(grader_label(name)) for name in names if name not in judged]
    at = local_time(started) or SOME_TIME_AGO
    words = f"Recorded {at}; its graders are evaluated as they are written now; no agent was started."
    return f"{words} As recorded: {', '.join(kept)}." if kept else words


_MOST_ROWS = 500
_NOT_THERE = "–"

Row = tuple[str, str, str]
_Judged = TaskConclusion | GraderConclusion | None


def change_page(then: RunOutcome, now: RunOutcome, task: str | None = None) -> str:
    """Return the changes between two runs of a suite, or of one task; unchanged tasks are only counted.

    Where one of them ran only some graders, only these are compared, and no task.
    """
    runs, found = (then, now), (conclude(then), conclude(now))
    titles = [local_time(run.header.started) or SOME_TIME_AGO for run in runs]
    before, after = (_tasks(each, task) for each in found)
    names = list(dict.fromkeys([*after, *before]))
    ran = [set(run.header.graders) for run in runs if run.header.graders]
    asked = ran[0].intersection(*ran[1:]) if ran else None
    by_task = [list(_of_task(name, before.get(name), after.get(name), asked)) for name in names]
    changed, same = [row for rows in by_task for row in rows], by_task.count([])
    parts = [
        f"# {code(now.header.eval_name) or 'Evaluation'}: what changed",
        _table("run", titles, _of_runs(runs, found)),
        _table("task", titles, changed) if changed else "",
        f"{counted(same, 'task')} did not change." if same else "",
        "" if task is not None else _table("trigger prompt", titles, list(_of_prompts(then, now))),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _tasks(found: Conclusion, task: str | None) -> Mapping[str, TaskConclusion]:
    return {name: each for name, each in tasks_by_name(found.tasks).items() if task in (None, each.id)}


def _of_runs(runs: Sequence[RunOutcome], found: Sequence[Conclusion]) -> list[Row]:
    def words(header: RunHeader, conclusion: Conclusion) -> list[str]:
        score = format_score(conclusion.score) if conclusion.scored else ""
        commit = header.commit.words if header.commit else ""
        return [
            verdict_label(conclusion),
            score,
            header.asked_model,
            header.executor,
            header.judge_model,
            commit,
        ]

    labels = ("verdict", "score", "model", "executor", "judge", "commit")
    then, now = (words(run.header, each) for run, each in zip(runs, found, strict=True))
    rows = zip(labels, map(cell, then), map(cell, now), strict=True)
    return [row for row in rows if row[0] == "verdict" or row[1] != row[2]]


def _of_task(
    name: str, then: TaskConclusion | None, now: TaskConclusion | None, asked: set[str] | None
) -> Iterator[Row]:
    """Yield a row for a task whose verdict or score changed, and for each of its graders that changed."""
    graders = [{each.name: each for each in task.graders} if task else {} for task in (then, now)]
    of_graders = [
        (f"{cell(name)} {cell(grader_label(grader))}", *change)
        for grader in dict.fromkeys([*graders[1], *graders[0]])
        if (asked is None or grader in asked)
        and (change := _change_of(graders[0].get(grader), graders[1].get(grader)))
    ]
    change = _change_of(then, now)
    if change and asked is None:
        yield (cell(name), *change)
    yield from of_graders


def _change_of(then: _Judged, now: _Judged) -> tuple[str, str] | None:
    before, after = _words(then), _words(now)
    return (before, after) if before != after else None


def _words(judged: _Judged) -> str:
    if judged is None:
        return _NOT_THERE
    marks = {"passed": "✓", "failed": "✗", "errored": "!", "pending": "◷", "advisory": "○"}
    mark = marks.get(judged.verdict, "–")
    return f"{mark} {judged.verdict} {format_score(judged.score)}"


def _of_prompts(then: RunOutcome, now: RunOutcome) -> Iterator[Row]:
    before, after = (
        {(each.prompt, each.should_trigger): trigger_verdict(each) for each in run.triggers}
        for run in (then, now)
    )
    for key in dict.fromkeys([*after, *before]):
        words = before.get(key, _NOT_THERE), after.get(key, _NOT_THERE)
        if words[0] != words[1]:
            yield (cell(key[0]), *words)


def _table(what: str, titles: Sequence[str], rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    more = f"\n\n… and {len(rows) - _MOST_ROWS} more" if len(rows) > _MOST_ROWS else ""
    lines = [f"| {' | '.join((what, *titles))} |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows[:_MOST_ROWS])]) + more


LEGEND = "Below a line `^` marks what a grader found: ✓ what it wants, ✗ what it forbids, ≈ what is nearest."
MOST_OF_RULE = 20
MOST = 100
RULES_OF_LINE = 6
LONGEST_SEARCHED = 200_000
_RULE_CHARACTERS = 60
_TEXTS = {
    "contains": True,
    "not_contains": True,
    "contains_cs": False,
    "not_contains_cs": False,
    "must_contain": True,
    "keywords": True,
    "must_not_contain": True,
}
"""Lists of strings in an answer, for any grader, and whether case is ignored."""
_PATTERNS = frozenset({"regex_match", "regex_not_match", "must_match", "must_not_match"})


@frozen()
class Mark:
    """Some characters of an answer, and their meaning for a rule in a few words."""

    start: int
    end: int
    words: str


@frozen()
class MarkedAnswer:
    """An answer with its marks: its lines, and the numbers from 1 of those that are marks, not text."""

    text: str
    marks: tuple[int, ...] = ()


def sought_text(verdict: Validation, path: tuple[str | int, ...]) -> str:
    """Return the string that a check looks for, "" when the details of the verdict do not say."""
    value = value_at(verdict.details, path)
    return value if isinstance(value, str) else ""


def marked_answer(trial: TrialOutcome, longest: int) -> MarkedAnswer:
    """Return the beginning of an answer with its marks; unchanged when there are none."""
    answer, marks = trial.output[:longest], marks_in(trial, longest)
    lines = list(_annotated(answer, marks)) if marks else [(answer, False)]
    numbers = (number for number, (_, is_mark) in enumerate(lines, start=1) if is_mark)
    return MarkedAnswer("\n".join(line for line, _ in lines), tuple(numbers))


def marks_in(trial: TrialOutcome, longest: int) -> list[Mark]:
    """Return the marks of all graders in the beginning of an answer, in its order."""
    verdicts = (trial.validations or {}).values()
    found = (mark for verdict in verdicts for mark in marks_of(verdict, trial.output))
    kept = (mark for mark in found if mark.start < min(longest, len(trial.output)))
    return sorted(kept, key=lambda mark: mark.start)[:MOST]


def marks_of(verdict: Validation, answer: str) -> Iterator[Mark]:
    """Yield the matches of a text or pattern grader in an answer, or the nearest miss."""
    if verdict.type not in BUILT_IN_TYPES or verdict.status != "graded":
        return
    answer = answer[:LONGEST_SEARCHED]
    for check in verdict.checks:
        key, wanted = str(check.path[0]) if check.path else "", sought_text(verdict, check.path)
        if not wanted:
            continue
        name = grader_label(verdict.name)
        where = f"{name}: {key}" if name == verdict.name else name
        if key in _TEXTS:
            places = list(_places(wanted, answer, ignore_case=_TEXTS[key]))
        elif key in _PATTERNS:
            places = _matches(wanted, answer)
        else:
            continue
        glyph = "✓" if check.passed else "✗"
        yield from (Mark(start, end, f"{glyph} {where} {_short(wanted)}") for start, end in places)
        if not places and not check.passed:
            yield from _nearest(key, wanted, answer, where)


def _nearest(key: str, wanted: str, answer: str, where: str) -> Iterator[Mark]:
    if key in _TEXTS:
        near = nearest_text(wanted, answer)
        if near is not None:
            yield Mark(near.start, near.end, f"≈ {where} {_short(wanted)}: {near.how}")
        return
    looser = matching_loosened(wanted, answer)
    if looser is not None:
        yield Mark(*looser[1], f"≈ {where} {_short(wanted)}: {looser[0].allows}")


def _places(wanted: str, answer: str, *, ignore_case: bool) -> Iterator[tuple[int, int]]:
    wanted, answer = (lowered(wanted), lowered(answer)) if ignore_case else (wanted, answer)
    at = answer.find(wanted)
    for _ in range(MOST_OF_RULE):
        if at < 0:
            return
        yield at, at + len(wanted)
        at = answer.find(wanted, at + len(wanted))


def _matches(pattern: str, answer: str) -> list[tuple[int, int]]:
    try:
        return [place for place in find_all(pattern, answer, MOST_OF_RULE) if place[0] < place[1]]
    except PatternError:
        return []


def _annotated(answer: str, marks: list[Mark]) -> Iterator[tuple[str, bool]]:
    """Yield the lines of an answer and its marks, and whether each is a mark."""
    position, waiting = 0, marks
    for line in answer.split("\n"):
        yield line, False
        end = position + len(line)
        here = [mark for mark in waiting if mark.start <= end]
        waiting = waiting[len(here) :]
        rules: dict[str, list[tuple[int, int]]] = {}
        for mark in here:
            last = max(mark.start + 1, min(mark.end, end))
            rules.setdefault(mark.words, []).append((mark.start - position, last - position))
        for words, places in list(rules.items())[:RULES_OF_LINE]:
            yield f"{_carets(line, places)} {words}", True
        if len(rules) > RULES_OF_LINE:
            yield f"^ and {len(rules) - RULES_OF_LINE} more on this line", True
        position = end + 1


def _carets(line: str, places: list[tuple[int, int]]) -> str:
    """Return carets below parts of a line as it is shown; tabs are kept so that the columns align."""
    places = [(_shown_before(line, first), _shown_before(line, last)) for first, last in places]
    line = visible_lines(line)
    end = max(last for _, last in places)
    row = ["\t" if letter == "\t" else " " for letter in line[:end]]
    row += [" "] * (end - len(row))  # a match may begin at the end of its line
    for first, last in places:
        row[first:last] = "^" * (last - first)
    return "".join(row)


def _shown_before(line: str, place: int) -> int:
    """Return how many characters are shown before a column, which may be beyond the line's end."""
    return len(visible_lines(line[:place])) + max(0, place - len(line))


def _short(wanted: str) -> str:
    return quoted(shortened(wanted, _RULE_CHARACTERS))
