import numpy as np
import pytest

from calibrant.fit import evidence as precisions
from calibrant.fit.evidence import Prior, TwoClasses, most_evident, refitted

GROUP = np.array([0, 1, 1, 1, 1, 1])
PRIOR = Prior(np.array([1.0, 2.0]), np.array([3.0, 3.0]))


def logit_of(n, strength, seed=0):
    """A logistic regression of which the first feature counts, and the others as much as told."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 6))
    score = features @ np.append(1.0, np.full(5, strength))
    return TwoClasses(np.zeros(n), features, rng.logistic(size=n) < score, np.ones(n))


def test_groups_that_matter_get_more_room():
    without, with_others = (most_evident(logit_of(800, strength), GROUP, PRIOR) for strength in (0.0, 0.7))
    assert without.rho[1] > with_others.rho[1] + 1.0
    assert without.determined[1] < 4.5 < with_others.determined[1] <= 5.0
    assert without.determined[0] > 0.9


def test_no_other_precisions_have_more_evidence(monkeypatch):
    """Laplace's approximation at the best weights for each pair of precisions, and the prior of these."""
    for name in ("LAST_CHANGE", "LAST_LOSS", "LAST_GAIN"):
        monkeypatch.setattr(precisions, name, 1e-12)
    logit = logit_of(300, 0.2)
    found = most_evident(logit, GROUP, PRIOR)

    def log_posterior(rho):
        ridge = np.exp(rho)[GROUP]
        near = found.look.curvature.with_ridge(ridge)
        best = refitted(logit, found.w, ridge, near, 1e-12).point
        log_det = best.look.curvature.with_ridge(ridge).log_det
        return (
            -best.value
            + 0.5 * np.log(ridge).sum()
            - 0.5 * log_det
            - 0.5 * (((rho - PRIOR.mean) / PRIOR.spread) ** 2).sum()
        )

    highest = log_posterior(found.rho)
    # MacKay's update takes the Hessian for fixed: the maximum is missed by what that leaves out.
    assert all(log_posterior(found.rho + change) < highest + 1e-3 for change in np.vstack([np.eye(2), -np.eye(2)]))
    assert found.log_evidence == pytest.approx(
        highest + 0.5 * (((found.rho - PRIOR.mean) / PRIOR.spread) ** 2).sum(), abs=1e-6
    )


def test_a_start_from_few_rows_leads_to_the_same_end(monkeypatch):
    logit = logit_of(4000, 0.2)
    once = most_evident(logit, GROUP, PRIOR)
    monkeypatch.setattr(precisions, "MANY", 1)
    again = most_evident(logit, GROUP, PRIOR)
    assert abs(once.rho - again.rho).max() < 0.15
    assert once.log_evidence == pytest.approx(again.log_evidence, abs=0.1)
    np.testing.assert_allclose(once.w, again.w, atol=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_precisions_settle_where_rows_are_few_and_separated(seed):
    """Without the wait for weights, and without a bound on steps, such a fit can cycle."""
    rng = np.random.default_rng(seed)
    features = 6.0 * rng.normal(size=(30, 6))
    logit = TwoClasses(4.0 * rng.normal(size=30), features, features[:, 0] > 0, np.ones(30))
    found = most_evident(logit, GROUP, Prior(np.array([-2.0, -2.0]), np.array([2.0, 2.0])))
    assert found.n_iter < precisions.MOST_OUTER
    assert np.isfinite(found.log_evidence)
