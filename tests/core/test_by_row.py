"""One number a row, against the same over whole tables."""

import numpy as np
import pytest
from scipy.special import log_softmax

from calibrant._core import arrays as one_pass
from calibrant._core.rows import log_losses

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(one_pass, "BLOCK", 20)


def test_log_losses_of_logits_are_exact_near_zero_and_far_away():
    logit = np.vstack([RNG.normal(0, 20, (58, 4)), [50.0, 0, 0, 0], [-1e99, 1e99, 0, 0]])
    column = np.append(RNG.integers(0, 4, 58), [0, 0])
    expected = -log_softmax(logit, axis=1)[np.arange(60), column]
    np.testing.assert_allclose(log_losses(logit, column), expected, rtol=1e-14, atol=1e-16)
    assert (log_losses(logit, column) >= 0).all()
