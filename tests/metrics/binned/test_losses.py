"""What a loss measures in one bin, and how a norm puts bins together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from calibrant import EqualMass, EqualWidth, calibration_error
from calibrant._core.border import as_problem
from calibrant.binning import Unique
from calibrant.metrics import BinTest
from calibrant.metrics.bin_losses import PowerMean, as_norm, debiased_squared_gap, root
from calibrant.notions import SharedClassWise

ONE_BIN = EqualWidth(1)


def debiased(label, score, weight=None, binning=ONE_BIN):
    problem = as_problem(label, score, sample_weight=weight)
    return debiased_squared_gap(problem, binning(problem))


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("truth", [0.0, 0.1, 0.5, 1.0])
def test_the_debiased_squared_gap_is_right_on_average(n, truth):
    """Exactly: over all numbers of events, weighted by their binomial probabilities."""
    score = 0.3
    values = [debiased(np.arange(n) < events, np.full(n, score))[0] for events in range(n + 1)]
    assert binom.pmf(np.arange(n + 1), n, truth) @ values == pytest.approx((truth - score) ** 2, abs=1e-12)


def test_a_bin_of_one_row_counts_as_nothing():
    assert debiased([1], [0.25]).tolist() == [0.0]
    assert debiased([1, 0], [0.2, 0.9], binning=EqualWidth(2)).tolist() == [0.0, 0.0]


def test_fractional_weights_count_as_rows_on_average():
    score, label = np.array([0.1, 0.2, 0.4, 0.9]), np.array([0, 1, 0, 1])
    np.testing.assert_allclose(debiased(label, score, np.full(4, 0.3)), debiased(label, score), rtol=1e-12)


def test_a_bin_of_two_rows_counts_whatever_the_weights_are_scaled_by():
    """Twice 0.3, scaled to rows, is two but for rounding."""
    score, label = np.array([0.1, 0.1, 0.5, 0.5, 0.9, 0.9]), np.array([0, 0, 1, 1, 0, 1])
    expected = debiased(label, score, binning=Unique())
    assert (expected != 0.0).all()
    for weight in (0.1, 0.3, 0.7, 1.1, 1e-9):
        np.testing.assert_allclose(debiased(label, score, np.full(6, weight), Unique()), expected, rtol=1e-9)
    options = {"binning": Unique(), "loss": "debiased squared gap", "norm": "root"}
    assert calibration_error(label, score, sample_weight=np.full(6, 0.3), **options) == pytest.approx(
        0.2380476, rel=1e-6
    )


def test_the_root_of_a_negative_mean_is_zero():
    assert root(np.array([-1.0, 0.5]), np.array([0.5, 0.5])) == 0.0


POSITIVE = st.floats(0.0, 1.0, allow_subnormal=False)


@given(pairs=st.lists(st.tuples(POSITIVE, st.integers(1, 9)), min_size=1, max_size=8), p=st.floats(1.0, 9.0))
def test_a_power_mean_is_what_its_definition_says(pairs, p):
    total = sum(w for _, w in pairs)
    expected = sum(w / total * v**p for v, w in pairs) ** (1 / p)
    values, weights = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    # Powers of small values vanish in the definition, and not in the function.
    assert PowerMean(p)(values, weights / total) == pytest.approx(expected, rel=1e-9, abs=1e-30)


def test_a_high_power_of_a_small_value_does_not_vanish():
    assert PowerMean(500.0)(np.array([1e-3, 0.0]), np.array([0.5, 0.5])) == pytest.approx(1e-3 * 0.5 ** (1 / 500))


def test_a_power_mean_of_nothing_but_zeros_is_zero():
    assert PowerMean(3.0)(np.zeros(2), np.array([0.5, 0.5])) == 0.0


def test_a_power_mean_is_of_absolute_values():
    assert PowerMean(3.0)(np.array([-0.5, 0.5]), np.array([0.5, 0.5])) == pytest.approx(0.5)


REFUSED = [
    ("loss", BinTest, r"loss must be a word or a function; got the class BinTest\. Pass BinTest\(\)\."),
    ("norm", PowerMean, r"norm must be a word or a function; got the class PowerMean\. Pass PowerMean\(\)\."),
    ("across", PowerMean, r"across must be a word or a function; got the class PowerMean\."),
    ("binning", EqualMass, r"binning must be a number, a word or a Binning; got the class EqualMass\. Pass"),
    ("notion", SharedClassWise, r"notion must be a name or a Notion; got the class SharedClassWise\. Pass Shared"),
]


@pytest.mark.parametrize(("option", "given", "message"), REFUSED)
def test_a_class_in_the_place_of_its_object_is_refused(option, given, message):
    with pytest.raises(TypeError, match=message):
        calibration_error([0, 1], [0.2, 0.7], **{option: given})


@pytest.mark.parametrize("word", ["l0", "l0.5", "l", "l3 ", "linf"])
def test_a_word_of_no_norm_is_refused(word):
    with pytest.raises(ValueError, match=r"norm must be one of .* such as 'l3', or a function; got"):
        as_norm(word)
