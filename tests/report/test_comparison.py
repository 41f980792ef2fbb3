"""Two forecasts beside one another: paired where the rows are the same, as independent samples where they are not."""

import numpy as np
import pytest
from scipy.special import expit

from calibrant import assess
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics.estimate import Estimate
from calibrant.report.page import COMPARED, comparison, independent, summarise
from calibrant.significance import paired_difference


def forecasts(n=1500, seed=0):
    """Labels, a calibrated forecast and one that is a little over-confident."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    return rng.random(n) < expit(z), expit(z), expit(1.6 * z)


@pytest.fixture(scope="module")
def both():
    y, right, bold = forecasts()
    return {"bold": assess(y, bold, n_resamples=99), "right": assess(y, right, n_resamples=99)}


def test_on_the_same_rows_the_interval_is_that_of_paired_differences(both):
    y, right, bold = forecasts()
    found = [paired_difference(y, right, bold, metric=metric, n_resamples=99) for metric in COMPARED]
    (sentence,) = comparison(both, {"right": found})
    assert sentence.startswith("From “bold” to “right”, on the same 1500 rows: log loss goes from ")
    for one in found:
        assert f"(difference {one.difference:+.4f}, 95 % interval [{one.lower:+.4f}, {one.upper:+.4f}])" in sentence
        assert one.difference == pytest.approx(
            both["right"][one.metric].value - both["bold"][one.metric].value, abs=1e-9
        )
    assert sentence.endswith("The log loss is better: the interval of its difference lies below 0.")


def test_a_worse_log_loss_is_called_so(both):
    y, right, bold = forecasts()
    turned = {"right": both["right"], "bold": both["bold"]}
    found = [paired_difference(y, bold, right, metric=metric, n_resamples=99) for metric in COMPARED]
    assert summarise(turned, differences={"bold": found})["comparison"][0].endswith(
        "The log loss is worse: the interval of its difference lies above 0."
    )


def test_the_interval_of_independent_estimates_is_that_of_both_in_quadrature():
    after, before = Estimate(0.5, 0.45, 0.58), Estimate(0.4, 0.36, 0.43)
    assert independent(after, before) == pytest.approx((0.1, 0.1 - np.hypot(0.05, 0.03), 0.1 + np.hypot(0.08, 0.04)))


def test_an_infinite_log_loss_compares_with_nothing():
    y, right, _ = forecasts(200)
    certain = np.where(np.arange(200) == 0, 1.0 - y[0], right)
    with pytest.warns(CalibrationWarning, match="infinite"):
        infinite = assess(y, certain, n_resamples=9, clip=0)
    finite = assess(y, right, n_resamples=9)
    for one, other, whose in (
        (infinite, finite, "“a”"),
        (finite, infinite, "“b”"),
        (infinite, infinite, "“a” and of “b”"),
    ):
        (sentence,) = comparison({"a": one, "b": other}, None)
        assert sentence.endswith(f"The log loss of {whose} is infinite: no difference can be taken.")
        assert "nan" not in sentence
