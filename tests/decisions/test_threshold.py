"""The optimal threshold: where deciding for the event begins to be the cheaper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.decisions.prior_shift import shift_prior
from calibrant.decisions.thresholds import decide, optimal_threshold

costs = st.floats(0.01, 100.0)
shares = st.floats(0.01, 0.99)


def test_the_examples_of_the_survey_come_out():
    assert optimal_threshold(4, 1) == 0.8
    assert optimal_threshold(1, 1) == 0.5
    assert optimal_threshold(1, 1, old_prior=0.5, new_prior=0.8) == pytest.approx(0.2, rel=1e-15)


@given(a=costs, b=costs, right=st.floats(0.0, 0.999), old=shares, new=shares, p=shares)
def test_from_the_threshold_on_deciding_for_the_event_is_no_dearer(a, b, right, old, new, p):
    """With all costs and new shares at once, by expected costs of the shifted probability."""
    cost_tp, cost_tn = right * b, right * a
    threshold = optimal_threshold(
        a, b, cost_true_positive=cost_tp, cost_true_negative=cost_tn, old_prior=old, new_prior=new
    )
    now = p * new / old / (p * new / old + (1 - p) * (1 - new) / (1 - old))
    for_event, against = (1 - now) * a + now * cost_tp, now * b + (1 - now) * cost_tn
    if abs(for_event - against) > 1e-9 * (for_event + against):
        assert (for_event < against) == (p >= threshold)


@given(a=costs, b=costs, old=shares, new=shares, p=shares)
def test_moving_the_threshold_or_the_probabilities_is_the_same(a, b, old, new, p):
    moved = optimal_threshold(a, b, old_prior=old, new_prior=new)
    shifted = shift_prior([p], old_prior=old, new_prior=new)[0]
    if abs(p - moved) > 1e-9:
        assert (p >= moved) == (shifted >= optimal_threshold(a, b))


def test_an_error_without_cost_puts_the_threshold_at_an_end():
    assert optimal_threshold(0, 1) == 0.0
    assert optimal_threshold(1, 0) == 1.0
    assert optimal_threshold(1, 1, old_prior=0.5, new_prior=0.0) == 1.0
    assert optimal_threshold(1, 1, old_prior=0.5, new_prior=1.0) == 0.0


def test_costs_and_shares_of_any_size_neither_overflow_nor_vanish():
    assert optimal_threshold(1e308, 1e308) == 0.5
    assert optimal_threshold(1e-320, 1e-320) == 0.5
    assert optimal_threshold(1.7e308, 1e-300) == 1.0
    assert optimal_threshold(1e-200, 1, old_prior=1e-200, new_prior=0.0) == 1.0  # the product of the first two vanishes
    assert optimal_threshold(1e-300, 1, old_prior=1e-300, new_prior=5e-324) == pytest.approx(
        1e-600 / 5e-324, abs=1e-270
    )
    assert decide([0.5], [[0, 1e100], [1e100, 0]]).expected_cost.tolist() == [0.5e100]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((-1, 1), {}, ValueError, r"cost_false_positive must be .* at least 0; got -1\. .* a gain is a cost"),
        (("a", 1), {}, TypeError, r"cost_false_positive must be a number, .* got 'a'\. Pass 1\.0"),
        ((1, 1), {"cost_true_positive": 2}, ValueError, r"a right decision must not cost more .* cost_true_positive=2"),
        ((0, 0), {}, ValueError, r"some error that can happen must cost more .* Pass cost_false_positive=1"),
        ((0, 1), {"old_prior": 0.5, "new_prior": 0.0}, ValueError, r"some error that can happen must cost more"),
        (
            (1, 1),
            {"old_prior": 0.5},
            ValueError,
            r"old_prior and new_prior must be given together; new_prior is missing",
        ),
        ((1, 1), {"old_prior": 0, "new_prior": 0.5}, ValueError, r"old_prior must be .* above 0 and below 1; got 0\."),
        (
            (1, 1),
            {"old_prior": 0.5, "new_prior": 4},
            ValueError,
            r"new_prior must be .* at most 1; got 4\. Of a ratio r",
        ),
    ],
)
def test_what_is_no_cost_and_no_share_is_refused_with_what_to_do(arguments, options, error, message):
    with pytest.raises(error, match=message):
        optimal_threshold(*arguments, **options)
