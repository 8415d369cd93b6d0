"""The changes from one recorded run to another, as tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from waza_engine.counting import counted
from waza_engine.figures import shown_score
from waza_engine.markdown import cell, code
from waza_engine.moments import SOME_TIME_AGO, local_time
from waza_engine.results.conclusion import Conclusion, conclude
from waza_engine.results.record import RunHeader, RunOutcome
from waza_engine.results.reports.words import verdict_words
from waza_engine.results.task_conclusion import GraderConclusion, TaskConclusion, tasks_by_name
from waza_engine.results.trigger_conclusion import trigger_verdict
from waza_engine.vocabulary import shown_grader

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
        score = shown_score(conclusion.score) if conclusion.scored else ""
        commit = header.commit.words if header.commit else ""
        return [
            verdict_words(conclusion),
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
    """Yield a row for a task whose verdict or score is another one, and for each such grader of it."""
    graders = [{each.name: each for each in task.graders} if task else {} for task in (then, now)]
    of_graders = [
        (f"{cell(name)} {cell(shown_grader(grader))}", *told)
        for grader in dict.fromkeys([*graders[1], *graders[0]])
        if (asked is None or grader in asked)
        and (told := _told(graders[0].get(grader), graders[1].get(grader)))
    ]
    told = _told(then, now)
    if told and asked is None:
        yield (cell(name), *told)
    yield from of_graders


def _told(then: _Judged, now: _Judged) -> tuple[str, str] | None:
    before, after = _words(then), _words(now)
    return (before, after) if before != after else None


def _words(judged: _Judged) -> str:
    if judged is None:
        return _NOT_THERE
    marks = {"passed": "✓", "failed": "✗", "errored": "!", "pending": "◷", "advisory": "○"}
    mark = marks.get(judged.verdict, "–")
    return f"{mark} {judged.verdict} {shown_score(judged.score)}"


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
