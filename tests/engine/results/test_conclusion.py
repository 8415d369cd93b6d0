"""What a run comes to, and that every report tells the same."""

import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.results.test_record import runs
from waza_engine.commands.reporting import ReportedRun, print_results, report_of
from waza_engine.commands.shared_options import ReportKind
from waza_engine.markdown import sentence
from waza_engine.results.codec.run_documents import counted_document, run_document, run_of
from waza_engine.results.conclusion import TASKS, Conclusion, RunVerdict, conclude
from waza_engine.results.json_values import blocks_of
from waza_engine.results.record import (
    MetricOutcome,
    RunHeader,
    RunOutcome,
    RunStatus,
    TaskOutcome,
    TrialOutcome,
    TriggerOutcome,
    Validation,
)
from waza_engine.results.reports.descriptions import verdict_label
from waza_engine.scoring.task_scores import (
    TaskScore,
    TrialStatus,
    suite_summary,
    task_statistics,
    task_status,
    worst_status,
)
from waza_engine.scoring.trigger_scores import trigger_metrics

HEADER = RunHeader(
    "run-1", datetime(2026, 1, 2, tzinfo=UTC), "eval.yaml", "suite", "s", "mock", "m", "", 1, 30
)


def trial(status: TrialStatus, number: int = 1, *, stopped: bool = False) -> TrialOutcome:
    passed, graded = status == "passed", status in ("passed", "failed")
    said = {"g": Validation("g", "text", float(passed), passed, "said")} if graded else None
    return TrialOutcome(number, status, said, error="no answer" if status == "error" else "", stopped=stopped)


def task(
    name: str, *statuses: TrialStatus, error: str = "", written: TrialStatus | None = None
) -> TaskOutcome:
    trials = [trial(status, number) for number, status in enumerate(statuses, 1)]
    status = written or task_status(list(statuses))
    return TaskOutcome(name, name, status, trials, task_statistics([found.score for found in trials]))


def run(*tasks: TaskOutcome, **known: Any) -> RunOutcome:
    summary = suite_summary([TaskScore(found.status, found.statistics) for found in tasks])
    return RunOutcome(HEADER, known.pop("status", "completed"), tasks, summary, **known)


def tried(*answers: tuple[bool, str]) -> dict[str, Any]:
    """Prompts that should trigger: whether they did, and what broke."""
    found = [
        TriggerOutcome(prompt=f"p{number}", should_trigger=True, did_trigger=did, error=error)
        for number, (did, error) in enumerate(answers)
    ]
    figures = trigger_metrics(found)
    assert figures is not None
    metric = MetricOutcome("trigger_accuracy", figures.accuracy, 0.9, figures.accuracy >= 0.9, 1.0)
    return {"triggers": tuple(found), "trigger_metrics": figures, "metrics": (metric,)}


PASSES = task("a", "passed")


@pytest.mark.parametrize(
    ("found", "verdict", "code_"),
    [
        (run(PASSES), "passed", 0),
        (run(PASSES, task("b", "failed")), "failed", 1),
        (run(task("b", "failed"), task("c", "error")), "failed", 1),
        (run(PASSES, task("c", "error")), "errored", 4),
        (run(PASSES, task("c", "error", written="failed")), "errored", 4),
        (run(TaskOutcome("a", "a", "failed", error="the hook failed")), "errored", 4),
        (run(TaskOutcome("a", "a", "error", error="b.yaml: no task")), "broken", 2),
        (run(task("w", "skipped")), "unjudged", 0),
        (run(), "unjudged", 0),
        (run(PASSES, status="canceled"), "interrupted", 130),
        (run(PASSES, status="error", message="the hook failed"), "broken", 2),
        (run(PASSES, status="error", limit="the limit is reached"), "limited", 3),
        (run(PASSES, status="failed"), "failed", 1),
        (run(PASSES, **tried((True, ""), (False, ""))), "failed", 1),
        (run(PASSES, **tried((True, ""), (False, "no login"))), "errored", 4),
        (run(PASSES, **tried((False, "no login"), (False, "no login"))), "errored", 4),
        (run(PASSES, **tried((False, ""), (False, "no login"))), "failed", 1),
        (run(PASSES, metrics=(MetricOutcome("task_completion", 0.2, 0.9, False, 1),)), "passed", 0),
        (run(PASSES, baseline=run(task("a", "failed"))), "passed", 0),
        (run(PASSES, baseline=run(PASSES)), "passed", 0),
        (run(PASSES, baseline=run(task("a", "skipped"))), "passed", 0),
        (run(PASSES, baseline=run(task("a", "error"))), "errored", 4),
        (run(PASSES, task("b", "skipped"), baseline=run(PASSES, task("b", "failed"))), "passed", 0),
        (run(PASSES, task("b", "error"), baseline=run(PASSES, task("b", "failed"))), "errored", 4),
    ],
)
def test_a_verdict_and_its_exit_code(found: RunOutcome, verdict: RunVerdict, code_: int) -> None:
    said = conclude(found)
    assert (said.verdict, said.exit_code) == (verdict, code_)
    assert bool(said.reasons) == (verdict != "passed")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (run(PASSES, task("b", "failed")), "1 of 2 tasks passed, 1 failed"),
        (run(PASSES, task("c", "error")), "no answer · 1 of 2 tasks passed, 1 in error"),
        (run(task("w", "skipped")), "nothing was judged · 0 of 1 task passed, 1 skipped"),
        (run(), "nothing was judged"),
        (
            run(PASSES, status="canceled"),
            "the run was interrupted; what was finished is kept · 1 of 1 task passed",
        ),
        (run(PASSES, status="error", message="the hook failed"), "the hook failed · 1 of 1 task passed"),
        (
            run(TaskOutcome("a", "a", "error", error="b.yaml: no\ntask")),
            "b.yaml: no task · 0 of 1 task passed, 1 in error",
        ),
        (
            run(
                task("a", "failed"),
                task("c", "error"),
                TaskOutcome("b", "b", "error", error="/my suite/tasks/b.yaml:2: no list"),
            ),
            "0 of 3 tasks passed, 1 failed, 2 in error · b.yaml:2: no list",
        ),
        (
            run(PASSES, **tried((True, ""), (False, ""))),
            "1 of 1 task passed, 1 of 2 trigger prompts right · trigger_accuracy is 0.50, below 0.9",
        ),
        (
            run(**tried((True, ""), (False, "no login"))),
            "no login · 1 of 1 trigger prompt right, 1 could not be tried",
        ),
    ],
)
def test_how_a_run_ended_is_one_line_with_what_broke_first(found: RunOutcome, words: str) -> None:
    assert conclude(found).words == words
    assert conclude(found).document()["words"] == words


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (task("a", "passed", "error"), "errored"),
        (task("a", "passed", "failed", "error"), "failed"),
        (task("a", "skipped"), "skipped"),
        (TaskOutcome("a", "a", "skipped", error="fail_fast"), "not run"),
        (TaskOutcome("a", "a", "skipped", [trial("skipped", stopped=True)]), "lost"),
        (TaskOutcome("a", "a", "passed", [trial("passed"), trial("skipped", 2, stopped=True)]), "passed"),
    ],
)
def test_the_verdict_of_a_task_is_what_its_trials_bear_out(found: TaskOutcome, verdict: str) -> None:
    assert conclude(run(found)).tasks[0].verdict == verdict


def test_only_trials_that_were_judged_make_a_task_flaky() -> None:
    found = conclude(
        run(task("a", "passed", "failed"), task("b", "passed", "error"), task("c", "passed", "passed"))
    )
    assert [each.flaky for each in found.tasks] == [True, False, False]
    assert "1 task flaky: some trials passed, some failed" in found.notes
    told = report_of(
        [ReportedRun(run_document(run(task("a", "passed", "failed"))))], ReportKind.MARKDOWN
    ).decode()
    assert "### Flaky tasks" in told
    assert re.search(r"\| `?a`? \| 1 \| 1 \|", told)


@pytest.mark.parametrize(
    ("tasks", "least", "verdict"),
    [
        ((PASSES, task("b", "failed")), 0.4, "failed"),
        ((PASSES,), 1.0, "passed"),
        ((PASSES, task("b", "error")), 0.9, "errored"),
        ((task("w", "skipped"),), 0.1, "failed"),
    ],
)
def test_a_score_below_the_least_one_is_no_pass(
    tasks: tuple[TaskOutcome, ...], least: float, verdict: RunVerdict
) -> None:
    assert conclude(run(*tasks), fail_under=least).verdict == verdict


MISTAKEN: dict[str, Any] = {
    key: value for key, value in tried((False, ""), (False, "")).items() if key != "metrics"
}


def test_a_run_that_passes_with_misclassified_prompts_says_so_everywhere() -> None:
    record = run(PASSES, **MISTAKEN)
    found = conclude(record)
    assert (found.verdict, found.exit_code) == ("passed", 0)
    assert any(note.startswith("2 of 2 trigger prompts misclassified") for note in found.notes)
    suite = ElementTree.fromstring(report_of([ReportedRun(run_document(record))], ReportKind.JUNIT)).find(
        "testsuite"
    )
    assert suite is not None
    assert [suite.get(each) for each in ("tests", "failures", "errors", "skipped")] == ["3", "0", "0", "2"]


def test_misclassified_prompts_fail_a_run_that_asks_for_more() -> None:
    header = replace(HEADER, settings={"fail_under_trigger": 0.9})
    found = conclude(replace(run(PASSES, **MISTAKEN), header=header))
    assert (found.verdict, found.exit_code) == ("failed", 1)
    assert [reason.words for reason in found.reasons] == [
        "2 of 2 trigger prompts misclassified: 0.00 classified correctly, below 0.9"
    ]
    untried = conclude(replace(run(PASSES), header=header))
    assert untried.verdict == "failed"
    assert untried.reasons[0].words.startswith("no trigger prompt was tried")


def test_errors_of_trigger_prompts_are_not_called_wrong() -> None:
    document = run_document(run(PASSES, **tried(*[(False, "no login")] * 6)))
    for kind in (ReportKind.TEXT, ReportKind.MARKDOWN, ReportKind.JUNIT):
        said = report_of([ReportedRun(document)], kind).decode()
        assert "none of the 6 prompts could be tried" in said
        assert "0 of 6" not in said


def help_words(better: int, worse: int) -> str:
    now = [task(f"b{n}", "passed") for n in range(better)] + [task(f"w{n}", "failed") for n in range(worse)]
    then = [task(f"b{n}", "failed") for n in range(better)] + [task(f"w{n}", "passed") for n in range(worse)]
    baseline = conclude(run(*now, baseline=run(*then))).baseline
    assert baseline is not None
    return baseline.words


def test_that_skills_help_is_said_only_when_chance_is_unlikely() -> None:
    assert "too few trials to tell this from chance (p = 0.062)" in help_words(5, 0)
    assert "the skills help (p = 0.031)" in help_words(6, 0)
    assert "the skills do harm (p = 0.031)" in help_words(0, 6)
    assert "too few trials" in help_words(6, 3)


# ---- every report tells the same

many = settings(max_examples=120)
some = settings(many, max_examples=60)
_STATUSES: list[TrialStatus] = ["passed", "failed", "error", "skipped"]


@st.composite
def records(draw: st.DrawFn) -> RunOutcome:
    """A run of a few tasks of a few trials, with everything that can decide about it."""

    def some(count: int) -> list[TaskOutcome]:
        found: list[TaskOutcome] = []
        for number in range(count):
            statuses = draw(st.lists(st.sampled_from(_STATUSES), max_size=4))
            trials = [
                trial(status, place, stopped=draw(st.integers(0, 9)) == 0)
                for place, status in enumerate(statuses, 1)
            ]
            ended = [each for each in trials if not each.stopped]
            status: TrialStatus = draw(
                st.sampled_from([task_status([each.status for each in ended]), *_STATUSES])
            )
            found.append(
                TaskOutcome(
                    f"t{number}",
                    f"Task {number}",
                    worst_status(status, [each.status for each in ended]),
                    trials,
                    task_statistics([each.score for each in ended]),
                    error=draw(st.sampled_from(["", "", "it broke"])),
                )
            )
        return found

    count = draw(st.integers(0, 5))
    answers = draw(st.lists(st.tuples(st.booleans(), st.sampled_from(["", "", "no login"])), max_size=4))
    known: dict[str, Any] = tried(*answers) if answers else {}
    known["metrics"] = (
        *known.get("metrics", ()),
        *(
            [MetricOutcome("task_completion", 0.2, 0.9, passed=False, weight=1.0)]
            if draw(st.booleans())
            else []
        ),
    )
    if draw(st.booleans()):
        known["baseline"] = run(*some(count))
    status = draw(st.sampled_from(["completed"] * 5 + ["failed", "canceled", "error"]))
    limit = draw(st.sampled_from([""] * 9 + ["the limit of $1 is reached"]))
    message = draw(st.sampled_from(["", "the hook `x` failed"])) if status in ("canceled", "error") else ""
    return run(*some(count), status=status, limit=limit, message=message, **known)


def counted(said: str) -> dict[str, int]:
    """Return the counts that a sentence tells: ``1 of 4 tasks passed, 2 failed, 1 in error``."""
    words: dict[str, str] = {"in error": "errored", "not run": "not_run"}
    first = re.search(r"(\d+) of (\d+) tasks? passed", said)
    assert first is not None
    other = r"(\d+) (failed|in error|skipped|lost|not run)"
    rest: list[tuple[str, str]] = re.findall(other, said[first.end() :])
    return {
        "passed": int(first[1]),
        "total": int(first[2]),
        **{words.get(word, word): int(count) for count, word in rest},
    }


def expected_counts(found: Conclusion) -> dict[str, int]:
    counts = found.document()["tasks"]
    return {
        name: count
        for name, count in counts.items()
        if name != "flaky" and (count or name in ("passed", "total"))
    }


@many
@given(records(), st.none() | st.sampled_from([0.3, 0.9]))
def test_every_report_tells_the_same_of_any_run(record: RunOutcome, least: float | None) -> None:
    found = conclude(record, fail_under=least)
    document = json.loads(json.dumps(run_document(record)))
    assert conclude(run_of(document), fail_under=least).document() == found.document()

    told = json.loads(report_of([ReportedRun(document)], ReportKind.JSON, least))
    assert told["metadata"]["engine"]["conclusion"] == found.document()
    if found.counts.total:
        assert counted(found.words) == expected_counts(found)

    text = io.StringIO()
    print_results(document, text, fail_under=least)
    *above, last = text.getvalue().splitlines()
    assert last[1:].startswith(f" {verdict_label(found)}: ")
    assert found.results in last
    if found.counts.total:
        assert counted(last) == expected_counts(found)
    lines = [line[2:] for line in above]
    # What the numbers of the last line say is not told twice.
    assert [line for line in lines if line in {reason.words for reason in found.reasons}] == [
        reason.words for reason in found.reasons if not reason.is_counted
    ]

    markdown = report_of([ReportedRun(document)], ReportKind.MARKDOWN, least).decode().splitlines()
    assert markdown[2].split(" · ")[0] == f"**{verdict_label(found)}**"
    if found.counts.total:
        assert counted(f"{markdown[0]} {markdown[2]}") == expected_counts(found)
    else:
        assert markdown[0].endswith(f": {found.results}")
    assert markdown[0].startswith("## ✅") == (found.verdict == "passed")
    for reason in found.reasons:
        told_there = any(line.endswith(f" {sentence(reason.words)}") for line in markdown)
        assert told_there or reason.is_counted
    for note in found.notes:
        assert f"Note: {sentence(note)}" in markdown

    suite = ElementTree.fromstring(report_of([ReportedRun(document)], ReportKind.JUNIT, least)).find(
        "testsuite"
    )
    assert suite is not None
    values = [(each.get("name"), each.get("value")) for each in suite.iter("property")]
    assert ("verdict", verdict_label(found)) in values
    assert [value for name, value in values if name == "reason"] == [each.words for each in found.reasons]
    assert [value for name, value in values if name == "note"] == list(found.notes)
    cases = list(suite.iter("testcase"))[: found.counts.total]
    children = [[child.tag for child in case if child.tag != "properties"] for case in cases]
    kinds = [tags[0] if tags else "passed" for tags in children]
    assert kinds.count("passed") == found.counts.passed
    assert kinds.count("failure") == found.counts.failed
    assert kinds.count("error") == found.counts.errored
    beside = [reason for reason in found.reasons if reason.about != TASKS]
    assert int(suite.get("tests", "")) == found.counts.total + len(record.triggers) + len(beside)
    red = int(suite.get("failures", "")) + int(suite.get("errors", ""))
    assert bool(red) == (found.verdict not in ("passed", "unjudged"))


@some
@given(runs())
def test_whatever_stands_in_a_record_its_conclusion_is_told(record: RunOutcome) -> None:
    """Names, sentences and numbers of all kinds break no report."""
    found = conclude(record)
    document = json.loads(json.dumps(run_document(record)))
    suite = ElementTree.fromstring(report_of([ReportedRun(document)], ReportKind.JUNIT)).find("testsuite")
    assert suite is not None
    assert verdict_label(found) in [each.get("value") for each in suite.iter("property")]
    for kind in (ReportKind.TEXT, ReportKind.MARKDOWN):
        assert verdict_label(found) in report_of([ReportedRun(document)], kind).decode()


def test_what_a_file_says_of_itself_does_not_make_it_pass() -> None:
    document = run_document(run(task("a", "failed")))
    document["metadata"]["engine"]["conclusion"] = conclude(run(PASSES)).document()
    told = json.loads(report_of([ReportedRun(document)], ReportKind.JSON))
    assert told["metadata"]["engine"]["conclusion"]["verdict"] == "failed"


def test_a_conclusion_reads_alike_with_or_without_its_summary() -> None:
    record = run(PASSES, task("b", "failed"))
    bare = replace(record, summary=suite_summary([]))
    assert conclude(bare).document() == conclude(record).document()


@some
@given(runs(), st.sampled_from(["completed", "failed"]))
def test_a_document_that_is_counted_again_ends_as_it_is_concluded(run: RunOutcome, before: RunStatus) -> None:
    document = run_document(replace(run, status=before, limit=""))
    counted = counted_document(document, blocks_of(document["tasks"]))
    assert counted["metadata"]["engine"]["status"] == conclude(run_of(counted)).status
