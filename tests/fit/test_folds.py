"""Rows that are left out: which they are, and what cross-validation makes of equal ones."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import folds
from strategies import dirichlet_rows, tables

from calibrant._core.border import as_problem
from calibrant.exceptions import CalibrationWarning
from calibrant.fit.folds import folds_of, observed

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:the rows of a calibration set")


def found_folds(label, prob, weight=None):
    return list(folds_of(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))))


def left_out(*rows):
    """Weight left out by fold and row."""
    return np.array([fold.left_out for fold in found_folds(*rows)]).reshape(-1, len(rows[0]))


def tied_rows(n=1500, n_distinct=20, k=3):
    """A forecast as of a tree: few distinct rows, the rates of the 50 rows that each leaf was grown on."""
    rng = np.random.default_rng(0)
    rates = rng.dirichlet(np.full(k, 0.3), n_distinct)
    forecast = np.array([rng.multinomial(50, rate) for rate in rates]) / 50.0
    leaf = rng.integers(0, n_distinct, n)
    label = (rng.random((n, 1)) > rates[leaf].cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return label, forecast[leaf]


# Which rows are left out


@given(rows=tables(weights=st.one_of(st.integers(1, 13), st.sampled_from([0.1, 0.3, 1.5, 2.25, 7.5]))))
def test_rows_are_dealt_out_as_in_the_definition(rows):
    label, prob, weight = rows
    expected = folds.folds(prob.tolist(), label.tolist(), weight.tolist())
    np.testing.assert_allclose(left_out(*rows), np.reshape(expected, (-1, len(label))), rtol=1e-9)


@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3, 1e-3, 123.456])
def test_distinct_rows_of_one_weight_are_in_one_fold_as_they_are(weight):
    label, prob = drawn_rows(300, 5, 0)
    for fold in found_folds(label, prob, np.full(300, weight)):
        out = fold.left_out > 0
        assert (fold.kept[out] == 0).all()
        assert (fold.left_out[out] == weight).all()


# Copies of rows


def drawn_rows(n, k, seed, decimals=12):
    """A calibrated forecast, perhaps rounded."""
    label, prob = dirichlet_rows(n, k, seed)
    rounded = prob.round(decimals)
    rounded[:, -1] = 1.0 - rounded[:, :-1].sum(axis=1).round(decimals)
    return label, rounded


def observed_rows(label, prob, weight=None):
    return observed(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))


def rows_of(problem):
    order = np.lexsort([*problem.prob.T, problem.label])
    return problem.label[order], problem.prob[order], problem.weight[order]


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("decimals", [12, 2])
def test_rows_given_ten_times_or_with_weight_ten_are_the_rows_themselves(k, decimals):
    label, prob = drawn_rows(150, k, 0, decimals)
    expected = rows_of(observed_rows(*(np.repeat(part, 3, axis=0) for part in (label, prob))))
    assert expected[2].sum() == 150
    for copies in ((label, prob, np.full(150, 10.0)), (np.tile(label, 10), np.tile(prob, (10, 1)))):
        for found, part in zip(rows_of(observed_rows(*copies)), expected, strict=True):
            np.testing.assert_array_equal(found, part)


@pytest.mark.parametrize("k", [2, 5])
def test_rows_drawn_again_and_again_have_one_weight_each_and_are_in_one_fold(k):
    label, prob = drawn_rows(150, k, 0)
    drawn = np.random.default_rng(0).integers(0, 150, 1500)
    problem = observed_rows(label[drawn], prob[drawn])
    assert problem.size == np.unique(drawn).size == problem.weights.rows
    assert not problem.weights.are_counts
    number = np.bincount(drawn, minlength=150)
    np.testing.assert_allclose(np.sort(problem.weight), np.sort(number[number > 0] / 1500))
    out = left_out(label[drawn], prob[drawn])
    assert (out.max(axis=0) == 1).all()
    assert all(np.ptp(fold[drawn == i]) == 0 for fold in out for i in set(drawn.tolist()))


@pytest.mark.parametrize(
    "rows", [drawn_rows(5000, 2, 0, 2), drawn_rows(5000, 3, 0, 1), tied_rows(), drawn_rows(60, 3, 0)]
)
def test_rows_that_coincide_are_observations_each(rows):
    with warnings.catch_warnings(action="error"):
        assert observed_rows(*rows).size == len(rows[0])


def test_copies_are_warned_of_and_the_hint_ends_it():
    label, prob = drawn_rows(150, 3, 0)
    weight = np.random.default_rng(0).integers(5, 15, 150).astype(float)
    with pytest.warns(CalibrationWarning, match=r"1[34]\d\d rows are copies of 150"):
        found = observed_rows(label, prob, weight)
    with warnings.catch_warnings(action="error"):
        followed = observed_rows(label, prob, weight / weight.sum())
    np.testing.assert_allclose(rows_of(found)[2], rows_of(followed)[2])


# What is chosen where many rows are equal
