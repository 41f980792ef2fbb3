"""Errors measured anew on each draw of labels: the draws themselves, and what whole weights are where rows are counted."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, binomtest, ks_2samp
from strategies import uniform_rows

from calibrant import EqualMass, assess, calibration_error
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning import BoundedIsotonic, Isotonic
from calibrant.lenses import InBins
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.bin_losses import BinTest, NormOfBins
from calibrant.metrics.noise import error_through, redrawn, unwatched
from calibrant.notions import Notion, Part, WithinGroups, as_notion
from calibrant.significance import resampling_test
from calibrant.sums.draws import ConsistentLabels, as_rng

RNG = np.random.default_rng(11)
N, COPIES = 120, 6
GROUP = RNG.integers(0, 3, N)
P = np.round(RNG.random(N), 2)
Y = (RNG.random(N) < P).astype(int)
TABLE = RNG.dirichlet(np.ones(3), N)
LABEL = (RNG.random((N, 1)) > TABLE.cumsum(axis=1)).sum(axis=1)
BINARY, CLASSES = (Y, P), (LABEL, TABLE)


CASES = {
    "binary": (BINARY, lambda rows: {}),
    "within groups": (BINARY, lambda rows: {"notion": WithinGroups(GROUP[rows])}),
    "pair": (BINARY, lambda rows: {"y_pred": GROUP[rows] % 2, "notion": "top-label"}),
    "confidence": (CLASSES, lambda rows: {}),
    "class-wise": (CLASSES, lambda rows: {"notion": "class-wise"}),
    "flattened": (CLASSES, lambda rows: {"notion": "flattened"}),
}
each_case = pytest.mark.parametrize("case", CASES)


# Labels


@pytest.mark.parametrize("binning", [BoundedIsotonic(), Isotonic(), EqualMass(5)])
@each_case
def test_a_draw_is_the_error_of_the_labels_that_were_drawn(case, binning):
    (y, p), options_of = CASES[case]
    options = options_of(np.arange(N))
    problem = as_problem(y, p, y_pred=options.get("y_pred"))
    simplex, notion = as_simplex(problem), as_notion(options.get("notion"), problem)

    def of(problem, notion):
        return error_through(problem, notion, InBins(binning), NormOfBins(BinTest()))

    labels = ConsistentLabels(simplex.prob, 10, as_rng(0))
    expected = [of(replace(simplex, label=label), notion) for label in labels]
    found = redrawn(of, simplex, notion, 10, as_rng(0), unwatched)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len(set(expected)) > 1


class OneColumnAfterTheOther(Notion):
    """A notion from outside, which knows rows by their places."""

    name = "one column after the other"

    def parts(self, prob, names=None):
        yield Part(slice(None), np.arange(len(prob)) % 2, self.name)


def test_rows_of_a_notion_from_outside_stay_in_their_places():
    seen = []

    def of(problem, notion):
        seen.append(problem.prob)
        return 0.0

    simplex = as_simplex(as_problem(Y, P))
    redrawn(of, simplex, OneColumnAfterTheOther(), 1, as_rng(0), unwatched)
    np.testing.assert_array_equal(seen[0], simplex.prob)


def test_a_loss_that_is_a_function_sees_rows_of_other_weights_move_as_one():
    """Weights that are no numbers of rows: the outcomes of a bin of one row are all alike."""
    options = {"binning": 1000, "loss": lambda problem, bins: bins.event_rate * (1 - bins.event_rate)}
    found = estimate_calibration_error(Y, P, sample_weight=np.full(N, 1.5), **options)
    assert found == estimate_calibration_error(Y, P, **options)


# Weights


def null(y, p, loss, seed, weight=None, y_pred=None, notion=None):
    problem = as_problem(y, p, sample_weight=weight, y_pred=y_pred)
    chosen = as_notion(notion, problem)

    def of(problem, notion):
        return error_through(problem, notion, InBins(EqualMass(4)), NormOfBins(loss))

    return of(problem, chosen), redrawn(of, as_simplex(problem), chosen, 300, as_rng(seed), unwatched)


@pytest.mark.first(2)
@pytest.mark.parametrize("loss", [BinTest(), BinTest("t")], ids=["binomial", "t"])
@each_case
def test_the_draws_of_whole_weights_have_the_distribution_of_those_of_repeated_rows(case, loss):
    (y, p), options_of = CASES[case]
    weight = np.random.default_rng(2).integers(1, 2 * COPIES, N)
    rows = np.repeat(np.arange(N), weight)
    value, drawn = null(y, p, loss, 1, weight, **options_of(np.arange(N)))
    expected, repeated = null(y[rows], p[rows], loss, 2, **options_of(rows))
    assert value == pytest.approx(expected, rel=1e-12)
    assert ks_2samp(drawn, repeated).pvalue > 1e-3


def test_the_equal_rows_of_a_weight_each_draw_a_label():
    """One prediction for five rows: the probability of the counts that reject it, four standard errors."""
    expected = sum(binom.pmf(k, 5, 0.3) for k in range(6) if binomtest(k, 5, 0.3).pvalue <= 0.2)
    assert 0.1 < expected < 0.2
    found = estimate_calibration_error([0], [0.3], sample_weight=[5], loss=BinTest(level=0.2), n_resamples=3000)
    assert abs(found.noise_floor / 100 - expected) < 4 * np.sqrt(expected * (1 - expected) / 3000)


# The range


def test_the_range_of_a_gap_is_one():
    y, p = [0] * 6, np.arange(90, 96) / 100
    found = estimate_calibration_error(y, p, binning=Isotonic(), n_resamples=99)
    assert found.value + found.noise_floor > 1.0
    assert found.upper == 1.0


def test_the_range_of_a_function_is_not_known():
    y, p = [1, 0] * 20, [0.1, 0.9] * 20
    half = BinTest(level=0.5)
    found = estimate_calibration_error(y, p, binning=2, n_resamples=99, loss=lambda problem, bins: half(problem, bins))
    assert found.upper > found.value == 100.0


@pytest.mark.parametrize("options", [{}, {"norm": lambda values, weights: float(values @ weights)}, {"across": "max"}])
@pytest.mark.parametrize("level", [0.05, 0.9])
def test_a_share_of_rejections_has_a_floor_and_no_interval(options, level):
    y, p = uniform_rows(60, power=2.0)
    found = estimate_calibration_error(y, p, binning=4, loss=BinTest(level=level), n_resamples=49, **options)
    assert found.value == calibration_error(y, p, binning=4, loss=BinTest(level=level), **options)
    assert (found.lower, found.upper) == (None, None)
    with pytest.raises(ValueError, match=r"no interval is known to cover\. Compare with the noise floor"):
        _ = found.interval
    assert 0.0 <= found.noise_floor <= 100.0
    assert 0.02 <= found.pvalue <= 1.0


def test_no_labels_are_drawn_of_2_to_the_63_equal_rows():
    """Also products of fractions and of a large number are whole: such weights are no numbers of rows."""
    prob, label = np.full((2, 3), 1 / 3), [0, 1]
    found = resampling_test(label, prob, metric="brier", n_resamples=2, sample_weight=[2.0**62, 1.0])
    assert np.isfinite(found.statistic)
    message = r"sample_weight must be below 2\*\*63 where .*; got 9.22337e\+18. Divide the weights by their largest"
    with pytest.raises(ValueError, match=message):
        resampling_test(label, prob, metric="brier", n_resamples=2, sample_weight=[1.0, 2.0**63])


# Bins of few rows


def over_confident(rng, n=30):
    z = 2 * rng.normal(size=n)
    score, rate = expit(z), expit(z / 2)
    return (rng.random(n) < rate).astype(int), score, rate


def test_both_classes_of_an_event_have_the_interval_of_the_event():
    """Each of their bins holds the rows of one of the event: what is drawn in the two depends on each other."""
    y, score, _ = over_confident(np.random.default_rng(2))
    of_event, of_both = (
        estimate_calibration_error(y, score, notion=notion, binning=EqualMass(15), n_resamples=2000)
        for notion in ("binary", "class-wise")
    )
    assert of_both.value == pytest.approx(of_event.value)
    assert (of_both.lower, of_both.upper) == pytest.approx((of_event.lower, of_event.upper), rel=0.1)


def test_the_lower_end_of_bins_of_few_rows_is_seldom_above_the_truth():
    rng, above = np.random.default_rng(0), 0
    for _ in range(60):
        y, score, rate = over_confident(rng)
        found = assess(y, score, metrics=["tace"], n_resamples=100)["tace"]
        off, is_high = np.abs(score - rate), score >= 0.5
        above += found.lower > (off[is_high].mean() + off[~is_high].mean()) / 2
    assert above <= 9
