"""The integrated calibration index and its kin: loess against its definition, against statsmodels, and where it degenerates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import loess as reference
from strategies import columns

from calibrant import integrated_calibration_index
from calibrant._core.border import as_problem
from calibrant.lenses import Local
from calibrant.metrics import e50_error, e90_error, emax_error

OF_GAPS = {
    integrated_calibration_index: np.mean,
    e50_error: np.median,
    e90_error: lambda gaps: np.quantile(gaps, 0.9),
    emax_error: np.max,
}
spans = st.sampled_from([0.3, 0.5, 0.75, 1.0])


@given(rows=columns(max_rows=8), span=spans, degree=st.integers(0, 2))
def test_the_errors_are_those_of_the_definition(rows, span, degree):
    label, score, weight = rows
    fitted = reference.smooth(score.tolist(), (label - score).tolist(), weight.tolist(), span, degree)
    gaps = np.minimum(np.abs(np.repeat(fitted, weight.astype(int))), 1.0)
    for metric, of_gaps in OF_GAPS.items():
        found = metric(label, score, sample_weight=weight, span=span, degree=degree)
        assert found == pytest.approx(of_gaps(gaps), abs=1e-6)


# 60 rows; lowess(outcome, score, frac=span, it=0, delta=0) of statsmodels 0.15.0, and the four figures by numpy.
STATSMODELS = {
    0.75: (0.11160967928055912, 0.1169789482993752, 0.15811123264411064, 0.16539241817568462),
    0.5: (0.11822615019602623, 0.09135768504295774, 0.21599544734293288, 0.23859863734314585),
    0.3: (0.13131191872827516, 0.09180390594165934, 0.27963783630097316, 0.35370239870286424),
}


@pytest.mark.parametrize("span", STATSMODELS)
def test_with_lines_the_errors_are_those_of_lowess_in_statsmodels(span):
    i = np.arange(1, 61)
    score = (i * 0.6180339887498949) % 1
    label = (i * 0.7548776662466927) % 1 < score**1.5
    found = [metric(label, score, span=span, degree=1) for metric in OF_GAPS]
    np.testing.assert_allclose(found, STATSMODELS[span], rtol=1e-12)


def test_a_parabola_of_residuals_is_found_exactly():
    score = np.linspace(0.05, 0.95, 80)
    view = Local(degree=2)(as_problem(np.ones(80, dtype=int), score))
    bent = 0.3 * score * (1 - score) - 0.04
    np.testing.assert_allclose(view.look(bent[None])[0], bent, atol=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.3, 3), (8, 0.4)])
def test_gathering_neighbours_changes_little(a, b):
    rng = np.random.default_rng(4)
    score = rng.beta(a, b, 1500)
    problem = as_problem(rng.random(1500) < score**1.3, score)
    exact, gathered = Local(n_cells=1500)(problem), Local()(problem)
    assert (exact.score.size, gathered.score.size <= 512) == (1500, True)
    assert gathered.score[[0, -1]].tolist() == [score.min(), score.max()]
    residual = (problem.outcome - problem.score)[None]
    there = np.interp(exact.score, gathered.score, gathered.look(residual)[0])
    apart = np.abs(there - exact.look(residual)[0])
    assert apart.mean() < 1e-3
    assert abs(np.abs(there).mean() - np.abs(exact.look(residual)).mean()) < 1e-4


def test_equal_scores_are_never_parted():
    rng = np.random.default_rng(5)
    score = rng.integers(0, 900, 4000) / 900
    view = Local()(as_problem(np.ones(4000, dtype=int), score))
    assert all(len(set(view.place[score == s].tolist())) == 1 for s in np.unique(score))


REFUSED = [
    ({"span": 0.0}, "span must be a number, .*; got 0.0. .*0.75 is usual."),
    ({"span": 75}, "span must be a number, .*; got 75. .*0.75 is usual."),
    ({"degree": 3}, "degree must be at most 2; got 3. 2 is usual."),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_options_that_mean_nothing_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        integrated_calibration_index([0, 1], [0.2, 0.7], **options)


def test_too_few_groups_are_refused():
    with pytest.raises(ValueError, match=r"n_cells must be a whole number, at least 3; got 2\. 512 is usual\."):
        Local(n_cells=2)
