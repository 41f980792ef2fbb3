"""Chi-squared over groups of rows: observed against expected counts of each class in each group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.result import read_only
from calibrant._core.warnings import warn
from calibrant.significance.null import KnownLaw, NullDistribution, require_resamples
from calibrant.sums.draws import drawn_rows, labels_of

RULE_OF_FIVE = 5.0
"""Expected count that a common rule asks for before it trusts the chi-squared law."""

TOO_MANY_FEW = 0.2
"""Share of expected counts below five from which the chi-squared law is not to be trusted (Cochran's rule)."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows in groups: ``of`` is the group of each row, shape (n,); ``expected`` has a row a group and a column a class."""

    of: IntArray
    expected: FloatArray
    scale: float

    def observed(self, problem: SimplexProblem, label: IntArray) -> FloatArray:
        """Count the classes of ``label`` in each group, shape (groups, K); or of counts of each row and class (n, K)."""
        n_groups, n_classes = self.expected.shape
        rows, label, weight = drawn_rows(problem, label)
        counts = np.bincount(self.of[rows] * n_classes + label, weight, n_groups * n_classes)
        return np.asarray(self.scale * counts.reshape(n_groups, n_classes), dtype=np.float64)

    def drawn(self, problem: SimplexProblem, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Draw labels from the forecast and return the statistic of each draw, shape (n_resamples,)."""
        require_resamples(n_resamples)
        draws = labels_of(problem, n_resamples, rng)
        return np.array([chi_squared_statistic(self.observed(problem, draw), self.expected) for draw in draws])


def groups_of(problem: SimplexProblem, of: IntArray) -> Groups:
    """Return the groups numbered ``of``, each with rows, and what is expected in them."""
    scale = problem.weights.effective_rows_per_weight
    n_groups = int(of.max()) + 1
    expected = [np.bincount(of, problem.weight * column, n_groups) for column in problem.prob.T]
    return Groups(of, read_only(np.asarray(scale * np.column_stack(expected), dtype=np.float64)), scale)


def chi_squared_statistic(observed: FloatArray, expected: FloatArray) -> float:
    """Sum of (observed - expected)^2 / expected; where nothing is expected 0 if nothing occurred, else infinite."""
    possible = expected > 0
    if observed[~possible].any():
        return float("inf")
    with np.errstate(over="ignore"):  # what was all but impossible occurred
        return float(np.sum((observed[possible] - expected[possible]) ** 2 / expected[possible]))


def pvalue_of(statistic: float, null: NullDistribution) -> float:
    """Return the p-value of a chi-squared statistic: one, with a warning, where no degree of freedom is left.

    Labels that the forecast draws never have an infinite statistic: that has the probability 0, however many are drawn.
    """
    if statistic == np.inf:
        return 0.0
    if isinstance(null, KnownLaw) and null.df == 0:
        warn(
            "a chi-squared test must have a degree of freedom; the forecast has too few distinct scores for one, and the "
            "p-value is set to 1. Use more bins, or a test without groups such as kolmogorov_smirnov_test."
        )
        return 1.0
    return float(null.sf(statistic))


def enough_expected(expected: FloatArray) -> str:
    """Return the assumption of the chi-squared law, in words, with what the counts are."""
    possible = expected[expected > 0]
    if possible.size == 0:
        return "Expected counts are large enough for the chi-squared law: nothing is expected anywhere."
    few = int((possible < RULE_OF_FIVE).sum())
    return (
        f"Expected counts are large enough for the chi-squared law: {few} of {possible.size} are below {RULE_OF_FIVE:g}, "
        f"the smallest is {possible.min():.3g}."
    )


def warn_if_sparse(expected: FloatArray, cure: str) -> None:
    """Warn where too many expected counts are small for the chi-squared law; ``cure`` is what to do, in a sentence."""
    possible = expected[expected > 0]
    few = float((possible < RULE_OF_FIVE).mean()) if possible.size else 0.0
    if few > TOO_MANY_FEW:
        warn(
            f"the chi-squared law needs expected counts of {RULE_OF_FIVE:g} or more; {few:.0%} of {possible.size} are smaller. "
            f"{cure}"
        )
