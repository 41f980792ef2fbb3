"""The search for the rows at which a noisy figure reaches a target."""

from contextlib import suppress

import numpy as np
import pytest

from calibrant import planning as search
from calibrant.planning import LEAST, OutOfReachError, rows_where


def noisy_line(seed, rows, noise):
    """A figure that is 0 at so many rows, with noise, and the calls that were made."""
    rng, calls = np.random.default_rng(seed), []

    def figure(n, rough):
        calls.append(n)
        return 1.3 * np.log(n / rows) + noise * rng.normal()

    return figure, calls


def test_the_place_is_found_exactly_without_noise():
    figure, calls = noisy_line(0, 1234.5, 0.0)
    found = rows_where(figure, 0.0)
    assert found.rows == 1235
    assert found.standard_error < 1e-6
    assert found.tried.tolist() == sorted(calls)


@pytest.mark.parametrize("part", [0.5, 1.0], ids=["of the root of the rows", "of the rows"])
def test_the_place_is_found_where_the_figure_is_no_line(part):
    """Normal quantiles of power rise with the root of the rows, where errors are large, or with the rows."""
    found = rows_where(lambda n, rough: 2.486 * (n / 1000.0) ** part - 1.645, 0.841)
    assert found.rows == pytest.approx(1000, abs=5)


def test_the_standard_error_is_that_of_repeated_searches():
    found = [rows_where(noisy_line(seed, 3000.0, 0.1)[0], 0.0) for seed in range(200)]
    rows, errors = np.array([one.rows for one in found]), np.array([one.standard_error for one in found])
    assert abs(rows.mean() / 3000.0 - 1.0) < 0.01
    assert 0.85 < errors.mean() / rows.std() < 1.15


def test_what_the_most_rows_do_not_reach_is_refused_with_their_figure():
    figure, calls = noisy_line(0, 10_000.0, 0.0)
    with pytest.raises(OutOfReachError) as short:
        rows_where(figure, 0.0, most=8000)
    assert (short.value.rows, max(calls)) == (8000, 8000)
    assert short.value.figure == pytest.approx(1.3 * np.log(0.8))


def test_the_most_rows_that_reach_it_by_luck_are_refused_where_the_line_says_more():
    def figure(n, rough):
        return 1.3 * np.log(n / 10_000.0) + (1.0 if rough and n == 8000 else 0.0)

    with pytest.raises(OutOfReachError) as short:
        rows_where(figure, 0.0, most=8000)
    assert short.value.rows == 8000


def test_what_the_fewest_rows_reach_is_not_looked_for_below():
    figure, calls = noisy_line(0, 20.0, 0.0)
    assert rows_where(figure, 0.0).rows == LEAST
    assert calls == [LEAST]


@pytest.mark.parametrize("seed", range(3))
def test_a_figure_of_noise_alone_does_not_search_forever(seed):
    rng, calls = np.random.default_rng(seed), []

    def figure(n, rough):
        calls.append(n)
        return rng.normal()

    with suppress(OutOfReachError):
        rows_where(figure, 0.5 * seed, most=10**9)
    assert len(calls) <= 30 + 2 * search.ROUNDS * search.POINTS
