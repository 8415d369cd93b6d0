"""Judges in a run and in grading a record again: who is asked, with which model, and when nobody is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import write_skill
from tests.engine.graders.judging import passes, verdicts, winner
from tests.engine.suites import (
    only_task,
    only_trial,
    openai_config,
    present,
    recorded,
    run,
    task,
    write_suite,
)
from tests.engine.suites import verdicts as verdicts_of
from tests.scripted_model import Answer, ModelRequest, RateLimited, ScriptedModel, Status
from waza_engine.commands.grade import grade_command
from waza_engine.commands.regraded import answer, document, graded
from waza_engine.results.record import TrialOutcome, Validation
from waza_engine.results.task_conclusion import conclude_task
from waza_engine.results.writing.store import ResultStore
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.runs.settings.table import RunSettings

JUDGE = "- {type: prompt, name: judge, config: {prompt: 'Call set_waza_grade_pass if it is good.'}}\n"
TEXT = "- {type: text, name: says, config: {contains: [hello]}}\n"


def suite_at(
    directory: Path,
    model: ScriptedModel,
    graders: str = JUDGE,
    executor: str = "mock",
    more: str = "",
    **rest: Any,
) -> Path:
    config = openai_config(model.base_url, more, "agent-model", executor)
    return write_suite(directory, {"one": task("one", **rest)}, graders=graders, config=config)


def judge_of(path: Path, **options: Any) -> Validation:
    report, _ = run(path, **options)
    return verdicts_of(report)["judge"]


def test_the_executor_of_the_run_asks_the_judge(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model("I say hello.", *verdicts(passes()))
    verdict = judge_of(suite_at(tmp_path, model, executor="openai"))
    assert (verdict.score, verdict.passed, verdict.status) == (1.0, True, "graded")
    assert "I say hello." in model.requests[1].prompt
    assert model.requests[1].system == ""


def test_a_judge_may_have_an_executor_of_its_own(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(*verdicts(passes()))
    report, _ = run(suite_at(tmp_path, model), judge_executor="openai")
    assert verdicts_of(report)["judge"].passed
    assert "Mock response for: Say hello" in model.requests[0].prompt
    trial = only_trial(report)
    assert trial.usage is None
    assert present(trial.judge_usage).input_tokens == 20


def test_what_a_judge_took_is_kept_before_the_next_grader_begins(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int | None] = []

    def add_trial(_: ResultStore, name: str, trial: TrialOutcome, *, baseline: bool) -> None:
        del name, baseline
        kept.append(trial.judge_usage and trial.judge_usage.input_tokens)

    monkeypatch.setattr(ResultStore, "add_trial", add_trial)
    model = scripted_model("I say hello.", *verdicts(passes()))
    run(suite_at(tmp_path, model, graders=JUDGE + TEXT, executor="openai"))
    assert kept == [None, 20]


@pytest.mark.parametrize(
    ("name", "words"), [("mock", "has no model, so it cannot judge"), ("nobody", "is not an executor")]
)
def test_an_executor_that_cannot_judge_is_refused_before_the_run(
    name: str, words: str, scripted_model: StartModel, tmp_path: Path
) -> None:
    with pytest.raises(SuiteError, match=words):
        prepare(RunSettings(suite_at(tmp_path, scripted_model()), judge_executor=name))


@pytest.mark.parametrize(
    ("grader", "option", "suite", "project", "asked"),
    [
        ("of-grader", "of-option", "of-suite", "of-project", "of-grader"),
        (None, "of-option", "of-suite", "of-project", "of-option"),
        (None, None, "of-suite", "of-project", "of-suite"),
        (None, None, None, "of-project", "of-project"),
        (None, None, None, None, "agent-model"),
    ],
)
def test_which_model_judges(
    grader: str | None,
    option: str | None,
    suite: str | None,
    project: str | None,
    asked: str,
    scripted_model: StartModel,
    tmp_path: Path,
) -> None:
    model = scripted_model(*verdicts(passes()))
    if project is not None:
        (tmp_path / ".waza.yaml").write_text(f"defaults: {{judgeModel: {project}}}\n")
    entry = JUDGE.replace("{prompt:", f"{{model: {grader}, prompt:") if grader else JUDGE
    path = suite_at(tmp_path, model, entry, more=f"judge_model: {suite}" if suite else "")
    judge_of(path, judge_executor="openai", judge_model=option)
    assert model.requests[0].model == asked


def test_a_judge_that_is_down_costs_its_own_verdict_alone(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(Status(400, "no such model"))
    report, _ = run(suite_at(tmp_path, model, JUDGE + TEXT), judge_executor="openai")
    found = verdicts_of(report)
    assert found["judge"].status == "error"
    assert "no such model" in found["judge"].feedback
    assert found["says"].passed


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        (Status(401, "bad key"), "environment", "`judge` could not grade: the judge gave no answer"),
        (RateLimited(3600), "environment", "too many requests (status 429)"),
        ("It looks good to me.", "test", "`judge` said nothing of the answer: the judge gave no verdict"),
    ],
)
def test_a_judge_that_says_nothing_has_not_found_the_answer_wrong(
    scripted_model: StartModel, tmp_path: Path, answer: Any, kind: str, told: str
) -> None:
    model = scripted_model(answer)
    report, _ = run(suite_at(tmp_path, model, JUDGE + TEXT), judge_executor="openai")
    found = present(conclude_task(only_task(report)).cause)
    assert (found.kind, told in found.evidence) == (kind, True), found


CUT = "the judge's answer was cut: the model's limit of tokens was reached"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer('{"score": 1} was my first thought, but', finish_reason="length"), CUT),
        (Answer("Score: 5", finish_reason="length"), CUT),
        (Answer("", finish_reason="length"), CUT),
        (Answer(refusal="Score: 5 would be harmful."), "refused to answer: “Score: 5"),
    ],
)
def test_an_answer_that_was_cut_or_refused_is_no_rating(
    answer: Answer, told: str, scripted_model: StartModel, tmp_path: Path
) -> None:
    rates = "- {type: llm, name: judge, config: {rubric: 'Rate it from 1 to 5.'}}\n"
    model = scripted_model("I say hello.", answer)
    verdict = judge_of(suite_at(tmp_path, model, rates, executor="openai"))
    assert (verdict.status, verdict.score) == ("error", 0.0)
    assert told in verdict.feedback


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (Answer("I find", finish_reason="length"), "it ends with “I find”"),
        (Answer(refusal="I cannot judge this."), "the judge refused to answer: “I cannot judge this.”"),
    ],
)
def test_verdicts_before_an_unusable_answer_do_not_hold(
    scripted_model: StartModel, tmp_path: Path, last: Answer, told: str
) -> None:
    model = scripted_model("I say hello.", *verdicts(passes())[:-1], last)
    verdict = judge_of(suite_at(tmp_path, model, executor="openai"))
    assert (verdict.status, told in verdict.feedback) == ("error", True), verdict.feedback


def test_the_reply_of_a_judge_without_a_verdict_is_quoted(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model("I say hello.", "Let me think about it.")
    verdict = judge_of(suite_at(tmp_path, model, executor="openai"))
    assert "it replied “Let me think about it.”" in verdict.feedback


def test_a_judge_that_repeats_one_call_ends(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model("I say hello.", *(Answer(calls=(passes("a", "b"),)) for _ in range(50)))
    verdict = judge_of(suite_at(tmp_path, model, executor="openai"))
    # What it has said holds; it is asked no more.
    assert (verdict.status, len(model.requests)) == ("graded", 6)


def test_checkpoints_ask_the_judge_too(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(*verdicts(passes()))
    checkpoint = f"checkpoints:\n- after_turn: 1\n  graders:\n    {JUDGE}"
    path = suite_at(tmp_path, model, TEXT)
    (tmp_path / "tasks" / "one.yaml").write_text(task("one") + checkpoint)
    report, _ = run(path, judge_executor="openai")
    assert only_trial(report).checkpoints[0].validations["judge"].passed


def test_a_judge_in_the_session_of_the_agent_leaves_it_as_it_was(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model("First.", *verdicts(passes()), "Second.", *verdicts(passes()))
    inside = JUDGE.replace("{prompt:", "{continue_session: true, prompt:")
    path = suite_at(tmp_path, model, inside, executor="openai")
    (tmp_path / "tasks" / "one.yaml").write_text(
        "id: one\ninputs: {prompt: Go, follow_up_prompts: [On]}\n"
        f"checkpoints:\n- after_turn: 1\n  graders:\n    {inside}"
    )
    report, _ = run(path)
    assert verdicts_of(report)["judge"].passed
    follow_up = next(request for request in model.requests if request.prompt == "On")
    assert [message["content"] for message in follow_up.messages] == ["Go", "First.", "On"]


def test_a_time_limit_that_cannot_be_read_is_told(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAZA_PROMPT_GRADER_TIMEOUT", "soon")
    path = suite_at(tmp_path, scripted_model())
    assert any(
        "`WAZA_PROMPT_GRADER_TIMEOUT` is `soon`" in line for line in prepare(RunSettings(path)).warnings
    )
    bare = suite_at(tmp_path / "bare", scripted_model(), TEXT)
    assert not any("WAZA_PROMPT" in line for line in prepare(RunSettings(bare)).warnings)


def test_a_rubric_that_is_not_there_is_told_before_the_run(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    path = suite_at(tmp_path, scripted_model(), "- {type: prompt, name: judge, config: {rubric: r/x.md}}\n")
    assert any("the rubric `r/x.md` does not exist" in line for line in prepare(RunSettings(path)).warnings)


# --- grading a record again ---


@pytest.fixture
def record(scripted_model: StartModel, tmp_path: Path) -> tuple[Path, ScriptedModel]:
    """Return the record of a run whose judge passed, and the model, which answers failing from then on."""
    asked: list[ModelRequest] = []

    def play(request: ModelRequest) -> Any:
        asked.append(request)
        return verdicts(passes("tone", "kind"))[0] if len(asked) == 1 else "Done."

    model = scripted_model(play)
    file = recorded(suite_at(tmp_path, model, JUDGE + TEXT), judge_executor="openai")
    return file, model


def regraded(request: RegradeRequest) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    with ResidentSuites() as suites:
        regrading = prepare_regrading(request, suites)
        reports = graded(regrading, RunCancellation())
    return answer(regrading, reports), document(regrading, reports)


def test_a_recorded_verdict_stays_and_nobody_is_asked(record: tuple[Path, ScriptedModel]) -> None:
    path, model = record
    before = len(model.requests)
    told, written = regraded(RegradeRequest(path))
    graders = told["tasks"]["one"]["graders"]
    assert len(model.requests) == before
    assert (graders["judge"]["score"], graders["judge"]["origin"]) == (1.0, "recorded")
    assert graders["judge"]["feedback"] == "pass: tone: kind"
    assert graders["says"]["origin"] == "live"
    kept = written["tasks"][0]["runs"][0]["validations"]["judge"]
    assert kept["details"]["origin"] == "recorded"
    assert kept["details"]["passes"] == "pass: tone: kind"
    assert list(written["tasks"][0]["runs"][0]["validations"]) == ["judge", "says"]


def test_an_executor_for_judges_asks_them_again(record: tuple[Path, ScriptedModel]) -> None:
    path, model = record
    before = len(model.requests)
    told, _ = regraded(RegradeRequest(path, judge_executor="openai", judge_model="other"))
    graders = told["tasks"]["one"]["graders"]
    assert model.requests[before].model == "other"
    assert "Mock response for: Say hello" in model.requests[before].prompt
    assert (graders["judge"]["score"], graders["judge"]["origin"]) == (0.0, "live")
    assert told["judging"]["executor"] == "openai"
    assert (len(model.requests) - before, told["judging"]["tokens"]) == (1, 15)


def test_a_judge_that_was_not_asked_then_is_an_error_now(record: tuple[Path, ScriptedModel]) -> None:
    path, _ = record
    found = json.loads(path.read_text())
    del found["tasks"][0]["runs"][0]["validations"]["judge"]
    path.write_text(json.dumps(found))
    judge = regraded(RegradeRequest(path))[0]["tasks"]["one"]["graders"]["judge"]
    assert judge["status"] == "error"
    assert "there is no recorded verdict" in judge["feedback"]
    assert "`--judge-executor`" in judge["feedback"]


def test_the_verdict_of_another_type_is_none_of_the_judge(record: tuple[Path, ScriptedModel]) -> None:
    path, _ = record
    found = json.loads(path.read_text())
    found["tasks"][0]["runs"][0]["validations"]["judge"]["type"] = "text"
    path.write_text(json.dumps(found))
    assert regraded(RegradeRequest(path))[0]["tasks"]["one"]["graders"]["judge"]["status"] == "error"


def test_a_judge_of_the_agents_session_keeps_its_verdict(
    record: tuple[Path, ScriptedModel], tmp_path: Path
) -> None:
    path, model = record
    before = len(model.requests)
    suite_at(tmp_path, model, JUDGE.replace("{prompt:", "{continue_session: true, prompt:"))
    told, _ = regraded(RegradeRequest(path, judge_executor="openai"))
    assert told["tasks"]["one"]["graders"]["judge"]["origin"] == "recorded"
    assert len(model.requests) == before


def test_an_executor_without_a_model_is_refused(record: tuple[Path, ScriptedModel]) -> None:
    with pytest.raises(SuiteError, match="has no model"):
        regraded(RegradeRequest(record[0], judge_executor="mock"))


def test_a_baseline_gives_pairwise_judges_something_to_compare(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(winner("B"), "ok", winner("A"), "ok", winner("A"), "ok", winner("B"), "ok")
    compare = "- {type: prompt, name: judge, config: {prompt: Compare., mode: pairwise}}\n"
    write_skill(tmp_path / "skills", "writer")
    path = suite_at(tmp_path, model, compare, more="skill_directories: [skills]")
    report, _ = run(path, judge_executor="openai", baseline=True)
    assert verdicts_of(report)["judge"].details["pairwise"]["winner"] == "skill"
    again, _ = regraded(RegradeRequest(present(report.results_file), judge_executor="openai"))
    judge = again["tasks"]["one"]["graders"]["judge"]
    assert (judge["score"], judge["origin"]) == (0.0, "live")


def test_the_command_says_that_judges_were_not_asked(
    record: tuple[Path, ScriptedModel], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = record
    assert grade_command([path], RegradeRequest(path), None, "text") == 0
    assert "as recorded, for no judge was asked: judge" in capsys.readouterr().out
    assert grade_command([path], RegradeRequest(path, judge_executor="openai"), None, "text") == 1
    assert "judges: 15 tokens" in capsys.readouterr().out
