"""Running everything twice: with the skills and without."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import write_skill
from tests.engine.suites import CONFIG, config_with, openai_config, present, run, task, write_suite
from tests.scripted_model import ModelRequest, Reply, ScriptedModel, Status, call
from waza_engine.results.codec.run_documents import run_document, run_of
from waza_engine.results.codec.summary_blocks import task_document, task_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.reports.descriptions import describe_impact
from waza_engine.results.reports.markdown_report import markdown_report
from waza_engine.runs.run import RunReport
from waza_engine.scoring.impact import skill_impact

SAYS = "- {type: text, name: says, config: {contains: [fine]}}\n"


def config(base_url: str) -> str:
    return openai_config(base_url, "skill_directories: [skills]")


def compared(folder: Path, model: ScriptedModel, below: str = "", graders: str = SAYS) -> RunReport:
    """Run a task with skills and without."""
    path = write_suite(folder, {"a": task("a", below)}, graders=graders, config=config(model.base_url))
    return run(path, baseline=True)[0]


def knows_the_skill(request: ModelRequest) -> bool:
    return "Be fine" in request.system or "writer" in request.system


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    return write_skill(tmp_path / "skills", "writer", "Writes.", "Be fine.")


@pytest.mark.usefixtures("skills")
def test_every_task_runs_with_skills_and_without_and_the_difference_is_told(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    def answer(request: ModelRequest) -> Reply:
        return "fine" if knows_the_skill(request) else "bad"

    model = scripted_model(answer)
    tasks = {"a": task("a"), "b": task("b")}
    path = write_suite(tmp_path, tasks, graders=SAYS, config=config(model.base_url), more="baseline: true\n")
    report, events = run(path)
    outcome = report.outcome
    assert [knows_the_skill(request) for request in model.requests] == [True, True, False, False]
    assert outcome.status == "completed"
    impact = present(outcome.tasks[0].impact)
    assert (impact.delta, impact.percent_change) == (1.0, 10_000.0)
    assert [found.status for found in present(outcome.baseline).tasks] == ["failed", "failed"]
    assert [event.baseline for event in events if event.kind == "started" and event.trial] == [
        None,
        None,
        True,
        True,
    ]
    assert [event.completed for event in events if event.trial and event.kind in ("passed", "failed")] == [
        1,
        2,
        3,
        4,
    ]
    document = json.loads(present(report.results_file).read_text("utf-8"))
    assert document["is_baseline"] is True
    assert document["baseline_outcome"]["summary"]["success_rate"] == 0.0
    assert document["tasks"][0]["skill_impact"]["pass_rate_with_skills"] == 1.0
    said = (
        "100 % of the tasks pass with skills, 0 % without: too few trials to tell this from chance (p = 0.5)"
    )
    assert said in markdown_report(document)


@pytest.mark.usefixtures("skills")
@pytest.mark.parametrize(
    ("with_skills", "without", "status"),
    [("fine", "fine", "completed"), ("bad", "bad", "failed"), ("bad", "fine", "failed")],
)
def test_skills_that_change_nothing_fail_unless_there_is_nothing_to_improve(
    scripted_model: StartModel, tmp_path: Path, with_skills: str, without: str, status: str
) -> None:
    model = scripted_model(lambda request: with_skills if knows_the_skill(request) else without)
    report = compared(tmp_path, model)
    assert report.outcome.status == status


@pytest.mark.usefixtures("skills")
def test_the_skills_of_single_tasks_are_left_out_too(scripted_model: StartModel, tmp_path: Path) -> None:
    write_skill(tmp_path / "more", "helper", "Helps.")
    model = scripted_model(lambda _: "fine")
    compared(tmp_path, model, below="skill_directories: [more]\n")
    first, second = model.requests
    assert "helper" in first.system + str(first.body)
    assert "helper" not in second.system + str(second.body)


@pytest.mark.usefixtures("skills")
def test_a_judge_that_compares_is_given_the_answer_of_the_baseline(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    def answer(request: ModelRequest) -> Reply:
        if "set_pairwise_winner" in request.tool_names:
            if request.tool_results:
                return "done"
            # The judge reads both answers, and always prefers the one with the skill.
            first = request.prompt.find("the plain answer") > request.prompt.find("the skilled answer")
            return call(
                "set_pairwise_winner",
                winner="A" if first else "B",
                magnitude="much-better",
                reasoning="it knows",
            )
        return "the skilled answer" if knows_the_skill(request) else "the plain answer"

    model = scripted_model(answer)
    compares = "- {type: prompt, name: better, config: {prompt: Which is better?, mode: pairwise}}\n"
    report = compared(tmp_path, model, graders=compares)
    assert not knows_the_skill(model.requests[0])
    verdict = (report.outcome.tasks[0].trials[0].validations or {})["better"]
    assert (verdict.score, verdict.passed, verdict.status) == (1.0, True, "graded")
    impact = present(report.outcome.tasks[0].impact)
    assert impact.pairwise is not None
    assert (impact.pairwise.winner, impact.pairwise.wins) == ("skill", 1)
    # Without the comparison nothing is left to grade, which is neither success nor failure of the baseline.
    assert present(report.outcome.baseline).tasks[0].status == "skipped"
    assert report.outcome.status == "completed"
    assert (impact.pass_rate_baseline, impact.delta, impact.percent_change) == (None, None, None)
    document = run_document(report.outcome)
    assert "pass_rate_baseline" not in document["tasks"][0]["skill_impact"]
    assert run_of(document).tasks[0].impact == impact
    said = markdown_report(document)
    assert "cannot be compared" in said
    assert "the skills help" not in said
    judged_both = replace(report.outcome.tasks[0], impact=skill_impact(1.0, 0.5, impact.pairwise))
    assert task_of(task_document(judged_both)).impact == judged_both.impact
    assert describe_impact(document["tasks"][0]["skill_impact"]) == "answers compared: 1 better"


def test_only_tasks_that_were_judged_both_times_are_compared() -> None:
    def tasks(*statuses: str) -> list[dict[str, str]]:
        return [{"test_id": f"t{n}", "status": status} for n, status in enumerate(statuses)]

    def said(with_skills: list[dict[str, str]], without: list[dict[str, str]]) -> str:
        found = conclude(run_of({"tasks": with_skills, "baseline_outcome": {"tasks": without}}))
        return found.baseline.words if found.baseline else ""

    assert said(tasks("passed", "failed"), tasks("skipped", "failed")) == (
        "0 % of the 1 task judged both times, of 2, pass with skills, 0 % without: the skills do not help"
    )
    assert said(tasks("passed", "failed"), tasks("failed", "failed")) == (
        "50 % of the tasks pass with skills, 0 % without: too few trials to tell this from chance (p = 1)"
    )
    assert "cannot be compared" in said(tasks("passed"), tasks("skipped"))
    assert "cannot be compared" in said(tasks("skipped"), tasks("failed"))


def test_a_share_is_no_whole_one_where_a_single_task_is_lacking() -> None:
    tasks = [{"test_id": f"t{n}", "status": "passed" if n else "failed"} for n in range(300)]
    without = [{**task, "status": "passed"} for task in tasks]
    found = conclude(run_of({"tasks": tasks, "baseline_outcome": {"tasks": without}}))
    assert present(found.baseline).words.startswith("99 % of the tasks pass with skills, 100 % without")


@pytest.mark.usefixtures("skills")
def test_a_task_that_broke_in_one_of_the_runs_has_no_impact(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    def answer(request: ModelRequest) -> Reply:
        return "fine" if knows_the_skill(request) else Status(400, "down")

    model = scripted_model(answer)
    report = compared(tmp_path, model)
    assert [found.status for found in present(report.outcome.baseline).tasks] == ["error"]
    assert report.outcome.tasks[0].impact is None


def test_a_suite_without_skills_runs_once_and_says_so(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, config=CONFIG, more="baseline: true\n")
    report, events = run(path)
    assert report.outcome.baseline is None
    assert report.outcome.status == "completed"
    assert any("`baseline` needs skills" in (event.message or "") for event in events)


@pytest.mark.usefixtures("skills")
def test_a_task_that_did_not_run_both_times_has_no_impact(tmp_path: Path) -> None:
    fails = task("a", "graders:\n- {type: text, name: no, config: {contains: [nope]}}\n")
    mock = config_with("skill_directories: [skills], fail_fast: true")
    path = write_suite(tmp_path, {"a": fails, "b": task("b")}, config=mock)
    report, _ = run(path, baseline=True)
    first, second = report.outcome.tasks
    assert first.impact is not None
    assert (second.status, second.impact) == ("skipped", None)
