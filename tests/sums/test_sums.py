"""What noise is drawn from: sums by outcome, and the rows that stay. Merged parts equal the whole, also of another process."""

import json
import pickle
from functools import partial, reduce
from itertools import chain
from math import fsum
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import columns, tables

from calibrant import EqualMass, EqualWidth
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning import bins
from calibrant.metrics.kinds import LogLoss
from calibrant.notions import Binary, ClassWise, Confidence, Flattened, OneVsRest, TopLabel
from calibrant.sums import Plan, reading, scan
from calibrant.sums.draws import RowSample, Strata, keys_of

NOTIONS = (ClassWise(), TopLabel(), Confidence(), Flattened(), OneVsRest(0))
PLAN = Plan.of_cells([(notion, EqualWidth(6)) for notion in NOTIONS], noise=True)


def problem_of(rows):
    label, prob, _ = rows
    return as_simplex(as_problem(label, prob, labels=range(prob.shape[1])))


def written(sums):
    return json.dumps(sums.to_dict(), allow_nan=False)


@given(rows=columns(), n_bins=st.integers(1, 20))
def test_strata_are_sums_of_what_is_nearer_to_zero_of_p_and_1_minus_p(rows, n_bins):
    label, score, _ = rows
    problem = as_problem(label, score, labels=[0, 1])
    cut = EqualWidth(n_bins)(problem)
    found = Strata.of(problem, cut)
    at, occurred = cut.index(score), problem.outcome
    for b in range(n_bins):
        m = np.where(cut.left[b] + cut.right[b] > 1.0, 1.0 - score, score)
        for y in (0, 1):
            own = m[(at == b) & (occurred == y)]
            assert found.count[y, b] == own.size
            expected = [fsum(own), fsum(own**2)]
            np.testing.assert_allclose(found.sums[:, y, b], expected, rtol=1e-13, atol=1e-300)


@given(rows=tables(), data=st.data())
def test_strata_and_kept_rows_of_batches_in_any_order_are_those_of_all_rows(rows, data):
    problem = problem_of(rows)
    cuts = sorted(data.draw(st.lists(st.integers(0, problem.size), max_size=4)))
    ends = list(zip([0, *cuts], [*cuts, problem.size], strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "MOST", 3)
        whole = scan(problem, PLAN, first=7)
        parts = [scan(problem.at(slice(*pair)), PLAN, first=7 + pair[0]) for pair in data.draw(st.permutations(ends))]
        while len(parts) > 1:  # added in any order, and in any tree
            other = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
            at = data.draw(st.integers(0, len(parts) - 1))
            parts[at] = parts[at] + other
    for mine, its in zip(chain(*parts[0].cells), chain(*whole.cells), strict=True):
        np.testing.assert_array_equal(mine.strata.count, its.strata.count)
        np.testing.assert_allclose(mine.strata.sums, its.strata.sums, rtol=1e-12)
    np.testing.assert_array_equal(parts[0].kept.number, whole.kept.number)
    np.testing.assert_array_equal(parts[0].kept.problem.prob, whole.kept.problem.prob)
    assert parts[0].rows == whole.rows
    first = np.argsort(keys_of(7 + np.arange(problem.size)))[:3]
    assert (whole.kept.number - 7).tolist() == sorted(first.tolist())


# The compiled pass


def load(monkeypatch, value):
    """Say whether compiled loops are there, for any number of rows."""
    monkeypatch.setattr(reading, "are_loaded", lambda: value)
    monkeypatch.setattr(reading, "FEWEST", 1)


def table(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.full(n_classes, 0.3), n)
    prob[::7] = np.eye(n_classes)[rng.integers(0, n_classes, prob[::7].shape[0])]
    prob[1::7] = 1.0 / n_classes
    return as_problem(rng.integers(0, n_classes, n), prob, labels=range(n_classes))


def assert_same_cells(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        for mine, its in zip(one, other, strict=True):
            assert (mine.name, mine.share, mine.weights) == (its.name, its.share, its.weights)
            for name in ("edges", "count", "weight", "outcome_sum"):
                first, second = getattr(mine.bins, name), getattr(its.bins, name)
                assert (first.dtype, first.tobytes()) == (second.dtype, second.tobytes())
            np.testing.assert_allclose(mine.bins.score_sum, its.bins.score_sum, rtol=1e-12)
            np.testing.assert_array_equal(mine.strata.count, its.strata.count)
            np.testing.assert_allclose(mine.strata.sums, its.strata.sums, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(("n_classes", "order", "dtype"), [(2, "C", "f8"), (5, "F", "f8"), (5, "C", "f4")])
def test_the_compiled_pass_gives_the_same_bins_and_strata(n_classes, order, dtype, monkeypatch):
    problem = table(1200, n_classes)
    forecast = problem.forecast.__class__(np.asarray(problem.prob, order=order, dtype=dtype))
    problem = problem.__class__(forecast, problem.label, problem.weights, problem.classes)
    load(monkeypatch, False)
    plain = scan(problem, PLAN)
    load(monkeypatch, True)
    monkeypatch.setattr(reading, "CHUNK", 500)
    monkeypatch.setattr(bins, "CHUNK", 500)
    monkeypatch.setattr(reading, "BLOCK", 700)
    assert_same_cells(scan(problem, PLAN).cells, plain.cells)


def test_the_compiled_pass_gives_the_same_of_a_column(monkeypatch):
    rng, edges = np.random.default_rng(0), np.arange(16) / 15
    near = np.concatenate([edges, np.nextafter(edges, 2), np.nextafter(edges, -1)]).clip(0, 1)
    score = np.concatenate([near, rng.random(500), rng.random(200) * 1e-7])
    problem = as_problem(rng.random(score.size) < 0.5, score)
    plan = Plan.of_cells([(Binary(), EqualWidth(15))], noise=True)
    load(monkeypatch, False)
    plain = scan(problem, plan)
    load(monkeypatch, True)
    assert_same_cells(scan(problem, plan).cells, plain.cells)


def test_the_number_of_threads_makes_no_difference(monkeypatch):
    load(monkeypatch, True)
    monkeypatch.setattr(reading, "CHUNK", 100)
    monkeypatch.setattr(bins, "CHUNK", 100)
    monkeypatch.setattr(reading, "PARALLEL_FROM", 1)
    problem, found = table(1000, 3), []
    for workers in (1, 3):
        monkeypatch.setattr(reading, "n_processors", partial(int, workers))
        found.append(written(scan(problem, PLAN)))
    assert found[0] == found[1]


# What is not there


def test_other_binnings_and_weights_have_no_compiled_pass(monkeypatch):
    monkeypatch.setattr(reading, "_summed", None)  # calling it would raise
    load(monkeypatch, True)
    problem = table(300, 3)
    by_mass = scan(problem, Plan.of_cells([(ClassWise(), EqualMass(4))], noise=True))
    assert by_mass.cells[0][0].strata.count.sum() == 300
    weighted = scan(problem.weighted(np.full(300, 2.5)), PLAN)
    assert weighted.kept is None
    assert all(one.strata is None for problems in weighted.cells for one in problems)


def test_rows_are_kept_only_where_cells_share_them():
    problem = table(50, 3)
    assert scan(problem, Plan.of_cells([(TopLabel(), EqualWidth(5))], noise=True)).kept is None
    assert scan(problem, Plan.of_cells([(ClassWise(), EqualWidth(5))])).kept is None


# Kept rows


def test_keys_are_those_of_splitmix64():
    """The first three outputs of the generator, seeded with 0, as its authors' code prints them."""
    keys = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert keys_of(np.arange(3)).tolist() == keys


@pytest.mark.parametrize("n", [4096, 4097, 5300, 70_000, 200_000])
def test_the_rows_with_the_smallest_keys_are_kept(n):
    rng = np.random.default_rng(1)
    problem = as_simplex(as_problem(rng.integers(0, 2, n), rng.random(n)))
    found = RowSample.of(problem, 100, 4096)
    expected = 100 + np.sort(np.argsort(keys_of(np.arange(100, 100 + n)))[:4096])
    np.testing.assert_array_equal(found.number, expected)
    np.testing.assert_array_equal(found.problem.prob, problem.prob[expected - 100])
    np.testing.assert_array_equal(found.problem.label, problem.label[expected - 100])


def test_two_batches_that_number_their_rows_alike_do_not_add_up():
    part = scan(table(50, 3), PLAN)
    with pytest.raises(ValueError, match="rows of several batches must have numbers of their own; got the same"):
        part + part


# Sums that travel


SENT = Plan(cells=((ClassWise(), EqualWidth(5)),), scores=(("nll", LogLoss().impossible_rows),), noise=True)


def test_sums_that_were_sent_by_another_process_add_up():
    problem, there = table(60, 3), pickle.loads(pickle.dumps(SENT))
    parts = [scan(problem.at(rows), there, first=rows.start) for rows in (slice(0, 25), slice(25, 60))]
    sent = [pickle.loads(pickle.dumps(part)) for part in parts]
    assert reduce(add, sent).to_dict() == reduce(add, parts).to_dict()


def test_rows_in_any_order_are_kept_by_their_own_numbers():
    problem, order = table(9000, 3), np.random.default_rng(1).permutation(9000)
    whole = scan(problem, SENT)
    parts = [scan(problem.taken(rows), whole.plan, first=rows) for rows in np.split(order, [10, 5000])]
    np.testing.assert_array_equal(reduce(add, parts).kept.number, whole.kept.number)
