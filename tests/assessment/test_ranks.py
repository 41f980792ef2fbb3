"""Mean ranks over data sets: the test, the critical difference and its groups, against their definitions and simulations."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f, friedmanchisquare

from calibrant import PlattScaling, compare
from calibrant.assessment import mean_ranks

Q_5 = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
"""Critical values at 5 %, printed by Demšar (2006), Table 5(a)."""


def by_definition(values):
    """Ranks and wins of a table, a row a data set, by counting; of decimals."""
    values = np.round(values, 9)
    less = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks = less + (equal + 1) / 2
    return ranks, (less == 0) / (less == 0).sum(axis=1, keepdims=True)


TABLES = st.tuples(st.integers(2, 9), st.integers(2, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0.1, 0.2, 0.1 + 0.2, 0.3, np.inf]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@given(TABLES)
def test_ranks_and_wins_are_those_of_the_definition(table):
    values = np.array(table)
    names = [f"m{j}" for j in range(values.shape[1])]
    found = mean_ranks(dict(zip(names, values.T, strict=True)))
    ranks, wins = by_definition(values)
    of = {name: j for j, name in enumerate(names)}
    order = [of[name] for name in found.names]
    np.testing.assert_allclose(found.mean_rank, ranks.mean(axis=0)[order], rtol=1e-12)
    np.testing.assert_allclose(found.wins, wins.sum(axis=0)[order], rtol=1e-12)
    assert (np.diff(found.mean_rank) >= 0).all()
    for group in found.groups:
        of_group = [found.mean_rank[found.names.index(name)] for name in group]
        assert max(of_group) - min(of_group) <= found.critical_difference
    assert not any(set(one) < set(other) for one in found.groups for other in found.groups)
    pairs = {(a, b) for group in found.groups for a in group for b in group if a < b}
    for a, b in combinations(names, 2):
        apart = abs(found.mean_rank[found.names.index(a)] - found.mean_rank[found.names.index(b)])
        assert ((a, b) in pairs) == (apart <= found.critical_difference)


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(3, 20), st.booleans())
@settings(max_examples=30)
def test_the_pvalue_is_that_of_the_corrected_statistic_of_friedman(seed, k, n, tied):
    values = np.random.default_rng(seed).normal(size=(n, k))
    values = np.round(values) if tied else values
    if not tied or np.ptp(values, axis=1).any():
        chi2 = friedmanchisquare(*values.T).statistic
        rest = n * (k - 1) - chi2
        expected = f.sf((n - 1) * chi2 / rest, k - 1, (k - 1) * (n - 1)) if rest > 1e-9 else 0.0
        found = mean_ranks(dict(enumerate(values.T)))
        expected = max(expected, factorial(k) ** -(n - 1.0))
        assert found.pvalue == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_two_methods_that_rank_alike_everywhere_have_the_pvalue_of_the_sign_test(n):
    assert mean_ranks({"a": np.arange(n), "b": np.arange(n) + 1}).pvalue == pytest.approx(0.5 ** (n - 1), rel=1e-12)


def test_a_stray_flag_of_the_processor_is_no_warning(monkeypatch):
    quantile = scipy.stats.studentized_range.ppf

    def stray(*args):
        np.subtract(np.inf, np.inf)
        return quantile(*args)

    monkeypatch.setattr(scipy.stats.studentized_range, "ppf", stray)
    assert mean_ranks({"a": [1.0, 2.0], "b": [2.0, 3.0]}).critical_difference == pytest.approx(1.3859, rel=1e-4)


@pytest.mark.parametrize(("k", "q"), Q_5.items())
def test_the_critical_difference_is_that_of_the_printed_table(k, q):
    values = {f"m{j}": np.arange(10.0) for j in range(k)}
    found = mean_ranks(values)
    assert found.critical_difference == pytest.approx(q * np.sqrt(k * (k + 1) / 60), rel=4e-4)
    assert found.pvalue == 1.0
    assert found.groups == (tuple(values),)


def test_the_higher_is_better_where_it_is_said():
    values = {"a": [3, 2, 3], "b": [1, 1, 2]}
    assert mean_ranks(values).names == ("b", "a")
    assert mean_ranks(values, higher_is_better=True).names == ("a", "b")


@pytest.mark.parametrize("higher_is_better", [False, True])
@pytest.mark.parametrize("failed", [np.inf, -np.inf])
def test_infinity_is_a_failure_and_the_last(failed, higher_is_better):
    found = mean_ranks({"a": [1, 1, failed], "b": [1, 1, 1]}, higher_is_better=higher_is_better)
    assert found.mean_rank.tolist() == [4 / 3, 5 / 3]
    assert found.names == ("b", "a")


def test_there_may_be_many_methods():
    rng = np.random.default_rng(0)
    assert 0.0 < mean_ranks({f"m{j}": rng.random(2) for j in range(200)}).pvalue < 1.0


def test_what_compare_found_on_each_data_set():
    rng, found = np.random.default_rng(1), {}
    for seed in range(4):
        p = rng.uniform(0.1, 0.9, 200)
        y = (rng.random(200) < p).astype(int)
        found[f"set {seed}"] = compare(y, {"a": p, "b": p**3, "c": (1 + 1e-14) * p**3}, metric="brier")
    ranks = mean_ranks(found)
    assert ranks.names[0] == "a"
    assert ranks.mean_rank.tolist() == [1.0, 2.5, 2.5]
    up = np.arange(90) % 2
    by_auc = compare(up, {"up": 0.5 * up + 0.2, "down": np.full(90, 0.5)}, metric="roc-auc")
    assert mean_ranks({"x": by_auc, "y": by_auc}).names == ("up", "down")
    said = "comparisons must be of the same candidates by the same metric; got others on z"
    with pytest.raises(ValueError, match=said):
        mean_ranks(found | {"z": compare(y, {"a": p, "b": p**2}, metric="brier")})
    in_time = compare(y, p, times=np.arange(200) % 2)
    with pytest.raises(ValueError, match="must rank their candidates; got periods in the order of time on x"):
        mean_ranks({"x": in_time, "y": in_time})


def test_a_candidate_that_failed_is_the_worst():
    rng = np.random.default_rng(2)

    class Failing(PlattScaling):
        def _fit_problem(self, problem):
            raise ValueError("no")

    found = {}
    for seed in range(3):
        p = rng.uniform(0.1, 0.9, 100)
        y = (rng.random(100) < p).astype(int)
        found[str(seed)] = compare(y, p, calibrators={"x": Failing(), "y": Failing(), "isotonic": "isotonic"})
    ranks = mean_ranks(found)
    assert ranks.mean_rank[ranks.names.index("x")] == ranks.mean_rank[ranks.names.index("y")] == 3.5


def test_the_diagram_has_each_method_at_its_mean_rank_and_a_bar_over_each_group():
    rng = np.random.default_rng(0)
    found = mean_ranks({f"method {k}": rng.normal(0.25 * k, 1, 30) for k in range(7)})
    ax = found.plot()
    assert sum(line.get_gid() == "alike" for line in ax.lines) == len(found.groups)
    np.testing.assert_allclose([line.get_xdata()[0] for line in ax.lines if line.get_gid() != "alike"], found.mean_rank)
    named = [f"{name} ({rank:.2f})" for name, rank in zip(found.names, found.mean_rank, strict=True)]
    assert {text.get_text() for text in ax.texts} == set(named)
    assert ax.get_title(loc="right") == f"critical difference {found.critical_difference:.2f}"
