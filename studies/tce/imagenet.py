"""Dogs among the 1000 classes of ImageNet: Table 5 of the paper on test-based calibration error, and what it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from calibrant import (
    EqualMass,
    bin_test_calibration_error,
    calibration_slope,
    expected_calibration_error,
    maximum_calibration_error,
)
from calibrant._core.rows import Weights
from calibrant.binning import Binning, Bins, BoundedIsotonic, Isotonic
from calibrant.curves import BinTestCurve, bin_test_curve, binning_quality
from calibrant.metrics import BinTest, calibration_in_the_large, estimate_calibration_error
from calibrant.notions import BinaryProblem
from studies.claims import data_dir, table

# What Matsubara, Tax, Mudd and Guy print: their Tables 2, 5 and 6 to 13, digit by digit.
#
# Lines of a table stand in the order of `tce_tables.TABLES`. Of Table 2 the TCEs are printed with a percent sign.


_PRINTED = {
    2: """
        7.28 10.88 0.0138 0.0150
        96.10 96.47 0.0963 0.0951
        98.83 98.93 0.1097 0.1096
        3.40 0.18 0.0017 0.0031
        95.50 68.73 0.0094 0.0094
        92.32 89.73 0.0139 0.0139
    """,
    5: """
        42.74 0.0070 0.0070 0.1496 0.0528
        23.57 0.0028 0.0028 0.2148 0.0247
        29.93 0.0042 0.0042 0.2368 0.0350
        24.60 0.0020 0.0018 0.1911 0.0152
        16.09 0.0012 0.0013 0.1882 0.0102
    """,
    6: """
        3.4500 5.1000 3.4500 0.1143 0.1651 0.8767 0.6392
        3.3833 4.2000 3.4500 0.0839 0.1142 0.8767 0.5016
        2.3500 4.3000 3.4500 0.0382 0.0457 0.8767 0.1705
        2.6333 3.5667 3.4500 0.0271 0.0370 0.2533 0.1189
        7.2833 10.8833 3.4500 0.0138 0.0150 0.1020 0.0528
        13.5667 38.7500 3.4500 0.0116 0.0086 0.1020 0.0236
        92.2000 92.2000 3.4500 0.0021 0.0021 0.0021 0.0021
        88.0667 6.6667 88.0667 0.1417 0.1847 0.8767 0.6111
        88.0667 8.7000 88.0667 0.1179 0.1389 0.8767 0.4811
        88.3333 32.2833 88.0667 0.0993 0.0992 0.8767 0.2264
        87.8667 56.7667 88.0667 0.0971 0.0964 0.2426 0.1827
        96.1000 96.4667 88.0667 0.0963 0.0951 0.1466 0.1314
        96.6000 96.7833 88.0667 0.0963 0.0951 0.1099 0.1092
        93.9500 93.9500 88.0667 0.0951 0.0951 0.0951 0.0951
    """,
    7: """
        5.8500 5.1000 3.4500 0.1143 0.1651 0.8767 0.6392
        3.0000 4.2000 3.4500 0.0839 0.1142 0.8767 0.5016
        2.3667 4.3000 3.4500 0.0382 0.0457 0.8767 0.1705
        3.7667 3.5667 3.4500 0.0271 0.0370 0.2533 0.1189
        3.3833 10.8833 3.4500 0.0138 0.0150 0.1020 0.0528
        3.4500 38.7500 3.4500 0.0116 0.0086 0.1020 0.0236
        3.4500 92.2000 3.4500 0.0021 0.0021 0.0021 0.0021
        5.5000 6.6667 88.0667 0.1417 0.1847 0.8767 0.6111
        9.1000 8.7000 88.0667 0.1179 0.1389 0.8767 0.4811
        14.3833 32.2833 88.0667 0.0993 0.0992 0.8767 0.2264
        79.6667 56.7667 88.0667 0.0971 0.0964 0.2426 0.1827
        85.6500 96.4667 88.0667 0.0963 0.0951 0.1466 0.1314
        88.0667 96.7833 88.0667 0.0963 0.0951 0.1099 0.1092
        88.0667 93.9500 88.0667 0.0951 0.0951 0.0951 0.0951
    """,
    8: """
        3.8000 4.2000 3.4500 0.0839 0.1142 0.8767 0.5016
        1.8333 4.3000 3.4500 0.0382 0.0457 0.8767 0.1705
        0.2833 3.5667 3.4500 0.0271 0.0370 0.2533 0.1189
        7.2833 10.8833 3.4500 0.0138 0.0150 0.1020 0.0528
        13.5667 38.7500 3.4500 0.0116 0.0086 0.1020 0.0236
        7.7333 8.7000 88.0667 0.1179 0.1389 0.8767 0.4811
        45.7667 32.2833 88.0667 0.0993 0.0992 0.8767 0.2264
        66.1833 56.7667 88.0667 0.0971 0.0964 0.2426 0.1827
        96.1000 96.4667 88.0667 0.0963 0.0951 0.1466 0.1314
        96.6000 96.7833 88.0667 0.0963 0.0951 0.1099 0.1092
    """,
    9: """
        7.2833 10.8833 3.4500 0.0138 0.0150 0.1020 0.0528
        8.7167 9.6167 4.8000 0.0113 0.0125 0.0923 0.0527
        12.8833 11.9000 7.7667 0.0136 0.0156 0.1198 0.0589
        8.3500 13.0500 3.5500 0.0109 0.0164 0.1143 0.0587
        61.9500 65.0500 56.1000 0.0615 0.0618 0.3601 0.1498
        86.1833 84.1000 88.3833 0.1470 0.1478 0.3364 0.2621
        96.1000 96.4667 88.0667 0.0963 0.0951 0.1466 0.1314
        96.4000 96.4000 89.6167 0.0962 0.0951 0.1511 0.1332
        94.7667 95.5333 89.1667 0.0962 0.0951 0.1496 0.1420
        93.8500 95.9667 86.5833 0.0967 0.0951 0.1852 0.1412
        86.6667 83.9000 81.2667 0.1071 0.1055 0.2513 0.2203
        90.3167 88.8500 91.2167 0.1713 0.1698 0.4577 0.3648
    """,
    10: """
        1.4500 4.6833 0.1833 0.0138 0.0150 0.1020 0.0528
        2.4667 5.5667 1.1333 0.0138 0.0150 0.1020 0.0528
        3.0500 6.2000 1.6500 0.0138 0.0150 0.1020 0.0528
        7.2833 10.8833 3.4500 0.0138 0.0150 0.1020 0.0528
        12.8500 15.2000 6.8667 0.0138 0.0150 0.1020 0.0528
        53.1000 55.3333 46.5667 0.0138 0.0150 0.1020 0.0528
        77.8000 83.3833 76.1000 0.0963 0.0951 0.1466 0.1314
        86.3000 92.8000 80.0833 0.0963 0.0951 0.1466 0.1314
        90.1833 95.2167 83.1167 0.0963 0.0951 0.1466 0.1314
        96.1000 96.4667 88.0667 0.0963 0.0951 0.1466 0.1314
        97.2167 96.9167 90.1667 0.0963 0.0951 0.1466 0.1314
        99.3000 98.7167 97.7500 0.0963 0.0951 0.1466 0.1314
    """,
    11: """
        3.8000 33.6667 4.2000 31.9167 3.4500 34.2167
        1.8333 36.0000 4.3000 31.4333 3.4500 34.2167
        0.2833 31.3667 3.5667 40.4333 3.4500 34.2167
        7.2833 37.8000 10.8833 41.8500 3.4500 34.2167
        13.5667 46.5000 38.7500 68.8167 3.4500 34.2167
        7.7333 50.2833 8.7000 45.1833 88.0667 97.7333
        45.7667 73.2667 32.2833 71.1667 88.0667 97.7333
        66.1833 96.5333 56.7667 85.3833 88.0667 97.7333
        96.1000 99.2667 96.4667 98.4833 88.0667 97.7333
        96.6000 98.6333 96.7833 98.4833 88.0667 97.7333
    """,
    12: """
        0.0000 0.0000 0.0000 0.2293 0.2631 0.4164 0.5660
        0.0000 3.3333 0.0000 0.0923 0.2158 0.7148 0.4208
        5.3333 11.0000 6.3333 0.0774 0.0867 0.1971 0.2057
        1.0000 4.5000 1.6667 0.0368 0.0445 0.3404 0.1270
        8.0667 4.6333 4.7667 0.0190 0.0182 0.1209 0.0304
        7.2833 10.8833 3.4500 0.0138 0.0150 0.1020 0.0528
        16.1633 31.7167 0.7833 0.0036 0.0061 0.9045 0.0164
        19.1483 45.7600 4.4417 0.0035 0.0043 0.0949 0.0100
        13.3333 6.6667 36.6667 0.3164 0.3377 0.6569 0.6338
        0.0000 3.3333 0.0000 0.1072 0.1611 0.7148 0.4208
        27.3333 37.3333 48.3333 0.1240 0.1368 0.1971 0.2665
        14.1667 8.0000 26.5000 0.0694 0.0685 0.5824 0.1350
        92.2333 91.7667 76.7667 0.0964 0.0958 0.1495 0.1358
        96.1000 96.4667 88.0667 0.0963 0.0951 0.1466 0.1314
        99.4700 99.2300 97.4433 0.0907 0.0906 0.9045 0.1064
        99.7783 99.6600 98.9000 0.0923 0.0923 0.0972 0.1065
    """,
    13: """
        7.2833 10.8833 3.4500 0.0138 0.0150 0.1020 0.0528
        7.5500 16.2167 8.5667 0.0137 0.0191 0.1632 0.0365
        8.1667 12.8833 2.8167 0.0125 0.0134 0.1042 0.0313
        15.9500 22.2167 15.9167 0.0173 0.0153 0.6238 0.0370
        11.9833 16.7833 15.2333 0.0096 0.0114 0.4361 0.0218
        15.7000 18.5167 23.1500 0.0087 0.0107 0.0700 0.0234
        11.5333 17.5500 13.9833 0.0035 0.0109 0.3064 0.0195
        18.5000 15.6667 20.5833 0.0046 0.0074 0.2240 0.0177
        13.1167 11.5500 20.7667 0.0052 0.0059 0.0052 0.0131
        96.1000 96.4667 88.0667 0.0963 0.0951 0.1466 0.1314
        96.5667 96.1833 82.7500 0.0872 0.0869 0.1485 0.1262
        94.9500 94.6667 88.5833 0.0846 0.0846 0.2146 0.1247
        95.8833 95.5833 96.4333 0.0868 0.0868 0.6238 0.1500
        32.3500 26.7000 42.5667 0.0151 0.0173 0.4361 0.0502
        42.3167 38.7833 45.8333 0.0164 0.0186 0.3259 0.0477
        47.0833 39.9500 65.9500 0.0167 0.0188 0.3064 0.0440
        56.5833 42.4333 72.4500 0.0142 0.0142 0.2240 0.0337
        99.9167 96.9000 100.0000 0.0181 0.0181 0.0181 0.0382
    """,
}

PRINTED: dict[int, list[list[str]]] = {
    number: [line.split() for line in text.strip().splitlines()] for number, text in _PRINTED.items()
}
"""The cells of each table as they are printed, by its number."""

SECONDS = {"TCE": 71.78, "ECE": 0.4873, "ACE": 0.4221, "MCE": 0.0046, "MCE(Q)": 0.0063}
"""Average time of each metric in Table 5: 50,000 predictions on one CPU."""


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


# Algorithm 3 as it is printed: it cuts where the event rate changes, so that equal neighbours among the blocks are joined.


BLOCKS = BoundedIsotonic()
N_PROBLEMS, N_ROWS = 400, 200
"""Small problems that are drawn, and their rows."""


@dataclass(frozen=True)
class PrintedCut(Binning):
    """The blocks of PAVA-BC, of which neighbours with the same event rate are one bin."""

    uses_outcomes: ClassVar[bool] = True

    def edges(self, problem: BinaryProblem) -> np.ndarray:
        """Return the edges between blocks of which the rates differ."""
        bins = BLOCKS(problem)
        changes = bins.event_rate[1:] != bins.event_rate[:-1]
        return np.asarray(bins.edges[np.concatenate([[True], changes, [True]])])


def bins_of(y: np.ndarray, prob: np.ndarray, binning: Binning) -> Bins:
    """The bins of predictions."""
    return binning(BinaryProblem(prob, y.astype(bool), Weights.one_each(y.size)))


def compared(y: np.ndarray, prob: np.ndarray) -> list[list[float]]:
    """Number of bins, rows of the largest bin, and TCE: of the blocks, and of the cut as printed."""
    return [
        [
            len(bins := bins_of(y, prob, binning)),
            int(bins.count.max()),
            bin_test_calibration_error(y, prob, binning=binning, labels=[0, 1]),
        ]
        for binning in (BLOCKS, PrintedCut())
    ]


def of_networks() -> list[list[list[float]]]:
    """The networks on ImageNet."""
    return [compared(dogs()["y"], dogs()[network]) for network in NETWORKS]


def of_rare_events() -> list[list[list[float]]]:
    """Small problems of rare events, whose predictions are right but for a shift in log-odds."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(N_PROBLEMS):
        log_odds = rng.normal(-4.0, 1.0, N_ROWS)
        y = (rng.random(N_ROWS) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)
        found.append(compared(y, 1.0 / (1.0 + np.exp(-log_odds - rng.normal()))))
    return found
