"""Which of two forecasts is better, and whether an error is at most so much: definitions, sizes and power."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import paired as reference
from scipy import stats
from strategies import columns, uniform_rows

from calibrant import compare, equivalence_test, log_loss, paired_test
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import expected_calibration_error, maximum_calibration_error, observed_expected_ratio
from calibrant.metrics.estimate import Sizes
from calibrant.metrics.kinds import as_metric, metric_named
from calibrant.significance import differences as paired
from calibrant.significance import hosmer_lemeshow_test, paired_difference
from calibrant.significance.differences import _shifts_of
from calibrant.sums.draws import Bootstrap


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def two_bins(rows):
    return [[r for r in rows if r[0] <= 0.5], [r for r in rows if r[0] > 0.5]]


# The debiased difference


@pytest.mark.filterwarnings("ignore:the standard error of the difference is zero")
@given(rows=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 1)), min_size=2, max_size=12))
@example(rows=[(0.5, 0.5, 1), (0.1, 0.4, 1), (0.9, 0.0, 0)])
def test_the_difference_is_that_of_pairs_and_its_error_that_of_the_jackknife(rows):
    a, b, y = (np.array(column) for column in zip(*rows, strict=True))
    problems = [[[(i, s, t) for i, (s, t) in enumerate(zip(p, y, strict=True))]] for p in (a, b)]
    value, variance = reference.z(*problems, two_bins, len(y))
    found = paired_test(y, a, b, binning=2).statistic
    assert not 1e12 < abs(found) < np.inf
    assert variance <= 1e-14 or found == pytest.approx(value / np.sqrt(variance), rel=1e-6, abs=1e-9)


def test_several_problems_are_counted_row_by_row():
    """Top-label problems of three classes: a row leaves the problem of its own label in each forecast."""
    rng = np.random.default_rng(0)
    a, b = rng.dirichlet(np.ones(3), 40), rng.dirichlet(np.ones(3), 40)
    y = rng.integers(0, 3, 40)
    problems = []
    for prob in (a, b):
        top = prob.argmax(axis=1)
        problems.append([[(i, prob[i, j], int(y[i] == j)) for i in range(40) if top[i] == j] for j in range(3)])
    value, variance = reference.z(*problems, two_bins, 40)
    top_label = replace(as_metric("debiased-ece", 2), notion="top-label")
    size = paired.difference_of(top_label, *(as_problem(y, p) for p in (a, b)), 0.05, 2, rng)
    found = paired._debiased(size, as_problem(y, a).weights, "greater")["statistic"]
    assert found == pytest.approx(value / np.sqrt(variance), rel=1e-9)


# Laws


def test_decimals_of_two_forecasts_are_compared_alike_in_whatever_precision_each_is():
    rng = np.random.default_rng(1)
    p = rng.choice([0.05, 0.1, 0.35, 0.6, 0.7, 0.9], 1000)
    y, q = rng.random(1000) < p, np.append(np.full(30, 0.5), p[30:])
    found = []
    for a, b in ((p, q), (p.astype("f4"), q), (p, q.astype("f4")), (p.astype("f4"), q.astype("f4"))):
        pvalues = [paired_test(y, a, b, metric=metric, n_resamples=99).pvalue for metric in ("roc-auc", "ece")]
        found.append([*pvalues, compare(y, {"a": a, "b": b}, metric="brier", n_resamples=99)["b"].win_rate])
    assert found == [found[0]] * 4
    near_one = np.where(np.arange(1000) % 2, 1 - 4e-8, 1 - 7e-8)  # single precision would lose half of 1 - p
    assert compare(y, {"a": p.astype("f4"), "b": near_one}, metric="nll")["b"].value == pytest.approx(
        log_loss(y, near_one)
    )


@pytest.mark.parametrize("metric", ["debiased-ece", "ece", "smooth-ece", "brier"])
@pytest.mark.parametrize("rounded", [np.float64, lambda p: (1.0 + 2.0**-52) * p, np.float32])
def test_a_forecast_is_no_better_than_itself_whatever_rounding_does(metric, rounded):
    p = np.linspace(0.05, 0.95, 60)
    found = paired_test(p > 0.4, p, rounded(p), metric=metric, alternative="two-sided", n_resamples=99)
    assert found.statistic == 0.0
    assert found.pvalue == 1.0


def test_a_score_is_the_mean_difference_and_its_draws_change_signs():
    rng = np.random.default_rng(0)
    a, b, y = rng.random(12), rng.random(12), rng.integers(0, 2, 12)
    loss = ((y - a) ** 2 - (y - b) ** 2) / 12
    found = paired_test(y, a, b, metric="mean-brier", n_resamples=4000, alternative="less")
    assert found.statistic == pytest.approx(loss.sum(), rel=1e-12)
    signs = 1 - 2 * ((np.arange(2**12)[:, None] >> np.arange(12)) & 1)
    exact = np.mean(signs @ loss <= loss.sum() + 1e-12)
    assert abs(found.pvalue - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000) + 1 / 4000


def test_a_column_and_a_table_of_the_same_two_classes_are_mixed_as_tables():
    label, p, q = np.array([0, 1, 1]), np.array([0.2, 0.6, 0.9]), np.array([[0.5, 0.5], [0.3, 0.7], [0.4, 0.6]])
    column = as_problem(label, p)
    table = as_simplex(as_problem(label, q))
    swap, p = np.array([True, False, True]), np.column_stack([1 - p, p])
    np.testing.assert_allclose(paired._mixed(column, table, swap).prob, np.where(swap[:, None], q, p), rtol=1e-12)
    np.testing.assert_allclose(paired._mixed(table, column, swap).prob, np.where(swap[:, None], p, q), rtol=1e-12)


def test_about_half_of_any_number_of_equal_rows_keep_their_sign():
    """Also of more than whole numbers can count; beside these a single row still keeps half of its own on average."""
    count = np.array([1.0, 1e6, 1e19])
    kept = paired._kept(count, (400, 3), np.random.default_rng(0))
    for at, n in enumerate(count):
        assert abs(kept[:, at].mean() - n / 2) < 4 * np.sqrt(n / 4 / 400)
        assert kept[:, at].std() == pytest.approx(np.sqrt(n) / 2, rel=0.2)


def test_blocks_of_draws_are_as_many_draws(monkeypatch):
    monkeypatch.setattr(paired, "BLOCK", 100)
    rng = np.random.default_rng(0)
    found = paired_test(rng.integers(0, 2, 30), rng.random(30), rng.random(30), metric="brier", n_resamples=50)
    assert found.null.values.shape == (50,)


# Size and power


def test_a_metric_with_an_ideal_is_compared_by_the_distance_from_it():
    y, p = uniform_rows(1000)
    options = {"n_resamples": 99, "alternative": "less"}
    a, b = (observed_expected_ratio(y, q) for q in (p, p**0.5))
    found = paired_difference(y, p, p**0.5, metric="observed-expected-ratio", n_resamples=99)
    assert found.difference == pytest.approx(abs(a - 1.0) - abs(b - 1.0), rel=1e-12)
    assert found.upper < 0.0 < a - b
    assert paired_test(y, p, p**0.5, metric="observed-expected-ratio", **options).pvalue == 0.01
    assert paired_test(y, p**0.5, p, metric="observed-expected-ratio", **options).pvalue > 0.9


# The difference and its interval


@pytest.mark.parametrize("unit", [1.0, 0.7])
@given(rows=columns(), power=st.sampled_from([0.3, 0.9, 3.0]))
def test_the_error_of_a_mean_is_that_of_the_rows_or_of_the_truth_midway(unit, rows, power):
    label, p, weight = (np.append(*pair) for pair in zip(rows, ([0, 1], [0.02, 0.3], [1.0, 2.0]), strict=True))
    q, counted = p**power, unit * weight
    found = paired_difference(label, p, q, metric="mean-brier", sample_weight=counted).standard_error
    expected = reference.error_of_mean(p, q, label.astype(int), counted, lambda s, y: (y - s) ** 2, unit == 1.0)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_a_rare_event_that_did_not_occur_does_not_show_the_worse_forecast_to_be_better():
    """A is the truth, and B a third of it: of 100 rows B was shown to be better in 34 % of samples."""
    p, better, covered = np.linspace(0.005, 0.015, 100), 0, 0
    truth = np.mean(p * np.log(1 / 3) + (1 - p) * np.log((1 - p / 3) / (1 - p)))
    for seed in range(60):
        y = np.random.default_rng(seed).random(100) < p
        found = paired_test(y, p, p / 3, metric="nll", n_resamples=199, rng=seed)
        better += found.pvalue <= 0.05 and found.difference > 0
        covered += found.lower <= truth <= found.upper
        error = (found.upper - found.lower) / (2.0 * stats.t.ppf(0.975, 99))
        assert found.pvalue >= 2.0 * stats.t.sf(abs(found.difference) / error, 99) - 1e-9
    assert better <= stats.binom.ppf(0.999, 60, 0.025)
    assert covered >= stats.binom.ppf(0.001, 60, 0.95)
    sides, options = ("less", "two-sided", "greater"), {"metric": "nll", "labels": [0, 1], "n_resamples": 999}
    less, both, greater = (paired_test(np.zeros(100), p, p / 3, alternative=side, **options).pvalue for side in sides)
    assert (less, both) == (1.0, pytest.approx(2.0 * greater, rel=1e-9))  # B is ahead in every row
    assert greater > 0.1


def test_what_the_truth_midway_cannot_explain_and_answers_of_their_own_have_the_error_of_the_rows():
    y, p, none, one = np.arange(100) % 2, np.linspace(0.005, 0.015, 100), np.zeros(100), np.eye(1, 100)[0]
    assert paired_difference(y, np.full(100, 0.5), np.where(y, 0.999, 0.001)).standard_error < 1e-9  # right in all rows
    p[0], q = 0.5, np.append(0.5, p[1:] / 3)  # the first row has one loss whatever its label is
    same, own = (paired_difference(none, p, q, labels=[0, 1], y_true_b=b).standard_error for b in (none, one))
    assert same > 0.005
    assert own == pytest.approx(np.std(np.log1p(-q) - np.log1p(-p), ddof=1) / 10)


def over_confident(rng, n):
    """Two forecasts of the same rows with errors of their own, the second over-confident."""
    z, noise = rng.normal(0, 1.5, n), rng.normal(0, 0.4, (2, n))
    return rng.random(n) < sigmoid(z), sigmoid(z + noise[0]), sigmoid(1.5 * z + noise[1])


@pytest.mark.deep
def test_the_interval_covers_the_difference_and_misses_it_on_either_side():
    """Of a plug-in error the difference is that of as many rows on average, which these runs know themselves.

    Those of means and of the debiased error are those of a paired t-test and of the jackknife.
    """
    rng, runs, n = np.random.default_rng(0), 400, 300
    found = [paired_difference(*over_confident(rng, n), metric="ece", n_resamples=200, rng=rng) for _ in range(runs)]
    truth = np.mean([f.difference for f in found])
    lower, upper = (np.array([getattr(f, end) for f in found]) for end in ("lower", "upper"))
    assert np.mean((lower <= truth) & (truth <= upper)) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / runs)
    above, below = np.mean(lower > truth), np.mean(upper < truth)
    assert max(above, below) <= 0.025 + 4 * np.sqrt(0.025 * 0.975 / runs)
    # No wider than it need be: the standard error is that of the estimate, to a third (the jackknife is known to be large).
    spread = np.std([f.difference for f in found])
    assert 0.8 < np.mean([f.standard_error for f in found]) / spread < 1.35
    np.testing.assert_allclose(np.mean(upper - lower), 2 * 1.96 * np.mean([f.standard_error for f in found]), rtol=0.01)


@pytest.mark.deep
def test_rows_are_drawn_anew_for_a_metric_that_is_neither_mean_nor_error():
    """The standard error of a difference of areas is its spread, to four standard errors of a spread."""
    rng, runs, options = np.random.default_rng(0), 60, {"metric": "roc-auc", "n_resamples": 60}
    found = [paired_difference(*over_confident(rng, 100), rng=rng, **options) for _ in range(runs)]
    ratio = np.mean([f.standard_error for f in found]) / np.std([f.difference for f in found], ddof=1)
    assert abs(np.log(ratio)) < 4 / np.sqrt(2 * runs)


def test_differences_in_fixed_cells_are_those_of_the_rows_that_are_drawn():
    y, *both = over_confident(np.random.default_rng(0), 60)
    a, b = (as_problem(y, p) for p in both)
    metric, drawn = as_metric("ece", 5), Bootstrap(a.weights, 20, np.random.default_rng(1))
    weights = drawn.counts[:, drawn.group]
    errors = [[metric.target(y, p, binning=5, sample_weight=weight) for p in both] for weight in weights]
    for other, expected in ((b, np.subtract(*np.transpose(errors))), (None, np.transpose(errors)[0])):
        found = metric._drawn_differences(a, other, 20, np.random.default_rng(1))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_test_states_the_difference_that_is_estimated():
    y, a, b = over_confident(np.random.default_rng(0), 200)
    for metric in ("nll", "debiased-ece"):
        test, found = (compare(y, a, b, metric=metric, level=0.1) for compare in (paired_test, paired_difference))
        assert (test.difference, test.lower, test.upper) == (found.difference, found.lower, found.upper)
        assert test.level == found.level == 0.1


def test_the_difference_of_a_mean_over_rows_is_that_of_a_paired_t_test():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    a, b, y = rng.random(20), rng.random(20), rng.integers(0, 2, 20)
    found = paired_difference(y, a, b, metric="mean-brier")
    interval = stats.ttest_rel((y - a) ** 2, (y - b) ** 2).confidence_interval(0.95)
    assert (found.lower, found.upper) == pytest.approx(tuple(interval), rel=1e-9)


@pytest.mark.deep
def test_of_two_calibrated_forecasts_the_plug_in_error_prefers_the_coarser_one_and_the_debiased_does_not():
    """The shares of 1000 data sets are 36.5, 0.2 and 0.0 % (docs/size-and-power.md)."""
    rng, options, pvalues = np.random.default_rng(0), {"binning": 10, "n_resamples": 99, "alternative": "less"}, []
    for _ in range(100):
        stratum, within = rng.integers(0, 4, 500), rng.random(500)
        coarse, fine = (stratum + 0.5) / 4, (stratum + within) / 4
        y = rng.random(500) < fine
        found = (paired_test(y, coarse, fine, metric=m, rng=rng, **options) for m in ("ece", "debiased-ece", "brier"))
        pvalues.append([one.pvalue for one in found])
    share = np.array([0.365, 0.002, 0.0])
    off = np.abs(np.mean(np.array(pvalues) <= 0.05, axis=0) - share)
    assert (off <= 4 * np.sqrt(share * (1 - share) * (1 / 100 + 1 / 1000))).all()


def test_both_sides_are_asked_for_unless_one_is_named():
    y, a, b = over_confident(np.random.default_rng(1), 400)
    found = paired_test(y, a, b)
    one = min(paired_test(y, a, b, alternative=side).pvalue for side in ("greater", "less"))
    assert found.alternative == "two-sided"
    assert found.pvalue == pytest.approx(2 * one, rel=1e-12)


# Two models with answers of their own


def answers(rng, n, *, shift):
    """Model A is right as often as it says; B is as often right, and says more than that."""
    p = rng.uniform(0.3, 0.7, (2, n))
    right = rng.random((2, n)) < p
    return right[0], right[1], p[0], p[1] + shift


@pytest.mark.parametrize("metric", ["debiased-ece", "brier", "ece", "mean-brier"])
def test_each_model_is_judged_by_its_own_answers(metric):
    right_a, right_b, a, b = answers(np.random.default_rng(0), 2000, shift=0.25)
    options = {"metric": metric, "n_resamples": 199}
    found = paired_test(right_a, a, b, y_true_b=right_b, **options)
    assert found.pvalue < 0.01
    assert found.upper < 0.0
    assert found.statistic < 0.0
    if metric == "mean-brier":
        mean = np.mean((right_a - a) ** 2) - np.mean((right_b - b) ** 2)
        assert found.difference == found.statistic == pytest.approx(mean, rel=1e-12)
    equal = answers(np.random.default_rng(0), 2000, shift=0.0)
    assert paired_test(equal[0], *equal[2:], y_true_b=equal[1], **options).pvalue > 0.05


def test_a_swap_takes_the_answer_with_the_forecast():
    right_a, right_b, a, b = answers(np.random.default_rng(0), 50, shift=0.1)
    swap = np.arange(50) % 2 == 0
    mixed = paired._mixed(as_problem(right_a, a), as_problem(right_b, b), swap)
    np.testing.assert_array_equal(mixed.outcome, np.where(swap, right_b, right_a))
    np.testing.assert_array_equal(mixed.score, np.where(swap, b, a))


def test_a_metric_that_most_samples_do_not_have_is_refused():
    seen = iter([1.0, 1.0])

    def late(y, p):
        return next(seen, float("nan"))

    with pytest.raises(ValueError, match="metric must be a number on most samples of the rows; late is on 0 of 5"):
        paired_difference([0, 1], [0.2, 0.7], [0.3, 0.8], metric=late, n_resamples=5)


# Columns in another order


def frames(names, others):
    """Labels, a forecast whose columns are the classes in their order, and it as two frames of the columns that are named."""
    pandas, rng, classes = pytest.importorskip("pandas"), np.random.default_rng(0), sorted(names)
    prob = rng.dirichlet(np.ones(len(classes)), 60)
    y = np.array(classes)[(rng.random((60, 1)) > prob.cumsum(axis=1)[:, :-1]).sum(axis=1)]
    table = pandas.DataFrame(prob, columns=classes)
    return y, prob, table[names], table[others]


@pytest.mark.parametrize("compare", [paired_difference, paired_test])
@pytest.mark.parametrize(("names", "others"), [("ab", "ba"), ("ba", "ab"), ("cab", "bca"), ([0, 1], [1, 0])])
@pytest.mark.parametrize("named", [False, True], ids=["", "labels="])
def test_columns_of_two_frames_are_matched_by_their_names(names, others, compare, named):
    y, prob, a, b = frames(list(names), list(others))
    options = {"metric": "nll", "n_resamples": 9, **({"labels": list(names)} if named else {})}
    same = compare(y, a, b, **options)
    assert (same.difference, same.lower, same.upper) == (0.0, 0.0, 0.0)
    wanted = paired_difference(y, prob, prob**3, metric="nll", labels=sorted(names), rows="normalize")
    found = compare(y, a, b**3, rows="normalize", **options)
    assert found.difference == pytest.approx(wanted.difference, rel=1e-12)


def test_the_hint_for_a_frame_beside_an_array_leads_to_the_right_numbers():
    y, prob, a, _ = frames(["b", "a"], ["a", "b"])
    told = r"in one order; got \['b', 'a'\] and \['a', 'b'\]\. Bring the columns of both in "
    with pytest.raises(ValueError, match=told):
        paired_difference(y, a, prob)
    assert paired_difference(y, a, prob[:, ::-1], labels=["b", "a"]).difference == 0.0


# Weights, functions and single rows


@pytest.mark.parametrize("weight", [None, 10, 2.5], ids=["none", "10", "2.5"])
@pytest.mark.parametrize("metric", ["mean-brier", "debiased-ece", "ece"])
def test_pvalue_and_interval_agree_whatever_the_weights_are(metric, weight):
    """The interval of 90 % holds 0 where the p-value is above 0.1, but for a few on the border (at most 6 of 60 runs)."""
    differ, options = 0, {"metric": metric, "n_resamples": 299, "level": 0.1}
    if weight is not None:
        options["sample_weight"] = np.full(60, weight)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        z, noise = rng.normal(0, 1.5, 60), rng.normal(0, 0.7, (2, 60))
        y = rng.random(60) < sigmoid(z)
        found = paired_test(y, sigmoid(z + noise[0]), sigmoid(1.6 * z + noise[1]), **options)
        differ += (found.pvalue <= 0.1) != (found.lower > 0 or found.upper < 0)
    assert differ <= 6


def test_whole_weights_beyond_all_numbers_of_rows_are_tested():
    rng = np.random.default_rng(0)
    a, b, y = rng.random(30), rng.random(30), rng.integers(0, 2, 30)
    found = paired_test(y, a, b, metric="mean-brier", sample_weight=np.full(30, 2.0**60), n_resamples=99)
    assert found.pvalue == 0.01
    assert np.isfinite(found.null.values).all()
    assert np.isfinite(hosmer_lemeshow_test(y, a, sample_weight=np.full(30, 2.0**60)).statistic)


def test_a_function_is_compared_as_it_is_and_its_negative_turns_the_sides():
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 400)
    y, good, bad = rng.random(400) < sigmoid(z), sigmoid(z), sigmoid(z + rng.normal(0, 2, 400))
    options = {"n_resamples": 99, "alternative": "greater"}
    for metric in ("roc-auc", sklearn.roc_auc_score):
        area = paired_test(y, good, bad, metric=metric, **options)
        assert area.pvalue == 0.01
        assert area.statistic == area.difference > 0
    assert paired_test(y, good, bad, metric="roc-auc", n_resamples=99, alternative="less").pvalue > 0.9
    assert paired_test(y, good, bad, metric=lambda t, p: -sklearn.roc_auc_score(t, p), **options).pvalue > 0.9


@pytest.mark.parametrize("compare", [paired_difference, paired_test])
@pytest.mark.parametrize("metric", ["nll", "debiased-ece", "ece"])
@pytest.mark.parametrize(("rows", "data"), [(1, {}), (2, {"sample_weight": [0, 3.5]}), (1, {"sample_weight": [0.5]})])
def test_one_row_has_no_interval(rows, data, metric, compare):
    with pytest.raises(ValueError, match="y_true must hold at least two rows with a weight for an interval; got 1"):
        compare([1, 1][:rows], [0.2, 0.7][:rows], [0.3, 0.8][:rows], metric=metric, n_resamples=9, **data)


def test_a_difference_without_spread_is_no_evidence():
    """Two rows that deviate alike have a standard error of zero, and the normal law a p-value of zero."""
    y, a, b = [0, 0], [0.4, 0.4], [0.5, 0.5]
    with pytest.warns(CalibrationWarning, match=r"standard error .* is zero.*however few the rows are\. Pass"):
        found = paired_test(y, a, b)
    assert (found.statistic, found.pvalue) == (-np.inf, 0.0)
    assert paired_test(y, a, b, metric="brier").pvalue > 0.2


def forecast(name, n, rng):
    """Scores, and the probabilities with which the event occurs."""
    if name == "over-confident":
        z = rng.normal(0, 1.5, n)
        return sigmoid(z), sigmoid(z / 1.35)
    score = rng.random(n)
    if name == "too high":
        return score, np.clip(score - 0.04, 0, 1)
    return score, np.where((score > 0.6) & (score <= 2 / 3), score - 0.45, score)  # one bin


def true_error(score, rate, metric):
    """The metric if each row counted with its true probability."""
    problem = as_problem(np.zeros(len(score), dtype=int), score)
    seen = metric_named(metric).residuals(problem)
    table = seen.cells()
    deviation = table.scale * np.bincount(table.of[:, 1], rate - score, table.weight.size)
    return float(seen.sizes(table)(deviation[None])[0])


# The derivative


@pytest.mark.parametrize(
    ("size", "derivative"),
    [
        (lambda d: np.abs(d).sum(axis=1), lambda d, n: np.where(d == 0, np.abs(n), np.sign(d) * n).sum(axis=1)),
        (lambda d: np.sqrt((d**2).sum(axis=1)), lambda d, n: n @ d / np.sqrt(d @ d)),
        (lambda d: np.abs(d).max(axis=1), lambda d, n: (np.sign(d) * n)[:, np.argmax(np.abs(d))]),
    ],
    ids=["l1", "l2", "max"],
)
def test_the_shift_is_the_derivative_of_the_size(size, derivative):
    rng = np.random.default_rng(0)
    direction, noise = np.append(rng.normal(size=6), 0.0), rng.normal(size=(20, 7))
    found = _shifts_of(Sizes(lambda d: [d], lambda seen: size(seen[0])), direction[None], noise)
    np.testing.assert_allclose(found[0], derivative(direction, noise), atol=1e-3)


@pytest.mark.parametrize(
    ("direction", "noise", "shift"),
    [([1.0, -1.0], [[0.0, 0.0], [0.3, 0.5]], [0.0, -0.2]), ([0.0, 0.0], [[1.0, -2.0], [0.5, 0.0]], [3.0, 0.5])],
    ids=["a draw of nothing", "no deviations"],
)
def test_noise_shifts_by_its_own_size_where_there_is_no_deviation(direction, noise, shift):
    sizes = Sizes(lambda d: [d], lambda seen: np.abs(seen[0]).sum(axis=1))
    np.testing.assert_allclose(_shifts_of(sizes, np.array([direction]), np.array(noise)), [shift], atol=1e-3)


# Size and power


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("over-confident", "ece"),
        ("too high", "ece"),
        ("too high", "ici"),
        ("too high", "ks-error"),
        ("one bin", "ece"),
        ("one bin", "mce"),
    ],
)
def test_an_error_at_the_bound_is_seldom_called_smaller(name, metric):
    """At the boundary of the null hypothesis: no more than the level and three standard errors."""
    rng, runs, n = np.random.default_rng(1), 40, 800
    called = 0
    for run in range(runs):
        score, rate = forecast(name, n, rng)
        y = rng.random(n) < rate
        bound = true_error(score, rate, metric)
        called += equivalence_test(y, score, bound=bound, metric=metric, n_resamples=100, rng=run).pvalue <= 0.05
    assert called / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_a_calibrated_forecast_of_many_rows_is_shown_to_be_calibrated():
    found = equivalence_test(*uniform_rows(30_000), bound=0.02)
    assert found.pvalue < 0.01
    assert found.statistic < found.upper < 0.02


# What is returned


@pytest.mark.parametrize("metric", ["ece", "rmsce", "kuiper-error", "ici", "emax"])
@pytest.mark.parametrize("level", [0.05, 0.2])
def test_the_upper_limit_is_the_smallest_bound_that_is_accepted(metric, level):
    y, p = uniform_rows(2000)
    upper = equivalence_test(y, p, metric=metric, level=level).upper
    assert equivalence_test(y, p, metric=metric, bound=upper * 1.02).pvalue <= level
    assert equivalence_test(y, p, metric=metric, bound=upper * 0.98).pvalue > level


def test_a_limit_is_no_less_than_the_estimate_and_within_the_range():
    rng = np.random.default_rng(0)
    for n in range(8, 40, 4):
        y, p = rng.random(n) < 0.15, rng.random(n) ** 0.2 * 0.999
        for metric, function in (("mce", maximum_calibration_error), ("ece", expected_calibration_error)):
            found = equivalence_test(y, p, metric=metric, bound=0.5, n_resamples=50)
            assert found.statistic == pytest.approx(function(y, p))
            assert found.statistic <= found.upper <= 1.0


def test_the_null_distribution_is_about_the_bound_and_a_frame_holds_it():
    found = equivalence_test(*uniform_rows(2000), bound=0.1, level=0.2)
    assert found.alternative == "less"
    assert found.hypothesis == "ece is 0.1 or more (event: class True)"
    assert abs(found.null.values.mean() - 0.1) < 0.01
    assert found.pvalue == (1 + np.sum(found.null.values <= found.statistic)) / 1001
    assert found.to_frame("polars").select("bound", "upper", "level").row(0) == (0.1, found.upper, 0.2)
