"""The result of a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibrant._core.approximate import Approximate
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.result import DrawnResult, Picture, shown_pvalue
from calibrant._core.table import Table
from calibrant.notions import Binary, Notion
from calibrant.significance.null import Draws, NullDistribution

Alternative = Literal["greater", "less", "two-sided"]

INDEPENDENT = "Rows are independent of each other."
OUTSIDE = "The forecast was made without these labels."

CALIBRATED = "the forecast is calibrated"


def hypothesis_of(problem: Problem, notion: Notion | None = None, words: str = CALIBRATED) -> str:
    """Return a hypothesis in words, with the event of two classes, or the notion, that it speaks of."""
    if notion is not None and notion.name != Binary.name:
        return f"{words} (notion: {notion.name})"
    if problem.classes.size > 2 or (isinstance(problem, BinaryProblem) and problem.predicted is not None):
        return words
    return f"{words} (event: class {problem.classes[1]})"


@dataclass(frozen=True, eq=False)
class TestResult(DrawnResult):
    """A statistic, its null distribution, its p-value, and what was assumed.

    Attributes
    ----------
    name : str
        Name of the test.
    statistic : float
        Observed value of the statistic; infinite where what occurred is impossible, or certain, under the null hypothesis.
    pvalue : float
        Probability, under the null hypothesis, of a statistic as far out as the one observed, in [0, 1].
    null : NullDistribution
        Distribution of the statistic under the null hypothesis.
    assumptions : tuple of str
        What has to hold for the p-value to be valid, each in a sentence.
    alternative : {"greater", "less", "two-sided"}
        Which values are far out: large ones, small ones, or both.
    hypothesis : str
        The null hypothesis in words, with the event of two classes, or the notion, that it speaks of.
    """

    _table = Table(
        None,
        "test=name",
        "statistic",
        "df",
        "pvalue",
        "alternative",
        "null=null.description",
        "hypothesis",
        "assumptions=_assumed",
    )
    _picture = Picture("the null distribution, the observed value and the tail beyond it", "null.plot_null")

    __test__: ClassVar[bool] = False  # no test for pytest to collect

    name: str
    statistic: float
    pvalue: float
    null: NullDistribution
    assumptions: tuple[str, ...]
    alternative: Alternative = "greater"
    hypothesis: str = CALIBRATED

    @property
    def df(self) -> float | None:
        """Degrees of freedom of the null distribution, or None where it has none.

        Returns
        -------
        float or None
            A number for chi-squared laws.
        """
        return self.null.df

    @property
    def least_pvalue(self) -> float | None:
        """Smallest p-value that the draws can show, 1 / (draws + 1), or twice that of two tails; None of a law in formulas.

        Returns
        -------
        float or None
            A threshold for the p-value below it can never be reached.
        """
        if not isinstance(self.null, Draws) or self.null.values.size == 0:
            return None
        return min(1.0, self._tails / (1.0 + self.null.values.size))

    @property
    def _tails(self) -> float:
        """How many tails of the draws a p-value adds up."""
        return 2.0 if self.alternative == "two-sided" else 1.0

    @property
    def _shown_pvalue(self) -> str:
        return shown_pvalue(self.pvalue, self.least_pvalue, name="pvalue", equals="=")

    @property
    def _assumed(self) -> str:
        return " ".join(self.assumptions)

    def __repr__(self) -> str:
        df = "" if self.df is None else f", df={self.df:g}"
        note = f"; statistic {self.statistic.note}" if isinstance(self.statistic, Approximate) else ""
        return f"TestResult({self.name}: statistic={self.statistic:.6g}{df}, {self._shown_pvalue}{note})"
