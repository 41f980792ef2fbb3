import tracemalloc

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from calibrant import datasets as synthetic
from calibrant.datasets import make_softmax_forecast


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 1000.0])
def test_the_accuracy_of_two_classes_is_an_integral_over_their_difference(scale):
    """The difference of two standard normal logits has variance 2."""

    def integrand(d):
        return np.exp(-d * d / 4) / np.sqrt(np.pi) * expit(scale * d)

    expected = sum(quad(integrand, *ends, epsabs=1e-11)[0] for ends in ((0, 10 / scale), (10 / scale, 60)))
    assert synthetic.bayes_accuracy(scale, 2) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("n_classes", [2, 10, 1000, 100_000])
def test_without_scale_the_accuracy_is_that_of_chance(n_classes):
    assert synthetic.bayes_accuracy(0.0, n_classes) * n_classes == pytest.approx(1, abs=2e-5)


@pytest.mark.parametrize("accuracy", [0.501, 0.8, 0.9999])
@pytest.mark.parametrize("n_classes", [2, 3, 100])
def test_the_highest_posterior_has_the_mean_that_was_asked_for(n_classes, accuracy):
    top = make_softmax_forecast(20_000, n_classes, accuracy=accuracy, rng=0).posterior.max(axis=1)
    assert top.mean() == pytest.approx(accuracy, abs=4.5 * top.std() / np.sqrt(top.size))


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_labels_come_as_often_as_the_posterior_says(n_classes):
    truth = make_softmax_forecast(30_000, n_classes, rng=1)
    for label in range(n_classes):
        said, occurred = truth.posterior[:, label], truth.y == label
        for rows in np.array_split(np.argsort(said), 5):
            variance = (said[rows] * (1 - said[rows])).sum()
            assert abs((occurred[rows] - said[rows]).sum()) < 4.5 * np.sqrt(variance) + 1e-9


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.5, 3.0])
def test_the_temperature_is_the_one_that_calibrates(temperature):
    truth = make_softmax_forecast(3000, 5, temperature=temperature, rng=2)
    np.testing.assert_allclose(truth.calibration_map(truth.prob), truth.posterior, atol=1e-12)
    assert truth.calibrated.tolist() == truth.posterior.tolist()
    sureness = truth.prob.max(axis=1).mean() - truth.posterior.max(axis=1).mean()
    assert np.sign(np.round(sureness, 12)) == np.sign(temperature - 1.0)


def test_impossible_stays_impossible_under_the_calibration_map():
    truth = make_softmax_forecast(1, 3, rng=0)
    np.testing.assert_allclose(truth.calibration_map([[0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]), [[0, 0.5, 0.5], [0, 0, 1]])


def test_single_precision_is_the_same_forecast():
    double, single = (make_softmax_forecast(500, 7, dtype=dtype, rng=4) for dtype in (np.float64, np.float32))
    assert single.prob.dtype == single.posterior.dtype == np.float32
    assert single.y.tolist() == double.y.tolist()
    np.testing.assert_allclose(single.prob, double.prob, atol=1e-7)


def test_memory_beside_the_result_is_a_few_blocks(monkeypatch):
    monkeypatch.setattr(synthetic, "NUMBERS_AT_A_TIME", 1 << 14)
    make_softmax_forecast(10, 64)  # the scale is found once
    tracemalloc.start()
    truth = make_softmax_forecast(1 << 14, 64, rng=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    result = truth.y.nbytes + truth.prob.nbytes + truth.posterior.nbytes
    assert peak < result + 12 * 8 * (1 << 14)


def test_a_row_may_be_longer_than_a_block(monkeypatch):
    monkeypatch.setattr(synthetic, "NUMBERS_AT_A_TIME", 2)
    truth = make_softmax_forecast(5, 3, rng=0)
    assert truth.prob.sum(axis=1) == pytest.approx(1)


def test_one_seed_is_one_forecast():
    one, same, other = (make_softmax_forecast(20, 3, rng=seed) for seed in (0, np.random.default_rng(0), 1))
    assert one.prob.tolist() == same.prob.tolist() != other.prob.tolist()


REFUSED = [
    ({"n_classes": 10**30}, ValueError, "n_classes must be at most 1000000; got 10{30}"),
    ({"dtype": "xyzzy"}, TypeError, "dtype must be float32 or float64; got xyzzy"),
    ({"n_classes": 1}, ValueError, "n_classes must be a whole number, at least 2; got 1"),
    ({"temperature": 0.0}, ValueError, "temperature must be a number, above 0; got 0"),
    ({"temperature": np.inf}, ValueError, "temperature must be a number, above 0; got inf"),
    ({"accuracy": 0.25}, ValueError, r"between 1 / n_classes = 0.25 and 1.*got 0.25"),
    ({"accuracy": 1.0}, ValueError, r"got 1.0.*pass 0.8"),
    ({"accuracy": np.nan}, ValueError, "accuracy must be a number; got nan"),
    ({"dtype": np.int64}, TypeError, "float32 or float64; got int64"),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_what_cannot_be_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        make_softmax_forecast(10, **{"n_classes": 4} | options)
