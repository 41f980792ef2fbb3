"""KS and Kuiper errors against their definitions, and against each other."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import cumulative as reference
from strategies import columns, tables

from calibrant.metrics import averaged_two_bin_error, kolmogorov_smirnov_error, kuiper_error


@given(rows=columns())
def test_the_distances_are_those_of_the_definition(rows):
    label, score, weight = rows
    y, p, w = label.tolist(), score.tolist(), weight.tolist()
    ks = kolmogorov_smirnov_error(label, score, sample_weight=weight)
    assert ks == pytest.approx(reference.kolmogorov_smirnov(y, p, w), abs=1e-12)
    kuiper = kuiper_error(label, score, sample_weight=weight)
    assert kuiper == pytest.approx(reference.kuiper(y, p, w), abs=1e-12)


@given(rows=tables())
def test_of_a_notion_the_error_is_the_mean_over_its_problems(rows):
    label, prob, weight = rows
    one_by_one = [
        kolmogorov_smirnov_error((label == j).astype(int), prob[:, j], sample_weight=weight, pos_label=1, labels=[0, 1])
        for j in range(prob.shape[1])
    ]
    assert kolmogorov_smirnov_error(label, prob, sample_weight=weight, notion="class-wise") == pytest.approx(
        np.mean(one_by_one), abs=1e-12
    )


@given(rows=columns())
def test_the_two_bin_error_is_that_of_the_definition(rows):
    label, score, weight = rows
    found = averaged_two_bin_error(label, score, sample_weight=weight)
    assert found == pytest.approx(reference.two_bins(label.tolist(), score.tolist(), weight.tolist()), abs=1e-12)
    assert averaged_two_bin_error(label, score, sample_weight=weight, squared=True) == pytest.approx(
        found**2, abs=1e-15
    )
    assert abs(np.average(label - score, weights=weight)) / np.sqrt(2) <= found + 1e-12


PROBABILITIES = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.1 + 0.2, 0.5, 0.7, 1.0]), min_size=1, max_size=6)


def expected_square(truth, stated):
    """Mean over all labels, each with its probability."""
    total = 0.0
    for labels in product([0, 1], repeat=len(truth)):
        chance = np.prod([q if y else 1 - q for y, q in zip(labels, truth, strict=True)])
        total += chance * averaged_two_bin_error(labels, stated, squared=True)
    return total


@given(PROBABILITIES, st.data())
def test_nobody_can_expect_a_lower_square_by_stating_other_probabilities(truth, data):
    stated = data.draw(st.lists(st.floats(0, 1), min_size=len(truth), max_size=len(truth)))
    best = sum(q * (1 - q) for q in truth) / len(truth) ** 2
    assert expected_square(truth, truth) == pytest.approx(best, abs=1e-12)
    assert expected_square(truth, stated) >= best - 1e-12


def test_an_ece_is_lowered_by_stating_less_and_the_square_is_not():
    """Two rows, of which the true probabilities are told apart: to call both the mean lowers the expected ECE."""
    from calibrant import expected_calibration_error

    truth, dull = [0.4, 0.6], [0.5, 0.5]

    def expected(error, stated):
        chances = [((0, 0), 0.24), ((0, 1), 0.36), ((1, 0), 0.16), ((1, 1), 0.24)]
        return sum(chance * error(np.array(y), stated) for y, chance in chances)

    assert expected(expected_calibration_error, dull) < expected(expected_calibration_error, truth)
    assert expected_square(truth, dull) > expected_square(truth, truth)
