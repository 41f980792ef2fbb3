"""Answering some rows only: the error rate of the answers at each coverage, and a threshold that keeps it below a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import scipy
from scipy import special

from calibrant import drawing
from calibrant._core.arrays import FloatArray, ratio
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import as_level, fraction, require, resamples
from calibrant._core.result import DrawnResult, Picture, Record, Result, Table, under
from calibrant._core.rows import BinaryProblem, IntArray, Weights
from calibrant.decisions.thresholds import in_precision, named_events, panel_named
from calibrant.notions import Notion, event_of
from calibrant.sums.draws import Rng, as_rng, require_drawable

# Risk-coverage curves


@dataclass(frozen=True, eq=False)
class RiskOfForecast(Record):
    """Error rate of one forecast's answers: at each of its m distinct confidences, from the highest on, and on average.

    ``aurc`` is the area under the curve, ``excess`` that area less the least one that so many errors allow, each with its
    interval, which is NaN where none was asked for.
    """

    name: str
    threshold: FloatArray
    coverage: FloatArray
    risk: FloatArray
    aurc: float
    aurc_lower: float
    aurc_upper: float
    excess: float
    excess_lower: float
    excess_upper: float


@dataclass(frozen=True, eq=False)
class RiskCoverageCurve(DrawnResult):
    """Error rate among the rows that are answered, against the share of rows that are.

    Attributes
    ----------
    panels : tuple of RiskOfForecast
        One a forecast.
    level : float
        One minus the coverage of the intervals, a fraction.
    n_resamples : int
        Resamples behind the intervals; 0 where there are none.
    """

    _table = Table(
        "forecast and threshold", *under("panels", "forecast=name", "threshold", "coverage", "risk", "aurc", "excess")
    )
    _summary = "{panels.name:list}; thresholds={panels.threshold:n}"
    _picture = Picture("the risk-coverage curves", "decisions.abstaining.plot_risk_coverage")

    panels: tuple[RiskOfForecast, ...]
    level: float
    n_resamples: int

    def __getitem__(self, name: str) -> RiskOfForecast:
        """Return the panel of that name."""
        return panel_named(self.panels, name)


def risk_coverage_curve(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | Mapping[str, npt.ArrayLike] | None = None,
    *,
    notion: str | Notion = "confidence",
    n_resamples: int = 0,
    level: float = 0.05,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> RiskCoverageCurve:
    """Error rate of a classifier that answers only where it is confident enough, for every share of rows that it answers.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of name to such
        Probabilities; several forecasts of the same rows by their names.
    notion : str or Notion, default="confidence"
        What an answer is. ``"confidence"``: the predicted class, by its probability; it is an error if another class is true.
        ``"binary"``: that the event occurs, by its probability, as where a language model states how sure it is and the label
        is whether its answer was right.
    n_resamples : int, default=0
        Bootstrap resamples of rows for the intervals of the areas; 0 makes none, 1000 is usual.
    level : float, default=0.05
        One minus the coverage of the intervals, a fraction in (0, 1).
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the resamples.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RiskCoverageCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Notes
    -----
    The risk at a threshold t is the share of errors among the rows with a confidence of t or more, and the coverage the share
    of these rows. The area under the curve (AURC) is the mean, over k = 1, ..., n, of the risk of the k most confident rows;
    of equal confidences, in random order, its expected value. Its least value for e errors has these e rows at the end,

        sum_{k=1}^{e} k / (n - e + k) / n,

    and the excess is the area less that value: 0 if every error has a lower confidence than every right answer. A monotone
    recalibration of the confidence changes neither; it does change which threshold gives which risk.

    Whole weights are numbers of equal rows. Other weights are divided by their mean, so that all rows together count n.

    References
    ----------
    Geifman, El-Yaniv, Selective classification for deep neural networks, NeurIPS 2017.
    Geifman, Uziel, El-Yaniv, Bias-reduced uncertainty estimation for deep neural classifiers, ICLR 2019 (excess area).

    Examples
    --------
    >>> from calibrant.decisions import risk_coverage_curve
    >>> curve = risk_coverage_curve([0, 1, 1, 0], [0.1, 0.9, 0.7, 0.6])["forecast"]
    >>> curve.coverage, curve.risk
    (array([0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.25]))
    >>> curve.aurc, curve.excess
    (0.0625, 0.0)
    """
    n_resamples = resamples(n_resamples, least=0, hint="1000 is usual")
    level = as_level(level)
    generator, panels = as_rng(rng), []
    for name, problem in named_events(y_true, y_prob, notion, data).items():
        panels.append(_risk_of(name, _Ranked.of(problem), problem.weights, level, n_resamples, generator))
    return RiskCoverageCurve(tuple(panels), level, n_resamples)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Distinct confidences from the highest on, the place of each row among them, and whether the answer of a row is wrong."""

    threshold: FloatArray
    place: IntArray
    is_wrong: FloatArray

    @classmethod
    def of(cls, problem: BinaryProblem) -> _Ranked:
        ascending, place = np.unique(problem.score, return_inverse=True)
        is_wrong = np.asarray(1.0 - problem.outcome, dtype=np.float64)
        return cls(ascending[::-1].astype(np.float64), len(ascending) - 1 - place, is_wrong)

    def sums(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the rows and the errors at each confidence."""
        columns = (weight, weight * self.is_wrong)
        rows, errors = (np.bincount(self.place, column, len(self.threshold)) for column in columns)
        return rows.astype(np.float64, copy=False), errors.astype(np.float64, copy=False)


def _risk_of(
    name: str, ranked: _Ranked, weights: Weights, level: float, n_resamples: int, rng: np.random.Generator
) -> RiskOfForecast:
    weight = weights.values * weights.rows_per_weight
    rows, errors = ranked.sums(weight)
    answered = rows.cumsum()
    drawn = [areas(*ranked.sums(each)) for each in _resampled(weights, weight, n_resamples, rng)] or [(np.nan, np.nan)]
    ends = np.quantile(np.array(drawn), [level / 2.0, 1.0 - level / 2.0], axis=0)
    (aurc, excess), (lower, upper) = areas(rows, errors), ends.tolist()
    curve = ranked.threshold, answered / answered[-1], errors.cumsum() / answered
    return RiskOfForecast(name, *curve, *(aurc, lower[0], upper[0]), *(excess, lower[1], upper[1]))


def _resampled(weights: Weights, weight: FloatArray, n: int, rng: np.random.Generator) -> Any:
    """Yield the weights of rows that are drawn with replacement, those that whole weights repeat one by one."""
    if not n:
        return
    counts = weights.times
    require_drawable(total := float(counts.sum()))
    for _ in range(n):
        drawn = rng.multinomial(int(total), counts / total)
        yield drawn if weights.are_counts else drawn * weight


def areas(rows: FloatArray, errors: FloatArray) -> tuple[float, float]:
    """Return the area under a risk-coverage curve, and its excess over the least, from rows and errors by confidence.

    Of m rows of one confidence with e errors, after N rows with E errors, the risk of the first k is in expectation
    (E + e k / m) / (N + k). Its sum over k is e + (E - e N / m) (psi(N + m + 1) - psi(N + 1)) with the digamma function psi.
    """
    before, wrong = rows.cumsum() - rows, errors.cumsum() - errors
    harmonic = special.digamma(before + rows + 1.0) - special.digamma(before + 1.0)
    total, n_wrong = float(rows.sum()), float(errors.sum())
    area = float((errors + (wrong - before * ratio(errors, rows, otherwise=0.0)) * harmonic).sum()) / total
    right = total - n_wrong
    least = (n_wrong - right * float(special.digamma(total + 1.0) - special.digamma(right + 1.0))) / total
    return area, max(area - least, 0.0)


def plot_risk_coverage(curve: RiskCoverageCurve, *, ax: Any = None) -> Any:
    """Draw the error rate of the answers against the share of rows that are answered.

    Parameters
    ----------
    curve : RiskCoverageCurve
        Of one forecast or several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.
    """
    ax = drawing.new_axes(ax)
    for place, panel in enumerate(curve.panels):
        across, up = np.append(0.0, panel.coverage), np.append(panel.risk[:1], panel.risk)
        label = f"{panel.name}: AURC {panel.aurc:.4f}"
        ax.plot(across, up, color=drawing.colour(place), linewidth=1.6, label=label, zorder=3)
    highest = max(float(panel.risk[panel.coverage >= 0.05].max()) for panel in curve.panels)
    ax.set(xlabel="coverage: share of rows answered", ylabel="risk: error rate of the answers", xlim=(0, 1))
    ax.set(ylim=(0, max(1.1 * highest, 1e-3)))
    drawing.grid(ax)
    drawing.legend_above(ax)
    return ax


# A threshold with a guarantee


GRID = np.unique(np.concatenate([np.arange(0, 400) / 400, 1.0 - 10.0 ** (-np.arange(20, 121) / 10)]))
"""Thresholds that are tried: every 1/400, and closer ones toward 1; they must not be chosen by the rows."""

ENOUGH = 10.0
"""Errors that the target would allow among the first rows that are tested: fewer rows have no power."""

DIGITS = [10.0**k for k in range(10, 1, -1)]
"""Rates of two digits are those of 10 to 99 over these."""


@dataclass(frozen=True, eq=False)
class RiskThreshold(Result):
    """A threshold on the confidence from which the answers have at most the target risk, with a guarantee.

    Attributes
    ----------
    threshold : float
        Answer the rows with a confidence of this or more; infinite where no threshold could be shown to keep the risk.
    coverage : float
        Share of rows that are answered.
    risk, upper : float
        Share of errors among them, and its upper limit by Clopper and Pearson; NaN where none is answered.
    target : float
        Risk that was asked for.
    level : float
        Largest probability that the true risk at this threshold is above the target.
    n_rows, n_answered, n_errors : int
        Rows, those answered and the errors among them.
    lowest_target : float
        Where no threshold could be shown, the lowest target, of two digits, for which these rows show one; NaN if there is
        none, and where it was not needed.
    """

    _table = Table(
        *(None, "threshold", "coverage", "risk", "upper", "target", "level"),
        *("n_rows", "n_answered", "n_errors", "lowest_target"),
    )
    _summary = "{threshold:.6g}, coverage={coverage:.4g}, risk={risk:.4g}, target={target:.4g}"

    threshold: float
    coverage: float
    risk: float
    upper: float
    target: float
    level: float
    n_rows: int
    n_answered: int
    n_errors: int
    lowest_target: float = np.nan

    def __str__(self) -> str:
        """Return the answer as a sentence."""
        sure = f"with a confidence of {100 * (1 - self.level):g} %"
        if not self.n_answered:
            said = f"No threshold can be shown to keep the error rate of the answers at {self.target:g} {sure}: answer nothing"
            lowest = f"; the lowest rate that these rows can show is {self.lowest_target:g}."
            return said + (lowest if self.lowest_target > 0 else "; these rows show none at any rate.")
        return (
            f"Answer from a confidence of {self.threshold:.6g} on: {self.coverage:.1%} of the rows, of which {self.risk:.2%} "
            f"are errors; the true error rate is at most {self.target:g} {sure}."
        )


def risk_threshold(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    risk: float = 0.05,
    level: float = 0.05,
    notion: str | Notion = "confidence",
    **data: Unpack[DataOptions],
) -> RiskThreshold:
    """Find the lowest threshold on the confidence that keeps the error rate of the answers at a target, with a guarantee.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of rows that neither the classifier nor its calibrator was fitted to.
    risk : float, default=0.05
        Largest error rate among the rows that are answered, a fraction in (0, 1).
    level : float, default=0.05
        Largest probability, over samples of rows, that the true error rate at the threshold is higher.
    notion : str or Notion, default="confidence"
        What an answer is: see `risk_coverage_curve`.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RiskThreshold
        A result with ``threshold``, ``coverage`` and ``risk``; printed, it is a sentence.

    Raises
    ------
    ValueError
        If weights are no numbers of equal rows: the guarantee counts errors.

    Notes
    -----
    Thresholds of a fixed grid are tested from the highest on: the hypothesis that the error rate of the rows from t on is above
    the target is rejected if so few errors, or fewer, have a probability of at most ``level`` under the binomial law with the
    target as its rate. The first that is not rejected ends it, and the last one rejected is the answer. As each threshold is
    tested only if all higher ones were rejected, and the grid does not depend on the rows, a threshold with a risk above the
    target is returned with a probability of at most ``level`` (fixed-sequence testing; Angelopoulos et al. 2025). The
    sequence begins where so many rows are answered that the target allows ten errors, or with all rows if they are fewer; this
    start depends on confidences alone, and is safe where the risk does not rise with the confidence.

    The guarantee is for new rows of the same kind. If these change, it is void. It is also for a target that was chosen before
    the rows were seen: one that they suggest, such as ``lowest_target``, is to be shown on new rows.

    References
    ----------
    Angelopoulos, Bates, Candès, Jordan, Lei, Learn then test: calibrating predictive algorithms to achieve risk control, Annals
    of Applied Statistics 2025.
    Clopper, Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 1934.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.decisions import risk_threshold
    >>> found = risk_threshold(*load_digits_forecast(), risk=0.1)
    >>> found.upper <= found.target
    True
    """
    risk = fraction("risk", risk, hint="For at most 5 % of errors pass risk=0.05")
    level = fraction("level", level, hint="For a confidence of 95 % pass level=0.05")
    problem = event_of(as_problem(y_true, y_prob, **data), notion)
    must, hint = "sample_weight must be numbers of equal rows for a guarantee", "Leave it out, or pass counts"
    require(problem.weights.are_counts, must, got="fractions", hint=hint)
    ranked = _Ranked.of(problem)
    rows, errors = (sums.cumsum() for sums in ranked.sums(problem.weight))
    grid, n_rows = GRID[::-1], int(rows[-1])
    # Confidences from each threshold on.
    reached = np.searchsorted(-ranked.threshold, -in_precision(grid, problem), side="right")
    answered, wrong = (np.append(0.0, sums)[reached] for sums in (rows, errors))

    def passed(risk: float) -> IntArray:
        tested = np.flatnonzero(answered >= min(ENOUGH / risk, rows[-1]))
        return tested[np.logical_and.accumulate(scipy.stats.binom.cdf(wrong[tested], answered[tested], risk) <= level)]

    found = passed(risk)
    if not found.size:
        # A target is not below the upper limit of the errors of its first rows.
        upper = scipy.stats.beta.ppf(1.0 - level, wrong + 1.0, answered - wrong)
        least, rates = np.min(upper[wrong < answered], initial=1.0), (d / e for e in DIGITS for d in range(10, 100))
        lowest = next((rate for rate in rates if rate >= least and passed(rate).size), np.nan)
        return RiskThreshold(np.inf, 0.0, np.nan, np.nan, risk, level, n_rows, 0, 0, lowest)
    at = int(found[-1])
    n, k = float(answered[at]), float(wrong[at])
    upper = float(scipy.stats.beta.ppf(1.0 - level, k + 1.0, n - k)) if k < n else 1.0
    return RiskThreshold(float(grid[at]), n / n_rows, k / n, upper, risk, level, n_rows, int(n), int(k))
