"""Predictions that are read in batches give what the same rows give in memory."""

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import assess, calibration_error, classwise_calibration_error
from calibrant._core.border import as_problem
from calibrant.binning import EqualWidth
from calibrant.interop.arrow_batches import Batches
from calibrant.metrics import kernel_calibration_error
from calibrant.metrics.decompositions import hits, squared_losses
from calibrant.notions import as_notion
from calibrant.sums import Plan, scan

RNG = np.random.default_rng(3)
N = 6000
PROB = RNG.dirichlet(np.ones(3), N).astype(np.float32)
LABEL = RNG.integers(0, 3, N)
SCORE, EVENT = PROB[:, 0], LABEL == 0
PLAN = Plan(
    tuple((as_notion(word), EqualWidth(9)) for word in ("class-wise", "confidence")),
    (("hits", hits), ("brier", squared_losses)),
    noise=True,
)


def cut(at, *arrays):
    """Cut arrays into batches at these rows."""
    ends = [0, *sorted(at), len(arrays[0])]
    return [tuple(array[a:b] for array in arrays) for a, b in pairwise(ends)]


@settings(max_examples=15)
@given(at=st.lists(st.integers(0, N), max_size=5))
def test_any_batches_leave_the_sums_of_all_rows(at):
    ours, theirs = scan(Batches(cut(at, LABEL, PROB)), PLAN), scan(as_problem(LABEL, PROB), PLAN)
    assert ours.rows == theirs.rows
    np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-12)
    np.testing.assert_array_equal(ours.kept.number, theirs.kept.number)
    np.testing.assert_array_equal(ours.kept.problem.prob, theirs.kept.problem.prob)
    for mine, other in zip(chain(*ours.cells), chain(*theirs.cells), strict=True):
        np.testing.assert_array_equal(mine.bins.count, other.bins.count)
        np.testing.assert_array_equal(mine.bins.outcome_sum, other.bins.outcome_sum)
        np.testing.assert_allclose(mine.strata.sums, other.strata.sums, rtol=1e-12)
        np.testing.assert_allclose(mine.bins.score_sum, other.bins.score_sum, rtol=1e-12)


@pytest.mark.parametrize("arrays", [(LABEL, PROB), (EVENT, SCORE)], ids=["table", "column"])
@pytest.mark.parametrize("n", [N, 3000], ids=["many", "few"])
def test_an_error_is_that_of_the_rows_in_memory(arrays, n):
    arrays = [array[:n] for array in arrays]
    assert calibration_error(Batches(cut([700, 2500], *arrays))) == pytest.approx(calibration_error(*arrays), rel=1e-12)


def test_few_rows_are_read_by_every_function():
    rows = LABEL[:60], PROB[:60]
    assert calibration_error(Batches(cut([20], *rows)), binning=3) == calibration_error(*rows, binning=3)
    ours = kernel_calibration_error(Batches(cut([20], *rows)), None)
    assert ours == pytest.approx(kernel_calibration_error(*rows), rel=1e-12)


def test_what_needs_all_rows_says_how_to_sample_them():
    predictions = Batches(cut([5000], LABEL, PROB))
    with pytest.raises(ValueError, match=r"needs all rows.*sample\(100_000\)"):
        kernel_calibration_error(predictions, None)
    some = predictions.sample(50)
    assert len(some["y_true"]) == 50
    assert some["y_prob"].dtype == np.float32
    np.testing.assert_array_equal(some["y_prob"], Batches(cut([12, 2000], LABEL, PROB)).sample(50)["y_prob"])
    assert kernel_calibration_error(**some) > 0.0


def test_another_order_of_batches_is_another_sample():
    batches = cut([2000, 4000], LABEL, PROB)
    one, other = (set(map(tuple, Batches(some).sample(50)["y_prob"])) for some in (batches, batches[::-1]))
    assert one != other


def test_what_is_said_twice_is_refused():
    with pytest.raises(TypeError, match=r"y_prob must be left out beside predictions"):
        calibration_error(Batches([(LABEL, PROB)]), PROB)
    with pytest.raises(TypeError, match=r"y_prob must be given beside y_true"):
        calibration_error(LABEL)
    with pytest.raises(ValueError, match=r"at least one row"):
        calibration_error(Batches([]))


def test_class_wise_cells_have_the_names_of_the_classes():
    words = np.array(["cat", "dog", "eel"])
    predictions = Batches(cut([5000], words[LABEL], PROB), labels=list(words))
    assert [one.name for one in scan(predictions, PLAN).cells[0]] == [f"class {word}" for word in words]
    assert classwise_calibration_error(predictions, None) == pytest.approx(classwise_calibration_error(LABEL, PROB))


@pytest.mark.parametrize("kind", ["logits", "weights", "one column of logits"])
def test_a_sample_says_all_that_has_to_be_said_of_it(kind):
    logit, weight = np.log(PROB.astype(float)), RNG.integers(1, 4, N)
    words = np.array(["cat", "dog", "eel"])[LABEL]
    if kind == "logits":
        read, arguments = Batches([(words, logit)], labels=["cat", "dog", "eel"], input="logit"), (words, logit)
    elif kind == "weights":
        read, arguments = Batches([(EVENT, SCORE, weight)]), (EVENT, SCORE)
    else:
        read, arguments = Batches([(EVENT, logit[:, 0])], input="logit"), (EVENT, logit[:, 0])
    some, every = read.sample(500), read.sample(10 * N)
    said = {name: every[name] for name in ("labels", "input", "sample_weight") if name in every}
    assert len(some["y_true"]) == 500
    assert assess(**some, n_resamples=9).n_rows == np.sum(some.get("sample_weight", 500))
    np.testing.assert_allclose(every["y_prob"], arguments[1])
    np.testing.assert_array_equal(every["y_true"], arguments[0])
    assert calibration_error(**every) == calibration_error(*arguments, **said)
