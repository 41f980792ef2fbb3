"""df-posthoc-calibration, the code of Gupta and Ramdas: on GitHub (AIgen/df-posthoc-calibration), on no index.

Its modules are called ``calibration`` and ``utils``: put the folder on ``PYTHONPATH``.
"""

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from benchmarks.fitting import Method

BROKEN_FROM = (2, 4)
"""It assigns arrays of one number to elements, which NumPy refuses from this version on."""


def top_label_histogram(y: np.ndarray, prob: np.ndarray) -> Method:
    if tuple(int(number) for number in np.__version__.split(".")[:2]) >= BROKEN_FROM:
        raise ImportError(
            f"its predict_proba needs NumPy below {'.'.join(map(str, BROKEN_FROM))}; this is {np.__version__}"
        )
    from calibration import HB_toplabel

    def fit() -> Any:
        fitted = HB_toplabel(points_per_bin=50)
        with redirect_stdout(StringIO()):  # it prints a line for a class with fewer rows
            fitted.fit(prob, y + 1)
        return fitted

    return Method(fit, lambda fitted, other: fitted.predict_proba(other))
