"""Data sets of known truth: the mixtures of the survey, softmax forecasts, toys, digits."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mixtures
from scipy.integrate import quad
from scipy.special import expit

from calibrant import datasets, load_digits_forecast
from calibrant.datasets import KnownTruth, SurveyMixture, make_softmax_forecast, make_survey_forecast

ORDER = {2: (2, 1), 3: (1, 2, 3)}  # the survey's class of each label
LOGISTIC = ["under-confident", "over-confident"]


def z_of(y, prob):
    """Standard score of the number of events under the probabilities."""
    return (y - prob).sum() / np.sqrt((prob * (1 - prob)).sum())


# The mixtures


@pytest.mark.parametrize("n_classes", [2, 3])
@given(x=st.lists(st.floats(-300, 300), min_size=1, max_size=5))
def test_the_posterior_is_bayes_rule_on_the_printed_densities(n_classes, x):
    mixture = SurveyMixture(n_classes)
    density = [[mixtures.density(v, cls) for cls in ORDER[n_classes]] for v in x]
    posterior = [mixtures.posterior(v, ORDER[n_classes]) for v in x]
    if n_classes == 2:
        posterior = [row[1] for row in posterior]
    np.testing.assert_allclose(np.exp(mixture.log_density(x)), density, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(mixture.posterior(x), posterior, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("far", [1e4, 1e200, np.inf])
def test_the_posterior_is_defined_arbitrarily_far_out(far):
    assert SurveyMixture().posterior([far, -far]).tolist() == [1, 1]  # class 1 has the widest Gaussian
    assert SurveyMixture(3).posterior([far, -far]).tolist() == [[1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(("class_3", "third"), [("variance", 8), ("standard deviation", 64)])
def test_the_second_number_of_a_gaussian_is_its_variance_but_of_the_third_class_as_asked(class_3, third):
    x, y = SurveyMixture(3, class_3).sample(200_000, rng=0)
    known = [(30, 960 / 2 + 1280 / 2 + 34**2), (-34, 980 / 2 + 1024 / 2 + 38**2), (0, third)]
    for label, (mean, variance) in enumerate(known):
        mine = x[y == label]
        assert mine.mean() == pytest.approx(mean, abs=5 * mine.std() / np.sqrt(mine.size))
        squares = (mine - mean) ** 2
        assert squares.mean() == pytest.approx(variance, abs=5 * squares.std() / np.sqrt(mine.size))


@pytest.mark.parametrize(("class_3", "highest"), [("variance", 0.908), ("standard deviation", 0.777)])
def test_the_highest_posterior_of_class_3_depends_on_what_its_8_is(class_3, highest):
    x = np.linspace(-30, 30, 60_001)
    assert SurveyMixture(3, class_3).posterior(x)[:, 2].max() == pytest.approx(highest, abs=5e-4)
    densities = [mixtures.density(0, cls) for cls in (1, 2)]
    third = 1 / np.sqrt(2 * np.pi * (8 if class_3 == "variance" else 64))
    at_0 = SurveyMixture(3, class_3).posterior([0.0])[0, 2]
    assert at_0 == pytest.approx(third / (third + sum(densities)), rel=1e-12)


# The forecasts


@pytest.mark.parametrize("model", [*LOGISTIC, "bayes-optimal"])
def test_labels_come_as_often_as_the_posterior_and_the_calibrated_forecast_say(model):
    truth = make_survey_forecast(200_000, model=model, rng=2)
    for by, said in ((truth.x, truth.posterior), (truth.prob, truth.calibrated)):
        for rows in np.array_split(np.argsort(by), 20):
            assert abs(z_of(truth.y[rows], said[rows])) < 4.5


@pytest.mark.parametrize("model", LOGISTIC)
def test_the_calibration_map_leads_from_the_forecast_to_what_is_calibrated(model):
    truth = make_survey_forecast(2000, model=model, rng=4)
    np.testing.assert_allclose(truth.calibration_map(truth.prob), truth.calibrated, rtol=1e-9)
    assert truth.calibration_map(truth.prob.tolist()).tolist() == truth.calibration_map(truth.prob).tolist()
    assert np.isfinite(truth.calibration_map([0.0, 0.5, 1.0])).all()


def test_bayes_rule_is_calibrated():
    truth = make_survey_forecast(100, model="bayes-optimal", rng=5)
    assert truth.prob.tolist() == truth.posterior.tolist() == truth.calibrated.tolist()
    assert truth.calibration_map([0.2, 0.7]).tolist() == [0.2, 0.7]


def test_the_under_confident_forecast_barely_leaves_the_range_from_a_tenth_to_nine_tenths():
    """So says the survey of its Fig. 12; were 960 a standard deviation, it would."""
    prob = make_survey_forecast(100_000, model="under-confident", rng=6).prob
    assert 0.10 < prob.min() < 0.13
    assert 0.87 < prob.max() < 0.91


def test_bayes_rule_reads_the_eight_of_class_3_as_it_is_told():
    asked = {"n_classes": 3, "class_3": "standard deviation"}
    truth = make_survey_forecast(1000, model="bayes-optimal", rng=0, **asked)
    assert truth.prob.tolist() == SurveyMixture(3, "standard deviation").posterior(truth.x).tolist()


# Softmax forecasts


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 1000.0])
def test_the_accuracy_of_two_classes_is_an_integral_over_their_difference(scale):
    """The difference of two standard normal logits has variance 2."""

    def integrand(d):
        return np.exp(-d * d / 4) / np.sqrt(np.pi) * expit(scale * d)

    expected = sum(quad(integrand, *ends, epsabs=1e-11)[0] for ends in ((0, 10 / scale), (10 / scale, 60)))
    assert datasets.bayes_accuracy(scale, 2) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("n_classes", [2, 10, 1000, 100_000])
def test_without_scale_the_accuracy_is_that_of_chance(n_classes):
    assert datasets.bayes_accuracy(0.0, n_classes) * n_classes == pytest.approx(1, abs=2e-5)


@pytest.mark.parametrize("accuracy", [0.501, 0.8, 0.9999])
@pytest.mark.parametrize("n_classes", [2, 3, 100])
def test_the_highest_posterior_has_the_mean_that_was_asked_for(n_classes, accuracy):
    top = make_softmax_forecast(20_000, n_classes, accuracy=accuracy, rng=0).posterior.max(axis=1)
    assert top.mean() == pytest.approx(accuracy, abs=4.5 * top.std() / np.sqrt(top.size))


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_labels_come_as_often_as_the_posterior_says(n_classes):
    truth = make_softmax_forecast(30_000, n_classes, rng=1)
    for label in range(n_classes):
        said = truth.posterior[:, label]
        for rows in np.array_split(np.argsort(said), 5):
            assert abs(z_of(truth.y[rows] == label, said[rows])) < 4.5


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
    monkeypatch.setattr(datasets, "NUMBERS_AT_A_TIME", 1 << 14)
    make_softmax_forecast(10, 64)  # the scale is found once
    tracemalloc.start()
    truth = make_softmax_forecast(1 << 14, 64, rng=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    result = truth.y.nbytes + truth.prob.nbytes + truth.posterior.nbytes
    assert peak < result + 12 * 8 * (1 << 14)


def test_a_row_may_be_longer_than_a_block(monkeypatch):
    monkeypatch.setattr(datasets, "NUMBERS_AT_A_TIME", 2)
    assert make_softmax_forecast(5, 3, rng=0).prob.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(
    "make", [lambda rng: make_softmax_forecast(20, 3, rng=rng), lambda rng: make_survey_forecast(20, rng=rng)]
)
def test_one_seed_is_one_forecast(make):
    one, same, other = map(make, (0, np.random.default_rng(0), 1))
    assert one.prob.tolist() == same.prob.tolist() != other.prob.tolist()


def softmax(**options):
    return make_softmax_forecast(10, **{"n_classes": 4} | options)


REFUSED = [
    (lambda: softmax(n_classes=10**30), "n_classes must be at most 1000000; got 10{30}"),
    (lambda: softmax(n_classes=1), "n_classes must be a whole number, at least 2; got 1"),
    (lambda: softmax(temperature=0.0), "temperature must be a number, above 0; got 0"),
    (lambda: softmax(temperature=np.inf), "temperature must be a number, above 0; got inf"),
    (lambda: softmax(accuracy=0.25), r"between 1 / n_classes = 0.25 and 1.*got 0.25"),
    (lambda: softmax(accuracy=1.0), r"got 1.0.*pass 0.8"),
    (lambda: softmax(accuracy=np.nan), "accuracy must be a number; got nan"),
    (lambda: SurveyMixture(4), r"must be 2 or 3; got 4.*make_softmax_forecast"),
    (lambda: SurveyMixture(3, "sd"), r"class_3 must be one of 'variance', 'standard deviation'; got 'sd'"),
    (lambda: SurveyMixture(2, "standard deviation"), r"of a third class.*n_classes=2\. Pass n_classes=3"),
    (lambda: make_survey_forecast(10, model="svm"), r"model must be one of 'bayes-optimal'.*got 'svm'"),
    (lambda: make_survey_forecast(10, n_classes=3), r"of two classes; got n_classes=3.*'bayes-optimal'"),
    (lambda: make_survey_forecast(0), "n must be a whole number, at least 1; got 0. Pass 1000"),
    (lambda: make_softmax_forecast(0, 3), "n must be a whole number, at least 1; got 0. Pass 1000"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_cannot_be_is_refused_with_a_hint(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("dtype", "name"), [("xyzzy", "xyzzy"), (np.int64, "int64")])
def test_of_other_types_there_is_no_forecast(dtype, name):
    with pytest.raises(TypeError, match=f"dtype must be float32 or float64; got {name}"):
        softmax(dtype=dtype)


# Toys and digits


def test_the_second_table_has_the_models_of_its_caption():
    toy = datasets.load_survey_table_2()
    x = toy.x
    forecast = np.column_stack([0.3 * x[:, 2], 0.1 * x[:, 1], 1 - 0.3 * x[:, 2] - 0.1 * x[:, 1]])
    np.testing.assert_allclose(toy.prob, forecast, atol=1e-15)
    assert np.bincount(toy.y).tolist() == [0, 4, 4, 2]


@pytest.mark.parametrize("given", ["x", "prob"])
def test_the_second_table_is_representative(given):
    """Mean outcomes of equal features are the posterior, those of equal forecasts the calibrated probabilities."""
    toy = datasets.load_survey_table_2()
    outcome, key = np.eye(3)[toy.y - 1], getattr(toy, given)
    expected = toy.posterior if given == "x" else toy.calibrated
    for value in np.unique(key, axis=0):
        same = (key == value).all(axis=1)
        np.testing.assert_allclose(expected[same], np.broadcast_to(outcome[same].mean(axis=0), (same.sum(), 3)))


def test_the_two_patients_are_representative_and_right_on_average_alone():
    toy = datasets.load_two_patients()
    outcome, predicted = np.eye(2)[toy.y - 1], toy.prob.argmax(axis=1)
    for patient, truth in ((0, 0.2), (1, 1.0)):
        same = toy.x == patient
        np.testing.assert_allclose(toy.posterior[same], [outcome[same].mean(axis=0)] * 5)
        assert np.unique(toy.prob[same], axis=0).shape == (1, 2)
        assert toy.posterior[same, predicted[same]] == pytest.approx([truth] * 5)
    assert (toy.y - 1 == predicted).mean() == pytest.approx(toy.prob.max())
    assert toy.calibrated is not None
    np.testing.assert_array_equal(toy.calibrated, toy.posterior)


def test_the_digits_are_a_table_of_probabilities():
    y, prob = load_digits_forecast()
    assert prob.shape == (len(y), 10) == (1497, 10)
    assert prob.sum(axis=1) == pytest.approx(1, abs=1e-3)
    assert set(y) == set(range(10))


# What a truth is made of


def test_the_frame_has_a_column_for_each_column_of_the_truth_and_none_of_what_has_no_closed_form():
    binary, table = make_survey_forecast(8, rng=0), make_softmax_forecast(8, 2, rng=0)
    assert binary.to_frame("polars").columns == ["y", "prob", "posterior", "calibrated", "x"]
    assert binary.to_frame("polars")["prob"].to_list() == binary.prob.tolist()
    of_two = [f"{what}_{j}" for what in ("prob", "posterior", "calibrated") for j in range(2)]
    assert table.to_frame("polars").columns == ["y", *of_two]
    plain = KnownTruth(np.array([0]), np.array([0.5]), np.array([0.5]))
    assert plain.to_frame("polars").columns == ["y", "prob", "posterior"]
