"""relplot."""

from collections.abc import Callable

import numpy as np
from relplot import prepare_rel_diagram


def smooth_diagram(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    return lambda: float(prepare_rel_diagram(p, y, report_CE_std=False)["ce"])


def smooth_diagram_with_interval(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    return lambda: float(prepare_rel_diagram(p, y)["ce"])
