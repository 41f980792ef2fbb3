"""What was tried in place of parts of evidence scaling is what it is called."""

from dataclasses import replace

import numpy as np
import pytest

from calibrant import log_loss
from calibrant.calibrators import EvidenceScaling
from calibrant.calibrators import evidence as evidence_scaling
from calibrant.fit.evidence import refitted
from studies.evidence_scaling import tried


def drawn(n, k):
    rng = np.random.default_rng(k)
    prob = rng.dirichlet(np.full(k, 0.8), n)
    sure = prob**2 / (prob**2).sum(axis=1, keepdims=True)
    return sure, (prob.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, k - 1)


@pytest.mark.parametrize("k", [2, 3])
def test_leave_one_out_is_nearly_that_of_fits_without_each_row(k, monkeypatch):
    seen, folds_pool = [], evidence_scaling.folds_pool

    def kept(model, evidence, problem):
        seen.append((model, evidence))
        return folds_pool(model, evidence, problem)

    monkeypatch.setattr(evidence_scaling, "folds_pool", kept)
    prob, y = drawn(250, k)
    EvidenceScaling(pool="folds").fit(prob, y)
    ((model, evidence),) = seen
    ridge = np.exp(evidence.rho)[model.group]
    near = evidence.look.curvature.with_ridge(ridge)
    at = refitted(model.logit, evidence.w, ridge, near, 1e-12, renews=True).point.x
    found, expected = tried.left_out(model.logit, at, ridge), []
    for row in range(30):
        others = replace(model.logit, weight=np.where(np.arange(250) == row, 0.0, model.logit.weight))
        w = refitted(others, at, ridge, near, 1e-12, renews=True).point.x
        expected.append(model.logit.at(w).of_true[row])
    here = model.logit.at(at).of_true[:30]
    assert np.abs(found[:30] - expected).max() < 0.1 * np.abs(here - expected).max()


@pytest.mark.parametrize("k", [2, 3])
def test_each_variant_changes_the_fit_and_leaves_nothing_behind(k):
    prob, y = drawn(300, k)

    def loss():
        return log_loss(y, EvidenceScaling(pool="folds").fit(prob, y).predict_proba(prob))

    as_it_is = loss()
    for name, changed in tried.variants(k == 2).items():
        with changed():
            assert loss() != as_it_is, name
        assert loss() == as_it_is, name
