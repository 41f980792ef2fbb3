"""The equivalence test: is the error at most so much? Its derivative, its size at the bound, and its power below."""

from fractions import Fraction

import numpy as np
import pytest

from calibrant import equivalence_test
from calibrant._core.border import as_problem
from calibrant.binning import Isotonic, MonotonicSweep
from calibrant.metrics.estimate import Sizes
from calibrant.metrics.kinds import metric_named
from calibrant.significance.differences import _shifts_of


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def forecast(name, n, rng):
    """Scores, and the probabilities with which the event occurs."""
    if name == "over-confident":
        z = rng.normal(0, 1.5, n)
        return sigmoid(z), sigmoid(z / 1.35)
    score = rng.random(n)
    if name == "too high":
        return score, np.clip(score - 0.04, 0, 1)
    return score, np.where((score > 0.6) & (score <= 2 / 3), score - 0.45, score)  # one bin


def true_error(score, rate, metric):
    """The metric if each row counted with its true probability."""
    problem = as_problem(np.zeros(len(score), dtype=int), score)
    seen = metric_named(metric).residuals(problem)
    table = seen.cells()
    deviation = table.scale * np.bincount(table.of[:, 1], rate - score, table.weight.size)
    return float(seen.sizes(table)(deviation[None])[0])


# The derivative


@pytest.mark.parametrize(
    ("size", "derivative"),
    [
        (lambda d: np.abs(d).sum(axis=1), lambda d, n: np.where(d == 0, np.abs(n), np.sign(d) * n).sum(axis=1)),
        (lambda d: np.sqrt((d**2).sum(axis=1)), lambda d, n: n @ d / np.sqrt(d @ d)),
        (lambda d: np.abs(d).max(axis=1), lambda d, n: (np.sign(d) * n)[:, np.argmax(np.abs(d))]),
    ],
    ids=["l1", "l2", "max"],
)
def test_the_shift_is_the_derivative_of_the_size(size, derivative):
    rng = np.random.default_rng(0)
    direction, noise = np.append(rng.normal(size=6), 0.0), rng.normal(size=(20, 7))
    found = _shifts_of(Sizes(lambda d: [d], lambda seen: size(seen[0])), direction[None], noise)
    np.testing.assert_allclose(found[0], derivative(direction, noise), atol=1e-3)


def test_noise_of_which_a_draw_is_nothing_shifts_as_any_other():
    direction, noise = np.array([[1.0, -1.0]]), np.array([[0.0, 0.0], [0.3, 0.5]])
    found = _shifts_of(Sizes(lambda d: [d], lambda seen: np.abs(seen[0]).sum(axis=1)), direction, noise)
    np.testing.assert_allclose(found, [[0.0, 0.3 - 0.5]], atol=1e-3)


def test_without_deviations_noise_shifts_by_its_own_size():
    noise = np.array([[1.0, -2.0], [0.5, 0.0]])
    sizes = Sizes(lambda d: [d], lambda seen: np.abs(seen[0]).sum(axis=1))
    np.testing.assert_array_equal(_shifts_of(sizes, np.zeros((1, 2)), noise), [[3.0, 0.5]])


# Size and power


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("name", "metric"),
    [("over-confident", "ece"), ("too high", "ece"), ("too high", "ks-error"), ("one bin", "ece"), ("one bin", "mce")],
)
def test_an_error_at_the_bound_is_seldom_called_smaller(name, metric):
    """At the boundary of the null hypothesis: no more than the level and three standard errors."""
    rng, runs, n = np.random.default_rng(1), 40, 800
    called = 0
    for run in range(runs):
        score, rate = forecast(name, n, rng)
        y = rng.random(n) < rate
        found = equivalence_test(
            y, score, bound=true_error(score, rate, metric), metric=metric, n_resamples=100, rng=run
        )
        called += found.pvalue <= 0.05
    assert called / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_a_calibrated_forecast_of_many_rows_is_shown_to_be_calibrated():
    rng = np.random.default_rng(0)
    p = rng.random(30_000)
    found = equivalence_test(rng.random(30_000) < p, p, bound=0.02)
    assert found.pvalue < 0.01
    assert found.statistic < found.upper < 0.02


# What is returned


@pytest.mark.parametrize("metric", ["ece", "rmsce", "kuiper-error"])
@pytest.mark.parametrize("level", [0.05, 0.2])
def test_the_upper_limit_is_the_smallest_bound_that_is_accepted(metric, level):
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    y = rng.random(2000) < p
    upper = equivalence_test(y, p, metric=metric, level=level).upper
    assert equivalence_test(y, p, metric=metric, bound=upper * 1.02).pvalue <= level
    assert equivalence_test(y, p, metric=metric, bound=upper * 0.98).pvalue > level


def test_the_null_distribution_is_about_the_bound():
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    found = equivalence_test(rng.random(2000) < p, p, bound=0.1)
    assert found.alternative == "less"
    assert found.hypothesis == "ece is 0.1 or more (event: class True)"
    assert abs(found.null.values.mean() - 0.1) < 0.01
    assert found.pvalue == (1 + np.sum(found.null.values <= found.statistic)) / 1001


def test_a_frame_holds_the_bound_and_the_limit():
    found = equivalence_test([0, 1, 0, 1] * 50, [0.2, 0.8, 0.3, 0.7] * 50, bound=0.5, level=0.1, n_resamples=99)
    frame = found.to_frame("polars")
    assert frame.columns[:2] == ["test", "statistic"]
    assert frame.select("bound", "upper", "level").row(0) == (0.5, found.upper, 0.1)


@pytest.mark.parametrize("metric", ["smooth-ece", "e50"])
def test_a_size_that_is_no_norm_is_refused(metric):
    """The bandwidth of the smooth error follows its value, and a median is not convex."""
    p = np.random.default_rng(0).random(200)
    with pytest.raises(ValueError, match=f"metric must be a norm of the residuals: .*; {metric} is not"):
        equivalence_test(np.random.default_rng(1).random(200) < p, p, metric=metric)


REFUSED = [
    ({"metric": "brier"}, ValueError, "metric must be the size of residuals, .*; got 'brier'"),
    ({"metric": len}, TypeError, "metric must be the name of a calibration error"),
    (
        {"metric": "tce", "bound": 50},
        ValueError,
        "got 'tce', the percentage of predictions that tests reject.*no triangle",
    ),
    ({"metric": "tce", "binning": 10}, ValueError, "got 'tce', the percentage of predictions that tests reject"),
    ({"binning": Isotonic()}, ValueError, r"binning must cut scores without .*; got .*\. Pass a number of bins"),
    ({"binning": MonotonicSweep()}, ValueError, r"binning must cut scores without .*; got .*\. Pass a number of bins"),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_options_that_make_no_sense_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        equivalence_test([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], n_resamples=10, **options)


def test_bound_and_level_may_be_any_numbers():
    y, p = [0, 1, 1, 0, 1] * 20, [0.2, 0.7, 0.9, 0.3, 0.6] * 20
    asked = equivalence_test(y, p, bound=Fraction(1, 20), level=Fraction(1, 10), n_resamples=50)
    assert asked.pvalue == equivalence_test(y, p, bound=0.05, level=0.1, n_resamples=50).pvalue
