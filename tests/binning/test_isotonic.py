"""Isotonic bins with a smallest and a largest size: the algorithm, what ties do to it, and what is refused."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import bounded_isotonic as reference
from strategies import columns

from calibrant._core.border import as_problem
from calibrant.binning import BoundedIsotonic, Isotonic

outcomes = st.lists(st.integers(0, 1), min_size=1, max_size=30)
sizes = st.tuples(st.integers(0, 8), st.integers(1, 20)).filter(lambda pair: pair[0] <= pair[1])
endings = st.sampled_from(["bounded", "joined"])


def cut(binning, label, score, weight=None):
    return binning(as_problem(np.asarray(label), np.asarray(score, dtype=float), sample_weight=weight, labels=[0, 1]))


def in_order(label):
    return np.arange(1, len(label) + 1) / (len(label) + 1)


def scores_and_rows(rows):
    """Distinct scores, and (rows, events) of each."""
    label, score, weight = rows
    distinct = sorted(set(score.tolist()))
    return distinct, [(int(weight[score == s].sum()), int(weight[score == s] @ label[score == s])) for s in distinct]


# The algorithm


@settings(max_examples=40)
@given(label=outcomes, bounds=sizes.filter(lambda pair: pair[1] >= 2 * pair[0] - 1))
def test_bins_of_distinct_scores_are_those_of_the_algorithm(label, bounds):
    score = in_order(label)
    bins = cut(BoundedIsotonic(*bounds), label, score)
    expected = reference.sizes(label, *bounds)
    assert bins.count.tolist() == expected
    np.testing.assert_allclose(bins.edges, reference.edges(score.tolist(), expected), rtol=1e-15)


@given(label=outcomes, bounds=sizes)
def test_joined_ends_are_those_of_the_published_code_where_it_keeps_the_smallest_size(label, bounds):
    least, most = bounds
    expected = reference.sizes(label, least, most, joins=lambda last, tail: 2 * tail <= most)
    assume(len(label) < least or min(expected) >= least)
    assert cut(BoundedIsotonic(least, most, "joined"), label, in_order(label)).count.tolist() == expected


def test_a_joined_end_joins_where_two_smallest_bins_are_one():
    label = [0, 1] * 4
    assert cut(BoundedIsotonic(4, 5, "joined"), label, in_order(label)).count.tolist() == [4, 4]
    assert cut(BoundedIsotonic(4, 8, "joined"), label, in_order(label)).count.tolist() == [8]


@given(rows=columns())
def test_without_bounds_the_bins_are_isotonic(rows):
    bins, isotonic = (cut(b, *rows) for b in (BoundedIsotonic(0, 1.0), Isotonic()))
    np.testing.assert_array_equal(bins.weight, isotonic.weight)
    np.testing.assert_array_equal(bins.outcome_sum, isotonic.outcome_sum)


@settings(max_examples=100)
@given(rows=columns(), bounds=sizes)
def test_scores_of_many_rows_are_pooled_by_the_rule(rows, bounds):
    distinct, groups = scores_and_rows(rows)
    blocks = reference.of_scores(groups, *bounds)
    bins = cut(BoundedIsotonic(*bounds), *rows)
    assert bins.weight.tolist() == [sum(groups[g][0] for g in block) for block in blocks]
    assert bins.index(np.array(distinct)).tolist() == [b for b, block in enumerate(blocks) for _ in block]


# What holds of the sizes


@given(rows=columns(), bounds=sizes, ending=endings)
def test_every_bin_holds_the_smallest_size_if_the_rows_do(rows, bounds, ending):
    bins = cut(BoundedIsotonic(*bounds, ending), *rows)
    assert len(bins) == 1 or bins.weight.min() >= max(1, bounds[0])


TOO_LITTLE = {
    "many rows alone": ([8.0, 2.0, 50.0, 6.0], [10, 50, 6]),
    "before the last bin": ([8.0, 2.0, 9.0], [10, 9]),
    "it fits nowhere": ([9.0, 2.0, 50.0, 6.0], [9, 52, 6]),
}


@pytest.mark.parametrize(("rows", "expected"), TOO_LITTLE.values(), ids=TOO_LITTLE)
def test_what_is_too_little_joins_the_bin_where_it_fits(rows, expected):
    label = [0, 1, 1, 1][: len(rows)]
    assert cut(BoundedIsotonic(5, 10), label, in_order(label), np.array(rows)).weight.tolist() == expected


# Shares, numbers and weights


@given(rows=columns(min_rows=4))
def test_a_share_is_a_number_of_rows(rows):
    n = int(rows[2].sum())
    share, number = BoundedIsotonic(0.25, 0.5), BoundedIsotonic(-(-n // 4), n // 2)
    np.testing.assert_array_equal(cut(share, *rows).edges, cut(number, *rows).edges)


@given(rows=columns(), bounds=sizes, scale=st.sampled_from([0.1, 1 / 3, 0.7]), ending=endings)
def test_rows_count_where_weights_are_no_counts(rows, bounds, scale, ending):
    label, score, _ = rows
    binning = BoundedIsotonic(*bounds, ending)
    fractions = np.full(len(score), scale)
    np.testing.assert_array_equal(cut(binning, label, score, fractions).edges, cut(binning, label, score).edges)


def test_rates_that_differ_by_rounding_are_one_rate():
    weight = 0.1 * np.array([1, 1, 3, 1, 1, 1])
    label = [1, 0, 1, 0, 0, 0]
    assert cut(BoundedIsotonic(0, 1.0), label, in_order(label), weight).count.tolist() == [6]


def test_one_row_and_all_rows_are_told_by_the_kind_of_number():
    score, label = np.arange(8) / 8, [0, 1] * 4
    assert cut(BoundedIsotonic(1, 1), label, score).count.tolist() == [1] * 8
    assert cut(BoundedIsotonic(1.0, 1.0), label, score).count.tolist() == [8]
    assert cut(BoundedIsotonic(0, 1), label, score).count.tolist() == [1] * 8


def test_a_number_above_a_share_is_the_largest_size_as_well():
    label = [0, 1] * 10
    assert cut(BoundedIsotonic(5, 0.1), label, in_order(label)).count.tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize("n", [1, 2, 9, 19, 20, 21, 1000])
def test_the_default_makes_at_most_twenty_bins(n):
    label = np.random.default_rng(n).random(n) < in_order(range(n))
    bins = cut(BoundedIsotonic(), label.astype(int), in_order(label))
    assert min(n, 5) <= len(bins) <= 20
    assert bins.count.max() <= max(1, n / 5)


def test_fewer_rows_than_the_smallest_size_make_one_bin():
    assert cut(BoundedIsotonic(50, 100), [0, 1], [0.2, 0.4]).edges.tolist() == [0.0, 1.0]
    assert cut(BoundedIsotonic(10**400, 10**401), [0, 1], [0.2, 0.4]).edges.tolist() == [0.0, 1.0]


def test_edges_between_neighbouring_floats_part_them():
    low = 0.3
    high = np.nextafter(low, 1.0)
    for pair in ([low, high], [0.0, 5e-324], [np.nextafter(1.0, 0.0), 1.0]):
        assert cut(BoundedIsotonic(1, 1), [0, 1], pair).count.tolist() == [1, 1]


# Parameters


ABOVE = "max_count must be above 0 and at least min_count; got"
REFUSED = [
    ({"min_count": -1}, ValueError, r"min_count must be a whole number, at least 0; got -1\. Pass a number of rows"),
    ({"min_count": 1.5}, ValueError, r"min_count must be a number, at least 0 and at most 1; got 1\.5\. Pass a share"),
    ({"max_count": float("nan")}, ValueError, r"max_count must be a number, at least 0 and at most 1; got nan"),
    ({"max_count": 0}, ValueError, rf"{ABOVE} 0 with min_count=0\.05\. Pass"),
    ({"max_count": 0.01}, ValueError, rf"{ABOVE} 0\.01 with min_count=0\.05"),
    ({"min_count": 9, "max_count": 8}, ValueError, f"{ABOVE} 8 with min_count=9"),
    ({"ending": "code"}, ValueError, r"ending must be one of 'bounded', 'joined'; got 'code'\. Pass one of them"),
    *[({"min_count": size}, TypeError, "min_count must be a ") for size in (True, "50", None)],
]


@pytest.mark.parametrize(("parameters", "error", "message"), REFUSED, ids=str)
def test_sizes_that_are_none_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        BoundedIsotonic(**parameters)


# How good the bins are


# Published figures

DOGS = {
    "alexnet": ([10000, 9970, 10000, 6054, 2534, 2635, 2503, 2500, 3804], 57),
    "vgg19": ([10000, 10000, 5440, 10000, 2794, 2764, 2501, 2500, 4001], 40),
    "resnet18": ([10000, 9327, 10000, 3140, 6458, 2614, 2500, 2500, 3461], 35),
}
ALEXNET_EDGES = [
    "2.436595e-06", "9.674571e-05", "0.001379905", "0.006845896", "0.01607048", "0.05361092", "0.5322976", "0.9903906",
]  # fmt: skip


@pytest.mark.parametrize("ending", ["bounded", "joined"])
@pytest.mark.parametrize("model", DOGS)
def test_dogs_are_cut_as_published(data_dir, model, ending):
    dogs = np.load(data_dir / "imagenet_dogs.npz")
    bins = cut(BoundedIsotonic(ending=ending), dogs["y"], dogs[model])
    assert bins.count.tolist() == DOGS[model][0]
    assert len(cut(Isotonic(), dogs["y"], dogs[model])) == DOGS[model][1]


def test_the_edges_of_alexnet_are_those_that_were_written_down(data_dir):
    dogs = np.load(data_dir / "imagenet_dogs.npz")
    edges = cut(BoundedIsotonic(), dogs["y"], dogs["alexnet"]).edges
    assert [f"{edge:.7g}" for edge in edges[1:-1]] == ALEXNET_EDGES
