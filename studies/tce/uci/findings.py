"""What the paper says of its ten data sets and of its bins, held against what came out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibrant import EqualWidth
from calibrant._problem import BinaryProblem
from studies.markdown import table
from studies.tce.uci.bins import (
    BINNINGS,
    ROUNDING,
    between,
    drops,
    least,
    n_violated,
    quality,
    totals,
    withins,
)
from studies.tce.uci.data import DATA_SETS
from studies.tce.uci.measured import N_BINS, floors, measure, pvalues, values
from studies.tce.uci.models import ALGORITHMS, SEEDS, forecasts
from studies.tce.uci.paper import printed
from studies.tce.uci.ranks import best, is_better, n_rankings

LEVEL = 0.05
NOMINAL = 100.0 * LEVEL

IMBALANCED = tuple(name for name in DATA_SETS if name != "spambase")

CLEAR_METRICS = ("TCE", "TCE(Q)", "ECE", "ACE", "MCE", "MCE(Q)")

MODERATE = 2.0
"""Standard errors up to which a violation of monotonicity is mild."""


def n_models() -> int:
    return len(DATA_SETS) * len(ALGORITHMS) * len(SEEDS)


def clear_table() -> str:
    """How many models each error tells from calibrated ones, and what calibrated ones have."""
    body = []
    for metric in CLEAR_METRICS:
        digits = 1 if metric.startswith("TCE") else 3
        floor, found = floors(metric).mean(axis=-1), values(metric).mean(axis=-1)
        body.append(
            [
                metric,
                f"{found.min():.{digits}f} to {found.max():.{digits}f}",
                f"{floor.min():.{digits}f} to {floor.max():.{digits}f}",
                f"{n_clear(metric)} of {n_models()}",
                f"{int((pvalues(metric) > LEVEL).all(axis=-1).sum())} of {n_models() // len(SEEDS)}",
            ]
        )
    head = ["error", "models", "calibrated forecasts with their probabilities", "clear", "clear in no split"]
    return table(head, body)


def n_clear(metric: str) -> int:
    """Models whose figure at most a twentieth of calibrated forecasts reach."""
    return int((pvalues(metric) <= LEVEL).sum())


def fullest() -> dict[str, float]:
    """Share of the rows in the fullest of ten bins of equal width, mean over the models of a data set."""
    return {name: float(np.mean([_fullest(of.y, of.prob) for of in forecasts(name)])) for name in DATA_SETS}


def _fullest(y: np.ndarray, prob: np.ndarray) -> float:
    bins = EqualWidth(N_BINS)(BinaryProblem(prob, y.astype(bool), np.ones(prob.size)))
    return float(bins.count.max() / prob.size)


def of_averages() -> dict[str, float]:
    """How much of the ECE the gap of the two averages over all rows is, median over the models of a data set."""
    return {
        name: float(np.median([abs(of.y.mean() - of.prob.mean()) / measure(of, "ECE") for of in forecasts(name)]))
        for name in DATA_SETS
    }


Row = tuple[str, Callable[[], tuple[str, str]]]


def findings() -> str:
    rows: list[Row] = [
        ("If all null hypotheses were true, TCE would be the level of the test on average: 5 (3.2).", _is_the_level),
        ("Most predictions lie in a single bin of ECE (4.2, of the imbalanced sets shown).", _single_bin),
        ("ECE is then essentially a comparison of the averages of labels and predictions (4.2).", _averages),
        ("TCE and ACE agree on the best model where ECE names another (Table 3).", _sides),
        ("ECE and ACE can be small for models that TCE finds badly calibrated (Table 4).", _small_but_bad),
        ("PAVA minimises the total estimation error (Table 1; Proposition 1).", lambda: _least(totals(), "PAVA")),
        ("Quantiles minimise the average error within bins (Table 1).", lambda: _least(withins(), "10 quantiles")),
        ("PAVA-BC takes a balance between the two (Table 1).", _balance),
        ("The constraints violate monotonicity mildly (3.3, Figure 4).", _mild),
    ]
    return table(["the paper says", "computed here", "verdict"], [[claim, *found()] for claim, found in rows])


def agreement() -> str:
    """Whether TCE follows proper scores better than the gaps do: the paper does not ask."""
    body = [[f"TCE less {other}", *is_better("TCE", other)] for other in ("ECE", "ACE")]
    return table(["difference of Kendall's tau", "mean over data sets", "TCE nearer"], body)


def _is_the_level() -> tuple[str, str]:
    tests, words = ("TCE", "TCE(Q)"), []
    for metric in tests:
        floor = floors(metric).mean(axis=-1)
        words.append(f"{metric} {floor.min():.1f} to {floor.max():.1f}, {floor.mean():.1f} on average")
    text = (
        f"Outcomes drawn from the probabilities, means over draws and splits: {'; '.join(words)}. The hypotheses of a bin are "
        "true at once only if its predictions are equal, and outcomes choose the bins of TCE"
    )
    near = all(np.abs(floors(metric).mean(axis=-1) - NOMINAL).max() <= 1.0 for metric in tests)
    return text, "**confirmed**" if near else "**not of calibrated forecasts**"


def _single_bin() -> tuple[str, str]:
    share = fullest()
    text = "Fullest bin: " + ", ".join(f"{name} {share[name]:.0%}" for name in DATA_SETS)
    most = all(share[name] > 0.5 for name in IMBALANCED)
    return text, "**confirmed**" if most else "**in part**"


def _averages() -> tuple[str, str]:
    part = of_averages()
    text = "The gap of the averages is, in the median, this part of the ECE: "
    text += ", ".join(f"{name} {part[name]:.0%}" for name in DATA_SETS)
    nearly = sum(part[name] > 0.9 for name in IMBALANCED)
    verdict = "**confirmed**" if nearly == len(IMBALANCED) else "**in part**" if nearly else "**not here**"
    return text, verdict


def _sides() -> tuple[str, str]:
    tce, ece, ace = best("TCE"), best("ECE"), best("ACE")
    differ = tce != ece
    with_tce, with_ece = int((differ & (ace == tce)).sum()), int((differ & (ace == ece)).sum())
    text = (
        f"TCE and ECE name different best models in {int(differ.sum())} of {n_rankings()} rankings; there ACE sides with TCE "
        f"in {with_tce} and with ECE in {with_ece}"
    )
    if with_tce == with_ece:
        return text, "**not clear**"
    return text, "**as there, mostly**" if with_tce > with_ece else "**not here**"


def _small_but_bad() -> tuple[str, str]:
    of = printed()["webpage"].values()
    small = {metric: max(one[metric] for one in of) for metric in ("ECE", "ACE")}
    bad = min(one["TCE"] for one in of)
    found = (values("ECE") <= small["ECE"]) & (values("ACE") <= small["ACE"]) & (values("TCE") >= bad)
    n, both = int(found.sum()), int((found & (pvalues("ECE") <= LEVEL)).sum())
    names = [name for name, of_set in zip(DATA_SETS, found, strict=True) if of_set.any()]
    text = (
        f"ECE and ACE no larger than the largest there ({small['ECE']:.4f}, {small['ACE']:.4f}) and TCE no smaller than the "
        f"smallest ({bad:.1f}): {n} of {n_models()} models, on {' and '.join(names) or 'no data set'}. Small ECEs are no "
        f"acquittal: for {both} of these the ECE too is clearly above that of a calibrated forecast"
    )
    return text, f"**seen** ({n} of {n_models()})" if n else "**not here**"


def _least(of: np.ndarray, name: str) -> tuple[str, str]:
    number = least(of, name)
    strictly = _alone(of, name)
    text = f"Smallest on {number} of {n_models()} models, on {strictly} alone"
    return text, "**confirmed**" if number == n_models() else f"**in part** ({number} of {n_models()})"


def _alone(of: np.ndarray, name: str) -> int:
    at = list(BINNINGS).index(name)
    return int((of[:, at] < np.delete(of, at, axis=1).min(axis=1) - ROUNDING).sum())


def _balance() -> tuple[str, str]:
    total, within = between(totals()), between(withins())
    text = f"Between the other two in total error on {total} of {n_models()} models, in error within bins on {within}"
    both = min(total, within)
    return text, "**confirmed**" if both == n_models() else f"**mostly** ({both} of {n_models()})"


def _mild() -> tuple[str, str]:
    apart = np.concatenate([drops(of, "PAVA-BC") for of in forecasts()])
    text = f"On {n_violated('PAVA-BC')} of {n_models()} models, {apart.size} violations"
    if not apart.size:
        return text, "**none here**"
    largest = max(quality(of, "PAVA-BC").largest_violation for of in forecasts())
    text += (
        f", the largest drop {largest:.3f}, at most {apart.max():.1f} standard errors; with quantiles on "
        f"{n_violated('10 quantiles')} models"
    )
    return text, "**confirmed**" if apart.max() <= MODERATE else "**not all**"
