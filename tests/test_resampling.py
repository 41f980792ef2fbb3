import numpy as np
import pytest
from scipy.stats import chisquare

from calibrant.resampling import MOST_GROUPS, Bootstrap, as_rng, consistent_labels


def z_of_mean(sample, expected):
    return (sample.mean() - expected) / (sample.std(ddof=1) / np.sqrt(sample.size))


@pytest.mark.parametrize("n", [40, MOST_GROUPS, 3 * MOST_GROUPS])
def test_the_mean_of_bootstrap_sums_is_the_sum(n):
    rng = np.random.default_rng(0)
    values, cell = rng.normal(size=n), rng.integers(0, 3, n)
    sums = Bootstrap(n, 4000, rng).sums(values, cell, 3)
    for j in range(3):
        assert abs(z_of_mean(sums[:, j], values[cell == j].sum())) < 4


@pytest.mark.parametrize("n", [40, MOST_GROUPS])
def test_the_variance_of_bootstrap_sums_is_that_of_resampling_rows(n):
    """Of n rows drawn with replacement: n times the variance. The relative error of a variance is sqrt(2 / resamples)."""
    rng = np.random.default_rng(1)
    values, resamples = rng.normal(size=n), 20_000
    totals = Bootstrap(n, resamples, rng).totals(values)
    assert abs(totals.var() / (n * values.var()) - 1) < 4 * np.sqrt(2 / resamples)


def test_groups_keep_the_variance_of_rows():
    """Beyond MOST_GROUPS the variance is right over groupings: its own relative error adds sqrt(2 / groups)."""
    n, resamples = 20 * MOST_GROUPS, 4000
    rng = np.random.default_rng(2)
    values = rng.exponential(size=n)
    totals = Bootstrap(n, resamples, rng).totals(values)
    assert abs(totals.var() / (n * values.var()) - 1) < 4 * np.sqrt(2 / resamples + 2 / MOST_GROUPS)


def test_sums_over_all_cells_are_the_totals():
    rng = np.random.default_rng(3)
    values, cell = rng.normal(size=500), rng.integers(0, 7, 500)
    bootstrap = Bootstrap(500, 20, rng)
    np.testing.assert_allclose(bootstrap.sums(values, cell, 7).sum(axis=1), bootstrap.totals(values), rtol=1e-9)


def test_sums_over_some_rows_are_those_of_the_others_set_to_zero():
    rng = np.random.default_rng(4)
    values, cell, rows = rng.normal(size=300), rng.integers(0, 2, 300), np.arange(0, 300, 3)
    bootstrap = Bootstrap(300, 20, rng)
    alone = np.where(np.isin(np.arange(300), rows), values, 0.0)
    np.testing.assert_allclose(
        bootstrap.sums(values[rows], cell[rows], 2, rows), bootstrap.sums(alone, cell, 2), rtol=1e-9, atol=1e-12
    )


def test_every_resample_has_as_many_rows():
    totals = Bootstrap(250, 30, np.random.default_rng(5)).totals(np.ones(250))
    np.testing.assert_array_equal(totals, np.full(30, 250.0))


def test_drawn_labels_come_as_often_as_foretold():
    prob = np.tile([[0.1, 0.0, 0.6, 0.3]], (5000, 1))
    labels = np.concatenate(list(consistent_labels(prob, 4, np.random.default_rng(6))))
    count = np.bincount(labels, minlength=4)
    assert count[1] == 0
    assert chisquare(count[[0, 2, 3]], 20_000 * prob[0, [0, 2, 3]]).pvalue > 1e-3


def test_each_row_is_drawn_from_its_own_forecast():
    prob = np.eye(5)[[3, 0, 4, 2, 1, 1]]
    for labels in consistent_labels(prob, 50, np.random.default_rng(7)):
        assert labels.tolist() == [3, 0, 4, 2, 1, 1]


def test_rows_that_sum_nearly_to_one_are_drawn_within_the_columns():
    prob = np.array([[0.3, 0.3, 0.3999], [0.3, 0.3, 0.4001]] * 500)
    for labels in consistent_labels(prob, 20, np.random.default_rng(8)):
        assert labels.min() >= 0
        assert labels.max() <= 2


def test_a_seed_makes_the_same_draws():
    prob = np.full((50, 2), 0.5)
    first, second = (np.array(list(consistent_labels(prob, 3, as_rng(9)))) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(0)
    assert as_rng(rng) is rng
