"""List prices of models: the same that a run's cost is counted with."""

from waza_engine.scoring.cost import cost_of, has_price, listed_models, prices_of
from waza_engine.vocabulary import Usage


def test_a_run_pays_what_is_listed() -> None:
    (price,) = prices_of(["gpt-4o"])
    assert price.usd_input is not None
    assert price.usd_output is not None
    cost = cost_of(Usage(input_tokens=1_000, output_tokens=500), "gpt-4o")
    assert round(cost.usd, 9) == round(price.usd_input / 1_000 + price.usd_output / 2_000, 9)


def test_what_has_no_price_is_left_out() -> None:
    assert [price.name for price in prices_of(["no such model", "", "gpt-4o"])] == ["gpt-4o"]


def test_models_are_listed_once_and_each_has_a_price() -> None:
    names = [price.name for price in listed_models()]
    assert len(names) == len(set(names)) > 20
    assert "gpt-4o" in names
    assert all(map(has_price, names))
