"""A limit holds for everything that is active together: its price is reserved before it starts."""

import threading
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import StartModel
from tests.engine.runs.test_budget import SAYS, config
from tests.engine.suites import present, replaced, run, task, write_prompts, write_suite
from tests.scripted_model import Answer, Tokens
from waza_engine.runs.limits.budget import Meter, Reservation, TrialPrices
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import Budget, RunSettings
from waza_engine.runs.trials.backend import ThreadBackend
from waza_engine.scoring.cost import Cost, Spending

# With gpt-4o 1,000 tokens in cost $0.0025.
PRICED = Answer("fine", usage=Tokens(1000, 0))


def parallel(folder: Path, base_url: str, trials: int, workers: int, prompts: int = 0) -> Path:
    more = f"parallel: true, workers: {workers}"
    path = write_suite(folder, {"a": task("a")}, graders=SAYS, config=config(base_url, more))
    replaced(path, "trials_per_task: 1", f"trials_per_task: {trials}")
    if prompts:
        write_prompts(folder, *(f"please {number}" for number in range(prompts)))
    return path


@pytest.mark.parametrize("workers", [1, 3, 16])
def test_trials_that_are_active_together_do_not_exceed_the_limit(
    scripted_model: StartModel, tmp_path: Path, workers: int
) -> None:
    model = scripted_model(*[PRICED] * 40)
    report, _ = run(parallel(tmp_path, model.base_url, 24, workers), max_cost_usd=0.0260)
    assert len(model.requests) == 10
    assert present(report.outcome.spending).cost.usd == pytest.approx(0.025)
    assert report.outcome.limit == (
        "the limit of $0.0260 is nearly reached: $0.0250 are spent, and the next answer costs about $0.0025"
    )


class Breathing(ThreadBackend):
    """Has room for more trials or fewer each time it is asked, as a cluster that grows and shrinks."""

    @property
    def workers(self) -> int:
        return next(ROOM)


ROOM = cycle([1, 64, 2, 32, 1, 8, 64, 3])


def test_a_known_price_is_kept_while_a_cluster_grows_and_shrinks(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(*[PRICED] * 80)
    path = parallel(tmp_path, model.base_url, 70, 1)
    run(path, trials=1)
    prepared = prepare(RunSettings(path, max_tokens=20_000), backend=Breathing)
    prepared.run(lambda _: None, RunCancellation())
    assert len(model.requests) == 1 + 20


def test_trigger_prompts_that_are_active_together_do_not_exceed_the_limit(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(*[PRICED] * 40)
    report, _ = run(parallel(tmp_path, model.base_url, 1, 8, prompts=12), max_tokens=5500)
    assert len(model.requests) == 5
    assert len(report.outcome.triggers) == 4
    assert report.outcome.trigger_metrics is None


def test_a_recorded_price_lets_the_first_trials_start_together(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    def answers(_: object) -> Answer:
        # Each of the four waits for all of them.
        model.wait_for_requests(1 + 4 * len(recorded))
        return PRICED

    recorded: list[bool] = []
    model = scripted_model(answers)
    path = parallel(tmp_path, model.base_url, 4, 4)
    run(path, trials=1)
    recorded.append(True)
    report, _ = run(path, max_tokens=4000)
    assert [trial.status for trial in report.outcome.tasks[0].trials] == ["passed"] * 4


def spend(meter: Meter, tokens: int, reserved: Reservation | None) -> None:
    assert reserved is not None
    meter.prices.add("a", Spending(tokens))
    meter.carry(Spending(tokens))
    reserved.settle()


def test_without_a_price_one_goes_alone_and_the_others_wait_for_it() -> None:
    meter = Meter(Budget(max_tokens=1000))
    first = present(meter.reserve("a"))
    assert (meter.reserve("a"), meter.reason) == (None, "")
    woken: list[str] = []
    meter.on_settled(lambda: woken.append("again"))
    spend(meter, 100, first)
    assert woken == ["again"]
    assert [meter.reserve("a") is not None for _ in range(10)] == [True] * 9 + [False]
    assert meter.reason == ""


def test_a_dear_trial_does_not_end_the_run_while_usual_ones_fit() -> None:
    meter = Meter(Budget(max_tokens=1000))
    for tokens in (10, 700, 10):
        spend(meter, tokens, meter.reserve("a"))
    assert meter.reserve("a") is not None
    assert meter.reserve("a") is None
    assert meter.reason == ""


def test_the_price_of_a_lost_trial_is_not_given_to_another() -> None:
    meter = Meter(Budget(max_tokens=250))
    spend(meter, 100, meter.reserve("a"))
    lost = present(meter.reserve("a"))
    lost.settle(lost=True)
    assert meter.reserve("a") is None
    assert meter.reason == (
        "the limit of 250 tokens is nearly reached: 100 are used and 100 reserved for lost trials, "
        "and the next answer uses about 100"
    )
    assert meter.tokens == 100


def test_runs_that_share_a_limit_wait_for_each_other() -> None:
    limits = Meter(Budget(max_tokens=150))
    one, other = Meter(limits.budget, limits), Meter(limits.budget, limits)
    for meter in (one, other):
        meter.prices.add("a", Spending(100))
    first = present(one.reserve("a"))
    assert other.reserve("a") is None
    waiting: list[Reservation | None] = []
    cancellation = RunCancellation()
    thread = threading.Thread(
        target=lambda: waiting.append(other.reserve_when_it_fits("a", cancellation)), daemon=True
    )
    thread.start()
    first.settle()
    thread.join(30)
    assert waiting[0] is not None


def test_what_waits_for_room_ends_with_the_run() -> None:
    meter, cancellation = Meter(Budget(max_tokens=1000)), RunCancellation()
    assert meter.reserve("a") is not None
    threading.Timer(0.05, cancellation.request).start()
    assert meter.reserve_when_it_fits("a", cancellation) is None


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(1, 8), st.integers(100, 500))
def test_a_known_price_is_never_exceeded(finished: Sequence[int], workers: int, limit: int) -> None:
    price = finished[0]
    meter, active = Meter(Budget(max_tokens=limit)), list[Reservation]()
    for turn in finished:
        while len(active) < workers and (reserved := meter.reserve("a")) is not None:
            active.append(reserved)
        if active:
            spend(meter, price, active.pop(turn % len(active)))
    for reserved in active:
        spend(meter, price, reserved)
    assert meter.tokens <= max(limit, price)


def test_the_price_of_a_task_without_trials_is_that_of_all() -> None:
    prices = TrialPrices()
    assert prices.high("a") is None
    prices.add("a", Spending())
    assert prices.high("a") is None
    for tokens in range(1, 101):
        prices.add("a", Spending(tokens, Cost(tokens / 100)))
    assert prices.high("b") == prices.high("a") == Spending(95, Cost(0.95))
    assert prices.usual("b") == Spending(50, Cost(0.5))
