from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import near_isotonic as twin
from strategies import columns, scores

from calibrant._core.border import as_problem
from calibrant.calibrators import isotonic as near_isotonic_path
from calibrant.calibrators.isotonic import EnsembleNearIsotonic, NearIsotonicCalibration, NearIsotonicPath

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]), st.floats(0.01, 3.0))


def wavy(n, seed=0):
    """Labels of a score that does not rise everywhere with their rate."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return (rng.random(n) < 0.1 + 0.8 * score + 0.1 * np.sin(12 * score)).astype(int), score


def test_rates_that_rounding_moved_beyond_0_and_1_are_put_there():
    path = NearIsotonicPath.of(as_problem([0, 1, 1], [0.1, 0.5, 0.7]))
    rounded = replace(path, events=path.events + np.array([-1e-16, 1e-15]))
    assert rounded.fit(0.0).value.tolist() == [0.0, 1.0]


@given(rows=columns(max_rows=40))
def test_the_map_is_the_average_over_the_whole_path(rows):
    label, score, weight = rows
    distinct, mass, events = twin.points(score.tolist(), label.tolist(), weight.tolist())
    expected, weights = twin.ensemble(mass, events)
    fitted = EnsembleNearIsotonic(finite=None).fit(score, label, weight)
    np.testing.assert_allclose(fitted.calibrate(distinct), expected, atol=1e-9)
    assert sorted(fitted.weight_)[::-1] == pytest.approx(sorted(weights)[::-1][: fitted.weight_.size], abs=1e-9)


@pytest.mark.parametrize("n", [300, 3000])
def test_few_fits_are_looked_at_and_the_others_weigh_no_more_than_is_said(n):
    label, score = wavy(n)
    path = NearIsotonicPath.of(as_problem(label, score))
    fitted = EnsembleNearIsotonic(finite=None).fit(score, label)
    bic = np.array([path.bic(knot) for knot in path.knots])
    weight = np.exp(0.5 * (bic.min() - bic))
    left_out = weight[~np.isin(path.knots, fitted.penalty_)].sum() / weight.sum()
    assert 0 < left_out <= fitted.left_out_ <= 1e-13
    assert fitted.penalty_.size < 0.7 * path.knots.size
    np.testing.assert_allclose(fitted.weight_, weight[np.isin(path.knots, fitted.penalty_)] / weight.sum(), rtol=1e-9)


@given(rows=columns(weights=any_weights), new=st.lists(scores, min_size=1, max_size=10))
def test_the_map_is_the_weighted_sum_of_its_fits(rows, new):
    label, score, weight = rows
    fitted = EnsembleNearIsotonic(finite=None).fit(score, label, weight)
    fits = [
        NearIsotonicCalibration(penalty=penalty, finite=None).fit(score, label, weight).calibrate(new)
        for penalty in fitted.penalty_.tolist()
    ]
    np.testing.assert_allclose(fitted.calibrate(new), fitted.weight_ @ fits, atol=1e-12)


def test_joins_at_one_penalty_are_one_fit():
    # Labels that alternate: blocks of one row all join at a penalty of one half.
    fitted = EnsembleNearIsotonic(finite=None).fit(np.linspace(0.1, 0.9, 12), [1, 0] * 6)
    assert fitted.penalty_.tolist() == [0.0, 0.5]
    odds = np.exp(0.5 * (12 * np.log(12)) - 0.5 * (2 * 12 * np.log(2) + np.log(12)))
    assert fitted.weight_[1] / fitted.weight_[0] == pytest.approx(odds)


def test_a_long_path_takes_few_likelihoods(monkeypatch):
    label, score = wavy(20_000)
    asked, bic = [], near_isotonic_path.NearIsotonicPath.bic
    monkeypatch.setattr(NearIsotonicPath, "bic", lambda self, penalty: asked.append(penalty) or bic(self, penalty))
    fitted = EnsembleNearIsotonic(finite=None).fit(score, label)
    assert len(asked) == fitted.penalty_.size < 100
