"""Spiegelhalter's Z against its definition, published figures and the normal law."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from reference import goodness
from strategies import tables

from calibrant import spiegelhalter_test
from calibrant.exceptions import CalibrationWarning
from calibrant.significance import of_forecast

SPOKEN = {
    "binary": lambda p: [1],
    "confidence": lambda p: [max(range(len(p)), key=lambda j: (p[j], -j))],
    "top-label": lambda p: [max(range(len(p)), key=lambda j: (p[j], -j))],
    "class-wise": lambda p: range(len(p)),
}


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return spiegelhalter_test(*args, **options)


def agrees(found, excess, variance):
    if variance > 1e-18:
        assert found == pytest.approx(excess / np.sqrt(variance), rel=1e-6, abs=1e-6)
    elif abs(excess) > 0.01:  # something all but impossible occurred
        assert abs(found) > 1e6


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise"])
@given(rows=tables())
def test_z_of_a_table_is_its_definition(notion, rows):
    label, prob, weight = rows
    excess, variance = goodness.spiegelhalter(label, prob, weight, SPOKEN[notion])
    agrees(quiet(label, prob, notion=notion, sample_weight=weight).statistic, excess, variance)


FIGURES = {"cifar100_densenet_bc": 79.2995, "cifar100_lenet5": -4.2774, "cifar10_lenet5": 20.1486}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_real_forecasts(data_dir, name):
    with np.load(data_dir / f"{name}.npz") as data:
        found = spiegelhalter_test(data["y"], data["P"].astype(float))
    assert round(found.statistic, 4) == FIGURES[name]


def test_positive_is_over_confident_and_negative_is_under_confident():
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, 3000)
    y = rng.random(3000) < 1 / (1 + np.exp(-z))
    assert spiegelhalter_test(y, 1 / (1 + np.exp(-2 * z))).statistic > 4
    assert spiegelhalter_test(y, 1 / (1 + np.exp(-z / 2))).statistic < -4


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise"])
def test_blocks_of_rows_change_nothing(notion, monkeypatch):
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
    whole = spiegelhalter_test(label, prob, notion=notion).statistic
    monkeypatch.setattr(of_forecast, "row_blocks", lambda rows: (slice(k, k + 7) for k in range(0, rows.size, 7)))
    assert spiegelhalter_test(label, prob, notion=notion).statistic == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize(
    ("y", "p", "z", "pvalue"),
    [([0, 1, 1, 0], [0.5] * 4, 0.0, 1.0), ([0, 1], [0.0, 1.0], 0.0, 1.0), ([1, 1], [0.0, 1.0], np.inf, 0.0)],
    ids=["all at one half", "certain and right", "certain and wrong"],
)
def test_without_variance_a_warning_says_what_z_is(y, p, z, pvalue):
    with pytest.warns(CalibrationWarning, match="must have some variance"):
        found = spiegelhalter_test(y, p)
    assert (found.statistic, found.pvalue) == (z, pvalue)


def test_even_forecasts_of_many_classes_have_no_variance():
    with pytest.warns(CalibrationWarning, match="must have some variance"):
        assert spiegelhalter_test([0, 1, 2], np.full((3, 7), 1 / 7), notion="class-wise").statistic == 0.0


def test_weights_that_are_no_counts_do_not_depend_on_their_unit():
    rng = np.random.default_rng(0)
    p = rng.random(100)
    y, weight = rng.random(100) < p, rng.random(100)
    one, other = (spiegelhalter_test(y, p, sample_weight=w).statistic for w in (weight, 7.3 * weight))
    assert one == pytest.approx(other, rel=1e-12)
