"""How long SCIR and NA-FIR take to fit, by rows and by classes: on CIFAR-100 and on random forecasts."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import softmax

from calibrant import NormalizedFlattenedIsotonic, SortedCumulativeIsotonic
from calibrant.calibrators.base import Calibrator
from studies.markdown import table
from studies.na_isotonic.forecasts import published_models
from studies.na_isotonic.pictures import draw_times

N_CLASSES, ROWS = 100, (500, 1000, 2000, 5000, 10000)
N_ROWS, CLASSES = 10000, (2, 5, 10, 20, 50, 100)
RANDOM_CLASSES = (*CLASSES, 200, 500, 1000)
PAPER_SIZE, PAPER_MINUTES = (12500, 1000), {"SCIR": 120, "NA-FIR": 15}
"""The paper's largest fit, of ImageNet, and its minutes."""

Rows = tuple[np.ndarray, np.ndarray]
Times = dict[str, list[tuple[float, float]]]


def methods() -> dict[str, Calibrator]:
    return {
        "SCIR": SortedCumulativeIsotonic(rise="last"),
        "NA-FIR": NormalizedFlattenedIsotonic(),
        "NA-FIR, one smoothing": NormalizedFlattenedIsotonic(smoothing=1e-3),
    }


@cache
def cifar() -> Rows:
    """All 10 000 rows of the DenseNet on CIFAR-100."""
    model = next(m for m in published_models() if (m.data_set, m.architecture) == ("CIFAR-100", "DenseNet-BC"))
    return np.concatenate([model.y_fit, model.y_test]), np.concatenate([model.fit, model.test])


def merged(n_rows: int, n_classes: int) -> Rows:
    """CIFAR-100 with neighbouring classes put together, as the paper does."""
    y, prob = (of[:n_rows] for of in cifar())
    each = prob.shape[1] // n_classes
    return y // each, prob.reshape(n_rows, n_classes, each).sum(axis=2)


def drawn(n_rows: int, n_classes: int) -> Rows:
    """Over-confident random predictions: normal logits, and true classes drawn by 0.6 of them."""
    rng = np.random.default_rng(0)
    z = 2.0 * rng.standard_normal((n_rows, n_classes))
    truth = softmax(0.6 * z, axis=1).cumsum(axis=1)
    return (truth < rng.random((n_rows, 1))).sum(axis=1).clip(0, n_classes - 1), softmax(z, axis=1)


def fit_seconds(calibrator: Calibrator, rows: Rows) -> float:
    """CPU seconds of a fit, the least of two short ones."""
    found = []
    while len(found) < 2 and sum(found) < 1.0:
        start = time.process_time()
        calibrator.fit(rows[1], rows[0])
        found.append(time.process_time() - start)
    return min(found)


@cache
def by_rows() -> Times:
    return _timed({"CIFAR-100": merged, "random": drawn}, [(n, (n, N_CLASSES)) for n in ROWS], {})


@cache
def by_classes() -> Times:
    sizes = [(k, (N_ROWS, k)) for k in CLASSES]
    more = [(k, (N_ROWS, k)) for k in RANDOM_CLASSES]
    return _timed({"CIFAR-100": merged, "random": drawn}, sizes, {"random": more})


def _timed(sources: dict, sizes: list, other_sizes: dict) -> Times:
    found: Times = {}
    for source, rows_of in sources.items():
        for size, shape in other_sizes.get(source, sizes):
            rows = rows_of(*shape)
            for name, calibrator in methods().items():
                found.setdefault(f"{name}, {source}", []).append((float(size), fit_seconds(calibrator, rows)))
    return found


@cache
def at_paper_size() -> dict[str, float]:
    """CPU seconds at the size of the paper's ImageNet, of a random forecast."""
    rows = drawn(*PAPER_SIZE)
    return {name: fit_seconds(calibrator, rows) for name, calibrator in methods().items()}


def growth(pairs: list[tuple[float, float]]) -> float:
    """Exponent of the size over its upper half: 1 is linear."""
    size, seconds = np.log(np.array(pairs)).T
    upper = slice(len(size) // 2, None)
    return float(np.polyfit(size[upper], seconds[upper], 1)[0])


def growth_table() -> str:
    body = []
    for name, rows in by_rows().items():
        classes = by_classes()[name]
        body.append([name, f"{rows[-1][1]:.2f}", f"{growth(rows):.2f}"])
        body[-1] += [f"{classes[-1][0]:.0f}", f"{classes[-1][1]:.2f}", f"{growth(classes):.2f}"]
    head = ["", f"s at {ROWS[-1]:,} x {N_CLASSES}", "exponent of rows", "most classes"]
    return table([*head, f"s there, {N_ROWS:,} rows", "exponent of classes"], body)


def paper_table() -> str:
    body = []
    for name, seconds in at_paper_size().items():
        minutes = PAPER_MINUTES.get(name)
        theirs = [f"about {minutes} min", about(60 * minutes / seconds)] if minutes else ["", ""]
        body.append([name, f"{seconds:.1f} s", *theirs])
    return table(["", "here, random", "the paper, ImageNet", "times as long"], body)


def about(ratio: float) -> str:
    """A ratio of times on two machines, of which no more than one digit means anything."""
    return f"about {float(f'{ratio:.1g}'):,.0f}"


def draw(folder: Path) -> None:
    draw_times(by_rows(), f"rows ({N_CLASSES} classes)", folder / "times-rows.png")
    draw_times(by_classes(), f"classes ({N_ROWS:,} rows)", folder / "times-classes.png")


def section() -> list[str]:
    """Fit times: the paper's figures 5 and 6."""
    rows, classes = PAPER_SIZE
    return [
        "## Fit time against size",
        "CPU seconds of a fit, of one core. The rows of CIFAR-100 are those of the DenseNet; for fewer classes neighbouring "
        "ones are put together, as the paper does. Random predictions have normal logits of standard deviation 2, and the true "
        "class is drawn from the softmax of 0.6 of them. NA-FIR chooses its smoothing by cross-validation of 8 values in "
        "5 folds; with one smoothing it fits once.",
        "![Fit time against rows](images/na/times-rows.png)",
        "![Fit time against classes](images/na/times-classes.png)",
        growth_table(),
        "Exponents are slopes of the upper half of the sizes on log scales.",
        f"At the size of the paper's ImageNet, {rows:,} rows of {classes} classes:",
        paper_table(),
        "Other predictions, another machine and another program: the factor compares orders of magnitude, no more.",
    ]
