"""What every calibrator keeps, and what it promises. A calibrator is tested by being registered."""

import json
import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import columns, dirichlet_rows, repeated, tables, votes

from calibrant import ByNotion, HistogramBinning, log_loss
from calibrant._core.registry import entries
from calibrant.binning import PointsPerBin
from calibrant.calibrators import BinaryCalibrator
from calibrant.interop.save import from_document, to_document

# The warnings of a degenerate input are its documented answer.
pytestmark = pytest.mark.filterwarnings(
    "ignore::calibrant.exceptions.CalibrationWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)

CALIBRATORS = {name: entry.target for name, entry in entries("calibrator").items()}
BINARY = {name: target for name, target in CALIBRATORS.items() if issubclass(target, BinaryCalibrator)}
NOTIONS_OF = {"isotonic": entries("notion")}  # the notions are the same for all methods: one goes through all of them
BY_NOTION = {
    f"{name} by {notion}": (lambda target=target, notion=notion: ByNotion(target(), notion))
    for name, target in BINARY.items()
    for notion in NOTIONS_OF.get(name, ["class-wise"])
}
WITH_GUARANTEE = {
    f"guaranteed by {notion}": lambda notion=notion: ByNotion(
        HistogramBinning(PointsPerBin(5), interior=True, delta=1e-3), notion
    )
    for notion in ("top-label", "class-wise", "binary")
}
OF_TWO_CLASSES = {*BINARY, *(key for key in (*BY_NOTION, *WITH_GUARANTEE) if key.endswith("by binary"))}
ALL = {**CALIBRATORS, **BY_NOTION, **WITH_GUARANTEE}

each = pytest.mark.parametrize("key", ALL)


def forecast_for(data, key, **size):
    if data.draw(st.booleans(), label="one column"):
        return data.draw(columns(**size))
    return data.draw(tables(n_classes=st.just(2) if key in OF_TWO_CLASSES else st.integers(2, 4), **size))


@each
def test_a_calibrator_keeps_what_it_is_told_of_its_data(key):
    kept = ALL[key]().set_params(input="logit").get_params()
    made = type(ALL[key]())(**{name: kept[name] for name in ALL[key]().get_params(deep=False)} | {"labels": ["a", "b"]})
    assert (made.input, made.labels) == ("logit", ["a", "b"])


def fitted(key, rows, **options):
    calibrator = ALL[key]().set_params(**options)
    if rows[1].ndim == 2 and "labels" not in options:
        calibrator.set_params(labels=np.arange(rows[1].shape[1]))
    return calibrator.fit(rows[1], rows[0], rows[2])


def table_for(key, seed=0):
    label, prob = dirichlet_rows(60, 2 if key in OF_TWO_CLASSES else 3, seed, power=2.0)
    return label, prob, np.random.default_rng(seed + 100).integers(1, 4, 60).astype(float)


@cache
def once_fitted(key):
    """The calibrator of `table_for(key)`, for all laws that fit it no further."""
    return fitted(key, table_for(key))


@each
@given(data=st.data())
def test_calibrated_rows_are_probabilities_that_sum_to_one(key, data):
    rows = forecast_for(data, key)
    calibrator = fitted(key, rows)
    new = np.concatenate([rows[1], [0.0, 0.5, 1.0] if rows[1].ndim == 1 else np.eye(rows[1].shape[1])])
    prob = calibrator.predict_proba(new)
    assert np.isfinite(prob).all()
    assert prob.min() >= 0
    assert prob.max() <= 1
    np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=1e-12)
    # What a fit gives, however odd its rows, no check of a file refuses, and it comes back to the last bit.
    written = json.dumps(to_document(calibrator), allow_nan=False)
    np.testing.assert_array_equal(from_document(json.loads(written)).predict_proba(new), prob)


@each
def test_rounded_rows_are_calibrated_to_rows_that_sum_to_one(key):
    label, prob, weight = table_for(key)
    rounded = np.minimum(prob * np.random.default_rng(0).uniform(0.9991, 1.0008, (len(prob), 1)), 1.0)
    got = fitted(key, (label, rounded, weight)).predict_proba(rounded)
    np.testing.assert_allclose(got.sum(axis=1), 1.0, rtol=1e-12)


@each
def test_refitting_forgets_the_first_fit(key):
    first, second = table_for(key, 1), table_for(key, 2)
    refitted = fitted(key, first).fit(second[1], second[0], second[2])
    np.testing.assert_array_equal(refitted.calibrate(first[1]), fitted(key, second).calibrate(first[1]))


@each
def test_an_interrupted_fit_leaves_the_calibrator_as_it_was(key, monkeypatch):
    first, second = table_for(key, 1), table_for(key, 2)
    calibrator = fitted(key, first)
    before = calibrator.calibrate(first[1])
    attributes = {name: id(value) for name, value in vars(calibrator).items()}
    fit_problem = type(calibrator)._fit_problem

    def interrupted(self, problem):
        fit_problem(self, problem)  # even at the last moment
        raise KeyboardInterrupt

    monkeypatch.setattr(type(calibrator), "_fit_problem", interrupted)
    with pytest.raises(KeyboardInterrupt):
        calibrator.fit(second[1], second[0], second[2])
    assert {name: id(value) for name, value in vars(calibrator).items()} == attributes
    np.testing.assert_array_equal(calibrator.calibrate(first[1]), before)


@each
def test_a_clone_fits_the_same_map_and_a_pickle_holds_it(key):
    label, prob, weight = table_for(key)
    original = once_fitted(key)
    copy = clone(original)
    assert not [name for name in vars(copy) if name.endswith("_")]
    for other in (copy.fit(prob, label, weight), pickle.loads(pickle.dumps(original))):
        np.testing.assert_array_equal(other.calibrate(prob), original.calibrate(prob))


@each
@pytest.mark.parametrize("seed", range(5))
def test_integer_weights_equal_repeated_rows(key, seed):
    counted = table_for(key, seed)
    found, expected = (fitted(key, rows) for rows in (counted, repeated(counted)))
    np.testing.assert_allclose(found.calibrate(counted[1]), expected.calibrate(counted[1]), rtol=1e-8, atol=1e-12)
    assert np.array_equal(getattr(found, "count_", None), getattr(expected, "count_", None))


@each
@pytest.mark.parametrize("seed", range(2))
def test_weights_that_are_no_counts_have_any_unit(key, seed):
    label, prob, weight = table_for(key, seed)
    one, other = (fitted(key, (label, prob, weight / unit)).calibrate(prob) for unit in (7.0, 700.0))
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)


@each
@pytest.mark.parametrize("seed", range(5))
def test_a_zero_weight_is_an_absent_row(key, seed):
    label, prob, weight = table_for(key, seed)
    weight[::3] = 0.0
    kept = weight > 0
    absent = (label[kept], prob[kept], weight[kept])
    found, expected = (fitted(key, rows).calibrate(prob) for rows in ((label, prob, weight), absent))
    np.testing.assert_array_equal(found, expected)


@each
def test_row_order_is_irrelevant(key):
    rows = table_for(key)
    order = np.random.default_rng(3).permutation(len(rows[0]))
    shuffled = fitted(key, tuple(column[order] for column in rows))
    np.testing.assert_allclose(shuffled.calibrate(rows[1]), once_fitted(key).calibrate(rows[1]), rtol=1e-8, atol=1e-12)


@each
def test_labels_of_text_change_names_and_nothing_else_and_given_ones_name_the_columns_in_their_order(key):
    label, prob, weight = table_for(key)
    numbers = once_fitted(key)
    for words, is_given in ((["ape", "bee", "cat"], False), (["cat", "ape", "bee"], True)):
        names = np.array(words)[: prob.shape[1]]
        text = fitted(key, (names[label], prob, weight), labels=names if is_given else None)
        np.testing.assert_array_equal(text.classes_, names)
        np.testing.assert_array_equal(text.calibrate(prob), numbers.calibrate(prob))
        np.testing.assert_array_equal(text.predict(prob), names[numbers.predict(prob)])


@each
def test_the_input_is_not_returned(key):
    rows = table_for(key)
    calibrator = fitted(key, rows)
    calibrator.calibrate(rows[1])[:] = -1.0
    assert rows[1].min() >= 0
    assert calibrator.calibrate(rows[1]).min() >= 0


@each
def test_read_only_single_precision_and_strided_forecasts_are_accepted(key):
    label, prob, weight = table_for(key)
    expected = once_fitted(key).calibrate(prob)
    for column in (label, prob, weight):
        column.flags.writeable = False
    for other in (prob, np.asfortranarray(prob), np.repeat(prob, 2, axis=0)[::2]):
        np.testing.assert_array_equal(fitted(key, (label, other, weight)).calibrate(other), expected)
    single = prob.astype(np.float32)
    np.testing.assert_array_equal(
        fitted(key, (label, single, weight)).calibrate(single),
        fitted(key, (label, single.astype(np.float64), weight)).calibrate(single.astype(np.float64)),
    )


@pytest.mark.first(12)
@pytest.mark.parametrize("key", sorted(set(ALL) - OF_TWO_CLASSES))
def test_the_layout_of_logits_in_memory_makes_no_difference(key):
    """The sums that make probabilities of them must not: a row that was fitted would come below the step that begins at it."""
    rng = np.random.default_rng(0)
    logit = 2.0 * rng.normal(size=(120, 30))
    label = np.append(np.arange(30), (logit[30:] + rng.gumbel(size=(90, 30))).argmax(axis=1))
    other = np.asfortranarray(logit)
    for before, new in ((logit, other), (other, logit)):
        calibrator = fitted(key, (label, before, np.ones(120)), input="logit")
        np.testing.assert_allclose(calibrator.calibrate(new), calibrator.calibrate(before), rtol=1e-9, atol=1e-14)


@each
def test_rows_one_at_a_time_and_in_blocks_are_the_same_as_all_at_once(key, monkeypatch):
    prob, calibrator = table_for(key)[1], once_fitted(key)
    forecasts = [prob, prob[:, 1]] if key in BINARY else [prob]
    whole = [calibrator.calibrate(forecast) for forecast in forecasts]
    one_by_one = np.concatenate([calibrator.calibrate(row[None, :]) for row in prob])
    np.testing.assert_allclose(one_by_one, whole[0], rtol=1e-14)
    monkeypatch.setattr(type(calibrator), "block", 7)
    for forecast, expected in zip(forecasts, whole, strict=True):
        np.testing.assert_allclose(calibrator.calibrate(forecast), expected, rtol=1e-14)


ALIKE = ["temperature", "ensemble-temperature", "irm", "na-fir", "scir", "isotonic by flattened"]


@each
def test_the_same_numbers_in_another_order_become_the_same_numbers_in_that_order(key):
    """Of a map that treats classes alike: votes of (.6, .3, .1) and of (.3, .6, .1) have one confidence afterwards."""
    y, rows = votes(2 if key in OF_TWO_CLASSES else 3)
    prob, turned = rows / 20, np.arange(rows.shape[1]) - 1
    calibrator = fitted(key, (y, prob, np.ones(len(y))))
    found, expected = calibrator.predict_proba(prob[:, turned]), calibrator.predict_proba(prob)[:, turned]
    is_alike = np.allclose(found, expected, atol=1e-12)
    assert is_alike or key not in ALIKE
    if is_alike:
        np.testing.assert_array_equal(found, expected)


COPIED = {
    "ten times": lambda rng, n: np.repeat(np.arange(n), 10),
    "drawn again and again": lambda rng, n: rng.integers(0, n, 10 * n),
}


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("copied", COPIED)
@pytest.mark.parametrize("key", ["evidence-scaling", "safe", "irp", "multiclass-irp", "na-fir", "scir"])
def test_copies_of_rows_are_no_further_evidence(key, copied, k):
    """Ten copies of 150 calibrated rows: the log loss of new rows rises no more than by the rows themselves, and 0.01.

    Only the folds of multiclass IRP know of copies (docs/decisions/0053-copies-of-rows.md).
    """
    if k > 2 and key in OF_TWO_CLASSES:
        pytest.skip("of two classes")
    rng = np.random.default_rng(k)
    prob = rng.dirichlet(np.ones(k), 4150)
    label = (rng.random((4150, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    rows, new = COPIED[copied](rng, 150), np.arange(150, 4150)

    def loss(rows, weight=None):
        return log_loss(label[new], fitted(key, (label[rows], prob[rows], weight)).predict_proba(prob[new]))

    plain = loss(np.arange(150))
    # The last tree of multiclass IRP is grown on all copies, as often as each was drawn: that costs up to 0.034 nats.
    is_grown = key == "multiclass-irp" and copied == "drawn again and again"
    assert loss(rows) < plain + (0.035 if is_grown else 0.01)
    assert loss(np.arange(150), np.bincount(rows, minlength=150).astype(float)) == pytest.approx(loss(rows), abs=1e-6)
