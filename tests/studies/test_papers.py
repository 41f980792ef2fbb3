"""What the studies of the papers count, draw and print, without the files of others: the verdicts are in test_verdicts.py."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from calibrant import bin_test_calibration_error, expected_calibration_error, top_label_calibration_error
from calibrant.binning import BoundedIsotonic
from calibrant.datasets import SurveyMixture
from studies.na_isotonic import alternatives, claims, claims_methods, claims_printed, networks
from studies.na_isotonic import forecasts as fc
from studies.survey import cases
from studies.survey import claims as survey
from studies.tce import imagenet, simulation
from studies.tce.claims_simulation import means_of_models, size
from studies.tce.imagenet import PrintedCut, bins_of
from studies.tce.published import as_published, introsort, of_the_library
from studies.tce.simulation import TABLES
from studies.top_label import networks as top_label

# The survey


def test_every_sentence_about_networks_rests_on_ten():
    rows = {row.key: row.numbers for row in survey.PAPER.stored()}
    of_three = [key for key, numbers in rows.items() if set(numbers.get("readings", ())) == set(cases.READINGS)]
    assert len(of_three) > 12
    for key in of_three:
        for figures in rows[key]["readings"].values():
            assert {len(values) for values in _lists(figures)} == {10}, key
    assert len(rows["binning-works-network"]["after"]) == len(rows["dirichlet-corner"]["matrix"]) == 10


def _lists(of):
    """Every list of numbers inside of numbers."""
    if isinstance(of, list) and not isinstance(of[0], list):
        return [of]
    inner = of.values() if isinstance(of, dict) else of if isinstance(of, list) else ()
    return [found for each in inner for found in _lists(each)]


def test_no_network_is_calibrated_on_its_training_set():
    trained_on = [SurveyMixture(2).sample(5, rng=number)[0][0] for number in range(10)]
    for seed in range(cases.SETS):
        for name in cases.NETWORKS:
            of = cases.the_case(name)
            assert of.mixture.sample(5, rng=of.first + seed)[0][0] not in trained_on


LAST_DIGIT = {"calibration": 1e-4, "brier_calibration": 1e-6, "grouping": 1e-6, "log_excess": 1e-5}


@pytest.mark.deep
def test_on_a_grid_of_twice_as_many_points_figures_change_by_less_than_their_last_digit():
    name, reading = cases.NETWORKS[0], cases.READINGS[0]

    def two(refined):
        of = cases.the_case(name, refined=refined)
        forecasts = [of.forecast, *(cases.fitted(name, method, 0).calibrate(of.forecast) for method in cases.METHODS)]
        found = [cases.errors(of, value) for value in forecasts]
        return [getattr(error, what) / digit for error in found for what, digit in LAST_DIGIT.items()]

    def three(refined):
        of = cases.the_case(name, reading, refined)
        fits = [cases.fitted_three(reading, name, method, 0) for method in cases.OF_THREE]
        forecasts = [of.forecast, *(fit.calibrate(of.forecast) for fit in fits)]
        return [sums[1].sum() / 1e-4 for value in forecasts for sums in cases.class_wise(of, value)]

    coarse, fine = (np.array(two(refined) + three(refined)) for refined in (1, 2))
    seen = np.isfinite(coarse)  # a log loss of binning is infinite on both
    assert (np.isfinite(fine) == seen).all()
    assert np.abs(coarse[seen] - fine[seen]).max() < 1.0


def test_each_of_the_21_figures_is_drawn_small_and_shown():
    pytest.importorskip("matplotlib")
    from studies.survey.pictures import IMAGES, PICTURES

    page = (IMAGES.parents[1] / "survey.md").read_text(encoding="utf-8")
    assert list(PICTURES) == list(range(1, 22))
    for number in PICTURES:
        picture = IMAGES / f"fig-{number}.png"
        assert 2000 < picture.stat().st_size < 60_000, number
        assert f"images/survey/fig-{number}.png" in page


def test_tables_are_measured_in_seconds_and_bear_out_the_page():
    for claim in survey.CLAIMS:
        if claim.key in survey.OF_TABLES | survey.OF_TESTS and claim.key != "resampling":
            assert claim.judged(claim.measure()).verdict is claim.says, claim.key


def test_shares_outside_exclude_standard_deviations_of_the_classes_1_and_2():
    shares = survey.shares_outside()["shares"]
    assert shares["variance"] < 1e-5
    assert 0.8 < shares["standard deviation"] < 0.9


# The paper on test-based calibration error


def test_means_are_those_of_the_calibrated_models_and_of_the_others():
    assert means_of_models([[1.0, 2.0], [3.0, 6.0], [5.0, 0.0], [7.0, 1.0]]) == [[2.0, 4.0], [6.0, 0.5]]


def test_the_order_sorts_and_is_that_of_a_stable_sort_where_values_are_distinct():
    rng = np.random.default_rng(0)
    for n in (1, 5, 16, 17, 18, 100, 1000):
        values = rng.random(n)
        np.testing.assert_array_equal(introsort(values.tolist()), np.argsort(values, kind="stable"))
        tied = rng.integers(0, 5, n).tolist()
        order = introsort(tied)
        assert sorted(order) == list(range(n))
        assert (np.diff(np.array(tied)[order]) >= 0).all()


def test_rows_of_one_prediction_can_part_in_the_published_bins_and_no_other_cell_changes():
    rng = np.random.default_rng(1)
    prob = rng.permutation(np.linspace(0.01, 0.99, 200))
    y = (rng.random(200) < prob).astype(int)
    np.testing.assert_allclose(as_published((y, prob), introsort(prob.tolist())), of_the_library((y, prob)))
    tied = prob.round(1)
    orders = [np.lexsort((rng.permutation(200), tied)) for _ in range(5)]
    found = np.array([as_published((y, tied), order) for order in orders])
    assert np.ptp(found[:, 0]) > 0
    assert (np.ptp(found[:, [2, 4]], axis=0) == 0).all()


def rare_events():
    """Predictions whose lowest scores hold no event, so that blocks of rate 0 are parted by the largest size alone."""
    y = (np.arange(200) >= 150) & (np.arange(200) % 3 == 0)
    return y.astype(int), np.arange(1, 201) / 400


def test_the_printed_cut_joins_neighbouring_blocks_of_equal_rate_beyond_the_largest_size():
    y, score = rare_events()
    blocks, printed = (bins_of(y, score, binning) for binning in (BoundedIsotonic(), PrintedCut()))
    assert blocks.count.max() <= 40
    assert (blocks.event_rate[:3] == 0.0).all()
    assert printed.count[0] > 40
    assert len(printed) < len(blocks)
    assert (np.diff(printed.event_rate) != 0.0).all()
    assert set(printed.edges) < set(blocks.edges)


def test_the_printed_cut_can_change_tce():
    y, score = rare_events()
    (n_blocks, largest, tce), (n_printed, joined, other) = imagenet.compared(y, score)
    assert (n_blocks, largest) > (n_printed, 0)
    assert joined > largest
    assert tce == bin_test_calibration_error(y, score)
    assert other != tce


def test_the_printed_cut_is_that_of_the_blocks_where_rates_differ():
    score = np.arange(1, 101) / 101
    y = (np.random.default_rng(1).random(100) < score).astype(int)
    blocks, printed = (bins_of(y, score, binning) for binning in (BoundedIsotonic(), PrintedCut()))
    assert (np.diff(blocks.event_rate) != 0.0).all()
    np.testing.assert_array_equal(printed.edges, blocks.edges)


@pytest.mark.parametrize(("least", "most", "smallest"), [(10, 40, 11), (30, 40, 20)])
def test_the_printed_algorithms_keep_the_smallest_size_where_two_of_it_fit_in_the_largest(least, most, smallest):
    y, score = rare_events()
    sizes = imagenet.printed_sizes(y, least, most)
    assert sizes.sum() == 200
    assert sizes.min() == smallest
    if most >= 2 * least:
        np.testing.assert_array_equal(sizes, bins_of(y, score, PrintedCut()).count)


def test_the_exact_size_is_the_share_of_counts_that_reject():
    found = np.array([binomtest(k, 30, 0.1).pvalue <= 0.05 for k in range(31)])
    assert size(0.1, 30) == pytest.approx(100.0 * binom.pmf(np.arange(31), 30, 0.1)[found].sum())
    assert size(0.01, 300) < 3.5


CELLS = Path(__file__).parents[1] / "data" / "resnet50_cells.csv"


@pytest.fixture(scope="module")
def resnet():
    """Of each predicted class and bin of its score two rows, right and wrong, that weigh what the test rows do."""
    cells = np.genfromtxt(CELLS, delimiter=",", names=True)
    predicted, rows, right = cells["predicted"].astype(int), cells["rows"], cells["right"]
    label = np.concatenate([predicted, (predicted + 1) % 10])
    weight = np.concatenate([right, rows - right])
    return label, np.tile(cells["sum_of_scores"] / rows, 2), np.tile(predicted, 2), weight


def test_the_errors_of_a_network_on_cifar_are_those_of_independent_code(resnet):
    label, score, predicted, weight = resnet
    of = {"y_pred": predicted, "sample_weight": weight, "labels": range(10)}
    right = (label == predicted).astype(int)
    assert weight.sum() == 10_000
    assert round(np.average(right, weights=weight), 4) == 0.9502
    assert round(expected_calibration_error(label, score, notion="confidence", **of), 7) == 0.0155164
    assert round(expected_calibration_error(right, score, sample_weight=weight), 7) == 0.0155164
    assert round(top_label_calibration_error(label, score, binning=15, **of), 7) == 0.0222267


@pytest.mark.parametrize("line", range(len(imagenet.PRINTED[2])))
def test_table_2_of_the_paper_on_tests_of_bins_has_its_digits_on_the_data_that_its_seed_draws(line):
    """The last digit of a percentage of 6000 rows may hang on where the optimiser of 2023 stopped; here none does."""
    _, setting = TABLES[2].lines[line]
    forecast = setting.forecast(0)
    found = [simulation.PUBLISHED[name](setting, forecast) for name in TABLES[2].metrics]
    printed = imagenet.PRINTED[2][line]
    assert [f"{value:.{len(of.partition('.')[2])}f}" for value, of in zip(found, printed, strict=True)] == list(printed)


@pytest.mark.first(2)
@pytest.mark.parametrize("number", [number for number in TABLES if number > 2])
def test_so_have_the_tables_that_vary_one_setting(number, monkeypatch):
    monkeypatch.setattr(simulation, "stored", lambda case: simulation.draw(*simulation.CASES[case]).forecast)
    monkeypatch.setattr(simulation, "cells", simulation.cells.__wrapped__)  # not what another test kept
    assert all(printed == found for _, _, printed, found in simulation.compared(number))


# The paper on top-label calibration


def test_a_network_is_measured_at_every_size_that_leaves_rows_to_test():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 1400)
    y = np.where(rng.random(1400) < 0.6, rng.integers(0, 3, 1400), prob.argmax(axis=1))  # far less sure than they say
    found = top_label.measure(prob, y)
    assert list(found["sizes"]) == ["300"]
    assert found["rows_a_class"]["300"] == 100.0
    of = found["sizes"]["300"]["TL-ECE"]
    assert set(of) == {"Base", "TS", "VS", "N-HB", "TL-HB"}
    assert all(len(values) == top_label.SPLITS for values in of.values())
    assert np.mean(of["TL-HB"]) < np.mean(of["Base"])


# The paper on normalisation-aware isotonic regression


def test_the_printed_algorithm_misses_the_smallest_upper_set_and_the_lemma_does_not():
    for way, expected in ((claims_methods.as_printed, [0, 1, 2]), (claims_methods.as_in_the_lemma, [1])):
        assert claims_methods.upper_set([1, 2, 1], claims_methods.gains([1, 1, 0]), 2, way) == expected
    assert claims_methods.misses(40, 6, 3, claims_methods.as_printed) > 0
    assert claims_methods.misses(40, 6, 3, claims_methods.as_in_the_lemma) == 0


def test_the_objective_is_convex_in_logarithms_only():
    assert claims_methods.midpoints_above(60, logarithm=False) > 0
    assert claims_methods.midpoints_above(60, logarithm=True) == 0


def test_rows_out_of_order_are_counted_and_ties_are_not():
    before = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.5, 0.25, 0.25]])
    after = np.array([[0.4, 0.4, 0.2], [0.5, 0.2, 0.3], [0.3, 0.5, 0.2], [0.4, 0.1, 0.5]])
    assert fc.out_of_order(before, after) == 0.5


def test_conf_ece_of_two_columns_is_of_the_predicted_class():
    prob = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert fc.METRICS["conf-ECE"](np.array([0, 0]), prob) == pytest.approx(0.3)  # of the second column: 0.5


@pytest.mark.parametrize("method", ["NA-FIR", "SCIR", "MS"])
def test_no_verdict_and_no_table_rests_on_a_default_of_the_library_or_on_the_exact_optimum(method):
    assert not {method, fc.EXACT} & {*fc.readings_of(method), *fc.PUBLISHED_AS}
    assert set(fc.readings_of(method)) <= set(fc.READINGS)
    assert all(set(methods) <= {*fc.READINGS, *fc.METHODS} - {method, fc.EXACT} for methods in claims.CHOICES.values())


def test_printed_networks_have_all_metrics_and_methods():
    found = {metric: claims_printed.values(metric) for metric in fc.METRICS}
    assert all(set(of) == set(found["NLL"]) and len(of) == 8 for of in found.values())
    assert all(set(line) == set(fc.METHODS) for of in found.values() for line in of.values())
    assert found["conf-ECE"]["ViT (CIFAR-100)"]["SCIR"] == 1.09


def test_pairs_are_permuted_within_columns_and_rows_keep_labels_and_sums():
    rng = np.random.default_rng(0)
    votes = rng.multinomial(12, np.ones(4) / 4, 200) * 1.0
    y = rng.integers(0, 4, 200)
    other = alternatives.permuted(votes, y, rng)
    assert (other != votes).any(axis=1).sum() > 50
    np.testing.assert_array_equal(other.sum(axis=1), votes.sum(axis=1))
    for label in range(4):
        np.testing.assert_array_equal(np.sort(other[y == label], axis=0), np.sort(votes[y == label], axis=0))


def test_bands_of_the_probability_before_and_what_lies_below_them():
    before = np.array([[0.005, 0.1, 0.895], [0.3, 0.3, 0.4]])
    change = np.array([[9.0, 0.5, -0.5], [0.1, 0.3, 0.0]])
    np.testing.assert_allclose(fc.shift_by_band(before, change), [0.5, (0.1 + 0.3 + 0.0) / 3, 0.0, 0.0, -0.5])


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")  # of SLSQP in an old SciPy
def test_every_way_to_the_map_lowers_the_likelihood_of_flattened_isotonic_regression():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 400)
    y = (rng.random((400, 1)) > (prob**2 / (prob**2).sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1).clip(0, 2)
    of = alternatives.Blocks(fc.Model("", "", 0, y, prob, y, prob))
    start = of.ended(of.start)[0]
    g = np.sort(rng.uniform(0.2, 0.9, of.start.size))
    slope = [(of.at(g + e)[0] - of.at(g - e)[0]) / 2e-6 for e in 1e-6 * np.eye(g.size)]
    np.testing.assert_allclose(of.at(g)[1], slope, atol=1e-6)
    for name, way in alternatives.ALTERNATIVES.items():
        assert of.ended(way(of))[0] < start, name


def test_a_convolution_is_trained_by_the_slope_of_its_loss():
    rng = np.random.default_rng(0)
    X = networks.patches(rng.normal(size=(12, 16)).astype(np.float32), 4, 4, 1, 3)
    assert X.shape == (12, 4, 9)
    network = networks.Convolutional(4, 9, (5, 2), rng)
    target = np.eye(2, dtype=np.float32)[rng.integers(0, 2, 12)]

    def loss():
        return -np.log((network.prob(X) * target).sum(axis=1)).mean()

    before = loss()
    for _ in range(30):
        network.step(X, target)
    assert loss() < before - 0.05


def test_stored_networks_have_the_methods_of_the_study():
    found = fc.stored()
    assert {one.architecture for one in found} == {"deep MLP", "CNN"}
    assert len(found) == networks.SEEDS * 9
    assert all(one.value.shape[0] == len(fc.MEASURED) for one in found)
