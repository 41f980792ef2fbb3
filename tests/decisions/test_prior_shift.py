"""Other shares of the classes: known ones, and what sampling and weights did."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import decisions as slow
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from strategies import columns, tables

from calibrant.datasets import make_softmax_forecast
from calibrant.decisions.prior_shift import (
    METHODS,
    estimate_prior,
    on_simplex,
    shift_prior,
    undo_class_weight,
    undo_undersampling,
)
from calibrant.exceptions import CalibrationWarning
from calibrant.fit import minimise as mixture

shares = st.floats(0.01, 0.99)


@st.composite
def priors(draw, n_classes):
    parts = np.array(draw(st.lists(st.integers(1, 20), min_size=n_classes, max_size=n_classes)), dtype=float)
    return parts / parts.sum()


@given(data=st.data(), rows=tables())
def test_each_class_is_multiplied_by_new_over_old_share(data, rows):
    _, prob, _ = rows
    old, new = data.draw(priors(prob.shape[1])), data.draw(priors(prob.shape[1]))
    found = shift_prior(prob, old_prior=old, new_prior=new)
    expected = [slow.shifted(row, (new / old).tolist()) for row in prob.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


@given(old=shares, new=shares, z=st.floats(-700, 700))
def test_logits_move_by_the_difference_of_the_log_ratios_exactly(old, new, z):
    found = shift_prior([z], old_prior=old, new_prior=new, input="logit")[0]
    assert found == pytest.approx(expit(z + np.log(new / (1 - new)) - np.log(old / (1 - old))), rel=1e-9, abs=1e-320)
    table = shift_prior([[0.0, z]], old_prior=old, new_prior=new, input="logit")
    assert table[0, 1] == found


def test_a_class_that_comes_no_more_gets_nothing_unless_it_has_all():
    found = shift_prior([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], old_prior=[0.2, 0.3, 0.5], new_prior=[0, 0.5, 0.5])
    np.testing.assert_allclose(found, [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]], rtol=1e-12)
    logits = shift_prior([[3.0, 0.0]], old_prior=0.5, new_prior=1.0, input="logit")
    assert logits.tolist() == [[0.0, 1.0]]


def test_the_input_is_left_alone_and_may_be_read_only():
    prob = np.array([[0.2, 0.8], [0.5, 0.5]])
    prob.flags.writeable = False
    before = prob.copy()
    found = shift_prior(prob, old_prior=0.5, new_prior=0.5)
    np.testing.assert_array_equal(prob, before)
    assert not np.shares_memory(found, prob)
    single = shift_prior(prob.astype(np.float32), old_prior=0.5, new_prior=0.2)
    np.testing.assert_allclose(single, shift_prior(prob, old_prior=0.5, new_prior=0.2), atol=1e-6)


TINY = 1e-310
"""One over it is infinite."""


def test_factors_of_any_size_give_probabilities():
    half = [0.5, 0.5]
    np.testing.assert_allclose(undo_undersampling([0.5, 1.0], TINY), [TINY, 1.0], rtol=1e-9)
    np.testing.assert_allclose(undo_undersampling([0.5], [1.0, TINY]), [1.0])
    np.testing.assert_allclose(undo_class_weight([0.5, 0.0], {1: TINY}), [1.0, 0.0])
    np.testing.assert_allclose(shift_prior([0.5], old_prior=[1 - TINY, TINY], new_prior=half), [1.0])
    np.testing.assert_allclose(shift_prior([0.5], old_prior=half, new_prior=[1 - TINY, TINY]), [TINY], rtol=1e-9)
    np.testing.assert_allclose(shift_prior([TINY], old_prior=[1 - TINY, TINY], new_prior=half), [0.5], rtol=1e-9)
    logit = shift_prior([0.0], old_prior=[1 - TINY, TINY], new_prior=half, input="logit")
    np.testing.assert_allclose(logit, [1.0])


# What sampling did


@given(rows=columns(), kept=st.floats(0.01, 1.0))
def test_undersampling_is_undone_by_the_formula_of_dal_pozzolo(rows, kept):
    _, p, _ = rows
    np.testing.assert_allclose(undo_undersampling(p, kept), kept * p / (kept * p - p + 1), rtol=1e-9, atol=1e-300)


def test_only_ratios_of_what_was_kept_matter_and_classes_may_be_named():
    prob = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    found = undo_undersampling(prob, [0.5, 0.1, 1.0])
    np.testing.assert_allclose(undo_undersampling(prob, [5, 1, 10]), found, rtol=1e-12)
    named = undo_undersampling(prob, {"b": 0.1, "a": 0.5, "c": 1.0}, labels=["a", "b", "c"])
    np.testing.assert_array_equal(named, found)


def test_a_number_is_a_number_of_whatever_kind_and_a_flag_is_none():
    for kept in (0.25, np.float32(0.25), np.array(0.25)):
        assert undo_undersampling([0.5], kept).tolist() == pytest.approx([0.2], rel=1e-12)
    with pytest.raises(TypeError, match=r"kept must be a number, above 0; got True\. Pass the share"):
        undo_undersampling([0.5], True)


def test_a_dict_speaks_of_the_columns_of_a_data_frame_by_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"dog": [0.5], "cat": [0.5]})
    np.testing.assert_allclose(undo_undersampling(frame, {"cat": 0.25, "dog": 1.0}), [[0.2, 0.8]])
    np.testing.assert_allclose(undo_class_weight(frame, {"cat": 4.0}), [[0.8, 0.2]])
    np.testing.assert_allclose(undo_class_weight(frame, {1: 4.0}), [[0.8, 0.2]])


# What weights did


def test_class_weights_of_a_model_that_knows_only_the_shares_are_undone():
    """A model without features says the weighted share of each class."""
    share, weight = np.array([0.7, 0.2, 0.1]), np.array([1.0, 4.0, 9.0])
    said = share * weight / (share * weight).sum()
    found = undo_class_weight(said[None], weight)
    np.testing.assert_allclose(found, share[None], rtol=1e-12)
    balanced = undo_class_weight(np.full((1, 3), 1 / 3), "balanced", train_prior=share)
    np.testing.assert_allclose(balanced, share[None], rtol=1e-12)


REFUSED = [
    (lambda: shift_prior([0.5], old_prior=[-0.1, 1.1], new_prior=0.5), r"old_prior must not be negative; got -0\.1"),
    (lambda: shift_prior([0.5], old_prior=0.5, new_prior=[0.5, 0.6]), r"new_prior must sum to one within 0\.001; got"),
    (lambda: shift_prior([0.5], old_prior=[30, 70], new_prior=0.5), r"old_prior must sum to one within 0\.001; got"),
    (lambda: shift_prior([0.5], old_prior=[0, 1], new_prior=0.5), r"old_prior must be positive; got 0 at"),
    (lambda: shift_prior([[0.2, 0.3, 0.5]], old_prior=0.5, new_prior=0.5), r"old_prior must hold a share for each of"),
    (lambda: undo_undersampling([0.5], 0), r"kept must be a number, above 0; got 0\."),
    (lambda: undo_undersampling([0.5], [1, 2], labels=["a", "b", "c"]), r"labels must name each of the 2 columns once"),
    (lambda: undo_class_weight([0.5], {1: 3}, train_prior=77), r"train_prior must be left out unless class_weight is"),
    (lambda: undo_undersampling([[0.2, 0.3, 0.5]], 0.5), r"kept must hold a number for each of the"),
    (lambda: undo_undersampling([0.5], {"a": 1, "b": 2}), r"kept must have a number for each class"),
    (lambda: undo_class_weight([0.5], "balanced"), r"class_weight must be numbers, or 'balanced' with"),
    (lambda: undo_class_weight([0.5], {2: 3}), r"class_weight must have a number for each class, 0"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_with_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Shares of the classes where nothing is labelled


each_method = pytest.mark.parametrize("method", METHODS)


def shifted_rows(rng, n=30_000, new=(0.6, 0.1, 0.3), rows=None):
    """A calibrated forecast of three even classes, and rows of which new shares are kept."""
    rows = n if rows is None else rows
    truth = make_softmax_forecast(n + rows, 3, temperature=1.0, rng=rng)
    new = np.array(new)
    kept = np.flatnonzero(rng.random(rows) < (new / new.max())[truth.y[n:]]) + n
    return truth.y[:n], truth.prob[:n], truth.y[kept], truth.prob[kept]


# Maximum likelihood


@given(data=st.data(), rows=tables())
def test_no_shares_are_more_likely_by_more_than_the_gap(data, rows):
    _, prob, weight = rows
    k = prob.shape[1]
    parts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=k, max_size=k)), dtype=float)
    old = parts / parts.sum()
    found = estimate_prior(prob, old_prior=old, sample_weight=weight)

    def likelihood(q):
        return slow.log_likelihood(prob.tolist(), weight.tolist(), old.tolist(), list(q))

    best = likelihood(found.prior)
    assert found.gap <= mixture.GAP
    others = [*np.eye(k), old, *np.random.default_rng(0).dirichlet(np.ones(k), 20)]
    others += [0.999 * found.prior + 0.001 * other for other in others]
    assert max(map(likelihood, others)) <= best + found.gap + 1e-12


def test_a_search_that_is_cut_short_warns_and_says_by_how_much(monkeypatch):
    monkeypatch.setattr(mixture, "EM_STEPS", 1)
    monkeypatch.setattr(mixture, "MOST_EM_STEPS", 1)
    monkeypatch.setattr(mixture, "MOST_STEPS", 1)
    prob = np.random.default_rng(0).dirichlet(np.ones(4), 100)
    with pytest.warns(ConvergenceWarning, match="is not certified: it may be higher by .* after 2 steps"):
        found = estimate_prior(prob, old_prior=[0.1, 0.1, 0.3, 0.5])
    assert found.gap > mixture.GAP


# All methods


@each_method
def test_the_new_shares_are_found_within_their_standard_errors(method):
    y, prob, new_y, new = shifted_rows(np.random.default_rng(5))
    found = estimate_prior(new, method=method, old_true=y, old_prob=prob)
    error = found.prior - [0.6, 0.1, 0.3]
    assert (abs(error) < 4 * found.standard_error).all()
    assert (abs(error) < 0.03).all()
    assert abs(np.bincount(new_y) / new_y.size - [0.6, 0.1, 0.3]).max() < 0.02


REPEATS = 200
"""Samples: a root mean squared error is known to 1 / sqrt(400) = 5 %; 3.5 of these are allowed."""


@pytest.fixture(scope="module")
def many_estimates():
    """Errors and claimed standard errors over samples of 400 labelled rows, shape (REPEATS, 3), by way of estimating."""
    rng = np.random.default_rng(3)
    ways = {"known": ("em", np.full(3, 1 / 3)), **{method: (method, None) for method in METHODS}}
    off, claimed = {way: [] for way in ways}, {way: [] for way in ways}
    for _ in range(REPEATS):
        y, prob, _, new = shifted_rows(rng, 400, rows=4000)
        for way, (method, old_prior) in ways.items():
            found = estimate_prior(new, method=method, old_true=y, old_prob=prob, old_prior=old_prior)
            off[way].append(found.prior - [0.6, 0.1, 0.3])
            claimed[way].append(found.standard_error)
    return {way: (np.array(off[way]), np.array(claimed[way])) for way in ways}


@pytest.mark.first(1)
@pytest.mark.parametrize("way", ["known", *METHODS])
def test_standard_errors_are_the_spread_over_samples_also_where_old_shares_are_estimated(many_estimates, way):
    off, claimed = many_estimates[way]
    spread, mean = np.sqrt((off**2).mean(axis=0)), np.sqrt((claimed**2).mean(axis=0))
    np.testing.assert_allclose(spread, mean, rtol=3.5 * 0.05)
    covered = (abs(off) < 1.96 * claimed).mean(axis=0)
    assert (abs(covered - 0.95) < 3.5 * np.sqrt(0.95 * 0.05 / REPEATS)).all()


def test_the_part_of_the_old_shares_is_the_derivative_of_the_answer():
    """By differences: the answer is found again with old shares moved a little in each direction."""
    rng = np.random.default_rng(0)
    y, prob, _, new = shifted_rows(rng, 300, rows=900)
    old = np.bincount(y) / y.size
    known = estimate_prior(new, old_prior=old)
    found = estimate_prior(new, old_true=y, old_prob=prob)
    step = 1e-5
    slopes = []
    for k in range(2):  # of class 2 the share is the rest
        moved = np.zeros(3)
        moved[[k, 2]] = step, -step
        ends = [estimate_prior(new, old_prior=old + sign * moved).prior for sign in (1, -1)]
        slopes.append((ends[0] - ends[1]) / (2 * step))
    covariance = ((np.diag(old) - np.outer(old, old)) / y.size)[:2, :2]
    expected = known.standard_error**2 + np.einsum("ik,ij,jk->k", slopes, covariance, slopes)
    np.testing.assert_allclose(found.standard_error**2, expected, rtol=1e-4)


@each_method
@given(rows=tables(min_rows=4, max_rows=15))
def test_whole_weights_are_repeated_rows(method, rows):
    _, prob, weight = rows
    k = prob.shape[1]
    rng = np.random.default_rng(0)
    old_prob = rng.dirichlet(np.full(k, 0.3), 30 * k)
    old_true, times = np.arange(30 * k) % k, weight.astype(int)
    old_prob[:k] = np.eye(k)
    old = {"old_true": old_true, "old_prob": old_prob, "old_weight": rng.integers(1, 4, 30 * k)}
    repeated = {name: np.repeat(old[name], old["old_weight"], axis=0) for name in ("old_true", "old_prob")}
    weighted = estimate_prior(prob, method=method, sample_weight=weight, **old)
    rows = estimate_prior(np.repeat(prob, times, axis=0), method=method, **repeated)

    def likelihood(q):
        return slow.log_likelihood(prob.tolist(), weight.tolist(), weighted.old_prior.tolist(), list(q))

    if method == "em":  # the maximum may be flat
        assert likelihood(weighted.prior) == pytest.approx(likelihood(rows.prior), abs=1e-8)
    else:
        np.testing.assert_allclose(weighted.prior, rows.prior, atol=1e-9)
        np.testing.assert_allclose(weighted.standard_error, rows.standard_error, rtol=1e-6, atol=1e-9)


@each_method
def test_a_column_is_the_second_of_two_and_logits_are_their_probabilities(method):
    rng = np.random.default_rng(0)
    z = rng.normal(size=600)
    p = 1 / (1 + np.exp(-z))
    y = (rng.random(600) < p).astype(int)
    column = estimate_prior(p[:200], method=method, old_true=y, old_prob=p)
    table = estimate_prior(
        np.column_stack([1 - p, p])[:200], method=method, old_true=y, old_prob=np.column_stack([1 - p, p])
    )
    logits = estimate_prior(z[:200], method=method, old_true=y, old_prob=z, input="logit")
    np.testing.assert_allclose(column.prior, table.prior, rtol=1e-9)
    np.testing.assert_allclose(column.prior, logits.prior, rtol=1e-7)


# BBSE


@given(rows=tables(min_rows=12, max_rows=20), soft=st.booleans())
def test_bbse_solves_the_confusion_matrix(rows, soft):
    label, prob, weight = rows
    k = prob.shape[1]
    label = np.append(np.arange(k), label[k:])
    new = np.random.default_rng(0).dirichlet(np.ones(k), 15)
    said, new_said = ((q if soft else np.eye(k)[q.argmax(axis=1)]) for q in (prob, new))
    matrix = np.array(slow.confusion_given_class(said.tolist(), label.tolist(), weight.tolist(), k))
    assume(np.linalg.cond(matrix) < 1e6)
    method = "bbse-soft" if soft else "bbse"
    found = estimate_prior(new, method=method, old_true=label, old_prob=prob, old_weight=weight)
    solved = np.linalg.solve(matrix, new_said.mean(axis=0))
    np.testing.assert_allclose(found.prior, on_simplex(solved), atol=1e-8)
    assert found.condition == pytest.approx(np.linalg.cond(matrix), rel=1e-6)
    if solved.min() > 1e-6:
        np.testing.assert_allclose(found.prior, solved, atol=1e-8)
        assert found.gap < 1e-9


@given(values=st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_the_projection_is_the_nearest_point_of_the_simplex(values):
    values = np.array(values)
    found = on_simplex(values)
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0
    distance = ((found - values) ** 2).sum()
    others = [*np.eye(values.size), *np.random.default_rng(0).dirichlet(np.ones(values.size), 30)]
    for other in others:
        assert distance <= ((other - values) ** 2).sum() + 1e-12
        between = 0.99 * found + 0.01 * other
        assert distance <= ((between - values) ** 2).sum() + 1e-12


def test_the_standard_error_of_bbse_has_the_noise_of_the_new_and_of_the_labelled_rows():
    """Of two classes in closed form: q = (m - f) / (t - f), with the hit rate t, the false alarm rate f and m new alarms."""
    old_true = np.array([0] * 10 + [1] * 20)
    old_prob = np.array([0.9] * 2 + [0.1] * 8 + [0.9] * 16 + [0.1] * 4)
    new = np.array([0.9] * 26 + [0.1] * 14)
    found = estimate_prior(new, method="bbse", old_true=old_true, old_prob=old_prob)
    f, t, m = 0.2, 0.8, 0.65
    q = (m - f) / (t - f)
    variance = (m * (1 - m) / 40 + q**2 * t * (1 - t) / 20 + (1 - q) ** 2 * f * (1 - f) / 10) / (t - f) ** 2
    np.testing.assert_allclose(found.prior, [1 - q, q], rtol=1e-12)
    np.testing.assert_allclose(found.standard_error, np.sqrt(variance), rtol=1e-12)


def test_predictions_that_tell_nothing_apart_leave_the_old_shares():
    with pytest.warns(CalibrationWarning, match="must tell all classes apart"):
        found = estimate_prior([0.1, 0.2], method="bbse", old_true=[0, 1, 1, 1], old_prob=[0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(found.prior, [0.25, 0.75])
    assert found.condition == np.inf


# Degenerate rows


def test_certain_rows_are_counted():
    found = estimate_prior([0.0, 1.0, 1.0, 1.0], old_prior=0.5)
    np.testing.assert_allclose(found.prior, [0.25, 0.75], rtol=1e-9)
    np.testing.assert_allclose(found.standard_error, np.sqrt(0.25 * 0.75 / 4), rtol=1e-6)


def test_a_forecast_that_knows_nothing_leaves_the_old_shares_with_an_infinite_error():
    found = estimate_prior(np.full((10, 3), 1 / 3), old_prior=[1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(found.prior, 1 / 3)
    assert np.isinf(found.standard_error).all()
    assert found.condition == np.inf


@each_method
def test_whole_weights_of_labelled_rows_are_repeated_rows_in_the_errors(method):
    y, prob, _, new = shifted_rows(np.random.default_rng(2), 200)
    weight = np.random.default_rng(0).integers(1, 4, y.size)
    weighted = estimate_prior(new, method=method, old_true=y, old_prob=prob, old_weight=weight)
    again = estimate_prior(new, method=method, old_true=np.repeat(y, weight), old_prob=np.repeat(prob, weight, axis=0))
    np.testing.assert_allclose(weighted.standard_error, again.standard_error, rtol=1e-7)
    halved = estimate_prior(new, method=method, old_true=y, old_prob=prob, old_weight=np.full(y.size, 0.5))
    plain = estimate_prior(new, method=method, old_true=y, old_prob=prob)
    np.testing.assert_allclose(halved.standard_error, plain.standard_error, rtol=1e-9)


# The result


def test_classes_are_named_by_labels_by_columns_or_by_the_labelled_rows():
    prob = [[0.2, 0.8], [0.7, 0.3]]
    assert estimate_prior(prob, old_prior=0.5, labels=["a", "b"]).classes.tolist() == ["a", "b"]
    assert estimate_prior([0.2, 0.8], old_prior=0.5, pos_label="b").classes.tolist() == ["not b", "b"]
    assert estimate_prior(prob, old_true=["x", "y"], old_prob=prob).classes.tolist() == ["x", "y"]


@each_method
def test_columns_of_new_and_labelled_rows_must_stand_in_one_order(method):
    """The prior went to the wrong class once."""
    pandas = pytest.importorskip("pandas")
    old = pandas.DataFrame({"cat": [0.9, 0.3, 0.2, 0.6], "dog": [0.1, 0.7, 0.8, 0.4]})
    new = old[["dog", "cat"]]
    y = ["cat", "dog", "dog", "cat"]
    with pytest.raises(ValueError, match=r"y_prob and old_prob must have the same columns in the same order; got"):
        estimate_prior(new, method=method, old_true=y, old_prob=old)
    named = estimate_prior(new, method=method, old_true=y, old_prob=new)
    assert named.classes.tolist() == ["dog", "cat"]
    bare = estimate_prior(old, method=method, old_true=y, old_prob=old.to_numpy())
    np.testing.assert_allclose(named.prior, bare.prior[::-1])
    half_named = estimate_prior(new, method=method, old_true=y, old_prob=new.to_numpy())
    assert half_named.classes.tolist() == ["dog", "cat"]
    np.testing.assert_allclose(half_named.prior, named.prior)


def test_the_event_is_the_same_with_and_without_labelled_rows():
    options = {"labels": ["a", "b"], "pos_label": "a"}
    without = estimate_prior([0.2, 0.3], old_prior=0.5, **options)
    labelled = estimate_prior([0.2, 0.3], old_prior=0.5, old_true=["a", "b"], old_prob=[0.6, 0.4], **options)
    assert without.classes.tolist() == labelled.classes.tolist() == ["b", "a"]
    assert "b: 1" in repr(without)


REFUSALS = [
    ({}, r"old shares of the classes must be known; got neither"),
    ({"method": "bbse", "old_prior": 0.5}, r"method 'bbse' needs labelled rows; got none"),
    ({"old_true": [0, 1]}, r"old_true and old_prob must be given together; old_prob is missing"),
    ({"old_true": [1, 1], "old_prob": [0.5, 0.6]}, r"old_prior, the shares of old_true, must be positive; got 0"),
    ({"old_true": [1, 1], "old_prob": [0.5, 0.6], "method": "bbse"}, r"old_true must hold every class .* none of"),
    ({"old_true": [0, 1], "old_prob": np.full((2, 3), 1 / 3)}, r"must have the same columns; got 3 classes and 2"),
    ({"old_prior": [1.0, 1e-310]}, r"old_prior must be at least 1e-100; got 1e-310 at index 1"),
    ({"old_prior": 0.5, "old_weight": [1, 1]}, r"old_weight must be given with labelled rows; got neither"),
    ({"old_prior": 0.5, "labels": ["a", "b"], "pos_label": "z"}, r"pos_label must be among the labels .* got 'z'"),
]


@pytest.mark.parametrize(("options", "message"), REFUSALS)
def test_what_is_missing_or_makes_no_sense_is_refused_with_what_to_do(options, message):
    with pytest.raises(ValueError, match=message):
        estimate_prior([0.2, 0.7], **options)


def test_shares_that_sum_to_one_within_the_tolerance_are_divided_by_their_sum():
    prob = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], 50)
    found = estimate_prior(prob, old_prior=[0.2003, 0.3003, 0.5])
    np.testing.assert_allclose(found.old_prior, np.array([0.2003, 0.3003, 0.5]) / 1.0006, rtol=1e-14)


def test_the_class_weights_lead_from_old_shares_to_new_ones():
    found = estimate_prior([0.1, 0.8, 0.9, 0.9], old_prior=0.4)
    np.testing.assert_allclose(found.class_weight * found.old_prior, found.prior)
