import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import bbq as twin
from strategies import columns, scores

from calibrant import EqualMass
from calibrant._core.border import as_problem
from calibrant.binning.bins import Ordered
from calibrant.calibrators import BayesianBinning
from calibrant.calibrators import binning as bbq

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

new_scores = st.lists(scores, min_size=1, max_size=20)


@given(
    rows=columns(),
    new=new_scores,
    spread=st.sampled_from([1.0, 2.0, 10.0]),
    prior_rows=st.sampled_from([0.5, 2.0, 20.0]),
)
def test_the_map_is_the_average_of_all_binnings_that_its_definition_says(rows, new, spread, prior_rows):
    label, score, weight = rows
    times = weight.astype(int)
    models = twin.fit(np.repeat(score, times).tolist(), np.repeat(label, times).tolist(), spread, prior_rows)
    fitted = BayesianBinning(spread=spread, prior_rows=prior_rows).fit(score, label, weight)
    expected = [twin.calibrated(models, s) for s in new]
    np.testing.assert_allclose(fitted.calibrate(new), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.model_weight_, [w for _, _, w in models], rtol=1e-8)
    assert fitted.n_bins_.tolist() == [len(values) for _, values, _ in models]


uneven = st.lists(st.sampled_from([1, 2, 7, 10**6, 10**9]), min_size=1, max_size=8).map(np.array)


def ordered(weight):
    rows = np.arange(1, len(weight) + 1) / (len(weight) + 1)
    return Ordered.of(as_problem(np.arange(len(weight)) % 2, rows, sample_weight=weight, labels=[0, 1]))


@given(weight=uneven, size=st.integers(1, 10**5))
def test_binnings_are_those_of_equal_mass_however_heavy_the_rows(weight, size):
    rows, size = ordered(weight), min(size, int(weight.sum()))
    *inner, last = rows.score[next(bbq._binnings(rows, range(size, size + 1)))].tolist()
    assert last == rows.score[-1]
    # Above the highest score there can be a bin more, without rows.
    assert inner == [cut for cut in EqualMass(size).cut(rows)[1:-1].tolist() if cut < last]


@given(weight=st.lists(st.integers(1, 40), min_size=1, max_size=6).map(np.array))
def test_sizes_that_are_not_tried_would_add_no_binning(weight):
    rows = ordered(weight)
    tried = bbq._sizes(rows, 1e9)
    assert tried.stop - 1 <= weight.sum()
    everything = [last.tolist() for last in bbq._binnings(rows, range(1, int(weight.sum()) + 1))]
    assert [last.tolist() for last in bbq._binnings(rows, tried)] == everything
