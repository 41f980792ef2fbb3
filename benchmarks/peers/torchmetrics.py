"""torchmetrics, with and without the check of its arguments. The tensors share the arrays' memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torchmetrics.functional.classification import binary_calibration_error


def ece(y: np.ndarray, p: np.ndarray, bins: int, *, validate: bool = True) -> Callable[[], float]:
    target, prob = torch.from_numpy(y), torch.from_numpy(p)
    return lambda: float(binary_calibration_error(prob, target, n_bins=bins, norm="l1", validate_args=validate))


def ece_unchecked(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], float]:
    return ece(y, p, bins, validate=False)
