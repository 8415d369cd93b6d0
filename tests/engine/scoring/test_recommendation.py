import pytest

from waza_engine.scoring.impact import ModelFigures, price_decides, recommend, settled


def test_each_criterion_counts_from_0_to_10_with_its_weight() -> None:
    found = recommend(
        [
            ModelFigures("careful", aggregate_score=0.9, pass_rate=1.0, std_dev=0.3, duration_ms=9000),
            ModelFigures("steady", aggregate_score=0.8, pass_rate=0.8, std_dev=0.1, duration_ms=5000),
            ModelFigures("quick", aggregate_score=0.4, pass_rate=0.5, std_dev=0.2, duration_ms=1000),
        ]
    )
    assert found is not None
    # steady: 0.4 · 8 + 0.3 · 6 + 0.2 · 10 + 0.1 · 5; careful: 0.4 · 10 + 0.3 · 10; quick: 0.2 · 5 + 0.1 · 10.
    assert [(model.model, model.score) for model in found.ranking] == [
        ("steady", 7.5),
        ("careful", 7.0),
        ("quick", 2.0),
    ]
    assert found.winner.speed == 5.0
    assert found.margin_percent == pytest.approx(7.142857)


def test_what_is_equal_gives_5_points_and_equal_models_keep_their_order() -> None:
    same = [ModelFigures(name, 0.5, 0.5, 0.1, 100) for name in ("b", "a")]
    found = recommend(same)
    assert found is not None
    assert [(model.model, model.score) for model in found.ranking] == [("b", 5.0), ("a", 5.0)]
    assert found.margin_percent == 0.0


def test_one_model_is_no_choice() -> None:
    assert recommend([ModelFigures("a", 1, 1, 0, 1)]) is None


def test_among_models_that_are_tied_the_price_decides() -> None:
    figures = [ModelFigures("dear", 0.9, 0.9, 0.1, 10), ModelFigures("cheap", 0.8, 0.9, 0.1, 20)]
    found = recommend(figures)
    assert found is not None
    assert found.winner.model == "dear"
    both = ["dear", "cheap"]
    chosen = settled(found, both, {"dear": 2.0, "cheap": 1.0})
    assert (chosen.winner.model, chosen.margin_percent) == ("cheap", 0.0)
    assert settled(found, both, {"dear": 2.0, "cheap": None}).winner.model == "dear"
    assert settled(found, ["dear"], {"dear": 2.0, "cheap": 1.0}) == found


@pytest.mark.parametrize(
    ("tied", "costs", "decides"),
    [
        (["a", "b"], {"a": 2.0, "b": 1.0}, True),
        (["a", "b"], {"a": 2.0, "b": 2.0}, False),
        (["a", "b"], {"a": 2.0, "b": None}, False),
        (["a", "b"], {"a": None, "b": None}, False),
        (["a"], {"a": 2.0, "b": 1.0}, False),
    ],
)
def test_a_price_decides_where_it_is_known_and_another(
    tied: list[str], costs: dict[str, float | None], decides: bool
) -> None:
    assert price_decides(tied, costs) is decides
