"""Risk-coverage curves and the guarantee of a threshold."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binomtest
from strategies import dirichlet_rows

from calibrant.decisions import risk_coverage_curve, risk_threshold
from calibrant.decisions.curves import ENOUGH, GRID, areas


def area_by_definition(score, wrong):
    """Mean of the risks of the first k rows, over all orders of the rows that keep the scores falling."""
    orders = [o for o in permutations(range(len(score))) if (np.diff(score[list(o)]) <= 0).all()]
    k = np.arange(1, len(score) + 1)
    return np.mean([np.mean(wrong[list(o)].cumsum() / k) for o in orders])


small = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0.5, 0.6, 0.7, 0.8 + 0.1, 0.7 + 0.2, 1.0]), min_size=n, max_size=n),
        st.lists(st.integers(0, 1), min_size=n, max_size=n),
    )
)


@settings(deadline=None, max_examples=60)
@given(small)
def test_the_area_is_the_mean_risk_over_all_orders_of_equal_confidences(rows):
    score, right = np.round(np.array(rows[0]), 12), np.array(rows[1])
    panel = risk_coverage_curve(right, score, notion="binary", labels=[0, 1])["forecast"]
    wrong = 1 - right
    assert panel.aurc == pytest.approx(area_by_definition(score, wrong), abs=1e-12)
    least = area_by_definition(-np.arange(len(score)), np.sort(wrong))
    assert panel.excess == pytest.approx(panel.aurc - least, abs=1e-12)
    for t, coverage, risk in zip(panel.threshold, panel.coverage, panel.risk, strict=True):
        assert coverage == pytest.approx((score >= t).mean())
        assert risk == pytest.approx(wrong[score >= t].mean())


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**16))
def test_counts_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    p, y, count = rng.dirichlet([1, 1, 1], 30).round(1), rng.integers(0, 3, 30), rng.integers(0, 4, 30)
    count[0] = 3
    p /= p.sum(axis=1, keepdims=True)
    again = np.repeat(np.arange(30), count)
    one = risk_threshold(y, p, risk=0.9, sample_weight=count, labels=[0, 1, 2])
    other = risk_threshold(y[again], p[again], risk=0.9, labels=[0, 1, 2])
    assert vars(one) == pytest.approx(vars(other), nan_ok=True)


def test_fractional_weights_may_have_any_unit():
    rng = np.random.default_rng(0)
    p, y, w = rng.random(50), rng.integers(0, 2, 50), rng.random(50)
    one, other = (risk_coverage_curve(y, p, sample_weight=u * w)["forecast"].aurc for u in (1.0, 0.001))
    assert one == pytest.approx(other, rel=1e-9)
    alone = risk_coverage_curve(y, p, sample_weight=np.full(50, 0.25))["forecast"].aurc
    assert alone == pytest.approx(risk_coverage_curve(y, p)["forecast"].aurc, rel=1e-12)


def test_errors_at_the_end_have_no_excess_and_a_monotone_change_none_at_all():
    p = np.array([0.95, 0.9, 0.85, 0.8, 0.7])
    y = np.array([1, 1, 1, 0, 0])
    assert risk_coverage_curve(y, p, notion="binary")["forecast"].excess == pytest.approx(0.0, abs=1e-15)
    rng = np.random.default_rng(1)
    p, y = rng.random(100), rng.integers(0, 2, 100)
    one, other = (risk_coverage_curve(y, q, notion="binary")["forecast"] for q in (p, p**3))
    assert (one.aurc, one.excess) == (other.aurc, other.excess)
    assert areas(np.array([5.0]), np.array([0.0])) == (0.0, 0.0)
    assert areas(np.array([5.0]), np.array([5.0])) == pytest.approx((1.0, 0.0))


@pytest.mark.deep
def test_the_interval_of_the_area_covers_it_and_is_not_too_wide():
    """200 samples of 300 rows; of 95 % intervals 90 to 99 % cover, with misses on both sides bounded."""
    rng = np.random.default_rng(2)
    big = rng.normal(1, 1.5, 400_000)
    true = risk_coverage_curve(rng.random(big.size) < expit(np.abs(big)), expit(np.abs(big)), notion="binary")
    low = high = 0
    for _ in range(200):
        z = np.abs(rng.normal(1, 1.5, 300))
        curve = risk_coverage_curve(rng.random(300) < expit(z), expit(z), notion="binary", n_resamples=200, rng=rng)
        panel = curve["forecast"]
        low += panel.aurc_upper < true["forecast"].aurc
        high += panel.aurc_lower > true["forecast"].aurc
    assert 1 <= low + high <= 20
    assert max(low, high) <= 14


# The guarantee


def threshold_by_definition(score, wrong, risk, level):
    """Test the grid from its highest threshold on, one after the other."""
    found = np.inf
    for t in sorted(GRID, reverse=True):
        n, k = int((score >= t).sum()), int(wrong[score >= t].sum())
        if n < min(ENOUGH / risk, len(score)):
            continue
        if binomtest(k, n, risk, alternative="less").pvalue > level:
            break
        found = t
    return found


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**16), st.sampled_from([0.02, 0.1, 0.3]), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_threshold_is_that_of_a_sequence_of_tests(seed, risk, level):
    rng = np.random.default_rng(seed)
    score = rng.beta(4, 1, int(rng.integers(1, 400))).round(2)
    right = rng.random(score.size) < score
    found = risk_threshold(right, score, risk=risk, level=level, notion="binary")
    assert found.threshold == threshold_by_definition(score, ~right, risk, level)
    if found.n_answered:
        assert found.upper <= risk
        assert found.risk == found.n_errors / found.n_answered == (~right[score >= found.threshold]).mean()
        assert found.coverage == (score >= found.threshold).mean()


def test_it_speaks_of_the_predicted_class_unless_told_otherwise():
    y, p = dirichlet_rows(1000, 3, seed=4, concentration=0.3)
    found = risk_threshold(y, p, risk=0.1)
    answered = p.max(axis=1) >= found.threshold
    assert found.n_answered == answered.sum()
    assert found.n_errors == (y != p.argmax(axis=1))[answered].sum()
    assert str(found).startswith("Answer from a confidence of ")
    assert risk_threshold([0, 1] * 200, np.float32([0.699, 0.7] * 200), risk=0.1, notion="binary").threshold == 0.7
    assert ": answer nothing; the lowest rate that these rows can show is " in str(risk_threshold(y, p, risk=0.0001))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**16), st.sampled_from([0.001, 0.02, 0.1]), st.sampled_from([0.01, 0.05, 0.2]))
def test_where_none_is_shown_the_rate_that_it_names_is_shown_and_none_of_two_digits_below_it(seed, risk, level):
    rng = np.random.default_rng(seed)
    score = rng.beta(4, 1, int(rng.integers(1, 400))).round(2)
    right = rng.random(score.size) < 0.7 * score
    found = risk_threshold(right, score, risk=risk, level=level, notion="binary")
    lowest = found.lowest_target
    if found.n_answered:
        assert np.isnan(lowest)
        return
    below = np.array([digits * unit for unit in (1e-3, 1e-2) for digits in range(10, 100)])
    assert np.isfinite(lowest) or score.size < 10 or not right.any()
    if np.isfinite(lowest):
        assert str(found).endswith(f": answer nothing; the lowest rate that these rows can show is {lowest:g}.")
        assert f"{lowest:.2g}" == f"{lowest:g}"
        again = risk_threshold(right, score, risk=float(f"{lowest:g}"), level=level, notion="binary")
        assert again.n_answered > 0
        below = below[below < lowest - 1e-9]
    nearest = below[-9:]  # a rate that is shown, of the same rows, makes every higher one shown
    assert {threshold_by_definition(score, ~right, float(one), level) for one in nearest} <= {np.inf}


def test_where_no_answer_is_right_no_rate_is_named():
    found = risk_threshold([0] * 30, [0.9] * 30, risk=0.1, notion="binary", labels=[0, 1])
    assert str(found).endswith(": answer nothing; these rows show none at any rate.")


Y, P = [0, 1, 1], [0.2, 0.6, 0.9]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: risk_threshold(Y, P, risk=0.1, sample_weight=[0.5, 1, 1]), ValueError, "numbers of equal rows for a"),
        (lambda: risk_threshold(Y, P, risk=0), ValueError, r"risk must be a fraction in \(0, 1\); got 0"),
        (lambda: risk_threshold(Y, P, risk=0.1, level=95), ValueError, "level must be a fraction"),
        (lambda: risk_coverage_curve(Y, {}), ValueError, "y_prob must hold at least one forecast"),
        (lambda: risk_coverage_curve(Y, {"a": P})["b"], KeyError, "'b' is no forecast of the curve; there are 'a'"),
    ],
)
def test_what_has_no_guarantee_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
