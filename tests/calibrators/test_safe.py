"""A calibrator made safe: pooled with the forecast by what held-out rows say."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import safe as twin
from scipy.special import softmax
from strategies import dirichlet_rows, tables

from calibrant import ByNotion, IsotonicCalibration, SafeCalibrator, TemperatureScaling
from calibrant._core.border import as_problem
from calibrant._core.rows import Forecast
from calibrant.calibrators import EvidenceScaling, MulticlassCalibrator
from calibrant.calibrators.safe import folds, in_order, pool
from calibrant.exceptions import CalibrationWarning
from calibrant.fit.folds import observed

# Drawn rows may all be of one class, or be no reason for a temperature; that this is said is a test of their own.
pytestmark = pytest.mark.filterwarnings(
    "ignore:only the class",
    "ignore:no calibration row",
    "ignore:the rows of a calibration set",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


BY_CLASS = ByNotion(IsotonicCalibration(), "class-wise")


class Event(MulticlassCalibrator):
    """A candidate that forecasts the smoothed class frequencies, whatever it is shown; notes what it was fitted on."""

    fits = []  # noqa: RUF012

    def _fit(self, problem):
        self.rate_ = np.bincount(problem.label, problem.weight, minlength=problem.prob.shape[1]) + 0.5
        self.rate_ /= self.rate_.sum()
        Event.fits.append(problem.weight.copy())

    def _apply(self, forecast):
        return np.tile(self.rate_, (len(forecast.values), 1))


def drawn(n, k=3, power=1.0, seed=0):
    """Forecasts that are right at power 1, over-confident above."""
    return dirichlet_rows(n, k, seed, power=power)


def held_out_rows(safe, label, prob, weight):
    """Rows that the candidates had not seen, with their forecasts, by the folds of ``safe`` and public fits."""
    k = prob.shape[1]
    problem, counts = in_order(observed(as_problem(label, prob, sample_weight=weight, labels=range(k))))
    rng = np.random.default_rng(np.random.RandomState(safe.random_state).randint(2**31 - 1))
    rows = []
    for held in folds(counts, safe.n_folds, rng):
        train, test = (problem.weighted(problem.weight / counts * part) for part in (counts - held, held))
        candidate = safe.calibrator.set_params(labels=range(k)).fit(train.prob, train.label, train.weight)
        c = candidate.predict_proba(test.prob)
        rows += zip(test.prob.tolist(), c.tolist(), test.label.tolist(), test.weight.tolist(), strict=True)
    return rows


# The weight is what its definition says


@pytest.mark.parametrize(("caution", "share"), [(0.0, 0.3), (1.0, 0.0)])
@given(rows=tables(min_rows=8))
def test_the_weight_is_the_one_that_a_search_finds_and_losses_are_those_of_held_out_rows(caution, share, rows):
    label, prob, weight = rows
    safe = SafeCalibrator(Event(), caution=caution, least_share=share, n_folds=3, labels=range(prob.shape[1]))
    safe.fit(prob, label, weight)
    held_out = held_out_rows(safe, label, prob, weight)
    charge = caution * safe.standard_error_
    assert safe.standard_error_ == pytest.approx(twin.standard_error(held_out), rel=1e-9, abs=1e-12)
    best = twin.best_weight(held_out, caution)
    ours, theirs = (twin.mean_log_loss(held_out, w) + charge * w for w in (safe.weight_, best))
    assert ours <= theirs + 1e-9
    found = [safe.identity_loss_, safe.candidate_loss_, safe.pooled_loss_]
    expected = [twin.mean_log_loss(held_out, *w) for w in ((0.0,), (1.0,), (safe.weight_, share))]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@given(rows=tables(min_rows=1, n_classes=st.just(3)), share=st.floats(0.0, 1.0))
def test_the_pool_is_the_normalised_product_of_powers(rows, share):
    _, prob, _ = rows
    candidate = np.roll(prob, 1, axis=1)
    expected = [twin.pool(p, c, share) for p, c in zip(prob.tolist(), candidate.tolist(), strict=True)]
    np.testing.assert_allclose(pool(Forecast(prob), candidate, share), expected, rtol=1e-9, atol=1e-15)


# The map


def test_a_candidate_gets_all_or_none_of_its_weight_by_the_gain_on_held_out_rows():
    label, prob = drawn(300, power=2.0)
    plain = SafeCalibrator(caution=0.0).fit(prob, label)
    gain = 300 * (plain.identity_loss_ - plain.pooled_loss_)
    assert plain.weight_ > 0.0
    assert SafeCalibrator(caution=0.0, least_gain=0.99 * gain).fit(prob, label).weight_ == plain.weight_
    assert SafeCalibrator(caution=0.0, least_gain=1.01 * gain).fit(prob, label).weight_ == 0.0


def test_evidence_scaling_brings_its_own_caution():
    label, prob = drawn(150, power=1.5, seed=3)
    options = {}, {"caution": 0.0, "least_gain": 2.0, "least_share": 0.005}
    own, said = (SafeCalibrator(EvidenceScaling(), **one).fit(prob, label) for one in options)
    assert (own.weight_, own.share_) == (said.weight_, said.share_) > (0.0, 0.0)
    assert SafeCalibrator(EvidenceScaling(), caution=9.0).fit(prob, label).weight_ < own.weight_


@pytest.mark.parametrize(("share", "least_gain"), [(0.0, 0.0), (0.25, 0.0), (0.25, 1e9)])
def test_the_map_is_the_pool_with_the_candidate_of_all_rows_and_a_share_of_it(share, least_gain):
    label, prob = drawn(500, power=3.0)
    safe = SafeCalibrator(BY_CLASS, least_share=share, least_gain=least_gain).fit(prob, label)
    candidate = ByNotion(IsotonicCalibration(), "class-wise").fit(prob, label).predict_proba(prob)
    pooled = [twin.pool(p, c, safe.weight_) for p, c in zip(prob.tolist(), candidate.tolist(), strict=True)]
    assert (safe.weight_ > 0.0) == (least_gain == 0.0)
    np.testing.assert_allclose(
        safe.predict_proba(prob), (1.0 - share) * np.array(pooled) + share * candidate, rtol=1e-9
    )
    np.testing.assert_allclose(safe.calibrator_.predict_proba(prob), candidate, rtol=1e-12)


class Talkative(TemperatureScaling):
    """Says something of its own when it is fitted on six rows."""

    def _fit_problem(self, problem):
        if problem.weight.sum() == 6:
            warnings.warn("rows are few", UserWarning, stacklevel=2)
        super()._fit_problem(problem)


def test_what_else_the_candidate_says_is_said_whether_or_not_it_comes_in():
    right = np.array([[0.55, 0.45], [0.45, 0.55]] * 3)
    with pytest.warns(UserWarning, match="^rows are few$"):
        assert SafeCalibrator(Talkative(), caution=50.0).fit(right, [0, 1] * 3).weight_ == 0.0


def test_a_share_spares_a_forecast_that_is_certain_and_wrong_and_costs_no_more_than_its_logarithm():
    """Fifty rows are all right: they are no reason for a weight, and the share does what the prior of the candidate says."""
    prob = np.tile([[1e-12, 1.0 - 1e-12], [1.0 - 1e-12, 1e-12]], (25, 1))
    safe = SafeCalibrator(EvidenceScaling()).fit(prob, np.tile([1, 0], 25))
    assert safe.weight_ == 0.0
    of_wrong, of_right = safe.predict_proba(prob[:1])[0]
    assert of_wrong > 1e-6
    assert of_right > (1.0 - 0.005) * prob[0, 1]


# Folds


@given(counts=st.lists(st.integers(1, 6), min_size=1, max_size=30), n_folds=st.integers(2, 7), seed=st.integers(0, 99))
def test_each_row_is_in_one_fold_and_folds_are_of_one_size(counts, n_folds, seed):
    counts = np.array(counts)
    parts = np.array(list(folds(counts, n_folds, np.random.default_rng(seed))))
    np.testing.assert_array_equal(parts.sum(axis=0), counts)
    assert parts.min() >= 0
    sizes = parts.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1


def test_copies_that_rounding_alone_tells_apart_are_equal_rows():
    """As a classifier makes them: the product of a row with its weights is rounded by where the row stands in the table."""
    rng = np.random.default_rng(1)
    prob = rng.dirichlet(np.ones(3), 60)
    label, counts = np.array([rng.choice(3, p=p) for p in softmax(2.0 * prob, axis=1)]), rng.integers(1, 4, 60)
    copies = np.nextafter(prob.repeat(counts, axis=0), rng.choice([0.0, 1.0], (counts.sum(), 3)))
    once = SafeCalibrator(caution=0.0).fit(prob, label, counts)
    assert 0.0 < once.weight_ < 1.0 or once.calibrator_.temperature_ != 1.0
    repeated = SafeCalibrator(caution=0.0).fit(copies, label.repeat(counts))
    np.testing.assert_allclose(repeated.predict_proba(prob), once.predict_proba(prob), rtol=1e-9)
    assert repeated.candidate_loss_ == pytest.approx(once.candidate_loss_, rel=1e-12)


def test_whole_weights_are_rows_that_are_dealt_out_and_others_stay_together():
    event = np.linspace(0.1, 0.9, 10)
    prob, label = np.repeat(np.stack([1.0 - event, event], axis=1), 2, axis=0), np.tile([0, 1], 10)
    count = np.rint(53 * prob[np.arange(20), label])  # of each score both labels: these are 530 rows
    Event.fits = []
    SafeCalibrator(Event()).fit(prob, label, count)
    *parts, _ = Event.fits
    assert all(len(weight) == 20 and weight.sum() == 0.8 * count.sum() for weight in parts)
    Event.fits = []
    SafeCalibrator(Event()).fit(prob, label, np.full(20, 10.5))
    *parts, _ = Event.fits
    assert all(weight.tolist() == [10.5] * 16 for weight in parts)


# Any calibrator, any input


def test_logits_reach_the_candidate_as_logits():
    logit, label = np.random.default_rng(0).normal(0, 3, (300, 3)), drawn(300)[0]
    as_logit = SafeCalibrator(input="logit").fit(logit, label)
    assert as_logit.calibrator_.input == "logit"
    as_prob = SafeCalibrator().fit(softmax(logit, axis=1), label)
    # The order of rows, and so the folds, depend on the numbers that are given; the candidate of all rows does not.
    assert as_logit.calibrator_.temperature_ == pytest.approx(as_prob.calibrator_.temperature_, rel=1e-6)


# Degenerate data have a defined answer


@pytest.mark.parametrize("n", [1, 2, 4])
def test_fewer_rows_than_folds_change_nothing_and_are_told_of(n):
    label, prob = drawn(n)
    with pytest.warns(CalibrationWarning, match=f"row for each of the 5 folds of n_folds; got {n}: the forecast is"):
        safe = SafeCalibrator(labels=range(3)).fit(prob, label)
    assert safe.weight_ == 0.0
    assert np.isnan(safe.pooled_loss_)
    np.testing.assert_allclose(safe.predict_proba(prob), prob, rtol=1e-15)


def test_a_candidate_equal_to_the_forecast_has_no_weight():
    label, _ = drawn(60)
    uniform = np.full((60, 3), 1 / 3)
    safe = SafeCalibrator().fit(uniform, label)
    assert (safe.weight_, safe.standard_error_) == (0.0, 0.0)
