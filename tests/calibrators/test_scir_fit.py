"""How SCIR is fitted: in pieces, so that it can be stopped."""

import numpy as np
import pytest
from strategies import dirichlet_rows

from calibrant._core.border import as_problem
from calibrant._kernels.staircase import solve
from calibrant.calibrators import scir
from calibrant.calibrators.scir import SortedCumulativeIsotonic, cumulated, fitted_values

LABEL, PROB = dirichlet_rows(300, 10, 0, 0.7, 2.0)


@pytest.mark.parametrize("budget", [0, 100, 5000])
def test_a_fit_in_pieces_is_the_fit_in_one(budget, monkeypatch):
    whole = SortedCumulativeIsotonic().fit(PROB, LABEL)
    monkeypatch.setattr(scir, "BUDGET", budget)
    pieces = SortedCumulativeIsotonic().fit(PROB, LABEL)
    for name in ("epsilon_", "score_", "rank_", "value_"):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))


@pytest.mark.parametrize("budget", [0, 100, 3000, 20_000])
def test_compiled_code_comes_back_when_it_has_looked_at_enough_points(budget):
    rows = cumulated(as_problem(LABEL, PROB), share=True)
    points = rows.points()
    n = points.score.size
    exact = fitted_values(points, rows.n_ranks, is_whole=True)
    fit = np.full(n, np.nan)
    place = np.arange(n)
    data = points.rank.copy(), points.weight.copy(), points.events.copy(), place
    spare = (*map(np.empty_like, data), np.empty_like(points.rank))
    left = solve(*data, 0, n, rows.n_ranks, 0.0, budget, fit, spare)
    waits = np.zeros(n, dtype=bool)
    for begin, end in left:
        assert not waits[begin:end].any()
        waits[begin:end] = True
    np.testing.assert_array_equal(np.isnan(fit[place]), waits)
    np.testing.assert_array_equal(fit[place][~waits], exact[place][~waits])
    # Nine times as many points as there are would have been looked at by now.
    assert waits.any() == (budget < 5 * n)
