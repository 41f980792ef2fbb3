import re
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from reference import binomial
from reference import guarantee as twin

from calibrant import ByNotion, EqualMass, HistogramBinning, IsotonicCalibration, load_calibrator, save_calibrator
from calibrant.binning import Isotonic, MonotonicSweep, PointsPerBin
from calibrant.calibrators import CanonicalBinning
from calibrant.calibrators.guarantees import (
    binning_guarantee,
    canonical_binning_guarantee,
    fitted_guarantee,
    points_for_guarantee,
    samples_for_guarantee,
)
from calibrant.exceptions import CalibrationWarning

KINDS = ("marginal", "conditional", "expected", "sharp-expected")
DRAWS, N, K, ALPHA, DELTA = 2000, 1000, 50, 0.1, 1e-10

alphas = st.floats(1e-6, 0.999)
deltas = st.sampled_from([0.0, 1e-10, 0.01])


def error_of(found, kind):
    return getattr(found, f"{kind.replace('-', '_')}_error")


# The bounds


@given(k=st.integers(2, 500), bins=st.integers(1, 1000), spare=st.integers(0, 499), alpha=alphas, delta=deltas)
def test_the_bounds_are_what_the_theorem_says(k, bins, spare, alpha, delta):
    n = k * bins + spare
    found = binning_guarantee(n, k, alpha=alpha, delta=delta)
    assert [error_of(found, kind) for kind in KINDS] == pytest.approx(twin.bounds(n, k, alpha, delta), rel=1e-12)
    assert found.marginal_error <= found.conditional_error <= 1


@pytest.mark.parametrize("k", range(2, 60))
def test_the_mean_deviation_of_a_rate_is_within_the_sharper_bound_which_is_within_that_of_the_paper(k):
    found = binning_guarantee(k, k)
    worst = max(twin.mean_deviation(k - 1, p) for p in (0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 1 / k))
    assert worst <= found.sharp_expected_error <= found.expected_error * (1 + 1e-12)
    # Within a quarter of it: the normal law has sqrt(2 / pi) = 0.80.
    assert worst >= 0.75 * found.sharp_expected_error


def test_rows_for_one_bin_a_class_do_and_one_fewer_does_not():
    assert binning_guarantee(150, 50, n_classes=3).n_bins == 3
    with pytest.raises(ValueError, match=r"a bin for each class: 3 \* 50 = 150; got 149. Take at most 49 points a bin"):
        binning_guarantee(149, 50, n_classes=3)
    with pytest.raises(ValueError, match=r"got 3\. Take more rows"):
        binning_guarantee(3, 2, n_classes=3)


@pytest.mark.parametrize(
    ("given_", "error", "message"),
    [
        ({"n_samples": 1.5}, TypeError, "n_samples must be a whole number"),
        ({"points_per_bin": 1}, ValueError, "points_per_bin must be a whole number, at least 2; got 1"),
        ({"alpha": 0}, ValueError, "alpha must be a number, above 0 and below 1; got 0"),
        ({"delta": -0.1}, ValueError, "delta must be a number, at least 0"),
    ],
)
def test_what_is_no_parameter_is_refused(given_, error, message):
    with pytest.raises(error, match=message):
        binning_guarantee(**{"n_samples": 1000, "points_per_bin": 50} | given_)


def test_a_guarantee_reads_as_a_table():
    found = binning_guarantee(5000, 50)
    table = str(found).splitlines()
    assert table[0] == "5000 rows, 50 points a bin, at most 100 bins"
    assert table[2] == "  largest error, TL-MCE (conditional)  <= 0.2785  with probability 0.9"
    rows = found.to_frame("pyarrow").to_pydict()
    assert rows["bound"] == [found.marginal_error, *[found.conditional_error] * 2, 0.1, found.sharp_expected_error]
    assert rows["probability"][:3] == [0.9] * 3


# The inverse


@pytest.mark.parametrize(("kind", "points"), [("expected", 50), ("sharp-expected", 26), ("marginal", 151)])
def test_a_mean_error_of_a_tenth_takes_fifty_points_in_the_paper_and_twenty_six_in_truth(kind, points):
    assert points_for_guarantee(0.1, kind=kind) == points


@given(error=st.floats(0.03, 0.9), kind=st.sampled_from(KINDS), n=st.integers(2, 10**7), alpha=alphas, delta=deltas)
def test_the_points_reach_the_error_and_one_fewer_does_not(error, kind, n, alpha, delta):
    if error <= delta:
        return
    try:
        k = points_for_guarantee(error, kind=kind, n_samples=n, alpha=alpha, delta=delta)
    except ValueError:
        assert error_of(binning_guarantee(n, n, alpha=alpha, delta=delta), kind) > error
        return
    assert error_of(binning_guarantee(n, k, alpha=alpha, delta=delta), kind) <= error
    if k > 2:
        assert error_of(binning_guarantee(n, k - 1, alpha=alpha, delta=delta), kind) > error


@given(
    error=st.floats(0.02, 1.0),
    kind=st.sampled_from(KINDS),
    n_classes=st.integers(1, 50),
    bins=st.integers(1, 30),
    part=st.floats(0.01, 1.0),
    alpha=alphas,
    delta=deltas,
)
def test_the_plan_reaches_the_error_with_so_many_bins_and_one_point_fewer_does_not(
    error, kind, n_classes, bins, part, alpha, delta
):
    if error <= delta:
        return
    share = part / n_classes
    options = {"alpha": alpha, "delta": delta}
    plan = samples_for_guarantee(
        error, kind=kind, n_classes=n_classes, bins_per_class=bins, class_share=share, **options
    )
    k, n = plan.points_per_bin, plan.n_samples
    assert plan.guarantee == binning_guarantee(n, k, n_classes=n_classes, **options)
    assert error_of(plan.guarantee, kind) <= error
    # The rarest class gets its bins on average, and one row fewer would not do.
    assert (n + 1e-6 * n) * share >= bins * k > (n - 1 - 1e-6 * n) * share
    if k > 2:
        fewer = binning_guarantee(int(np.ceil(bins * (k - 1) / share)), k - 1, alpha=alpha, delta=delta)
        assert error_of(fewer, kind) > error


@pytest.mark.parametrize("n_classes", [1, 3, 7, 10, 49, 93, 99, 100, 105])
def test_equal_shares_are_what_is_meant_where_none_is_given(n_classes):
    plan = samples_for_guarantee(0.1, n_classes=n_classes, bins_per_class=4)
    assert plan.n_samples == 4 * n_classes * plan.points_per_bin
    assert plan == samples_for_guarantee(0.1, n_classes=n_classes, bins_per_class=4, class_share=1 / n_classes)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: points_for_guarantee(0.1, kind="marginal", delta=0.1),
            "error must be a number, above 0.1 and at most 1",
        ),
        (
            lambda: points_for_guarantee(1.1, kind="marginal"),
            r"error must be a number, above 0 and at most 1; got 1\.1\. Pass a bound such as 0\.1\.$",
        ),
        (lambda: points_for_guarantee(0.1, delta=0.2), r"delta alone is an error of 0\.2, so take a larger error"),
        (lambda: points_for_guarantee(0.1, kind="conditional"), "n_samples must be given for the conditional bound"),
        (
            lambda: points_for_guarantee(0.1, kind="conditional", n_samples=100),
            r"within reach of the rows; got 0.1 \(conditional\) from 100 rows\. Take",
        ),
        (lambda: points_for_guarantee(0.5, n_samples=100, n_classes=60), "from 100 rows over 60 classes"),
        (lambda: points_for_guarantee(1e-9, kind="expected"), "any number of points"),
        (lambda: points_for_guarantee(0.1, kind="mean"), "kind must be one of 'marginal', .*, 'sharp-expected'; got"),
        (lambda: samples_for_guarantee(0.1, delta=0.2), "error must be a number, above 0.2"),
        (lambda: samples_for_guarantee(1e-9), "error must be further above delta"),
        (lambda: samples_for_guarantee(0.1, n_classes=4, class_share=0.3), "class_share must be at most 1 / n_classes"),
        (lambda: samples_for_guarantee(0.1, class_share=0.0), "class_share must be a number, above 0 and at most 1"),
        (lambda: samples_for_guarantee(0.1, bins_per_class=0), "bins_per_class must be a whole number, at least 1"),
    ],
)
def test_what_cannot_be_promised_is_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


# What was fitted


def rows_of(world, n=N, seed=0):
    """Labels and forecasts of a world: the predicted class has the score, the others share the rest."""
    label, score, right = world.draw(np.random.default_rng(seed), n)
    prob = np.repeat((1 - score)[:, None] / 2, 3, axis=1)
    prob[np.arange(n), label] = score
    return np.where(right, label, (label + 1) % 3), prob


def fit_top_label(n=N, seed=0, **options):
    y, prob = rows_of(twin.MIXED, n, seed)
    return ByNotion(HistogramBinning(**{"binning": PointsPerBin(K)} | options), "top-label").fit(prob, y)


def test_every_bin_of_every_class_is_listed_with_what_it_reports():
    fitted = fit_top_label(interior=True)
    found = fitted_guarantee(fitted)
    assert found.n_bins == found.count.size == sum(one.count_.size for one in fitted.calibrators_)
    for j, one in enumerate(fitted.calibrators_):
        mine = found.problem == f"predicted {j}"
        for name, theirs in [("value", one.value_), ("count", one.count_), ("lower_edge", one.edges_[:-1])]:
            np.testing.assert_array_equal(getattr(found, name)[mine], theirs)
    assert found.fewest == found.count.min() >= K - 1
    assert found.conditional_error == found.simultaneous_error.max()
    assert list(found.to_frame("pyarrow").to_pydict())[:3] == ["problem", "lower_edge", "upper_edge"]
    assert "bins, each estimated from at least" in str(found)
    with pytest.raises(ValueError, match="read-only"):
        found.error[0] = 0


@pytest.mark.parametrize("interior", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_bounds_and_intervals_are_what_their_definitions_say(interior, smoothing):
    rng = np.random.default_rng(1)
    score = rng.random(160)
    outcome = rng.random(160) < score
    fitted = HistogramBinning(EqualMass(8), interior=interior, smoothing=smoothing).fit(score, outcome)
    found = fitted_guarantee(fitted, alpha=0.2)
    for b in range(8):
        m = int(fitted.count_[b])
        here = (score > fitted.edges_[b]) & (score <= fitted.edges_[b + 1])
        inside = here & ((score != fitted.edges_[b + 1]) | (b == 7))
        rows, edge = int(inside.sum()), int(m - inside.sum())
        assert edge == (0 if interior or b == 7 else 1)
        each = [sqrt(np.log(2 / 0.2) / 2 / rows), sqrt(np.log(2 * 8 / 0.2) / 2 / rows), 0.5 / sqrt(rows)]
        bound = [(rows * one + edge) / m + smoothing / (m + 2 * smoothing) for one in each]
        assert [found.error[b], found.simultaneous_error[b], found.mean_error[b]] == pytest.approx(bound, rel=1e-12)
        events = int(outcome[here if edge else inside].sum())
        low = binomial.clopper_pearson(max(events - edge, 0), rows, 0.2 / 8)[0]
        high = binomial.clopper_pearson(min(events, rows), rows, 0.2 / 8)[1]
        assert (found.rate_low[b], found.rate_high[b]) == pytest.approx((low, high), abs=1e-9)


def test_a_shift_that_hides_the_number_of_events_widens_the_interval_to_all_that_it_may_have_been():
    score = (np.arange(40) + 0.5) / 40
    found = [
        fitted_guarantee(HistogramBinning(1, delta=delta).fit(score, score > 0.5)) for delta in (0.0, 1e-10, 0.05, 1.0)
    ]
    lows, highs = ([getattr(one, name)[0] for one in found] for name in ("rate_low", "rate_high"))
    assert lows[0] == lows[1] > lows[2] > lows[3] == 0
    assert highs[0] == highs[1] < highs[2] < highs[3] == 1
    assert found[2].marginal_error == pytest.approx(found[0].marginal_error + 0.05)


def without_classes(*classes, **options):
    """TL-HB of a sample that predicts all classes but these."""
    y, prob = rows_of(twin.MIXED)
    kept = ~np.isin(prob.argmax(axis=1), classes)
    fitted = ByNotion(HistogramBinning(PointsPerBin(K)), "top-label", labels=list("abc"), **options)
    with pytest.warns(CalibrationWarning, match="no calibration row"):
        return fitted.fit(prob[kept], np.array(list("abc"))[y[kept]])


@pytest.mark.parametrize(
    ("classes", "unseen"), [((2,), "identity"), ((0, 2), "identity"), ((2,), "pooled"), ((0, 2), "pooled")]
)
def test_a_class_that_is_never_predicted_has_no_guarantee_and_that_is_said(classes, unseen):
    fitted = without_classes(*classes, unseen=unseen)
    named = [f"predicted {'abc'[j]}" for j in classes]
    with pytest.warns(CalibrationWarning, match=f"no guarantee for {'; '.join(named)}: no calibration rows"):
        found = fitted_guarantee(fitted)
    assert found.without == tuple(named)
    assert set(found.problem).isdisjoint(named)
    assert found.n_bins == sum(fitted.calibrators_[j].count_.size for j in range(3) if j not in classes)
    assert f"no guarantee for {', '.join(named)}" in str(found)


def test_where_a_tie_parts_an_event_the_interval_holds_for_the_whole_numbers_around_it():
    score, label = [0.1, 0.2, 0.5, 0.5, 0.5, 0.7, 0.8, 0.9], [0, 1, 1, 0, 1, 0, 0, 1]
    fitted = HistogramBinning(PointsPerBin(4), interior=True).fit(score, label)
    assert fitted.value_[0] == pytest.approx((3 - 2 / 3) / 4)  # between two and three events in four rows
    found = fitted_guarantee(fitted, alpha=0.1)
    a = 0.1 / 2  # two bins
    assert found.rate_low[0] == pytest.approx(scipy.stats.beta.ppf(a / 2, 2, 3))
    assert found.rate_high[0] == pytest.approx(scipy.stats.beta.ppf(1 - a / 2, 4, 1))


def test_a_bin_without_rows_has_no_guarantee_and_that_is_said():
    fitted = HistogramBinning([0, 0.5, 0.6, 1]).fit([0.1, 0.2, 0.3, 0.7, 0.8], [0, 1, 0, 1, 0])
    with pytest.warns(CalibrationWarning, match=r"no guarantee for class 1, scores in \(0.5, 0.6\]"):
        found = fitted_guarantee(fitted)
    assert (found.error[1], found.rate_low[1], found.rate_high[1]) == (1, 0, 1)
    assert found.n_bins == 2
    assert found.fewest == 2


def test_class_wise_every_class_counts_and_normalised_rows_are_warned_of():
    y, prob = rows_of(twin.MIXED)
    raw, divided = (ByNotion(HistogramBinning(PointsPerBin(K)), normalize=n).fit(prob, y) for n in (False, True))
    found = fitted_guarantee(raw)
    assert found.n_bins == sum(one.count_.size for one in raw.calibrators_)
    with pytest.warns(CalibrationWarning, match="the bounds hold before that"):
        assert fitted_guarantee(divided).conditional_error == found.conditional_error


@pytest.mark.parametrize("binning", [Isotonic(), "isotonic", MonotonicSweep()])
def test_bins_that_depend_on_the_outcomes_are_refused(binning):
    score = np.linspace(0.01, 0.99, 60)
    with pytest.raises(
        ValueError, match=rf"bins must not depend on the outcomes, .*; got {re.escape(repr(binning))}\. Take"
    ):
        fitted_guarantee(HistogramBinning(binning).fit(score, score > 0.4))


@pytest.mark.parametrize("other", [IsotonicCalibration(), ByNotion(IsotonicCalibration()), None, 3])
def test_other_calibrators_have_no_such_guarantee(other):
    with pytest.raises(TypeError, match="calibrator must be a HistogramBinning, or ByNotion of one"):
        fitted_guarantee(other)


def test_of_whole_vectors_the_other_guarantee_is_named():
    y, prob = rows_of(twin.MIXED)
    with pytest.raises(TypeError, match="For cells of the simplex ask canonical_binning_guarantee"):
        fitted_guarantee(CanonicalBinning().fit(prob, y))


REFUSED = "calibrator must be fitted without weights, since the bounds count rows; got weighted rows of class (True|1)"


def interior_bins_of_five(weight):
    """Whole rates in the last bin, and inner ones of which no arithmetic can tell that weights made them."""
    score, occurred = np.arange(1, 41) / 41, np.array([0, 1] * 10 + [1] * 20)
    return HistogramBinning(PointsPerBin(5), interior=True).fit(score, occurred, sample_weight=weight)


@pytest.mark.parametrize("interior", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_weights_that_differ_are_refused_whatever_the_rates(seed, interior):
    rng = np.random.default_rng(seed)
    score, weight = np.sort(rng.random(60)), rng.choice([1.0, 2.0], 60)
    fitted = HistogramBinning(PointsPerBin(10), interior=interior).fit(score, score > 0.5, weight)
    with pytest.raises(ValueError, match=REFUSED):
        fitted_guarantee(fitted)


def test_a_saved_calibrator_knows_that_it_was_weighted(tmp_path):
    for name, weight in (("weighted", [1.5, 0.5] * 20), ("plain", None)):
        save_calibrator(interior_bins_of_five(weight), tmp_path / name)
    with pytest.raises(ValueError, match=REFUSED):
        fitted_guarantee(load_calibrator(tmp_path / "weighted"))
    assert fitted_guarantee(load_calibrator(tmp_path / "plain")).n_bins == 8


# The simplex


def test_of_two_classes_the_l1_bound_is_twice_that_of_one_probability():
    canonical, binary = canonical_binning_guarantee(49, 100, n_classes=2), binning_guarantee(5000, 50)
    assert canonical.marginal_error == pytest.approx(2 * binary.marginal_error, rel=1e-12)
    assert canonical.conditional_error == pytest.approx(2 * binary.conditional_error, rel=1e-12)
    assert canonical.expected_error == pytest.approx(2 * binary.sharp_expected_error, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 60, 2000])
def test_the_l1_bound_has_a_set_of_classes_for_each_event(n_classes):
    found = canonical_binning_guarantee(10**5, 27, n_classes=n_classes, alpha=0.05)
    sets = Fraction(2**n_classes - 2) * 27 * 20
    exact = np.log(float(sets / 2**n_classes)) + n_classes * np.log(2)
    assert found.conditional_error == pytest.approx(sqrt(2 * exact / 10**5), rel=1e-12)


def test_a_bound_on_the_simplex_is_at_most_two_and_reads_as_a_table():
    found = canonical_binning_guarantee(1, 10**9, n_classes=5000)
    assert found.marginal_error == found.conditional_error == found.expected_error == 2
    assert str(found).splitlines()[0] == "1000000000 bins of 5000 classes, 1 rows each"
    assert found.to_frame("pyarrow").to_pydict()["bound"] == [2, 2, 2]


@pytest.mark.parametrize("wrong", [{"points_per_bin": 0}, {"n_bins": 0}, {"n_classes": 1}, {"alpha": 0}])
def test_what_is_no_parameter_of_the_simplex_is_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        canonical_binning_guarantee(**{"points_per_bin": 10, "n_bins": 5, "n_classes": 3, "alpha": 0.1} | wrong)


@pytest.mark.parametrize("prob", [[0.5, 0.5], [1 / 3] * 3, [0.9, 0.05, 0.05], [0.25] * 4, [0.1] * 10], ids=len)
def test_the_rates_of_multinomial_bins_keep_the_l1_bounds(prob):
    m, n_bins = 60, 12
    drawn = np.random.default_rng(0).multinomial(m, prob, size=(DRAWS, n_bins)) / m
    error = np.abs(drawn - prob).sum(axis=2)
    found = canonical_binning_guarantee(m, n_bins, n_classes=len(prob), alpha=ALPHA)
    assert promised((error <= found.marginal_error).mean(axis=1))
    assert promised(error.max(axis=1) <= found.conditional_error)
    mean = error.mean(axis=1)
    assert mean.mean() <= found.expected_error + 3 * mean.std() / sqrt(DRAWS)
    if len(set(prob)) == 1:
        assert mean.mean() >= 0.75 * found.expected_error
        assert not promised(error.max(axis=1) <= found.conditional_error / 3)


# By simulation: what is promised is kept


def promised(kept):
    """Whether a rate over draws is at least 1 - alpha, but for three standard errors."""
    kept = np.asarray(kept, dtype=float)
    return kept.mean() >= 1 - ALPHA - 3 * sqrt(ALPHA * (1 - ALPHA) / kept.size)


@pytest.mark.first(1)
@pytest.mark.parametrize("interior", [True, pytest.param(False, marks=pytest.mark.deep)])
def test_the_bounds_and_intervals_of_fitted_bins_hold_together_as_often_as_promised(interior):
    world = twin.World((1.0,), (twin.WAVES,), (0.7,))
    rng, calibrator = np.random.default_rng(0), HistogramBinning(PointsPerBin(20), interior=interior, labels=[0, 1])
    kept = np.empty((DRAWS, 2))
    for i in range(DRAWS):
        _, score, right = world.draw(rng, 200)
        found = fitted_guarantee(calibrator.fit(score, right), alpha=ALPHA)
        u = world.reached(0, np.append(found.lower_edge, 1.0))
        true = np.diff(twin.WAVES.integral(u)) / np.diff(u)
        bounded = (np.abs(true - found.value) <= found.simultaneous_error).all()
        kept[i] = bounded, ((found.rate_low <= true) & (true <= found.rate_high)).all()
    assert promised(kept[:, 0])
    assert promised(kept[:, 1])
    assert kept[:, 1].mean() < 0.999  # the interval is no formality
