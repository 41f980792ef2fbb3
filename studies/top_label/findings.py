"""What the paper says of its tables of a ResNet-50 on CIFAR-10, held against ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations

import numpy as np

from calibrant import Unique, bin_sweep, binning_guarantee
from studies.markdown import table
from studies.top_label.forecasts import Forecast, cifar, forecasts
from studies.top_label.networks import NOTION, estimate, of_metric, printed

BINS = range(5, 26)

CLEAR = 2.0
"""Standard errors from which on a difference counts."""

DRAWS = 200
"""Bootstrap draws of the test rows behind a standard error of a difference."""


@cache
def drawn(method: str, metric: str) -> np.ndarray:
    """The metric on bootstrap draws of the test rows, the same draws for every method."""
    of, n = forecasts()[method], len(cifar()[3])
    norm = "max" if metric == "TL-MCE" else "l1"
    rng = np.random.default_rng(0)
    return np.array(
        [of.drawn(_lines(of, rng.integers(0, n, n), n)).error(NOTION[metric], norm=norm) for _ in range(DRAWS)]
    )


def _lines(of: Forecast, rows: np.ndarray, n: int) -> np.ndarray:
    """The lines of some rows: one a row, or as many as there are columns."""
    each = len(of.y) // n
    return rows if each == 1 else (rows[:, None] * each + np.arange(each)).ravel()


def unbiased(method: str, metric: str) -> float:
    """The figure without bias; of a maximum, whose noise has no size to speak of, the figure itself."""
    e = estimate(method, metric)
    return e.value if metric == "TL-MCE" else e.debiased or 0.0


def difference(one: str, other: str, metric: str) -> tuple[float, float]:
    """How much higher the one is without bias, and the standard error of that."""
    found = unbiased(one, metric) - unbiased(other, metric)
    return found, float((_stretched(one, metric) - _stretched(other, metric)).std(ddof=1))


def _stretched(method: str, metric: str) -> np.ndarray:
    """The draws of the figure, as far apart as those of the figure without bias.

    Where noise adds in squares, figure^2 = unbiased^2 + noise^2, a step of the figure is one of figure / unbiased without bias.
    """
    value, without = estimate(method, metric).value, unbiased(method, metric)
    return drawn(method, metric) * value / max(without, 1e-12)


def _methods(metric: str) -> list[str]:
    """The methods that the paper has a figure of; of both TL-HB that with 50 points a bin."""
    return [name for name in of_metric(metric) if name != "TL-HB (100)"]


def agreement(metric: str) -> dict[tuple[str, str], bool]:
    """Whether each pair of methods that the paper tells apart stands as printed."""
    pairs = [p for p in combinations(_methods(metric), 2) if printed(p[0], metric) != printed(p[1], metric)]
    return {(a, b): (difference(a, b, metric)[0] > 0) == (printed(a, metric) > printed(b, metric)) for a, b in pairs}


def clear_pairs(metric: str) -> tuple[int, int]:
    """How many pairs clearly stand as printed, and how many clearly the other way."""
    found = agreement(metric)
    clear = [found[p] for p in found if is_clear(*p, metric) or is_clear(*reversed(p), metric)]
    return sum(clear), len(clear) - sum(clear)


def order(metric: str) -> tuple[str, str]:
    """How many pairs of methods stand as in the paper, and the clear ones among them; and the verdict."""
    agrees = agreement(metric)
    ranked = sorted(_methods(metric), key=lambda name: unbiased(name, metric))
    said = sorted(_methods(metric), key=lambda name: printed(name, metric))
    text = (
        f"Lowest first, the paper: {', '.join(said)}; here: {', '.join(ranked)}. Of {len(agrees)} pairs "
        f"{sum(agrees.values())} stand as printed"
    )
    if metric == "TL-MCE":  # whose draws are those of a bin or two
        noise = sum((estimate(name, metric).pvalue or 0.0) > 0.05 for name in ranked)
        text += f"; but with the scores of {noise} of these {len(ranked)} a calibrated forecast shows as much (p above 0.05)"
        return text, "**cannot be told**"
    stand, against = clear_pairs(metric)
    text += f", {stand} of them clearly; clearly the other way {against}"
    if stand == len(agrees):
        return text, "**confirmed**"
    return text, f"**in part** ({stand} of {len(agrees)} clearly, {against} clearly not)"


def versus(one: str, other: str, metric: str, digits: int = 4, times: float = 1.0) -> str:
    value, error = difference(one, other, metric)
    ends = (unbiased(name, metric) for name in (one, other))
    first, second = (f"{name} {times * end:.{digits}f}" for name, end in zip((one, other), ends, strict=True))
    return f"{first}, {second}; difference {times * value:+.{digits}f} (standard error {times * error:.{digits}f})"


def is_clear(one: str, other: str, metric: str) -> bool:
    """Whether the one is clearly lower."""
    value, error = difference(one, other, metric)
    return value < -CLEAR * error


@cache
def ratios(method: str) -> np.ndarray:
    """TL-ECE over conf-ECE for each number of bins."""
    of = forecasts()[method]
    value = {
        notion: bin_sweep(**of.asked(notion), n_bins=BINS, n_resamples=1).value
        for notion in ("top-label", "confidence")
    }
    return value["top-label"] / value["confidence"]


Row = tuple[str, Callable[[], tuple[str, str]]]


def findings() -> str:
    """What the paper says of its tables and figures, held against ours."""
    rows: list[Row] = [
        ("The order of the methods by TL-ECE.", lambda: order("TL-ECE")),
        ("The order of the methods by TL-MCE.", lambda: order("TL-MCE")),
        ("The order of the methods by CW-ECE.", lambda: order("CW-ECE")),
        ("TL-ECE is often 2 to 3 times the conf-ECE.", _two_or_three_times),
        ("Top-label histogram binning typically performs better than temperature scaling.", _better_than_temperature),
        ("For TL-ECE, N-HB is the best method.", _is_n_hb_best),
        ("TL-HB has the lowest TL-MCE by far.", _lowest_maximum),
        ("For CW-ECE, class-wise binning is the best method (the text has TL-HB, its table CW-HB).", _is_cw_hb_best),
        ("N-HB performs terribly for CW-ECE (its table: worse than no calibration).", _is_n_hb_terrible),
        ("With k = 50 the expected TL-ECE is at most about 0.1 (Theorem 1).", _within_the_bound),
    ]
    return table(["the paper says", "computed here", "verdict"], [[claim, *found()] for claim, found in rows])


def _two_or_three_times() -> tuple[str, str]:
    methods = ("Base", "TS", "N-HB", "TL-HB (50)")
    within = {name: float(np.mean((ratios(name) >= 2.0) & (ratios(name) <= 3.0))) for name in methods}
    text = "; ".join(
        f"{name} {ratios(name).min():.1f} to {ratios(name).max():.1f} times, {within[name]:.0%} of them 2 to 3"
        for name in methods
    )
    most = [name for name in methods if within[name] > 0.5]
    verdict = "**confirmed**" if len(most) == len(methods) else f"**in part** ({len(most)} of {len(methods)})"
    return f"Over 5 to 25 bins, with their bias: {text}", verdict


def _is_lower(one: str, others: Iterable[str], metric: str) -> str:
    """Whether the one is lower than all others, where that is clear."""
    others = list(others)
    if any(is_clear(other, one, metric) for other in others):
        return "**not here**"
    return "**confirmed**" if all(is_clear(one, other, metric) for other in others) else "**not clear**"


def _better_than_temperature() -> tuple[str, str]:
    methods = [f"TL-HB ({points})" for points in (50, 100)]
    verdicts = {_is_lower(name, ["TS"], "TL-ECE") for name in methods}
    text = "; ".join(versus(name, "TS", "TL-ECE") for name in methods)
    return text, verdicts.pop() if len(verdicts) == 1 else "**in part**"


def _is_n_hb_best() -> tuple[str, str]:
    others = [name for name in of_metric("TL-ECE") if name != "N-HB"]
    best = min(of_metric("TL-ECE"), key=lambda name: unbiased(name, "TL-ECE"))
    pairs = "; ".join(versus("N-HB", name, "TL-ECE") for name in ("TL-HB (50)", "TL-HB (100)"))
    return f"Lowest: {best}. {pairs}", _is_lower("N-HB", others, "TL-ECE")


def _lowest_maximum() -> tuple[str, str]:
    found = {name: estimate(name, "TL-MCE") for name in of_metric("TL-MCE")}
    others = min(e.value for name, e in found.items() if not name.startswith("TL-HB"))
    ours = {name: e.value for name, e in found.items() if name.startswith("TL-HB")}
    noise = [name for name, e in found.items() if (e.pvalue or 0.0) > 0.05]
    text = (
        f"{', '.join(f'{name} {value:.3f}' for name, value in ours.items())}, the others from {others:.3f} up. But a "
        f"calibrated forecast with the scores of {', '.join(noise)} shows as much (p above 0.05)"
    )
    return text, "**confirmed**, but of noise" if max(ours.values()) < others else "**not here**"


def _is_cw_hb_best() -> tuple[str, str]:
    others = [name for name in of_metric("CW-ECE") if name != "CW-HB"]
    best = min(of_metric("CW-ECE"), key=lambda name: unbiased(name, "CW-ECE"))
    least = min(others, key=lambda name: unbiased(name, "CW-ECE"))
    text = f"Lowest: {best}. In hundredths: {versus('CW-HB', least, 'CW-ECE', 3, 100)}"
    return text, _is_lower("CW-HB", others, "CW-ECE")


def _is_n_hb_terrible() -> tuple[str, str]:
    text = f"In hundredths: {versus('N-HB', 'Base', 'CW-ECE', 3, 100)}"
    return text, _is_lower("Base", ["N-HB"], "CW-ECE")


def _within_the_bound() -> tuple[str, str]:
    promise = binning_guarantee(len(cifar()[1]), 50, n_classes=10)
    found = forecasts()["TL-HB (50)"].error("top-label", Unique())
    text = f"TL-ECE on its own values {found:.4f}; promised on average {promise.expected_error:.4f}"
    return text, "**confirmed**" if found <= promise.expected_error else "**refuted**"
