"""One number a row, against the same over whole tables."""

import numpy as np
import pytest
from scipy.special import log_softmax

from calibrant._core import arrays as one_pass
from calibrant._core.rows import entry, log_losses, sum_of_squares, top_column

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(one_pass, "BLOCK", 20)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_each_is_that_of_the_whole_table(n_classes, kind, order):
    table = RNG.dirichlet(np.ones(n_classes), 60).astype(kind)
    table[::7] = 1 / n_classes  # ties
    table = np.repeat(table, 2, axis=0)[::2] if order == "strided" else np.array(table, order=order)
    column, rows = RNG.integers(0, n_classes, 60), np.arange(60)
    np.testing.assert_array_equal(top_column(table), table.argmax(axis=1))
    np.testing.assert_array_equal(entry(table, column), table[rows, column])
    double = table.astype(np.float64)
    np.testing.assert_allclose(sum_of_squares(table), (double**2).sum(axis=1), rtol=1e-14)
    assert sum_of_squares(table).dtype == entry(table, column).dtype == np.float64


def test_log_losses_of_logits_are_exact_near_zero_and_far_away():
    logit = np.vstack([RNG.normal(0, 20, (58, 4)), [50.0, 0, 0, 0], [-1e99, 1e99, 0, 0]])
    column = np.append(RNG.integers(0, 4, 58), [0, 0])
    expected = -log_softmax(logit, axis=1)[np.arange(60), column]
    np.testing.assert_allclose(log_losses(logit, column), expected, rtol=1e-14, atol=1e-16)
    assert (log_losses(logit, column) >= 0).all()
