import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import multinomial as twin
from scipy.stats import dirichlet
from strategies import tables

from calibrant.calibrators.linear import DirichletCalibration, MatrixScaling

pytestmark = pytest.mark.filterwarnings("ignore:only the class")


@settings(max_examples=15)
@given(rows=tables(n_classes=st.integers(2, 3)), penalty=st.sampled_from([1e-3, 0.1]))
def test_no_other_matrix_has_a_lower_objective(rows, penalty):
    label, prob, weight = rows
    z = twin.log_of(prob)
    fitted = DirichletCalibration(
        diagonal=penalty, off_diagonal=penalty, intercept=penalty, labels=range(prob.shape[1])
    ).fit(prob, label, weight)
    penalties = (penalty, penalty, penalty, 0.0)
    found = twin.matrix_objective(z, label, weight, fitted.coef_, fitted.intercept_, *penalties)
    assert found <= twin.lowest_matrix(z, label, weight, *penalties)[0] + 1e-9


def of_dirichlets(n, alphas, seed=0):
    """Forecasts that follow one Dirichlet distribution a class, classes equally frequent, and their true probabilities."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, len(alphas), n)
    prob = np.array([rng.dirichlet(alphas[y]) for y in label])
    density = np.column_stack([dirichlet.pdf(prob.T, alpha) for alpha in alphas])
    return prob, label, density / density.sum(axis=1, keepdims=True)


def test_forecasts_from_dirichlet_distributions_are_calibrated():
    prob, label, truth = of_dirichlets(20_000, [[3.0, 1.5, 1.0], [1.0, 2.0, 1.2], [1.0, 1.0, 2.5]])
    fitted = DirichletCalibration(diagonal=0.0, off_diagonal=0.0, intercept=0.0).fit(prob, label).predict_proba(prob)
    assert np.abs(fitted - truth).max() < 0.05
    assert np.abs(fitted - truth).mean() < 0.01


def test_with_odir_it_is_matrix_scaling_number_for_number():
    prob, label, _ = of_dirichlets(500, [[3.0, 1.5, 1.0], [1.0, 2.0, 1.2], [1.0, 1.0, 2.5]])
    dirichlet, matrix = DirichletCalibration(diagonal=0.0).fit(prob, label), MatrixScaling().fit(prob, label)
    np.testing.assert_allclose(dirichlet.coef_, matrix.coef_, rtol=1e-9)
    np.testing.assert_allclose(dirichlet.intercept_, matrix.intercept_, rtol=1e-9, atol=1e-12)


def test_a_heavy_penalty_draws_to_the_uniform_forecast():
    prob, label, _ = of_dirichlets(500, [[3.0, 1.5, 1.0], [1.0, 2.0, 1.2], [1.0, 1.0, 2.5]])
    heavy = DirichletCalibration(diagonal=1e6, off_diagonal=1e6, intercept=1e6).fit(prob, label)
    np.testing.assert_allclose(heavy.predict_proba(prob), 1 / 3, atol=1e-4)


def test_odir_on_real_forecasts_has_the_published_figure(data_dir):
    with np.load(data_dir / "cifar10_lenet5.npz") as data:
        prob, label = data["P"].astype(float), data["y"]
    fitted = DirichletCalibration(diagonal=0.0).fit(prob[:5000], label[:5000])
    occurred = fitted.predict_proba(prob[5000:])[np.arange(5000), label[5000:]]
    assert -np.log(occurred).mean() == pytest.approx(1.31168, abs=2e-5)


def test_on_calibrated_predictions_the_default_tends_to_the_identity():
    def away(n, **options):
        rng = np.random.default_rng(0)
        prob = rng.dirichlet([0.6, 0.6, 0.6], n)
        label = (rng.random((n, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        return np.abs(DirichletCalibration(**options).fit(prob, label).predict_proba(prob) - prob).mean()

    few, more, most = (away(n) for n in (1_000, 10_000, 100_000))
    assert most < more < few
    assert most < 0.003
    # An L2 penalty draws to the uniform prediction, however many the rows.
    assert away(100_000, diagonal=0.1, off_diagonal=0.1, intercept=0.1) > 0.05


def test_the_default_has_no_penalty_on_the_diagonal():
    prob, label, _ = of_dirichlets(500, [[3.0, 1.5, 1.0], [1.0, 2.0, 1.2], [1.0, 1.0, 2.5]])
    default, odir, l2 = (DirichletCalibration(**o).fit(prob, label) for o in ({}, {"diagonal": 0.0}, {"diagonal": 1.0}))
    np.testing.assert_array_equal(default.coef_, odir.coef_)
    assert np.trace(l2.coef_) < np.trace(odir.coef_)
