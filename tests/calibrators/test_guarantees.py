"""What binning guarantees."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import guarantee

from calibrant.calibrators.binning import binning_guarantee, canonical_binning_guarantee

alphas = st.floats(1e-6, 0.999)
deltas = st.sampled_from([0.0, 1e-10, 0.01])


# The bounds


@given(k=st.integers(2, 500), bins=st.integers(1, 1000), spare=st.integers(0, 499), alpha=alphas, delta=deltas)
def test_the_bounds_are_what_the_theorem_says(k, bins, spare, alpha, delta):
    n = k * bins + spare
    found = binning_guarantee(n, k, alpha=alpha, delta=delta)
    errors = found.marginal_error, found.conditional_error, found.expected_error, found.sharp_expected_error
    assert errors == pytest.approx(guarantee.bounds(n, k, alpha, delta), rel=1e-12)
    assert found.marginal_error <= found.conditional_error <= 1


@pytest.mark.parametrize("k", range(2, 60))
def test_the_mean_deviation_of_a_rate_is_within_the_sharper_bound_which_is_within_that_of_the_paper(k):
    found = binning_guarantee(k, k)
    worst = max(guarantee.mean_deviation(k - 1, p) for p in (0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 1 / k))
    assert worst <= found.sharp_expected_error <= found.expected_error * (1 + 1e-12)
    # Within a quarter of it: the normal law has sqrt(2 / pi) = 0.80.
    assert worst >= 0.75 * found.sharp_expected_error


def test_rows_for_one_bin_a_class_do_and_one_fewer_does_not():
    assert binning_guarantee(150, 50, n_classes=3).n_bins == 3
    with pytest.raises(ValueError, match=r"a bin for each class: 3 \* 50 = 150; got 149. Take at most 49 points a bin"):
        binning_guarantee(149, 50, n_classes=3)
    with pytest.raises(ValueError, match=r"got 3\. Take more rows"):
        binning_guarantee(3, 2, n_classes=3)


OF_ROWS = {"n_samples": 1000, "points_per_bin": 50}
OF_CLASSES = {"points_per_bin": 10, "n_bins": 5, "n_classes": 3, "alpha": 0.1}


@pytest.mark.parametrize(
    ("guarantee", "options", "changed", "error"),
    [
        (binning_guarantee, OF_ROWS, {"n_samples": 1.5}, TypeError),
        (binning_guarantee, OF_ROWS, {"points_per_bin": 1}, ValueError),
        (binning_guarantee, OF_ROWS, {"alpha": 0}, ValueError),
        (binning_guarantee, OF_ROWS, {"delta": -0.1}, ValueError),
        *(
            (canonical_binning_guarantee, OF_CLASSES, {name: 0}, ValueError)
            for name in ("points_per_bin", "n_bins", "alpha")
        ),
        (canonical_binning_guarantee, OF_CLASSES, {"n_classes": 1}, ValueError),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_is_no_parameter_is_refused(guarantee, options, changed, error):
    ((name, number),) = changed.items()
    with pytest.raises(error, match=f"{name} must be a .*; got {number}"):
        guarantee(**options | changed)


def test_a_guarantee_reads_as_a_table():
    found = binning_guarantee(5000, 50)
    table = str(found).splitlines()
    assert table[0] == "5000 rows, 50 points a bin, at most 100 bins"
    assert table[2] == "  largest error, TL-MCE (conditional)  <= 0.2785  with probability 0.9"
    rows = found.to_frame("pyarrow").to_pydict()
    assert rows["bound"] == [found.marginal_error, *[found.conditional_error] * 2, 0.1, found.sharp_expected_error]
    assert rows["probability"][:3] == [0.9] * 3


# The simplex


def test_of_two_classes_the_l1_bound_is_twice_that_of_one_probability():
    canonical, binary = canonical_binning_guarantee(49, 100, n_classes=2), binning_guarantee(5000, 50)
    assert canonical.marginal_error == pytest.approx(2 * binary.marginal_error, rel=1e-12)
    assert canonical.conditional_error == pytest.approx(2 * binary.conditional_error, rel=1e-12)
    assert canonical.expected_error == pytest.approx(2 * binary.sharp_expected_error, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 60, 2000])
def test_the_l1_bound_has_a_set_of_classes_for_each_event(n_classes):
    found = canonical_binning_guarantee(10**5, 27, n_classes=n_classes, alpha=0.05)
    exact = np.log(float(Fraction(2**n_classes - 2) * 27 * 20 / 2**n_classes)) + n_classes * np.log(2)
    assert found.conditional_error == pytest.approx(sqrt(2 * exact / 10**5), rel=1e-12)
    one_bin = canonical_binning_guarantee(10**5, 1, n_classes=n_classes, alpha=0.05)
    assert found.marginal_error == one_bin.conditional_error


def test_a_bound_on_the_simplex_is_at_most_two_and_reads_as_a_table():
    found = canonical_binning_guarantee(1, 10**9, n_classes=5000)
    assert str(found).splitlines()[0] == "1000000000 bins of 5000 classes, 1 rows each"
    assert found.to_frame("pyarrow").to_pydict()["bound"] == [2, 2, 2]


@pytest.mark.parametrize("prob", [[0.5, 0.5], [1 / 3] * 3, [0.9, 0.05, 0.05], [0.1] * 10], ids=len)
def test_the_mean_l1_error_of_a_multinomial_bin_is_within_its_bound(prob):
    exact = sum(guarantee.mean_deviation(60, p) for p in prob)
    bound = canonical_binning_guarantee(60, 12, n_classes=len(prob)).expected_error
    assert exact <= bound
    assert exact >= 0.75 * bound or len(set(prob)) > 1
