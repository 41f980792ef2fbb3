"""Calibrators of two classes on the survey's test cases: its figures 13 to 16, and what it says of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from survey_exact import Errors, errors, given
from survey_findings import DRAWS, Finding, Make, confirmed, rows, table, the_case

from calibrant import BetaCalibration, HistogramBinning, IsotonicCalibrator, PlattScaling

TWO = ("under-confident", "over-confident", "mlp")
PLATT, STRAIGHT = "on log-odds", "on probabilities"
BINARY: dict[str, dict[str, Make]] = {
    "binning": {"10 bins": lambda: HistogramBinning(10)},
    "isotonic": {"isotonic": lambda: IsotonicCalibrator(interpolate=True)},
    # A straight line through the probabilities themselves: they are passed as if they were logits.
    "platt": {STRAIGHT: lambda: PlattScaling(input="logit"), PLATT: PlattScaling},
    "beta": {"beta": BetaCalibration},
}


def fitted(name: str, method: str, make: Make, seed: int = 0) -> Any:
    """The calibrator, fitted to a calibration set of a case of two classes."""
    prob, y = rows(name, 2, seed)
    return make().fit(prob, y)


@cache
def values(name: str, family: str, method: str, seed: int) -> np.ndarray:
    """Calibrated forecast of two classes on the grid."""
    found = fitted(name, method, BINARY[family][method], seed).calibrate(the_case(name).forecast)
    return np.asarray(found)


@cache
def after(name: str, family: str, method: str) -> Errors:
    """Errors of a calibrated forecast, means over the calibration sets."""
    found = [astuple(errors(the_case(name), values(name, family, method, seed))) for seed in range(DRAWS)]
    return Errors(*np.mean(found, axis=0))


@cache
def before(name: str) -> Errors:
    return errors(the_case(name), the_case(name).forecast)


def off(name: str, value: np.ndarray) -> np.ndarray:
    """|S - P(event | S)| at each point of the grid."""
    of = the_case(name)
    return np.abs(value - given(value, of.posterior, of.mass))


def inside(name: str, low: float, high: float, value: np.ndarray) -> float:
    """Mean of a value over the forecasts in [low, high] before calibration."""
    of = the_case(name)
    mass = of.mass * ((of.forecast >= low) & (of.forecast <= high))
    return float(mass @ value / mass.sum())


def off_inside(name: str, family: str, method: str, low: float, high: float) -> float:
    """Mean |S - C| after calibration, over the forecasts that were in [low, high] before it."""
    found = [inside(name, low, high, off(name, values(name, family, method, seed))) for seed in range(DRAWS)]
    return float(np.mean(found))


def off_before(name: str, low: float, high: float) -> float:
    return inside(name, low, high, off(name, the_case(name).forecast))


def made_worse(name: str, family: str, method: str) -> float:
    """Probability of a forecast whose |S - C| grows by calibration."""
    of = the_case(name)
    was = off(name, of.forecast)
    return float(np.mean([of.mean(off(name, values(name, family, method, s)) > was) for s in range(DRAWS)]))


def spelt(name: str) -> str:
    return "neural network" if name == "mlp" else name


def of_two(families: dict[str, list[str]]) -> str:
    """Errors before and after, for the three cases."""
    body = []
    for name in TWO:
        found = {"before": before(name)}
        found |= {m: after(name, family, m) for family, methods in families.items() for m in methods}
        for method, e in found.items():
            excess = "infinite" if np.isinf(e.log_excess) else f"{e.log_excess:.5f}"
            parts = (e.calibration, 1000 * e.brier_calibration, 1000 * e.grouping)
            label = f"{spelt(name)}, before" if method == "before" else f"... {method}"
            body.append([label, f"{parts[0]:.4f}", f"{parts[1]:.3f}", f"{parts[2]:.3f}", excess])
    head = ["", "E abs(S - C)", "calibration loss x 1000", "grouping loss x 1000", "log loss above Bayes"]
    return table(head, body)


def each(value: Callable[[str], float], digits: int = 4, names: tuple[str, ...] = TWO) -> str:
    """A figure for each case."""
    return ", ".join(f"{value(name):.{digits}f} ({spelt(name)})" for name in names)


def binning() -> list[Finding]:
    with_rows = {
        name: [int((fitted(name, "", BINARY["binning"]["10 bins"], s).count_ > 0).sum()) for s in range(DRAWS)]
        for name in TWO
    }
    fewer = np.mean(with_rows["under-confident"]) < 10 == min(with_rows["over-confident"]) == min(with_rows["mlp"])
    was, now = ({n: e(n) for n in TWO} for e in (before, lambda n: after(n, "binning", "10 bins")))
    total = {n: (was[n].brier_calibration + was[n].grouping, now[n].brier_calibration + now[n].grouping) for n in TWO}
    worse = [spelt(n) for n in TWO if total[n][1] > total[n][0]]
    return [
        Finding(
            "With 10 bins of equal width there are 10 values or fewer, and fewer in the under-confident case, whose "
            "outer bins are empty.",
            "Bins with rows: "
            + ", ".join(f"{min(with_rows[n])} to {max(with_rows[n])} ({spelt(n)})" for n in TWO)
            .replace("10 to 10", "10")
            .replace("8 to 8", "8"),
            confirmed(bool(fewer)),
        ),
        Finding(
            "It works well in all three cases: most points lie close to the diagonal.",
            "E abs(S - C) falls from "
            + "; ".join(f"{was[n].calibration:.4f} to {now[n].calibration:.4f} ({spelt(n)})" for n in TWO),
            confirmed(all(now[n].calibration < was[n].calibration for n in TWO)),
        ),
        Finding(
            "Calibration loss falls at the cost of a higher grouping loss: instances can no longer be told apart.",
            "Grouping loss x 1000 rises from "
            + "; ".join(f"{1000 * was[n].grouping:.3f} to {1000 * now[n].grouping:.3f} ({spelt(n)})" for n in TWO)
            + (
                f". In sum the Brier score of the {' and the '.join(worse)} is **worse** than before: "
                + "; ".join(f"{1000 * total[n][0]:.3f} to {1000 * total[n][1]:.3f}" for n in TWO if spelt(n) in worse)
                if worse
                else ""
            ),
            confirmed(
                all(
                    now[n].grouping > was[n].grouping and now[n].brier_calibration < was[n].brier_calibration
                    for n in TWO
                )
            ),
        ),
    ]


def isotonic() -> list[Finding]:
    was, now = ({n: e(n) for n in TWO} for e in (before, lambda n: after(n, "isotonic", "isotonic")))
    bins = {n: after(n, "binning", "10 bins") for n in TWO}
    blocks = {n: [len(fitted(n, "", IsotonicCalibrator, s).value_) for s in range(DRAWS)] for n in TWO}
    ends = [
        (model.value_[0] == 0.0, model.value_[-1] == 1.0)
        for n in TWO
        for model in (fitted(n, "", IsotonicCalibrator, s) for s in range(DRAWS))
    ]
    middle = float(
        np.mean([off_inside("over-confident", "isotonic", "isotonic", *r) for r in ((0.1, 0.4), (0.6, 0.9))])
    )
    outer = float(np.mean([off_inside("over-confident", "isotonic", "isotonic", *r) for r in ((0.0, 0.1), (0.9, 1.0))]))
    of = the_case("over-confident")
    rare = float(
        of.mass[((of.forecast > 0.1) & (of.forecast < 0.4)) | ((of.forecast > 0.6) & (of.forecast < 0.9))].sum()
    )
    seconds = {make.__name__: cpu(make) for make in (IsotonicCalibrator, PlattScaling)}
    slower = seconds["IsotonicCalibrator"] / seconds["PlattScaling"]
    return [
        Finding(
            "It gives a larger variety of outputs than binning.",
            f"Blocks: {each(lambda n: float(np.mean(blocks[n])), 0)}; on average, against 10 bins",
            confirmed(min(min(b) for b in blocks.values()) > 10),
        ),
        Finding(
            "It works reasonably well in all three cases.",
            "E abs(S - C) falls from "
            + "; ".join(f"{was[n].calibration:.4f} to {now[n].calibration:.4f} ({spelt(n)})" for n in TWO)
            + ". It is higher than after binning, whose ten rates are means over more rows",
            confirmed(all(now[n].calibration < was[n].calibration for n in TWO)),
        ),
        Finding(
            "In the over-confident case errors remain at the middle left and middle right, for lack of training "
            "points there.",
            f"E abs(S - C) is {middle:.4f} for forecasts in [0.1, 0.4] and [0.6, 0.9], where {rare:.0%} of them "
            f"lie, and {outer:.4f} beyond. In units of x the under-confident case has the same errors: isotonic "
            "regression sees the order alone",
            confirmed(middle > 1.5 * outer, "hardly"),
        ),
        Finding(
            "Constant values within its bins inevitably increase the grouping loss.",
            "Grouping loss x 1000: "
            + "; ".join(f"{1000 * was[n].grouping:.3f} to {1000 * now[n].grouping:.3f} ({spelt(n)})" for n in TWO)
            + f"; after binning {min(bins[n].grouping / now[n].grouping for n in TWO):.0f} to "
            f"{max(bins[n].grouping / now[n].grouping for n in TWO):.0f} times as much",
            confirmed(all(now[n].grouping > was[n].grouping for n in TWO)),
        ),
        Finding(
            "Where the true map is not monotone it is sub-optimal.",
            f"The network's forecast falls with x over {falling():.0%} of its rows, and the true map with it: the "
            f"best monotone map of all has a calibration loss x 1000 of {1000 * best_monotone():.4f}. Drawing the "
            f"calibration set costs {now['mlp'].brier_calibration / best_monotone():.0f} times as much",
            "**confirmed**, and small",
        ),
        Finding(
            "The first and the last value can be 0 and 1, a problem for the log loss.",
            f"The first value is 0 in {np.mean([a for a, _ in ends]):.0%} of the fits, the last 1 in "
            f"{np.mean([b for _, b in ends]):.0%}: an infinite log loss. `IsotonicCalibrator(finite=...)` and "
            "`VennAbers` cure it",
            confirmed(any(a or b for a, b in ends)),
        ),
        Finding(
            "Its training time is high on large sets.",
            f"10^6 rows take {seconds['IsotonicCalibrator']:.2f} s of CPU time, {slower:.1f} times that of Platt scaling",
            confirmed(slower > 5),
        ),
    ]


def cpu(make: Make) -> float:
    """CPU seconds of a fit to a million rows."""
    prob, y = the_case("mlp").draw(10**6, 0)
    make().fit(prob[:1000], y[:1000])
    start = time.process_time()
    make().fit(prob, y)
    return time.process_time() - start


@cache
def best_monotone() -> float:
    """Calibration loss of the best monotone map of the network's forecast, in the Brier score."""
    of = the_case("mlp")
    order = np.argsort(of.forecast)
    truth, mass = given(of.forecast, of.posterior, of.mass)[order], of.mass[order]
    best = isotonic_regression(truth, weights=np.maximum(mass, 1e-300)).x
    return float(mass @ (truth - best) ** 2)


def falling() -> float:
    """Share of the rows about which the network's forecast falls as the feature rises."""
    of = the_case("mlp")
    return float(of.mass[1:][np.diff(of.forecast) < 0].sum())


def platt() -> list[Finding]:
    def change(name: str, method: str) -> str:
        return f"{before(name).calibration:.4f} to {after(name, 'platt', method).calibration:.4f}"

    def kept(name: str, method: str) -> float:
        return after(name, "platt", method).calibration / before(name).calibration

    same = np.abs(values("under-confident", "platt", PLATT, 0) - values("over-confident", "platt", PLATT, 0)).max()
    return [
        Finding(
            "It improves the under-confident case well.",
            f"E abs(S - C) falls from {change('under-confident', STRAIGHT)} {STRAIGHT}, and from "
            f"{change('under-confident', PLATT)} {PLATT}: about half of it is left, since the true map bends more "
            "often than a sigmoid does",
            confirmed(kept("under-confident", STRAIGHT) < 0.3, "in part"),
        ),
        Finding(
            "It fails on the over-confident case: a sigmoid cannot push probabilities to the middle.",
            f"{STRAIGHT.capitalize()} {kept('over-confident', STRAIGHT):.0%} of the error is left "
            f"({change('over-confident', STRAIGHT)}). {PLATT.capitalize()}, {kept('over-confident', PLATT):.0%} "
            f"({change('over-confident', PLATT)}): the same calibrated forecast as in the under-confident case (to "
            f"{same:.0e}), since the log-odds of both are multiples of x",
            f"**confirmed** {STRAIGHT}, **refuted** {PLATT}"
            if kept("over-confident", STRAIGHT) > 0.75 > 0.6 > kept("over-confident", PLATT)
            else "**unclear**",
        ),
        Finding(
            "It makes the neural network worse around several regions.",
            f"{STRAIGHT.capitalize()} the error rises from {change('mlp', STRAIGHT)}, and for "
            f"{made_worse('mlp', 'platt', STRAIGHT):.0%} of the forecasts; {PLATT} it goes from "
            f"{change('mlp', PLATT)}, and rises for {made_worse('mlp', 'platt', PLATT):.0%}",
            f"**confirmed** {STRAIGHT}" + (f"; {PLATT} it helps on the whole" if kept("mlp", PLATT) < 1 else ""),
        ),
    ]


def beta() -> list[Finding]:
    def at(low: float, high: float, family: str, method: str) -> float:
        return off_inside("over-confident", family, method, low, high)

    left, right = (
        (off_before("over-confident", *r), at(*r, "platt", STRAIGHT), at(*r, "beta", "beta"))
        for r in ((0.0, 0.5), (0.5, 1.0))
    )
    network = (off_before("mlp", 0.6, 1.0), off_inside("mlp", "beta", "beta", 0.6, 1.0))
    of = the_case("mlp")
    apart = float(
        np.mean(
            [
                of.mean(
                    np.abs(values("under-confident", "beta", "beta", s) - values("over-confident", "beta", "beta", s))
                )
                for s in range(DRAWS)
            ]
        )
    )
    same = BetaCalibration().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    same.a_, same.b_, same.c_ = 1.0, 1.0, 0.0
    grid = np.linspace(0.001, 0.999, 999)
    unchanged = float(np.abs(same.calibrate(grid) - grid).max())
    spoilt = {m: spoils(make) for m, make in (("beta", BetaCalibration), (STRAIGHT, BINARY["platt"][STRAIGHT]))}
    kept = after("under-confident", "beta", "beta").calibration / before("under-confident").calibration
    gain = {n: after(n, "platt", PLATT).calibration - after(n, "beta", "beta").calibration for n in TWO}
    return [
        Finding(
            "It deals with the under-confident case fairly well: the reliability diagram follows the diagonal closely.",
            f"{kept:.0%} of the error is left ({after('under-confident', 'beta', 'beta').calibration:.4f}); Platt "
            f"scaling {PLATT} leaves {after('under-confident', 'platt', PLATT).calibration:.4f}",
            confirmed(kept < 0.3, "in part"),
        ),
        Finding(
            "In the over-confident case it corrects more than Platt scaling in [0, 0.5], and does not help much in "
            "[0.5, 1].",
            f"E abs(S - C) before, after Platt scaling {STRAIGHT}, after beta: "
            f"{', '.join(f'{v:.4f}' for v in left)} for forecasts in [0, 0.5]; "
            f"{', '.join(f'{v:.4f}' for v in right)} in [0.5, 1]",
            "**confirmed** for [0, 0.5], "
            + ("**refuted** for [0.5, 1]" if right[2] < 0.75 * right[1] else "and for [0.5, 1]"),
        ),
        Finding(
            "It improves the neural network around [0.6, 1].",
            f"E abs(S - C) there falls from {network[0]:.4f} to {network[1]:.4f}",
            confirmed(network[1] < network[0]),
        ),
        Finding(
            "After calibration the over- and the under-confident case are almost identical.",
            f"The two calibrated forecasts differ by {apart:.4f} on average",
            confirmed(apart < 0.01),
        ),
        Finding(
            "It has a richer family of maps than Platt scaling.",
            f"True; what it gains on these cases over Platt scaling {PLATT} is small: E abs(S - C) is lower by "
            f"{each(lambda n: gain[n])}",
            confirmed(True),
        ),
        Finding(
            "It contains the identity, which prevents over-calibration.",
            f"With a = b = 1 and c = 0 nothing changes (to {unchanged:.0e}). Fitted to Bayes' own forecast it adds "
            f"{spoilt['beta']:.5f} to the log loss; Platt scaling {STRAIGHT}, which does not contain it, "
            f"{spoilt[STRAIGHT]:.5f}",
            confirmed(unchanged < 1e-12 and spoilt["beta"] < 0.1 * spoilt[STRAIGHT]),
        ),
    ]


def spoils(make: Make) -> float:
    """Log loss that a calibrator adds to Bayes' own forecast."""
    of = the_case("bayes-optimal")
    found = []
    for seed in range(DRAWS):
        value = fitted("bayes-optimal", "", make, seed).calibrate(of.forecast)
        found.append(errors(of, np.asarray(value)).log_excess)
    return float(np.mean(found))
