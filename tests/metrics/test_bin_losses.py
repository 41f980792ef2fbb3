"""What a loss measures in one bin, which probabilities a bin rejects, and how a norm puts bins together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, tce
from scipy import stats
from scipy.stats import binom, binomtest
from strategies import GRID, columns

from calibrant import EqualMass, calibration_error
from calibrant._core.border import as_problem
from calibrant.binning import BoundedIsotonic, Isotonic, Unique, as_binning
from calibrant.metrics import BinTest, bin_losses
from calibrant.metrics.bin_losses import REJECTIONS, PowerMean, accepted, as_norm, debiased_squared_gap, outside, root
from calibrant.metrics.errors import bin_test_calibration_error
from calibrant.notions import SharedClassWise


def debiased(label, score, weight=None, binning=1):
    problem = as_problem(label, score, sample_weight=weight)
    return debiased_squared_gap(problem, as_binning(binning)(problem))


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("truth", [0.0, 0.1, 0.5, 1.0])
def test_the_debiased_squared_gap_is_right_on_average(n, truth):
    """Exactly: over all numbers of events, weighted by their binomial probabilities."""
    score = 0.3
    values = [debiased(np.arange(n) < events, np.full(n, score))[0] for events in range(n + 1)]
    assert binom.pmf(np.arange(n + 1), n, truth) @ values == pytest.approx((truth - score) ** 2, abs=1e-12)


def test_a_bin_of_one_row_counts_as_nothing():
    assert debiased([1], [0.25]).tolist() == [0.0]
    assert debiased([1, 0], [0.2, 0.9], binning=2).tolist() == [0.0, 0.0]


def test_a_bin_of_two_rows_counts_whatever_the_weights_are_scaled_by():
    """Twice 0.3, scaled to rows, is two but for rounding."""
    score, label = np.array([0.1, 0.1, 0.5, 0.5, 0.9, 0.9]), np.array([0, 0, 1, 1, 0, 1])
    expected = debiased(label, score, binning=Unique())
    assert (expected != 0.0).all()
    for weight in (0.1, 0.3, 0.7, 1.1, 1e-9):
        np.testing.assert_allclose(debiased(label, score, np.full(6, weight), Unique()), expected, rtol=1e-9)
    options = {"binning": Unique(), "loss": "debiased squared gap", "norm": "root"}
    found = calibration_error(label, score, sample_weight=np.full(6, 0.3), **options)
    assert found == pytest.approx(0.2380476, rel=1e-6)


AT_LIMITS = {
    "a negative mean": (root, [-1.0, 0.5], 0.0),
    "a high power of a small value": (PowerMean(500.0), [1e-3, 0.0], 1e-3 * 0.5 ** (1 / 500)),
    "zeros": (PowerMean(3.0), [0.0, 0.0], 0.0),
    "absolute values": (PowerMean(3.0), [-0.5, 0.5], 0.5),
}


@pytest.mark.parametrize(("norm", "values", "expected"), AT_LIMITS.values(), ids=AT_LIMITS)
def test_norms_at_their_limits(norm, values, expected):
    assert norm(np.array(values), np.array([0.5, 0.5])) == pytest.approx(expected)


POSITIVE = st.floats(0.0, 1.0, allow_subnormal=False)


@given(pairs=st.lists(st.tuples(POSITIVE, st.integers(1, 9)), min_size=1, max_size=8), p=st.floats(1.0, 9.0))
def test_a_power_mean_is_what_its_definition_says(pairs, p):
    total = sum(w for _, w in pairs)
    expected = sum(w / total * v**p for v, w in pairs) ** (1 / p)
    values, weights = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    # Powers of small values vanish in the definition, and not in the function.
    assert as_norm("l3") == PowerMean(3.0)
    assert PowerMean(p)(values, weights / total) == pytest.approx(expected, rel=1e-9, abs=1e-30)


# Which probabilities a bin rejects

LEVELS = (0.001, 0.05, 0.2, 0.5)
each_test = pytest.mark.parametrize("test", ["binomial", "mid-p", "clopper-pearson", "t"])


@st.composite
def counts(draw, most=40):
    n = draw(st.integers(1, most))
    return draw(st.integers(0, n)), n


def one(values):
    return np.atleast_1d(np.asarray(values, dtype=float))


def rejected(test, k, n, p, level):
    p = np.sort(one(p))
    if test == "binomial":
        return bin_losses.rejects(p, np.zeros(p.size, dtype=np.intp), one(k), one(n), level)
    return outside(p, *accepted(test, one(k), one(n), level))


def near_the_ends(k, n, level, rng, size):
    """Probabilities where the exact test decides, on the scale on which its p-value jumps and on a finer one."""
    (lower,), (upper,) = accepted("binomial", one(k), one(n), level)
    scales = (1.0 / n, 1e-2 / n, 1e-6)
    p = np.concatenate([end + rng.normal(0.0, scale, size) for end in (lower, upper) for scale in scales])
    return np.unique(np.clip(p, 0.0, 1.0))


@each_test
@given(count=counts(), p=st.one_of(st.sampled_from(GRID), st.floats(0.0, 1.0)), level=st.sampled_from(LEVELS))
def test_a_probability_is_rejected_if_the_definition_rejects_it(test, count, p, level):
    k, n = count
    if test != "t" and abs(tce.pvalue(test, k, n, p) / level - 1) < 1e-7:
        return  # too near to the level for floating point
    assert rejected(test, k, n, p, level)[0] == tce.rejects(test, k, n, p, level)


@pytest.mark.parametrize("seed", range(25))
def test_the_exact_test_rejects_what_binomtest_rejects(seed):
    rng = np.random.default_rng(seed)
    n = int(10 ** rng.uniform(0.0, 4.5))
    k, level = int(rng.binomial(n, rng.choice([rng.random(), 0.5, 1e-3]))), float(rng.choice(LEVELS))
    p = np.concatenate([near_the_ends(k, n, level, rng, 15), rng.random(20), [0.0, 1e-300, 1e-9, 0.5, k / n, 1.0]])
    p = np.unique(p)
    pvalue = np.array([binomtest(k, n, q).pvalue for q in p])
    np.testing.assert_array_equal(rejected("binomial", k, n, p, level), pvalue <= level * (1.0 + 1e-9))


def test_a_pvalue_that_is_the_level_rejects():
    assert tce.exact_pvalue(0, 5, 0.5) == 0.0625
    assert rejected("binomial", 0, 5, 0.5, 0.0625)
    assert not rejected("binomial", 0, 5, 0.5, 0.0624)


@pytest.mark.parametrize(("k", "n", "p"), [(2, 9, 1 / 7), (2, 50, 1 / 36), (0, 289, 1 / 205)])
def test_an_outcome_that_is_as_probable_but_for_rounding_counts(k, n, p):
    """Without it the p-value is below one half."""
    pvalue = binomtest(k, n, p).pvalue
    assert pvalue > 0.5 > pvalue - binom.pmf(k, n, p)
    assert not rejected("binomial", k, n, p, 0.5)
    assert not rejected("binomial", k, n, p, pvalue * (1 - 1e-6))
    assert rejected("binomial", k, n, p, pvalue * (1 + 1e-6))


@pytest.mark.parametrize("level", [1 - 1e-6, 1 - 1e-10, 1 - 1e-12])
def test_a_pvalue_of_one_reaches_no_level(level):
    """The most probable outcome has p-value 1."""
    for p in (0.46, 0.5, 0.54):
        assert tce.exact_pvalue(5, 10, p) == 1
        assert not rejected("binomial", 5, 10, p, level)
    assert rejected("binomial", 5, 10, 0.44, level)
    (lower,), (upper,) = accepted("binomial", one(5), one(10), level)
    assert (lower, upper) == pytest.approx((5 / 11, 6 / 11), rel=1e-6)


def test_the_search_for_the_other_tail_ends_whatever_the_counts():
    for n in (2.0**53, 1e16, 5e16, 1e100):
        assert bin_losses.rejects(one(0.3), np.zeros(1, dtype=np.intp), one(n / 2), one(n), 0.05).all()


def test_between_two_accepted_probabilities_one_can_be_rejected():
    """So a search for two ends is not enough."""
    k, n, level = 1, 12, 0.2
    p = np.linspace(0.0, 1.0, 20_001)
    found = rejected("binomial", k, n, p, level)
    turns = np.flatnonzero(np.diff(found))
    assert found[turns].tolist() == [True, False, True, False]
    for q in (*p[turns], *p[turns + 1]):
        assert rejected("binomial", k, n, q, level)[0] == (binomtest(k, n, q).pvalue <= level)


@given(count=counts(12), level=st.sampled_from(LEVELS))
def test_no_probability_beyond_the_ends_of_the_exact_test_is_accepted(count, level):
    k, n = count
    (lower,), (upper,) = accepted("binomial", one(k), one(n), level)
    for p in np.linspace(0.0, 1.0, 101):
        if p < lower * (1 - 1e-6) or 1 - p < (1 - upper) * (1 - 1e-6):
            assert tce.exact_pvalue(k, n, p) <= level * (1 + 1e-6)
    just_inside = [lower + 1e-7 * (k / n - lower), upper - 1e-7 * (upper - k / n)]
    assert all(tce.exact_pvalue(k, n, p) > level * (1 - 1e-5) for p in just_inside)


@pytest.mark.parametrize("level", [0.5, 1e-9, 1e-17, 1e-22])
def test_the_t_test_has_the_quantiles_of_small_levels(level):
    (lower,), (upper,) = accepted("t", one(120), one(1000), level)
    reach = stats.t.isf(level / 2, 999) * np.sqrt(0.12 * 0.88 / 999)
    assert (lower, upper) == pytest.approx((0.12 - reach, 0.12 + reach), rel=1e-9)


def test_the_t_test_of_outcomes_that_are_all_alike_accepts_their_rate_and_of_one_row_all():
    assert rejected("t", 3, 3, [0.0, 0.999, 1.0], 0.05).tolist() == [True, True, False]
    assert not rejected("t", 1, 1, [0.0, 0.5, 1.0], 0.05).any()


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 7), (7, 7), (3, 8), (120, 1000), (1, 100_000)])
@pytest.mark.parametrize("level", LEVELS)
def test_the_ends_are_those_of_the_clopper_pearson_interval(k, n, level):
    expected = binomtest(k, n).proportion_ci(confidence_level=1 - level, method="exact")
    assert np.ravel(accepted("clopper-pearson", one(k), one(n), level)) == pytest.approx(expected, rel=1e-8)


@given(count=counts(12), level=st.sampled_from((1e-40, 1e-9, *LEVELS)))
def test_at_the_ends_of_mid_p_its_pvalue_is_the_level(count, level):
    k, n = count
    (lower,), (upper,) = accepted("mid-p", one(k), one(n), level)
    assert k == 0 or float(tce.pvalue("mid-p", k, n, lower)) == pytest.approx(level, rel=1e-6)
    # In floating point the upper end has no more digits than its distance from one.
    assert k == n or 1 - upper < 1e-8 or float(tce.pvalue("mid-p", k, n, upper)) == pytest.approx(level, rel=1e-6)
    assert (lower == 0.0) == (k == 0)
    assert k == n or 1 - upper > 0 or level < 1e-9


@each_test
@pytest.mark.parametrize("level", [1e-9, 1e-15, 1e-17, 1e-25, 1e-60])
@pytest.mark.parametrize(("k", "n"), [(1, 2), (3, 40), (37, 40), (120, 1000)])
def test_at_tiny_levels_non_events_have_the_mirrored_ends(test, k, n, level):
    (lower,), (upper,) = accepted(test, one(k), one(n), level)
    (other_lower,), (other_upper,) = accepted(test, one(n - k), one(n), level)
    assert upper == pytest.approx(1 - other_lower, rel=1e-12)
    assert lower == pytest.approx(1 - other_upper, rel=1e-6, abs=1e-15)
    assert np.isfinite([lower, upper]).all()


@each_test
def test_an_empty_bin_accepts_and_rejects_nothing(test):
    lower, upper = accepted(test, one([0, 3]), one([0, 9]), 0.05)
    assert np.isnan([lower[0], upper[0]]).all()
    assert lower[1] < 1 / 3 < upper[1]


# The share of predictions that their bin rejects

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


@pytest.fixture(scope="module")
def dogs(data_dir):
    with np.load(data_dir / "imagenet_dogs.npz") as data:
        return dict(data)


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


@pytest.mark.parametrize("name", DOGS)
def test_the_default_is_the_point_of_the_paper(dogs, name):
    assert bin_test_calibration_error(dogs["y"], dogs[name]) == calibration_error(dogs["y"], dogs[name], **TABLE["TCE"])


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


def test_weights_up_to_these_are_tested():
    weight = [2.0**52, 2.0**52 - 2]
    assert bin_test_calibration_error([0, 1], [0.1, 0.5], binning=1, sample_weight=weight) == pytest.approx(50)


# What is refused


def of(**options):
    return calibration_error([0, 1], [0.2, 0.7], **options)


def weighing(weight):
    return bin_test_calibration_error([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9], binning=1, sample_weight=weight)


REFUSED = [
    *[
        (lambda word=word: as_norm(word), "norm must be one of .* such as 'l3', or a function; got")
        for word in ("l0", "l0.5", "l", "l3 ", "linf")
    ],
    *[
        (lambda level=level: BinTest(level=level), r"level must be a fraction in \(0, 1\); got")
        for level in (0.0, 1.0, -0.1, 5, float("nan"))
    ],
    (lambda: weighing([1e16] * 5), r"sample_weight must have a sum below 2\*\*53 where .*; got 5e\+1.\."),
    (lambda: weighing([2.0**52, 2.0**52, 0, 0, 0]), r"must have a sum below 2\*\*53 where .*; got 9.*e\+1"),
]
OF_THE_WRONG_TYPE = [
    (lambda: of(loss=BinTest), r"loss must be a word or a function; got the class BinTest\. Pass BinTest\(\)\."),
    (lambda: of(norm=PowerMean), r"norm must be a word or a function; got the class PowerMean\. Pass PowerMean\(\)\."),
    (lambda: of(across=PowerMean), r"across must be a word or a function; got the class PowerMean\."),
    (lambda: of(binning=EqualMass), r"binning must be a number, a word or a Binning; got the class EqualMass\. Pass"),
    (lambda: of(notion=SharedClassWise), r"notion must be a name or a Notion; got the class SharedClassWise\. Pass"),
]


ROWS = [(ValueError, *row) for row in REFUSED] + [(TypeError, *row) for row in OF_THE_WRONG_TYPE]


@pytest.mark.parametrize(("error", "call", "words"), ROWS, ids=[row[-1][:60] for row in ROWS])
def test_what_is_no_loss_norm_level_or_number_of_rows_is_refused(error, call, words):
    with pytest.raises(error, match=words):
        call()
