"""What a run will cost and take, told from recorded runs of a server that reports what its answers use."""

from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.executors.agents import write_agent
from tests.engine.suites import COMMAND_CONFIG, openai_config, present, run, task, write_suite
from tests.scripted_model import Answer, Call, Tokens
from waza_engine.runs.choosing import Estimate, estimate_run
from waza_engine.runs.settings.table import RunSettings
from waza_engine.scoring.cost import cost_of
from waza_engine.vocabulary import Usage

SAYS = "- {type: text, name: says, config: {contains: [fine]}}\n"
FINE = Answer("fine", usage=Tokens(9_000, 1_000))


def price(model: str) -> float:
    return cost_of(Usage(input_tokens=9_000, output_tokens=1_000), model).usd


def of_run(path: Path, **options: object) -> Estimate:
    return estimate_run(RunSettings(path, **options)).run  # type: ignore[arg-type]


@pytest.fixture
def suite(scripted_model: StartModel, tmp_path: Path) -> Path:
    """A suite of two tasks that was run once."""
    url = scripted_model(*[FINE] * 2).base_url
    path = write_suite(
        tmp_path, {name: task(name) for name in "ab"}, graders=SAYS, config=openai_config(url, model="gpt-4o")
    )
    report, _ = run(path)
    assert report.outcome.status == "completed"
    return path


def test_a_suite_that_was_never_run_has_no_price(scripted_model: StartModel, tmp_path: Path) -> None:
    url = scripted_model().base_url
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=openai_config(url, model="gpt-4o"))
    assert of_run(path) == Estimate(1, 0, free=False, usd=None, seconds=None)


def test_what_the_last_run_used_is_what_the_next_one_will(suite: Path) -> None:
    found = estimate_run(RunSettings(suite))
    assert found.run.trials == 2
    assert found.run.usd == pytest.approx(2 * price("gpt-4o"))
    assert present(found.run.seconds) >= 0
    assert found.tasks["a"].usd == pytest.approx(price("gpt-4o"))


def test_an_agent_that_reports_nothing_may_have_cost_anything(tmp_path: Path) -> None:
    write_agent(tmp_path, "print('fine')", **{"x-waza": {"output_mode": "text"}})
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=COMMAND_CONFIG)
    report, _ = run(path)
    assert report.outcome.status == "completed"
    found = estimate_run(RunSettings(path))
    assert (found.run.usd, found.tasks["a"].usd) == (None, None)
    assert found.run.seconds is not None


def test_more_trials_cost_more_and_one_task_less(suite: Path) -> None:
    assert of_run(suite, trials=5).usd == pytest.approx(10 * price("gpt-4o"))
    assert of_run(suite, tasks=("a",)).usd == pytest.approx(price("gpt-4o"))


def test_each_vote_of_a_judge_costs(scripted_model: StartModel, tmp_path: Path) -> None:
    judge = "- {{type: prompt, name: judged, model: gpt-4o, config: {{prompt: Is it so?{}}}}}\n"
    passes = Answer(calls=(Call("set_waza_grade_pass", {}),), usage=Tokens(9_000, 1_000))
    url = scripted_model(FINE, *[passes, Answer("done", usage=Tokens(0, 0))] * 2).base_url
    for votes in (2, 1, 5):
        graders = judge.format(f", judge: {{votes: {votes}}}")
        path = write_suite(
            tmp_path, {"a": task("a")}, graders=graders, config=openai_config(url, model="gpt-4o")
        )
        if votes == 2:
            report, _ = run(path)
            assert report.outcome.status == "completed"
        assert of_run(path).usd == pytest.approx((1 + votes) * price("gpt-4o"))
        judges = votes * price("gpt-4o")
        assert of_run(path, model="gpt-4o-mini").usd == pytest.approx(price("gpt-4o-mini") + judges)


def test_another_model_has_its_own_price_and_one_without_a_price_none(suite: Path) -> None:
    assert of_run(suite, model="gpt-4o-mini").usd == pytest.approx(2 * price("gpt-4o-mini"))
    assert of_run(suite, model="of-our-own").usd is None


def test_another_executor_has_no_history_and_the_mock_is_free(suite: Path) -> None:
    assert of_run(suite, executor="copilot-sdk").usd is None
    assert of_run(suite, executor="mock") == Estimate(2, 0, free=True, usd=0.0, seconds=None)


def test_defaults_of_the_project_count_and_keys_without_effect_do_not(suite: Path) -> None:
    before = of_run(suite)
    (suite.parent / ".waza.yaml").write_text("defaults: {model: gpt-4o-mini, workers: 1}\n", "utf-8")
    # What the suite says itself outranks its project.
    assert of_run(suite).usd == before.usd
    (suite.parent / ".waza.yaml").write_text("cache: {enabled: true}\n", "utf-8")
    assert of_run(suite).usd is None


def test_a_task_that_is_new_costs_as_the_others_while_these_are_the_most(suite: Path) -> None:
    for name in "cd":
        (suite.parent / "tasks" / f"{name}.yaml").write_text(task(name), "utf-8")
    assert of_run(suite).usd == pytest.approx(4 * price("gpt-4o"))
    (suite.parent / "tasks" / "e.yaml").write_text(task("e"), "utf-8")
    assert of_run(suite).usd is None
