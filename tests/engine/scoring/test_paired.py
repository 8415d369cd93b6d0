import pytest

from waza_engine.scoring.statistics import paired_p


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0),
        ([0, 0], 1.0),
        ([1], 1.0),
        ([1, -1], 1.0),
        ([1] * 5, 0.0625),
        ([1] * 6, 0.03125),
        ([-1] * 6, 0.03125),
        ([1] * 8 + [-1] * 2, 0.109375),
        ([1] * 6 + [0] * 100, 0.03125),
        ([0.5, 0.3, 0.2], 0.25),
        ([0.1 + 0.01 * n for n in range(17)], 6e-5),
    ],
)
def test_how_likely_chance_makes_such_differences(differences: list[float], p: float) -> None:
    assert paired_p(differences) == pytest.approx(p, abs=2e-5)
