"""Binnings of one's own: what they need not handle, and what is refused."""

import numpy as np
import pytest

from calibrant import calibration_error
from calibrant._core.border import as_problem
from calibrant.binning import Binning
from calibrant.notions import as_notion
from calibrant.sums import Plan, scan


class Halves(Binning):
    def edges(self, problem):
        return [0.0, problem.score.max() / 2, 1.0]


class Given(Binning):
    def __init__(self, edges):
        self.given = edges

    def edges(self, problem):
        return self.given


def test_a_class_that_is_never_predicted_needs_no_edges():
    prob = np.array([[0.1, 0.2, 0.7], [0.1, 0.3, 0.6], [0.1, 0.1, 0.8]])
    assert calibration_error([0, 2, 2], prob, notion="top-label", binning=Halves()) == pytest.approx(0.1 / 3)


@pytest.mark.parametrize("edges", [[0.5], [], [1.0, 0.5, 0.0], [0.0, np.nan, 1.0], [[0.0, 1.0]]])
def test_what_is_no_edges_is_refused(edges):
    with pytest.raises(ValueError, match="edges of Given must be two numbers or more that do not decrease"):
        calibration_error([0, 1], [0.2, 0.7], binning=Given(edges))


def test_bins_without_rows_change_nothing():
    notion, prob, label = as_notion("top-label"), np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), [0, 1]
    whole, first, second = (
        as_problem([label[i] for i in rows], prob[rows], labels=[0, 1, 2]) for rows in ([0, 1], [0], [1])
    )
    plan = Plan.of_cells([(notion, Given([0.0, 0.65, 1.0]))])
    added, seen = scan(first, plan) + scan(second, plan), scan(whole, plan)
    for one, other in zip(added.cells[0], seen.cells[0], strict=True):
        assert (one.bins.edges.tolist(), one.bins.count.tolist()) == (
            other.bins.edges.tolist(),
            other.bins.count.tolist(),
        )
