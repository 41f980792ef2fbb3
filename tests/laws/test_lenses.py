"""What every lens keeps, bins among them: it is linear, and the size of what it sees is a distance. Its metrics test it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import columns

from calibrant._core.border import as_problem
from calibrant.lenses import BinView
from calibrant.metrics.kinds import ThroughLens, metrics

SEEN = {metric.name: metric for metric in metrics() if isinstance(metric, ThroughLens) and metric.size.is_of_deviations}
QUANTILES = ("e50", "e90")  # the quantile of a sum is no sum of quantiles

each = pytest.mark.parametrize("entry", SEEN.values(), ids=list(SEEN))
DISTANCES = {name: entry for name, entry in SEEN.items() if name not in QUANTILES}
OBSERVED = {name: entry for name, entry in SEEN.items() if entry.notion is None and not entry.size.is_debiased}
of_observed = pytest.mark.parametrize("entry", OBSERVED.values(), ids=list(OBSERVED))


def view_and_residuals(entry, rows, seed):
    label, score, weight = rows
    view = entry.lens(as_problem(label, score, sample_weight=weight))
    return view, np.random.default_rng(seed).normal(size=(2, label.size))


def sizes(entry, view, residual):
    seen, weight = view.look(residual), np.ones(1)
    if isinstance(view, BinView):
        weight = view.bins.weight[view.bins.weight > 0] / view.bins.weight.sum()
    return entry.size.of_seen([view], [weight], [seen])


@each
@given(rows=columns(), seed=st.integers(0, 99), times=st.floats(-3, 3))
def test_a_lens_is_linear(entry, rows, seed, times):
    view, (a, b) = view_and_residuals(entry, rows, seed)
    together = view.look((a + times * b)[None])
    np.testing.assert_allclose(together, view.look(a[None]) + times * view.look(b[None]), rtol=1e-9, atol=1e-9)


@each
@given(rows=columns(), seed=st.integers(0, 99))
def test_many_vectors_are_seen_as_each_alone(entry, rows, seed):
    view, residual = view_and_residuals(entry, rows, seed)
    alone = [sizes(entry, view, one[None])[0] for one in residual]
    np.testing.assert_allclose(sizes(entry, view, residual), alone, rtol=1e-9, atol=1e-12)


@each
@given(rows=columns(), seed=st.integers(0, 99))
def test_the_size_of_nothing_is_zero_and_signs_do_not_matter(entry, rows, seed):
    view, residual = view_and_residuals(entry, rows, seed)
    np.testing.assert_allclose(sizes(entry, view, 0 * residual), 0, atol=1e-12)
    np.testing.assert_allclose(sizes(entry, view, -residual), sizes(entry, view, residual), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("entry", DISTANCES.values(), ids=list(DISTANCES))
@given(rows=columns(), seed=st.integers(0, 99))
def test_a_sum_is_not_larger_than_its_parts_together(entry, rows, seed):
    """The triangle inequality: what intervals rest on."""
    view, (a, b) = view_and_residuals(entry, rows, seed)
    whole = sizes(entry, view, (a + b)[None])[0]
    assert whole <= sizes(entry, view, a[None])[0] + sizes(entry, view, b[None])[0] + 1e-6


@of_observed
@given(rows=columns(), seed=st.integers(0, 99))
def test_the_metric_is_the_size_of_the_observed_residuals(entry, rows, seed):
    label, score, weight = rows
    view, _ = view_and_residuals(entry, rows, seed)
    found = sizes(entry, view, (label - score)[None])[0]
    assert entry.target(label, score, sample_weight=weight) == pytest.approx(found, rel=1e-9, abs=1e-12)


@of_observed
@given(rows=columns())
def test_cells_of_one_score_are_seen_as_their_rows(entry, rows):
    """Windows and quantiles count the rows of a cell, so that noise is that of the value it is compared with."""
    label, score, weight = rows
    seen = entry.residuals(as_problem(label, score, sample_weight=weight))
    table = seen.cells()
    assert seen.sizes(table)(table.deviation[None])[0] == pytest.approx(seen.value, rel=1e-7, abs=1e-9)
