import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mixtures

from calibrant.datasets import SurveyMixture, make_survey_forecast

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
    for label, (mean, variance) in enumerate(
        [(30, 960 / 2 + 1280 / 2 + 34**2), (-34, 980 / 2 + 1024 / 2 + 38**2), (0, third)]
    ):
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


def test_other_numbers_of_classes_are_refused():
    with pytest.raises(ValueError, match=r"must be 2 or 3; got 4.*make_softmax_forecast"):
        SurveyMixture(4)


def test_what_the_8_of_class_3_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"class_3 must be one of 'variance', 'standard deviation'; got 'sd'"):
        SurveyMixture(3, "sd")
    with pytest.raises(ValueError, match=r"of a third class.*n_classes=2\. Pass n_classes=3"):
        SurveyMixture(2, "standard deviation")


# The forecasts


@pytest.mark.parametrize("model", [*LOGISTIC, "bayes-optimal"])
def test_labels_come_as_often_as_the_posterior_and_the_calibrated_forecast_say(model):
    truth = make_survey_forecast(200_000, model=model, rng=2)
    for by, said in ((truth.x, truth.posterior), (truth.prob, truth.calibrated)):
        for rows in np.array_split(np.argsort(by), 20):
            assert abs(z_of(truth.y[rows], said[rows])) < 4.5


def test_labels_of_three_classes_come_as_often_as_the_posterior_says():
    truth = make_survey_forecast(100_000, model="bayes-optimal", n_classes=3, rng=3)
    assert truth.prob.sum(axis=1) == pytest.approx(1)
    for rows in np.array_split(np.argsort(truth.x), 10):
        for label in range(3):
            assert abs(z_of(truth.y[rows] == label, truth.posterior[rows, label])) < 4.5


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


def test_one_seed_is_one_forecast():
    one, same, other = (make_survey_forecast(20, rng=seed) for seed in (0, np.random.default_rng(0), 1))
    assert one.prob.tolist() == same.prob.tolist() != other.prob.tolist()


def test_what_the_survey_has_not_is_refused_with_a_hint():
    with pytest.raises(ValueError, match=r"model must be one of 'bayes-optimal'.*got 'svm'"):
        make_survey_forecast(10, model="svm")
    with pytest.raises(ValueError, match=r"speaks of two classes; got n_classes=3.*'bayes-optimal'"):
        make_survey_forecast(10, n_classes=3)


def test_bayes_rule_reads_the_eight_of_class_3_as_it_is_told():
    asked = {"n_classes": 3, "class_3": "standard deviation"}
    truth = make_survey_forecast(1000, model="bayes-optimal", rng=0, **asked)
    assert truth.prob.tolist() == SurveyMixture(3, "standard deviation").posterior(truth.x).tolist()
