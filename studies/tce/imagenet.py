"""Dogs among the 1000 classes of ImageNet: Table 5 of the paper on test-based calibration error, and what it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from calibrant import (
    EqualMass,
    bin_test_calibration_error,
    calibration_slope,
    expected_calibration_error,
    maximum_calibration_error,
)
from calibrant.binning import Binning, BoundedIsotonic, Isotonic
from calibrant.curves import BinTestCurve, bin_test_curve, binning_quality
from calibrant.metrics import BinTest, calibration_in_the_large, estimate_calibration_error
from studies.data import data_dir
from studies.markdown import table
from studies.tce.paper import PRINTED, SECONDS

NETWORKS = {"alexnet": "AlexNet", "vgg19": "VGG19", "resnet18": "ResNet18"}
"""In the order of the first lines of the table."""

METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "TCE": bin_test_calibration_error,
    "ECE": lambda y, p: expected_calibration_error(y, p, binning=10),
    "ACE": lambda y, p: expected_calibration_error(y, p, binning=EqualMass(10)),
    "MCE": lambda y, p: maximum_calibration_error(y, p, binning=10),
    "MCE(Q)": lambda y, p: maximum_calibration_error(y, p, binning=EqualMass(10)),
    "TCE(Q)": lambda y, p: bin_test_calibration_error(y, p, binning=EqualMass(10)),
    "TCE(V)": lambda y, p: bin_test_calibration_error(y, p, binning=Isotonic()),
}
PAPERS = tuple(METRICS)[:5]
DIGITS = {"TCE": 3, "TCE(Q)": 3, "TCE(V)": 3}

BINNINGS: dict[str, Binning | int] = {
    "PAVA-BC": BoundedIsotonic(),
    "PAVA": Isotonic(),
    "10 equal mass": EqualMass(10),
    "10 equal width": 10,
}
RESAMPLES = 100
SUBSAMPLES = (500, 2000, 10_000, 50_000)
DRAWS = 20


@cache
def dogs() -> dict[str, np.ndarray]:
    """Labels, and the probability of a dog by each network."""
    with np.load(data_dir() / "imagenet_dogs.npz") as data:
        return {name: data[name].astype(np.float64) if name != "y" else data[name] for name in data.files}


@cache
def error(network: str, metric: str) -> tuple[float, float]:
    """A metric of a network, and the CPU seconds that it took."""
    y, prob = dogs()["y"], dogs()[network]
    METRICS[metric](y[:100], prob[:100])
    begun = time.process_time()
    return METRICS[metric](y, prob), time.process_time() - begun


def printed(network: str, metric: str) -> str:
    """The cell of the paper's table."""
    return PRINTED[5][list(NETWORKS).index(network)][PAPERS.index(metric)]


def agreeing() -> tuple[int, int]:
    """How many cells come out as printed, and how many there are."""
    cells = [(network, metric) for network in NETWORKS for metric in PAPERS]
    same = sum(_rounded(error(*cell)[0], printed(*cell)) == printed(*cell) for cell in cells)
    return same, len(cells)


def _rounded(value: float, like: str) -> str:
    return f"{value:.{len(like.split('.')[1])}f}"


def error_table() -> str:
    """Printed and computed, and what the paper does not print."""
    body = [
        [
            name,
            *(f"{printed(network, m)} / {error(network, m)[0]:.{DIGITS.get(m, 6)}f}" for m in PAPERS),
            *(f"{error(network, m)[0]:.3f}" for m in list(METRICS)[len(PAPERS) :]),
        ]
        for network, name in NETWORKS.items()
    ]
    taken = [np.mean([error(network, m)[1] for network in NETWORKS]) for m in METRICS]
    seconds = [
        f"{SECONDS[m]:g} / {of:.4f}" if m in SECONDS else f"{of:.4f}" for m, of in zip(METRICS, taken, strict=True)
    ]
    return table(["", *METRICS], [*body, ["seconds", *seconds]])


def seconds_of_tce() -> float:
    """Mean CPU seconds of the TCE of a network."""
    return float(np.mean([error(network, "TCE")[1] for network in NETWORKS]))


def curve(network: str) -> BinTestCurve:
    """The tested reliability of a network."""
    return bin_test_curve(dogs()["y"], dogs()[network])


def bin_table() -> str:
    """The bins of AlexNet."""
    panel = curve("alexnet").panels[0]
    bins = panel.bins
    body = [
        [
            str(b + 1),
            f"{bins.edges[b + 1]:.4g}",
            f"{int(bins.count[b])}",
            f"{bins.mean_prob[b]:.5f}",
            f"{bins.event_rate[b]:.5f}",
            f"{panel.lower[b]:.5f} to {panel.upper[b]:.5f}",
            f"{panel.rejected_share[b]:.1%}",
        ]
        for b in range(len(bins))
    ]
    return table(["bin", "upper edge", "rows", "mean probability", "event rate", "accepted", "rejected"], body)


def quality_table() -> str:
    """The criterion that bins are judged by."""
    body = []
    for name, binning in BINNINGS.items():
        of = binning_quality(dogs()["y"], dogs()["alexnet"], binning=binning)
        fall = f"{of.n_violations}" + (f", up to {of.largest_violation:.4f}" if of.n_violations else "")
        body.append(
            [
                name,
                f"{of.n_bins}",
                f"{of.smallest:g} to {of.largest:g}",
                f"{of.criterion:.6f}",
                f"{of.within_bin_error:.4f}",
                fall,
            ]
        )
    return table(["bins of AlexNet", "", "rows", "criterion (eq. 8)", "within bins", "event rate falls"], body)


@cache
def subsampled(network: str, rows: int) -> np.ndarray:
    """TCE and ECE of random rows of a network, one line a draw."""
    y, prob = dogs()["y"], dogs()[network]
    rng = np.random.default_rng(0)
    chosen = [rng.permutation(y.size)[:rows] for _ in range(DRAWS if rows < y.size else 1)]
    return np.array([[METRICS[m](y[i], prob[i]) for m in ("TCE", "ECE")] for i in chosen])


def subsample_table() -> str:
    """TCE and ECE of the same networks with fewer rows."""
    body = []
    for network, name in NETWORKS.items():
        means = [subsampled(network, rows).mean(axis=0) for rows in SUBSAMPLES]
        body.append([name, *(f"{mean[0]:.1f}, {mean[1]:.4f}" for mean in means)])
    return table(["TCE, ECE", *(f"{rows:,} rows" for rows in SUBSAMPLES)], body)


@cache
def estimate(network: str) -> Any:
    """TCE with what a calibrated forecast would show."""
    y, prob = dogs()["y"], dogs()[network]
    return estimate_calibration_error(y, prob, binning=BoundedIsotonic(), loss=BinTest(), n_resamples=RESAMPLES)


def size_of_error_table() -> str:
    """What the networks have in log-odds, and what a calibrated forecast would show."""
    body = []
    for network, name in NETWORKS.items():
        y, prob, e = dogs()["y"], dogs()[network], estimate(network)
        large, slope = calibration_in_the_large(y, prob), calibration_slope(y, prob)
        body.append(
            [name, f"{e.value:.3f}", f"{e.noise_floor:.1f}", f"{e.pvalue:.3f}", f"{large:+.3f}", f"{slope:.3f}"]
        )
    return table(["", "TCE", "if calibrated", "p-value", "in the large", "slope"], body)
