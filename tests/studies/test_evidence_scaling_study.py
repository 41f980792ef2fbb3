import numpy as np
import pytest

from calibrant.calibrators import evidence as pooling
from calibrant.calibrators import evidence_features as hyper_prior
from calibrant.calibrators import evidence_features as models
from calibrant.calibrators import evidence_features as standard
from calibrant.calibrators.evidence_features import groups_of
from studies.evidence_scaling import precisions
from studies.evidence_scaling.precisions import Found, Prior


def found(n_sets, of_each, constants, noise, seed=0):
    """Precisions that follow a line."""
    rng, made = np.random.default_rng(seed), []
    for number in range(n_sets):
        for _ in range(of_each):
            k, away = int(rng.integers(3, 20)), float(rng.uniform(0.0, 2.0))
            line = constants[0] + constants[1] * np.log(k / 6.0) + constants[2] * away + noise * rng.normal()
            rho = dict.fromkeys(groups_of(3), line)
            made.append(Found(f"set {number}", "m", k, away, 0.1, rho, dict.fromkeys(rho, 0.0)))
    return made


def test_the_regression_finds_the_line_that_precisions_follow():
    new = precisions.regression(found(20, 3, (3.0, 1.2, -0.7), 1.0), groups_of(3))
    np.testing.assert_allclose(new["mat"], (3.0, 1.2, -0.7, 1.0), atol=0.35)
    assert new["temp"] == groups_of(3)["temp"]
    assert list(new) == list(groups_of(3))
    exact = found(6, 2, (3.0, 1.2, -0.7), 0.0)
    one_mean, of_both, *_ = precisions.left_out_errors(exact, "mat")
    assert of_both < 1e-9 < 0.3 < one_mean


def test_the_stored_precisions_are_of_data_sets_for_design():
    stored = precisions.read()
    assert {one.data_set for one in stored} <= {one.name for one in precisions.out_of_fold.data_sets("design")}
    for of_two, normals in precisions.constants(stored).items():
        assert list(normals) == list(groups_of(2 if of_two else 3))
    prior = precisions.prior_with(groups_of(3), 12, 0.5)
    expected = hyper_prior.prior_of(groups_of(3), 12, np.exp(0.5))
    np.testing.assert_allclose(prior, Prior(*expected))


def of_today():
    return (pooling.PATH, pooling.PATH_OF_TWO, pooling.FOR_THE_MAP, standard.LEAST_BEFORE), models.prior_of


def fail_beside_others():
    constants, prior_of = of_today()
    with precisions.before(100, 3), precisions.prior(precisions.TODAY):
        others, other = of_today()
        raise ZeroDivisionError(constants[0] != others[0] and prior_of is not other)


def test_what_is_compared_is_put_back():
    before = of_today()
    with pytest.raises(ZeroDivisionError, match="True"):
        fail_beside_others()
    assert of_today() == before


def test_harm_and_change_are_means_over_data_sets():
    lines = [
        ["a", "network-deep", "2", "100", "0", "0.5", "0.4", "0.4", "0.3", "0.6"],
        ["a", "network-wide", "2", "100", "0", "0.5", "0.4", "0.4", "0.3", "0.3"],
        ["b", "network-deep", "2", "100", "0", "0.5", "0.4", "0.4", "0.3", "0.3"],
    ]
    cells = precisions.cells(lines)
    assert cells[0] == "2"
    assert cells[5] == "0.3750"
    assert cells[6].startswith("+75.00")
    assert cells[7:] == ["0", "25", "75", "75"]
