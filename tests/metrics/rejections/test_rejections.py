"""Which probabilities the events of a bin reject: those that SciPy and the definition reject, one at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import tce
from scipy import stats
from scipy.stats import binom, binomtest, ttest_1samp
from strategies import GRID

from calibrant.metrics import bin_losses as binomial
from calibrant.metrics.bin_losses import accepted, outside

TESTS = ("binomial", "mid-p", "clopper-pearson", "t")
LEVELS = (0.001, 0.05, 0.2, 0.5)

each_test = pytest.mark.parametrize("test", TESTS)
levels = st.sampled_from(LEVELS)


@st.composite
def counts(draw, most=40):
    n = draw(st.integers(1, most))
    return draw(st.integers(0, n)), n


def one(values):
    return np.atleast_1d(np.asarray(values, dtype=float))


def rejected(test, k, n, p, level):
    p = np.sort(one(p))
    if test == "binomial":
        return binomial.rejects(p, np.zeros(p.size, dtype=np.intp), one(k), one(n), level)
    return outside(p, *accepted(test, one(k), one(n), level))


def near_the_ends(k, n, level, rng, size):
    """Probabilities where the exact test decides, on the scale on which its p-value jumps and on a finer one."""
    (lower,), (upper,) = accepted("binomial", one(k), one(n), level)
    p = np.concatenate(
        [end + rng.normal(0.0, scale, size) for end in (lower, upper) for scale in (1.0 / n, 1e-2 / n, 1e-6)]
    )
    return np.unique(np.clip(p, 0.0, 1.0))


@each_test
@given(count=counts(), p=st.one_of(st.sampled_from(GRID), st.floats(0.0, 1.0)), level=levels)
def test_a_probability_is_rejected_if_the_definition_rejects_it(test, count, p, level):
    k, n = count
    if test != "t" and abs(tce.pvalue(test, k, n, p) / level - 1) < 1e-7:
        return  # too near to the level for floating point
    assert rejected(test, k, n, p, level)[0] == tce.rejects(test, k, n, p, level)


@pytest.mark.parametrize("seed", range(25))
def test_the_exact_test_rejects_what_binomtest_rejects(seed):
    rng = np.random.default_rng(seed)
    n = int(10 ** rng.uniform(0.0, 4.5))
    k, level = int(rng.binomial(n, rng.choice([rng.random(), 0.5, 1e-3]))), float(rng.choice(LEVELS))
    p = np.concatenate([near_the_ends(k, n, level, rng, 15), rng.random(20), [0.0, 1e-300, 1e-9, 0.5, k / n, 1.0]])
    p = np.unique(p)
    pvalue = np.array([binomtest(k, n, q).pvalue for q in p])
    np.testing.assert_array_equal(rejected("binomial", k, n, p, level), pvalue <= level * (1.0 + 1e-9))


def test_a_pvalue_that_is_the_level_rejects():
    assert tce.exact_pvalue(0, 5, 0.5) == 0.0625
    assert rejected("binomial", 0, 5, 0.5, 0.0625)
    assert not rejected("binomial", 0, 5, 0.5, 0.0624)


@pytest.mark.parametrize(("k", "n", "p"), [(2, 9, 1 / 7), (2, 50, 1 / 36), (0, 289, 1 / 205)])
def test_an_outcome_that_is_as_probable_but_for_rounding_counts(k, n, p):
    """Without it the p-value is below one half."""
    pvalue = binomtest(k, n, p).pvalue
    assert pvalue > 0.5 > pvalue - binom.pmf(k, n, p)
    assert not rejected("binomial", k, n, p, 0.5)
    assert not rejected("binomial", k, n, p, pvalue * (1 - 1e-6))
    assert rejected("binomial", k, n, p, pvalue * (1 + 1e-6))


@pytest.mark.parametrize("level", [1 - 1e-6, 1 - 1e-10, 1 - 1e-12])
def test_a_pvalue_of_one_reaches_no_level(level):
    """The most probable outcome has p-value 1."""
    for p in (0.46, 0.5, 0.54):
        assert tce.exact_pvalue(5, 10, p) == 1
        assert not rejected("binomial", 5, 10, p, level)
    assert rejected("binomial", 5, 10, 0.44, level)
    (lower,), (upper,) = accepted("binomial", one(5), one(10), level)
    assert (lower, upper) == pytest.approx((5 / 11, 6 / 11), rel=1e-6)


def test_the_search_for_the_other_tail_ends_whatever_the_counts():
    for n in (2.0**53, 1e16, 5e16, 1e100):
        assert binomial.rejects(one(0.3), np.zeros(1, dtype=np.intp), one(n / 2), one(n), 0.05).all()


def test_between_two_accepted_probabilities_one_can_be_rejected():
    """So a search for two ends is not enough."""
    k, n, level = 1, 12, 0.2
    p = np.linspace(0.0, 1.0, 20_001)
    found = rejected("binomial", k, n, p, level)
    turns = np.flatnonzero(np.diff(found))
    assert found[turns].tolist() == [True, False, True, False]
    for q in (*p[turns], *p[turns + 1]):
        assert rejected("binomial", k, n, q, level)[0] == (binomtest(k, n, q).pvalue <= level)


@given(count=counts(12), level=levels)
def test_no_probability_beyond_the_ends_of_the_exact_test_is_accepted(count, level):
    k, n = count
    (lower,), (upper,) = accepted("binomial", one(k), one(n), level)
    for p in np.linspace(0.0, 1.0, 101):
        if p < lower * (1 - 1e-6) or 1 - p < (1 - upper) * (1 - 1e-6):
            assert tce.exact_pvalue(k, n, p) <= level * (1 + 1e-6)
    just_inside = [lower + 1e-7 * (k / n - lower), upper - 1e-7 * (upper - k / n)]
    assert all(tce.exact_pvalue(k, n, p) > level * (1 - 1e-5) for p in just_inside)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 7), (7, 7), (3, 8), (120, 1000), (1, 100_000)])
@pytest.mark.parametrize("level", LEVELS)
def test_the_ends_are_those_of_the_clopper_pearson_interval(k, n, level):
    expected = binomtest(k, n).proportion_ci(confidence_level=1 - level, method="exact")
    (lower,), (upper,) = accepted("clopper-pearson", one(k), one(n), level)
    assert (lower, upper) == pytest.approx((expected.low, expected.high), rel=1e-8)


@pytest.mark.parametrize(("k", "n"), [(1, 2), (3, 8), (120, 1000)])
@pytest.mark.parametrize("level", LEVELS)
def test_the_t_test_has_the_standard_deviation_and_no_variance(k, n, level):
    outcomes = np.repeat([1.0, 0.0], [k, n - k])
    p = np.linspace(0.0, 1.0, 501)
    pvalue = np.array([ttest_1samp(outcomes, q).pvalue for q in p])
    clear = ~np.isclose(pvalue, level, rtol=1e-12, atol=0.0)  # at the level itself rounding decides
    np.testing.assert_array_equal(rejected("t", k, n, p, level)[clear], (pvalue < level)[clear])


@pytest.mark.parametrize("level", [0.5, 1e-9, 1e-17, 1e-22])
def test_the_t_test_has_the_quantiles_of_small_levels(level):
    (lower,), (upper,) = accepted("t", one(120), one(1000), level)
    reach = stats.t.isf(level / 2, 999) * np.sqrt(0.12 * 0.88 / 999)
    assert (lower, upper) == pytest.approx((0.12 - reach, 0.12 + reach), rel=1e-9)


def test_the_t_test_of_outcomes_that_are_all_alike_accepts_their_rate_alone():
    assert rejected("t", 3, 3, [0.0, 0.999, 1.0], 0.05).tolist() == [True, True, False]


def test_the_t_test_of_one_row_rejects_nothing():
    assert not rejected("t", 1, 1, [0.0, 0.5, 1.0], 0.05).any()


@given(count=counts(12), level=st.sampled_from((1e-40, 1e-9, *LEVELS)))
def test_at_the_ends_of_mid_p_its_pvalue_is_the_level(count, level):
    k, n = count
    (lower,), (upper,) = accepted("mid-p", one(k), one(n), level)
    assert k == 0 or float(tce.pvalue("mid-p", k, n, lower)) == pytest.approx(level, rel=1e-6)
    # In floating point the upper end has no more digits than its distance from one.
    assert k == n or 1 - upper < 1e-8 or float(tce.pvalue("mid-p", k, n, upper)) == pytest.approx(level, rel=1e-6)
    assert (lower == 0.0) == (k == 0)
    assert k == n or 1 - upper > 0 or level < 1e-9


@each_test
@pytest.mark.parametrize("level", [1e-9, 1e-15, 1e-17, 1e-25, 1e-60])
@pytest.mark.parametrize(("k", "n"), [(1, 2), (3, 40), (37, 40), (120, 1000)])
def test_at_tiny_levels_non_events_have_the_mirrored_ends(test, k, n, level):
    (lower,), (upper,) = accepted(test, one(k), one(n), level)
    (other_lower,), (other_upper,) = accepted(test, one(n - k), one(n), level)
    assert upper == pytest.approx(1 - other_lower, rel=1e-12)
    assert lower == pytest.approx(1 - other_upper, rel=1e-6, abs=1e-15)
    assert np.isfinite([lower, upper]).all()


@each_test
def test_an_empty_bin_accepts_and_rejects_nothing(test):
    lower, upper = accepted(test, one([0, 3]), one([0, 9]), 0.05)
    assert np.isnan([lower[0], upper[0]]).all()
    assert lower[1] < 1 / 3 < upper[1]


@settings(max_examples=20)
@given(st.lists(counts(30), min_size=1, max_size=6), st.integers(0, 2**32 - 1), levels)
def test_bins_are_tested_each_by_itself(bins, seed, level):
    rng = np.random.default_rng(seed)
    k, n = (np.array(column, dtype=float) for column in zip(*bins, strict=True))
    p, at = np.sort(rng.random(100)), np.sort(rng.integers(0, k.size, 100))
    together = binomial.rejects(p, at, k, n, level)
    for b in range(k.size):
        np.testing.assert_array_equal(together[at == b], rejected("binomial", k[b], n[b], p[at == b], level))
