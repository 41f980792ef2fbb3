"""Draws: bootstrap sums, labels that follow a forecast, sources of randomness, and laws of a Brownian motion."""

import numpy as np
import pytest
from reference import brownian as reference
from scipy.stats import chisquare, norm

from calibrant import assess, corp_curve, decision_curve
from calibrant._core.rows import Weights
from calibrant.datasets import SurveyMixture, make_softmax_forecast
from calibrant.significance import resampling_test
from calibrant.significance.of_forecast import LARGEST_DISTANCE, RANGE
from calibrant.sums import draws
from calibrant.sums.draws import MOST_GROUPS, SPLIT, Bootstrap, ConsistentLabels, as_rng


def z_of_mean(sample, expected):
    return (sample.mean() - expected) / (sample.std(ddof=1) / np.sqrt(sample.size))


@pytest.mark.parametrize("n", [40, MOST_GROUPS, 3 * MOST_GROUPS])
def test_the_mean_of_bootstrap_sums_is_the_sum(n):
    rng = np.random.default_rng(0)
    values = rng.normal(size=n)
    assert abs(z_of_mean(Bootstrap(Weights.one_each(n), 4000, rng).sums(values), values.sum())) < 4


@pytest.mark.parametrize(("n", "groups"), [(40, np.inf), (MOST_GROUPS, np.inf), (20 * MOST_GROUPS, MOST_GROUPS)])
def test_the_variance_of_bootstrap_sums_is_that_of_resampling_rows(n, groups):
    """Of n rows drawn with replacement: n times the variance. The relative error of a variance is sqrt(2 / resamples).

    Beyond MOST_GROUPS the variance is right over groupings: its own relative error adds sqrt(2 / groups).
    """
    rng = np.random.default_rng(1)
    values, resamples = rng.exponential(size=n), 4000
    sums = Bootstrap(Weights.one_each(n), resamples, rng).sums(values)
    assert abs(sums.var() / (n * values.var()) - 1) < 4 * np.sqrt(2 / resamples + 2 / groups)


def test_what_moves_in_groups_is_what_moves_in_sums_of_rows():
    rng = np.random.default_rng(3)
    values, bootstrap = rng.normal(size=(500, 2)), Bootstrap(Weights.one_each(500), 20, rng)
    groups = np.stack([np.bincount(bootstrap.group, column, bootstrap.n_groups) for column in values.T], axis=1)
    expected = np.stack([bootstrap.sums(column) for column in values.T], axis=1)
    np.testing.assert_allclose(bootstrap.moved(groups) + values.sum(axis=0), expected, rtol=1e-9)


@pytest.mark.parametrize("most", [10**9, 0], ids=["one by one", "in groups"])
def test_copies_are_drawn_one_by_one(monkeypatch, most):
    """The variance of a sum over N rows drawn with replacement is N times that of one, within four standard errors."""
    monkeypatch.setattr(draws, "MOST_NUMBERS", most)
    rng, n, resamples = np.random.default_rng(6), 3000, 2000
    values, times = rng.normal(size=n), rng.integers(1, 30, n).astype(float)
    values -= values @ times / times.sum()
    sums = Bootstrap(Weights(times), resamples, rng).sums(values * times)
    assert abs(z_of_mean(sums, 0.0)) < 4
    assert abs(sums.var() / (times @ values**2) - 1) < 4 * np.sqrt(2 / resamples + 2 * (most == 0) / MOST_GROUPS)


def test_groups_are_as_equal_as_they_can_be_and_every_resample_has_as_many_rows():
    sizes = np.bincount(Bootstrap(Weights.one_each(2 * MOST_GROUPS + 7), 1, np.random.default_rng(4)).group)
    assert sorted(set(sizes.tolist())) == [2, 3]
    assert len(sizes) == MOST_GROUPS
    drawn = Bootstrap(Weights.one_each(250), 30, np.random.default_rng(5)).sums(np.ones(250))
    np.testing.assert_array_equal(drawn, np.full(30, 250.0))


@pytest.fixture(params=["plain", "compiled"])
def path(request, monkeypatch):
    """Both ways of drawing: what is claimed holds of each."""
    if request.param == "compiled":
        monkeypatch.setattr(draws, "KERNEL_PAYS_FROM", 0)


@pytest.mark.usefixtures("path")
def test_drawn_labels_come_as_often_as_foretold():
    prob = np.tile([[0.1, 0.0, 0.6, 0.3]], (5000, 1))
    labels = np.concatenate(list(ConsistentLabels(prob, 4, np.random.default_rng(6))))
    count = np.bincount(labels, minlength=4)
    assert count[1] == 0
    assert chisquare(count[[0, 2, 3]], 20_000 * prob[0, [0, 2, 3]]).pvalue > 1e-3


@pytest.mark.usefixtures("path")
def test_each_row_is_drawn_from_its_own_forecast():
    prob = np.eye(5)[[3, 0, 4, 2, 1, 1]]
    found = list(ConsistentLabels(prob, 50, np.random.default_rng(7)))
    assert [labels.tolist() for labels in found] == [[3, 0, 4, 2, 1, 1]] * 50


@pytest.mark.usefixtures("path")
def test_a_draw_on_the_edge_goes_to_the_class_above_it():
    labels = ConsistentLabels(np.array([[0.0, 0.25, 0.75]] * 3), 1, np.random.default_rng(0))
    u, cumulative = np.array([[0.0, 0.25, np.nextafter(0.25, 0)]]), labels.prob.cumsum(axis=1)
    assert labels._labels(cumulative, u).tolist() == [[1, 2, 1]]


@pytest.mark.usefixtures("path")
def test_rows_that_sum_nearly_to_one_are_drawn_within_the_columns():
    prob = np.array([[0.3, 0.3, 0.3999], [0.3, 0.3, 0.4001]] * 500)
    for labels in ConsistentLabels(prob, 20, np.random.default_rng(8)):
        assert labels.min() >= 0
        assert labels.max() <= 2


def test_sums_at_are_the_weights_of_the_labels_in_each_cell():
    cell = np.array([[0, -1], [1, 0], [-1, 1], [2, 2]], dtype=np.int32)
    weight, drawn = np.array([1.0, 2.0, 4.0, 8.0]), np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    labels = ConsistentLabels(np.full((4, 2), 0.5), 2, np.random.default_rng(9))
    assert labels.sums_at(cell, drawn, weight, 4).tolist() == [[3.0, 0.0, 8.0, 0.0], [0.0, 6.0, 8.0, 0.0]]
    counted = ConsistentLabels(np.full((4, 2), 0.5), 2, np.random.default_rng(9), times=weight)
    of_each = weight[None, :, None] * (drawn[:, :, None] == np.arange(2))
    assert counted.sums_at(cell, of_each, weight, 4).tolist() == [[3.0, 0.0, 8.0, 0.0], [0.0, 6.0, 8.0, 0.0]]


def test_of_equal_rows_all_get_a_label_and_each_as_often_as_foretold():
    prob, times = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]]), np.array([40.0, 7.0])
    counts = np.array(list(ConsistentLabels(prob, 4000, np.random.default_rng(3), times)))
    assert (counts.sum(axis=2) == times).all()
    assert (counts[:, 1] == [0, 7, 0]).all()
    assert (np.abs(counts[:, 0].mean(axis=0) - 40 * prob[0]) < 4 * np.sqrt(40 * prob[0] * (1 - prob[0]) / 4000)).all()


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(0)
    assert as_rng(rng) is rng


Y, P = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]
SEEDED = {
    "as_rng": as_rng,
    "assess": lambda rng: assess(Y, P, rng=rng),
    "corp_curve": lambda rng: corp_curve(Y, P, rng=rng),
    "resampling_test": lambda rng: resampling_test(Y, P, metric="ece", rng=rng),
    "decision_curve": lambda rng: decision_curve(Y, P, rng=rng),
    "softmax forecast": lambda rng: make_softmax_forecast(5, 3, rng=rng),
    "mixture": lambda rng: SurveyMixture().sample(5, rng=rng),
}


@pytest.mark.parametrize(("rng", "error"), [("a", TypeError), (True, TypeError), (0.5, TypeError), (-1, ValueError)])
@pytest.mark.parametrize("function", SEEDED.values(), ids=SEEDED)
def test_what_is_no_source_of_randomness_is_refused(function, rng, error):
    with pytest.raises(error, match=rf"rng must be a whole number, at least 0; got {rng!r}\. Pass a seed such as 0, a"):
        function(rng)


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_a_seed_does_not_repeat_the_numbers_that_a_user_makes_data_with(seed):
    ours, theirs = as_rng(seed).random(5), np.random.default_rng(seed).random(5)
    assert not np.isin(ours, theirs).any()
    np.testing.assert_array_equal(as_rng(seed).random(5), ours)


# Brownian motion


GRID = np.array([0.06, 0.2, 0.5, 0.8, 1.0, 1.2, SPLIT, 1.3, 1.6, 2.0, 3.0, 4.5])


@pytest.mark.parametrize("x", GRID[2:])
def test_the_law_of_the_distance_is_that_of_paths_between_two_walls(x):
    assert 1.0 - LARGEST_DISTANCE.sf(x) == pytest.approx(reference.distance_at_most(x), abs=1e-12)


@pytest.mark.parametrize("r", [0.9, 1.2, 1.5, 2.0, 2.5, 3.5])
def test_the_law_of_the_range_is_that_of_paths_between_walls_anywhere(r):
    assert 1.0 - RANGE.sf(r) == pytest.approx(reference.range_at_most(r), abs=3e-8)


@pytest.mark.parametrize("law", [LARGEST_DISTANCE, RANGE], ids=["distance", "range"])
def test_the_survival_function_falls_from_one_to_zero(law):
    x = np.concatenate([[0.0, 1e-300, 1e-3], np.linspace(0.01, 40, 4000), [np.inf]])
    survival = law.sf(x)
    assert survival[0] == 1.0
    assert survival[-1] == 0.0
    assert (np.diff(survival) <= 1e-15).all()


def test_far_tails_keep_their_relative_accuracy():
    """Far out a path that goes so far goes there on one side: 4 and 8 times the normal tail."""
    assert LARGEST_DISTANCE.sf(9.0) == pytest.approx(4 * norm.sf(9.0), rel=1e-12)
    assert RANGE.sf(9.0) == pytest.approx(8 * norm.sf(9.0), rel=1e-12)
