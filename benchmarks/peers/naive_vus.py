"""Volume under the ROC surface of three classes from its definition, in NumPy and SciPy (Berta, Bach and Jordan 2024, 3.1).

The thresholds are those of the authors: multiples of 1/100 on the plane on which coordinates sum to one, the first two from
-0.51 to 1.51. A row lies on the side of a threshold where its probability exceeds it most.
"""

import itertools
from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial import ConvexHull

STEPS, LEAST, MOST = 100, -51, 151
TUPLES = 20_000


def hull(y: np.ndarray, prob: np.ndarray) -> Callable[[], float]:
    def call() -> float:
        points = [np.zeros(3)]
        for first, second in itertools.product(range(LEAST, MOST + 1), repeat=2):
            gamma = np.array([first, second, STEPS - first - second]) / STEPS
            side = (prob - gamma).argmax(axis=1)
            points.append(np.array([np.mean(side[y == k] == k) for k in range(3)]))
        return float(ConvexHull(np.array(points)).volume)

    return call


def tuples(y: np.ndarray, prob: np.ndarray) -> Callable[[], float]:
    """How often the identity is the best assignment of a row of each class to the classes, of tuples drawn at random."""
    classes = [prob[y == k] for k in range(3)]

    def call() -> float:
        rng = np.random.default_rng(0)
        right = 0
        for _ in range(TUPLES):
            rows = np.array([of_class[rng.integers(len(of_class))] for of_class in classes])
            right += bool((linear_sum_assignment(rows, maximize=True)[1] == np.arange(3)).all())
        return right / TUPLES

    return call
