"""Several networks, splits and calibration sizes: what the paper says of its eight networks, asked of those at hand.

    python -m studies.top_label.networks

measures the four published networks anew. ``python -m studies.na_isotonic.networks`` trains the others and measures them here.
Both keep what they found in networks.json. Errors are plug-in, in 15 bins of equal width, as in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from scipy.special import softmax
from scipy.stats import binomtest

from calibrant import TemperatureScaling, VectorScaling, calibration_error, drawing
from calibrant.notions import WithinGroups
from studies.claims import LEVEL, Verdict, bold, mean_and_error, mostly, table, under_all_readings
from studies.top_label.forecasts import one_against_rest, stored_networks, top_label_binning

mpl.use("Agg")

STORE = Path(__file__).with_name("networks.json")
SIZES, SPLITS, MOST_TESTED, ROWS_A_BIN = (300, 1000, 2500, 5000), 5, 5000, 50
FEW = 1e-12
PAIRS = ("TL-HB", "CW-HB")
NOTIONS = {"TL-ECE": "top-label", "conf-ECE": "confidence", "CW-ECE": "class-wise"}

Measured = Mapping[str, Mapping[str, Mapping[str, list[float]]]]
"""Of each number of rows to calibrate on the metrics, of each the methods, and of each a figure a split."""


def measure(prob: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the errors of each method on random splits; the test rows of a split are the same for every size."""
    n_test, found = min(MOST_TESTED, len(y) // 2), {}
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(y))
        test, rest = order[:n_test], order[n_test:]
        for size in [size for size in SIZES if size <= len(rest)]:
            for (metric, method), value in _errors(prob, y, rest[:size], test).items():
                found.setdefault(str(size), {}).setdefault(metric, {}).setdefault(method, []).append(round(value, 6))
    return {"rows_a_class": {str(size): size / prob.shape[1] for size in SIZES}, "sizes": found}


def _errors(prob: np.ndarray, y: np.ndarray, fit: np.ndarray, test: np.ndarray) -> dict[tuple[str, str], float]:
    labels, n_bins = range(prob.shape[1]), max(1, len(fit) // ROWS_A_BIN)
    methods = {
        "TS": TemperatureScaling(),
        "VS": VectorScaling(logits="log-softmax"),
        "N-HB": one_against_rest(normalize=True, n_bins=n_bins),
        "CW-HB": one_against_rest(normalize=False, n_bins=n_bins),
        "TL-HB": top_label_binning(ROWS_A_BIN),
    }
    fitted = {name: of.set_params(labels=labels).fit(prob[fit], y[fit]) for name, of in methods.items()}
    tables = {"Base": prob[test]} | {
        name: of.predict_proba(prob[test]) for name, of in fitted.items() if name not in PAIRS
    }
    label, score = fitted["TL-HB"].predict_top(prob[test])
    found = {}
    for metric, notion in NOTIONS.items():
        found |= {(metric, name): _ece(y[test], of, notion, labels) for name, of in tables.items()}
        if metric != "CW-ECE":
            found[metric, "TL-HB"] = _ece(y[test], score, notion, labels, y_pred=label)
    columns = fitted["CW-HB"].predict_proba(prob[test])
    each = np.broadcast_to(np.arange(columns.shape[1]), columns.shape)
    outcome = (y[test][:, None] == each).ravel()
    found["CW-ECE", "CW-HB"] = _ece(outcome, columns.ravel(), WithinGroups(each.ravel()), None)
    return found


def _ece(y: np.ndarray, prob: np.ndarray, notion: Any, labels: Any, **how: Any) -> float:
    return float(calibration_error(y, prob, notion=notion, labels=labels, binning=15, **how))


@cache
def stored() -> dict[str, Any]:
    """Return what was measured of each network."""
    found: dict[str, Any] = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    return found


def store(found: dict[str, Any]) -> None:
    """Keep what was measured of some networks beside what is there of others."""
    lines = (f" {json.dumps(name)}: {json.dumps(of)}" for name, of in (stored() | found).items())
    STORE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


# What becomes of the sentences


def largest(network: str) -> Mapping[str, Mapping[str, list[float]]]:
    """Return the errors with the most rows to calibrate on."""
    sizes = stored()[network]["sizes"]
    return sizes[max(sizes, key=int)]


def less(metric: str, one: str, other: str) -> dict[str, float]:
    """Return by how much the one is above the other on each network: means over splits."""
    return {
        name: float(np.mean(largest(name)[metric][one]) - np.mean(largest(name)[metric][other])) for name in stored()
    }


def on_most(differences: Mapping[str, Mapping[str, float]], level: float = LEVEL) -> Verdict:
    """Return whether the one is lower on most networks in every comparison, clearly by a sign test."""
    return under_all_readings(
        mostly(sum(d < -FEW for d in of.values()), sum(abs(d) > FEW for d in of.values()), level)
        for of in differences.values()
    )


def in_words(differences: Mapping[str, Mapping[str, float]]) -> str:
    """Return on how many networks the one is lower, and the median difference."""
    parts = [
        f"{name} below zero on {sum(d < 0 for d in of.values())} of {len(of)} networks (median "
        f"{np.median(list(of.values())):+.4f}, p = {binomtest(sum(d < 0 for d in of.values()), len(of)).pvalue:.2g}; on "
        f"{sum(d < 0 for network, d in of.items() if 'CIFAR' in network)} of the 4 on CIFAR)"
        for name, of in differences.items()
    ]
    return f"Means over {SPLITS} splits, the most rows to calibrate on: {'; '.join(parts)}"


def ratio_share() -> dict[str, list[float]]:
    """Return TL-ECE over conf-ECE of each method, a network each."""
    return {
        name: [float(np.mean(largest(n)["TL-ECE"][name]) / np.mean(largest(n)["conf-ECE"][name])) for n in stored()]
        for name in ("Base", "TS", "TL-HB")
    }


# When TL-HB loses to N-HB


def size_table() -> str:
    """TL-ECE by network and rows to calibrate on: means over splits."""
    body = []
    for name, of in stored().items():
        for size, metrics in of["sizes"].items():
            found = {method: float(np.mean(values)) for method, values in metrics["TL-ECE"].items()}
            gap, error = mean_and_error(np.subtract(*(metrics["TL-ECE"][method] for method in ("TL-HB", "N-HB"))))
            best = min(found.values())
            cells = bold((f"{value:.4f}" for value in found.values()), (value == best for value in found.values()))
            body.append(
                [name, f"{int(size):,}", f"{of['rows_a_class'][size]:.0f}", *cells, f"{gap:+.4f} ({error:.4f})"]
            )
    return table(["network", "rows to calibrate on", "a class", *found, "TL-HB less N-HB"], body)


def crossing() -> str:
    """Return how often TL-HB is above N-HB, by the rows a class."""
    cases = [
        (of["rows_a_class"][size], np.mean(metrics["TL-ECE"]["TL-HB"]) - np.mean(metrics["TL-ECE"]["N-HB"]))
        for of in stored().values()
        for size, metrics in of["sizes"].items()
    ]
    parts = []
    for word, low, high in (("at most 12", 0, 12), ("25 to 100", 12, 100), ("more than 100", 100, np.inf)):
        here = [gap for rows, gap in cases if low < rows <= high]
        parts.append(
            f"with {word} rows a class TL-HB has the higher TL-ECE in {sum(g > 0 for g in here)} of {len(here)} cases"
        )
    return (
        f"{'; '.join(parts)}. (The paper has about 500 rows a class on CIFAR-10, and 50 on CIFAR-100.) These are plug-in "
        "errors, and noise makes a larger part of N-HB's: without bias those of the ResNet-50 below are in the other order."
    )


def draw(path: Path) -> None:
    """TL-HB less N-HB against the rows a class, a line a network."""
    from tools.make_gallery import save_picture

    figure, ax = plt.subplots(figsize=(8.6, 4.2), layout="constrained")
    ax.axhline(0.0, color=drawing.IDEAL, linestyle="--", linewidth=1)
    for number, (name, of) in enumerate(stored().items()):
        rows = [of["rows_a_class"][size] for size in of["sizes"]]
        gap = [np.mean(m["TL-ECE"]["TL-HB"]) - np.mean(m["TL-ECE"]["N-HB"]) for m in of["sizes"].values()]
        colour = drawing.colour(number % len(drawing.COLOURS))
        marker = drawing.MARKERS[number // len(drawing.COLOURS) % len(drawing.MARKERS)]
        ax.plot(rows, gap, marker=marker, color=colour, markersize=5, linewidth=1.4, label=name)
    ax.set(xscale="log", xlabel="rows to calibrate on, a class", ylabel="TL-ECE of TL-HB less that of N-HB")
    drawing.grid(ax)
    figure.legend(loc="outside right upper", frameon=False)
    save_picture(figure, path)


def main() -> None:
    """Measure the published networks."""
    found = {}
    for name, (values, y, is_logit) in stored_networks().items():
        prob = softmax(values, axis=1) if is_logit else values
        found[name] = measure(np.asarray(prob, dtype=np.float64), y)
        print(name, flush=True)
    store(found)


if __name__ == "__main__":
    main()
