"""Other shares of the classes: known ones, and what sampling and weights did."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import decisions as slow
from scipy.special import expit
from strategies import columns, tables

from calibrant.decisions import estimate_prior, shift_prior, undo_class_weight, undo_undersampling

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
    assert shift_prior([[0.0, z]], old_prior=old, new_prior=new, input="logit")[0, 1] == found


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
    frame = pl.DataFrame({"dog": [0.5], "cat": [0.5]})
    np.testing.assert_allclose(undo_undersampling(frame, {"cat": 0.25, "dog": 1.0}), [[0.2, 0.8]])
    np.testing.assert_allclose(undo_class_weight(frame, {"cat": 4.0}), [[0.8, 0.2]])
    np.testing.assert_allclose(undo_class_weight(frame, {1: 4.0}), [[0.8, 0.2]])


# What weights did


def test_class_weights_of_a_model_that_knows_only_the_shares_are_undone():
    """A model without features says the weighted share of each class."""
    share, weight = np.array([0.7, 0.2, 0.1]), np.array([1.0, 4.0, 9.0])
    said = share * weight / (share * weight).sum()
    np.testing.assert_allclose(undo_class_weight(said[None], weight), share[None], rtol=1e-12)
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
    (lambda: undo_undersampling([0.5], {0: 0.1}), r"kept must have a number for each class.* Pass 1 for a class that"),
    (lambda: undo_class_weight([0.5], "balanced"), r"class_weight must be numbers, or 'balanced' with"),
    (lambda: undo_class_weight([0.5], {2: 3}), r"class_weight must have a number for each class, 0"),
    (lambda: estimate_prior([0.2], old_prior=[1.0, 1e-310]), r"old_prior must be at least 1e-100; got 1e-310 at"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_with_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Shares of the classes where nothing is labelled


@given(data=st.data(), rows=tables())
def test_no_shares_are_more_likely(data, rows):
    _, prob, weight = rows
    k = prob.shape[1]
    old = data.draw(priors(k))
    found = estimate_prior(prob, old_prior=old, sample_weight=weight)

    def likelihood(q):
        return slow.log_likelihood(prob.tolist(), weight.tolist(), old.tolist(), list(q))

    others = [*np.eye(k), old, *np.random.default_rng(0).dirichlet(np.ones(k), 20)]
    others += [0.999 * found + 0.001 * other for other in others]
    assert max(map(likelihood, others)) <= likelihood(found) + 1e-9
    repeated = estimate_prior(np.repeat(prob, weight.astype(int), axis=0), old_prior=old)
    assert likelihood(repeated) == pytest.approx(likelihood(found), abs=1e-8)  # the maximum may be flat


def test_a_column_is_the_second_of_two_and_logits_are_their_probabilities():
    z = np.random.default_rng(0).normal(size=200)
    column = estimate_prior(expit(z), old_prior=0.5)
    table = estimate_prior(np.column_stack([expit(-z), expit(z)]), old_prior=[0.5, 0.5])
    np.testing.assert_allclose(column, table, rtol=1e-9)
    np.testing.assert_allclose(column, estimate_prior(z, old_prior=0.5, input="logit"), rtol=1e-7)


def test_certain_rows_are_counted_and_a_forecast_that_knows_nothing_leaves_the_old_shares():
    np.testing.assert_allclose(estimate_prior([0.0, 1.0, 1.0, 1.0], old_prior=0.5), [0.25, 0.75], rtol=1e-9)
    np.testing.assert_allclose(estimate_prior(np.full((10, 3), 1 / 3), old_prior=[1 / 3, 1 / 3, 1 / 3]), 1 / 3)
