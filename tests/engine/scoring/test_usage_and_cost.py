import pytest

from waza_engine.scoring.cost import Cost, added, cost_of, has_price, tokens_of, total, total_cost
from waza_engine.vocabulary import ModelUsage, Usage


def test_usages_add_up_in_every_field() -> None:
    one = Usage(1, 10, 5, 2, 1, 0.5, {"a": ModelUsage(10, 5, 2, 1, 1, 0.5)}, "custom", "here", 0.25)
    other = Usage(
        2, 20, 6, 0, 0, 1.0, {"a": ModelUsage(20, 6, 0, 0, 3, 1.0), "b": ModelUsage(1)}, cost_usd=0.5
    )
    assert added(one, other) == Usage(
        3,
        30,
        11,
        2,
        1,
        1.5,
        {"a": ModelUsage(30, 11, 2, 1, 4, 1.5), "b": ModelUsage(1)},
        "custom",
        "here",
        0.75,
    )


def test_different_providers_are_mixed() -> None:
    found = added(Usage(provider="custom", provider_host="a"), Usage(provider="custom", provider_host="b"))
    assert found is not None
    assert (found.provider, found.provider_host) == ("custom", "mixed")


@pytest.mark.parametrize(
    ("one", "other", "cost"),
    [
        (Usage(input_tokens=1, cost_usd=1.0), Usage(input_tokens=1), None),
        (Usage(input_tokens=1, cost_usd=1.0), Usage(), 1.0),
        (Usage(), Usage(), None),
    ],
)
def test_half_a_bill_is_none(one: Usage, other: Usage, cost: float | None) -> None:
    found = added(one, other)
    assert found is not None
    assert found.cost_usd == cost


def test_nothing_known_is_no_usage() -> None:
    assert total([None, None]) is None
    assert total([None, Usage(turns=1)]) == Usage(turns=1)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, 0),
        (Usage(input_tokens=100, output_tokens=10, cache_read_tokens=60), 110),
        # More in the cache than altogether: the agent counts the cache apart.
        (Usage(input_tokens=4, output_tokens=10, cache_read_tokens=60, cache_write_tokens=6), 80),
    ],
)
def test_tokens_are_those_of_the_cache_too(usage: Usage | None, tokens: int) -> None:
    assert tokens_of(usage) == tokens


def test_the_agents_own_figure_counts_before_the_list_price() -> None:
    assert cost_of(Usage(input_tokens=1_000_000, cost_usd=0.01), "gpt-4o") == Cost(0.01)


def test_the_list_price_of_the_model_counts_otherwise() -> None:
    # gpt-4o: $2.50 and $10 a million tokens in and out, half the price for what the cache holds.
    assert cost_of(Usage(input_tokens=1000, output_tokens=100), "gpt-4o").usd == pytest.approx(0.0035)
    cached = Usage(input_tokens=1000, output_tokens=100, cache_read_tokens=400)
    assert cost_of(cached, "gpt-4o").usd == pytest.approx(0.0030)


def test_tokens_of_several_models_are_priced_by_model_and_the_rest_by_the_one_asked_for() -> None:
    usage = Usage(input_tokens=3000, model_metrics={"gpt-4o-mini": ModelUsage(input_tokens=2000)})
    assert cost_of(usage, "gpt-4o").usd == pytest.approx(2000 * 0.15e-6 + 1000 * 2.5e-6)


def test_a_model_without_a_price_is_named() -> None:
    usage = Usage(input_tokens=2000, model_metrics={"gpt-4o": ModelUsage(input_tokens=1000)})
    found = cost_of(usage, "home-made")
    assert (found.usd, found.unpriced, found.known) == (pytest.approx(0.0025), ("home-made",), False)
    assert cost_of(Usage(input_tokens=1)).unpriced == ("",)


def test_nothing_used_costs_nothing_whatever_the_model() -> None:
    assert cost_of(None) == cost_of(Usage(turns=1), "home-made") == Cost()


def test_costs_add_up_and_name_each_model_once() -> None:
    assert total_cost([Cost(0.5, ("x",)), Cost(0.25), Cost(0, ("x", "y"))]) == Cost(0.75, ("x", "y"))


def test_known_models_have_a_price() -> None:
    assert has_price("claude-sonnet-4.5")
    assert not has_price("home-made")
    assert not has_price("")
