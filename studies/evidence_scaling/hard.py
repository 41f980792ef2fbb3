"""What the default does to forecasts that need no calibration, in hard cases: python -m studies.evidence_scaling.hard

For each case the change of the mean log loss of new rows, over draws, and the largest change. It takes two minutes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping

import numpy as np

from calibrant import log_loss
from calibrant.calibrators.classifier import default_method
from studies.claims import table

DRAWS, NEW = 20, 20_000
Rows = tuple[np.ndarray, np.ndarray]


def drawn(rng: np.random.Generator, prob: np.ndarray) -> Rows:
    """Labels drawn as the rows say."""
    return prob, (rng.random((len(prob), 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, prob.shape[1] - 1)


def even(rng: np.random.Generator, n: int, k: int) -> Rows:
    """Rows of a symmetric Dirichlet distribution."""
    return drawn(rng, rng.dirichlet(np.full(k, 0.5), n))


def rare(rng: np.random.Generator, n: int, k: int) -> Rows:
    """One row in a thousand is of the last class, on average."""
    return drawn(rng, rng.dirichlet([*np.full(k - 1, 0.5), 0.0005 * (k - 1)], n))


def absent(rng: np.random.Generator, n: int, k: int) -> Rows:
    """The last class occurs in one row of a hundred thousand, so hardly ever among the rows that are fitted."""
    return drawn(rng, rng.dirichlet(np.full(k - 1, 0.5), n) @ np.eye(k - 1, k) * (1.0 - 1e-5) + 1e-5 * np.eye(k)[k - 1])


def noisy(rng: np.random.Generator, n: int, k: int) -> Rows:
    """One label in ten is uniform, and the forecast knows it."""
    return drawn(rng, 0.9 * rng.dirichlet(np.full(k, 0.05), n) + 0.1 / k)


def separable(rng: np.random.Generator, n: int, k: int) -> Rows:
    """All rows are right, with a probability of 0.999."""
    label = rng.integers(k, size=n)
    return 0.999 * np.eye(k)[label] + 0.001 * (1.0 - np.eye(k)[label]) / (k - 1), label


CASES: Mapping[str, Callable[[np.random.Generator, int, int], Rows]] = {
    "calibrated": even,
    "calibrated, one class 1 in 1000": rare,
    "calibrated, one class absent": absent,
    "calibrated, a tenth of the labels uniform": noisy,
    "separable, probability 0.999": separable,
}


def changes(case: Callable[[np.random.Generator, int, int], Rows], n: int, k: int) -> np.ndarray:
    """Change of the log loss in each draw."""
    found = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        (prob, label), (new, truth) = case(rng, n, k), case(rng, NEW, k)
        calibrator = default_method(k, n).calibrator().set_params(labels=range(k)).fit(prob, label)
        found.append(log_loss(truth, calibrator.predict_proba(new), clip=1e-12) - log_loss(truth, new, clip=1e-12))
    return np.array(found)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")  # that a class is absent is the case
    lines = []
    for name, case in CASES.items():
        for k in (2, 5):
            for n in (100, 1000, 5000):
                if not (case is absent and k == 2):
                    found = changes(case, n, k)
                    lines.append([name, str(k), f"{n}", f"{found.mean():+.4f}", f"{found.max():+.4f}"])
    sys.stdout.write(table(["forecast", "classes", "rows", "mean change", "largest"], lines) + "\n")


if __name__ == "__main__":
    main()
