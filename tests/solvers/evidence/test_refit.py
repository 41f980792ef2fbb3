import numpy as np
import pytest

from calibrant.fit.evidence import TwoClasses, refitted


def test_second_derivatives_made_anew_lead_to_the_same_weights_in_fewer_steps():
    rng = np.random.default_rng(0)
    features, ridge = rng.normal(size=(400, 6)), np.full(6, 0.1)
    logit = TwoClasses(np.zeros(400), features, rng.logistic(size=400) < 1.2 * features.sum(axis=1), np.ones(400))
    near = logit.at(np.zeros(6)).curvature.with_ridge(ridge)
    slow, quick = (refitted(logit, np.zeros(6), ridge, near, 1e-16, renews=renews) for renews in (False, True))
    np.testing.assert_allclose(quick.point.x, slow.point.x, rtol=1e-5)
    assert quick.converged
    assert slow.converged
    assert quick.residual < 1e-6
    assert 2 * quick.n_iter < slow.n_iter
    assert quick.point.gradient == pytest.approx(quick.point.look.gradient + ridge * quick.point.x)
