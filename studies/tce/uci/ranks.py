"""How calibration errors rank the five models of a split, and whether they rank them alike."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau, ttest_1samp

from studies.markdown import table
from studies.tce.uci import paper as tce_uci_paper
from studies.tce.uci.data import DATA_SETS
from studies.tce.uci.measured import PROPER, SPELLINGS, values
from studies.tce.uci.models import SEEDS

LEVEL = 0.05

PAIRS = (
    ("TCE", "ECE"),
    ("TCE", "ACE"),
    ("ECE", "ACE"),
    ("TCE", "TCE(Q)"),
    ("TCE", "MCE"),
    ("TCE", "NLL"),
    ("ECE", "NLL"),
    ("ACE", "NLL"),
    ("TCE", "MCB"),
    ("ECE", "MCB"),
    ("ACE", "MCB"),
)


def best(metric: str) -> np.ndarray:
    """Number of the best model of each ranking, one a data set and split."""
    return np.asarray(values(metric).argmin(axis=1).ravel())


def same_best(one: str, other: str) -> int:
    """In how many rankings two metrics name the same best model."""
    return int((best(one) == best(other)).sum())


def n_rankings() -> int:
    return len(DATA_SETS) * len(SEEDS)


def paper_same_best(one: str, other: str) -> tuple[int, int] | None:
    """In how many of the paper's tables two metrics name the same best model, and of how many; None without figures."""
    if {one, other} & set(PROPER):
        return None
    tables = tce_uci_paper.printed().values()
    both = [of for of in tables if all(one in figures and other in figures for figures in of.values())]
    agree = [min(of, key=lambda name: of[name][one]) == min(of, key=lambda name: of[name][other]) for of in both]
    return sum(agree), len(agree)


def best_table() -> str:
    body = []
    for one, other in PAIRS:
        said = paper_same_best(one, other)
        printed = "" if said is None else f"{said[0]} of {said[1]}"
        body.append([f"{one} and {other}", f"{same_best(one, other)} of {n_rankings()}", printed])
    return table(["same best model", "here", "in the paper's tables"], body)


def tau(one: np.ndarray, other: np.ndarray) -> float:
    """Kendall's tau-b, 0 where one of them tells no models apart."""
    found = kendalltau(one.round(12), other.round(12)).statistic
    return 0.0 if np.isnan(found) else float(found)


@cache
def taus(one: str, other: str) -> np.ndarray:
    """Kendall's tau over the models of a split, mean over splits, of each data set."""
    pairs = zip(values(one), values(other), strict=True)
    return np.array([np.mean([tau(a[:, s], b[:, s]) for s in range(len(SEEDS))]) for a, b in pairs])


@cache
def repeats(metric: str) -> np.ndarray:
    """Kendall's tau over models between two splits, mean over pairs of splits, of each data set."""
    splits = list(combinations(range(len(SEEDS)), 2))
    return np.array([np.mean([tau(of[:, a], of[:, b]) for a, b in splits]) for of in values(metric)])


def _mean(of: np.ndarray) -> str:
    return f"{of.mean():+.2f} ({of.std(ddof=1) / np.sqrt(of.size):.2f})"


def tau_table() -> str:
    """Agreement with proper scores and with itself, mean over data sets and its standard error."""
    body = [
        [metric, *(_mean(taus(metric, score)) for score in PROPER), _mean(repeats(metric))]
        for metric in (*SPELLINGS, *PROPER)
    ]
    return table(["Kendall's tau", *(f"with {score}" for score in PROPER), "with itself, another split"], body)


def by_data_table(score: str) -> str:
    body = [[metric, *(f"{value:+.2f}" for value in taus(metric, score))] for metric in SPELLINGS]
    return table([f"tau with {score}", *DATA_SETS], body)


def lead(one: str, other: str, score: str) -> tuple[float, int, float]:
    """By how much tau of one with a score is above that of the other, on how many data sets, and the paired t-test's p."""
    apart = taus(one, score) - taus(other, score)
    return float(apart.mean()), int((apart > 0).sum()), float(ttest_1samp(apart, 0.0).pvalue)


def is_better(one: str, other: str) -> tuple[str, str]:
    """Whether one agrees with proper scores better than the other does, p-values against the level of all of them at once."""
    found = {score: lead(one, other, score) for score in PROPER}
    text = "; ".join(
        f"with {score} {value:+.2f}, higher on {better} of {len(DATA_SETS)} (p = {p:.2g})"
        for score, (value, better, p) in found.items()
    )
    clear = {score: value > 0 for score, (value, _, p) in found.items() if p <= LEVEL / len(PROPER)}
    if not clear:
        return text, "**not clear**"
    words = ", ".join(f"{'better' if higher else 'worse'} with {score}" for score, higher in clear.items())
    return text, f"**{words}**"
