"""What contradicts the claim of docs/advice.md: harm, with rows enough, and nothing else."""

import dataclasses

import numpy as np
import pytest

from studies.arena.advice import Followed, followed, redrawn, verdict
from studies.arena.data_sets import Forecast

SMALL = Followed("a", rows=1000, n_classes=2, method="beta", change=0.0, standard_error=0.0005)


@pytest.mark.parametrize(
    ("change", "standard_error", "rows", "harms"),
    [
        (0.0021, 0.0010, 1000, True),
        (0.0019, 0.0001, 1000, False),
        (0.0050, 0.0026, 1000, False),
        (0.0050, 0.0024, 1000, True),
        (-0.01, 0.0001, 1000, False),
        (0.0100, 0.0001, 999, False),
    ],
    ids=["more than both", "too small", "within its errors", "beyond its errors", "better", "too few rows"],
)
def test_harm_is_more_than_both_limits_with_rows_enough(change, standard_error, rows, harms):
    one = dataclasses.replace(SMALL, change=change, standard_error=standard_error, rows=rows)
    assert verdict([SMALL, one]) == ([one] if harms else [])


def shifted(n):
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 2 * n)
    y, prob = (rng.random(2 * n) < 1 / (1 + np.exp(-z))).astype(int), 1 / (1 + np.exp(-2 * z - 1))
    return Forecast("shifted", "", y[:n], prob[:n], y[n:], prob[n:])


def test_following_the_advice_is_measured_on_the_test_rows():
    found = followed(shifted(1000))
    assert found.method == "platt"
    assert found.change < -5 * found.standard_error < 0


def test_a_draw_exchanges_rows_and_keeps_pairs():
    forecast = shifted(50)
    drawn = redrawn(forecast, 1)
    assert redrawn(forecast, 0) is forecast
    assert len(drawn.fit) == 50
    before, after = (sorted(zip([*f.fit, *f.test], [*f.y_fit, *f.y_test], strict=True)) for f in (forecast, drawn))
    assert before == after
