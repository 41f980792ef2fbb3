"""The share of predictions that their bin rejects: the definition, by hand, of real forecasts, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from reference import binned, tce
from strategies import columns

from calibrant import EqualMass, calibration_error
from calibrant.binning import Isotonic
from calibrant.binning.isotonic import BoundedIsotonic
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.bin_losses import REJECTIONS, BinTest
from calibrant.metrics.binned import bin_test_calibration_error

each_test = pytest.mark.parametrize("test", ["binomial", "mid-p", "clopper-pearson", "t"])

TABLE = {
    "TCE": {"binning": BoundedIsotonic(), "loss": "binomial test"},
    "TCE(Q)": {"binning": EqualMass(10), "loss": "binomial test"},
    "TCE(V)": {"binning": Isotonic(), "loss": "binomial test"},
    "ECE": {"binning": 10},
    "ACE": {"binning": EqualMass(10)},
    "MCE": {"binning": 10, "norm": "max"},
    "MCE(Q)": {"binning": EqualMass(10), "norm": "max"},
}
"""The named points of the general calibration error of the paper."""

DOGS = {
    "alexnet": "42.736 43.792 33.452 0.006983 0.007014 0.149577 0.052784",
    "vgg19": "23.566 22.888 22.748 0.002808 0.002839 0.214757 0.024661",  # TCE(V) 22.728 where bins cut ties by position
    "resnet18": "29.934 31.778 26.526 0.004177 0.004181 0.236812 0.034993",
}
SIZES = {
    "alexnet": [10000, 9970, 10000, 6054, 2534, 2635, 2503, 2500, 3804],
    "vgg19": [10000, 10000, 5440, 10000, 2794, 2764, 2501, 2500, 4001],
    "resnet18": [10000, 9327, 10000, 3140, 6458, 2614, 2500, 2500, 3461],
}


@pytest.fixture(scope="session")
def dogs(data_dir):
    with np.load(data_dir / "imagenet_dogs.npz") as data:
        return {name: data[name] for name in data}


@each_test
@given(rows=columns())
def test_the_error_is_what_its_definition_says(test, rows):
    label, score, weight = rows
    bins = binned.equal_mass(3)(list(zip(score.tolist(), (label == 1).tolist(), weight.tolist(), strict=True)))
    found = bin_test_calibration_error(label, score, binning=EqualMass(3), test=test, level=0.3, sample_weight=weight)
    assert found == pytest.approx(tce.error(bins, test, 0.3), rel=1e-12)


@pytest.mark.parametrize("name", DOGS)
@pytest.mark.parametrize("point", TABLE)
def test_the_named_points_on_real_forecasts_have_the_published_digits(dogs, name, point):
    figure = DOGS[name].split()[list(TABLE).index(point)]
    value = calibration_error(dogs["y"], dogs[name], **TABLE[point])
    assert f"{value:.{len(figure.partition('.')[2])}f}" == figure


@pytest.mark.parametrize("name", SIZES)
def test_the_default_is_the_point_of_the_paper_over_its_bins(dogs, name):
    from calibrant import reliability_curve

    y, p = dogs["y"], dogs[name]
    assert bin_test_calibration_error(y, p) == calibration_error(y, p, **TABLE["TCE"])
    assert reliability_curve(y, p, binning=BoundedIsotonic()).panels[0].bins.count.tolist() == SIZES[name]


@pytest.mark.parametrize(("level", "figure"), [(0.001, "34.640"), (0.01, "40.022"), (0.1, "44.042")])
def test_other_levels_have_the_published_digits(dogs, level, figure):
    assert f"{bin_test_calibration_error(dogs['y'], dogs['alexnet'], level=level):.3f}" == figure


# Of t with the standard deviation over n - 1, as `ttest_1samp` has it. Over n the figures are 7.38, 11.15 and 3.55.
T_SIMULATION = {"binomial": "7.28333 10.88333 3.45000", "t": "7.35000 11.11667 3.50000"}


@pytest.mark.parametrize("test", T_SIMULATION)
def test_on_the_published_simulation_t_and_binomial_tests_agree(data_dir, test):
    """Divided by the variance, as in the authors' code, the t-test is another one."""
    with np.load(data_dir / "tce_simulation.npz") as data:
        y, p = data["50-50_y"], data["50-50_p"]
    for binning, figure in zip((BoundedIsotonic(), EqualMass(10), Isotonic()), T_SIMULATION[test].split(), strict=True):
        value = bin_test_calibration_error(y, p, binning=binning, test=test)
        assert f"{value:.{len(figure.partition('.')[2])}f}" == figure


@pytest.mark.parametrize(("word", "loss"), REJECTIONS.items())
def test_a_word_is_the_loss_at_five_percent(word, loss):
    y, p = [0] * 9 + [1], np.arange(1, 11) / 10
    assert loss.level == 0.05
    assert calibration_error(y, p, binning=1, loss=word) == calibration_error(y, p, binning=1, loss=loss)


def test_weights_that_are_no_counts_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight must hold whole numbers .* got fractions. Pass numbers of"):
        bin_test_calibration_error([0, 1], [0.2, 0.7], sample_weight=[1.0, 0.5])


@pytest.mark.parametrize("weight", [[1e16] * 5, [2.0**52, 2.0**52, 0.0, 0.0, 0.0]])
def test_weights_beyond_the_whole_numbers_of_floating_point_are_refused(weight):
    y, p = [0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9]
    with pytest.raises(ValueError, match=r"sample_weight must have a sum below 2\*\*53 where .*; got (5e|9.*e)\+1.\."):
        bin_test_calibration_error(y, p, binning=1, sample_weight=weight)


def test_weights_up_to_these_are_tested():
    assert bin_test_calibration_error(
        [0, 1], [0.1, 0.5], binning=1, sample_weight=[2.0**52, 2.0**52 - 2]
    ) == pytest.approx(50)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 5, float("nan")])
def test_a_level_that_is_no_fraction_is_refused(level):
    with pytest.raises(ValueError, match=r"level must be a number, above 0 and below 1; got"):
        BinTest(level=level)


def test_the_estimate_is_a_percentage_with_its_noise_floor():
    rng = np.random.default_rng(0)
    p = rng.random(1500)
    calibrated, shifted = rng.random(1500) < p, rng.random(1500) < p**2
    options = {"binning": EqualMass(15), "loss": "binomial test", "n_resamples": 99}
    fine, coarse = (estimate_calibration_error(y, p, **options) for y in (calibrated, shifted))
    assert fine.pvalue > 0.05
    assert coarse.pvalue == 0.01
    assert (fine.lower, fine.upper) == (None, None)
    with pytest.raises(ValueError, match=r"no interval is known to cover\. Compare with the noise floor"):
        _ = fine.interval
    assert coarse.value == calibration_error(shifted, p, binning=EqualMass(15), loss="binomial test") > 50.0
    assert coarse.noise_floor == pytest.approx(fine.noise_floor)
    assert fine.noise_floor > 5.0, "wide bins reject the predictions at their ends: not the level in percent"
