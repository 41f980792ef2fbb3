"""torchmetrics, with and without the check of its arguments. The tensors share the arrays' memory.

It has neither Brier score nor log loss of probabilities, and no class-wise ECE: PyTorch gives the first two, a loop over
`binary_calibration_error` the third.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch.nn.functional import nll_loss
from torchmetrics.functional import classification as metrics


def ece(y: np.ndarray, p: np.ndarray, bins: int, *, validate: bool = True) -> Callable[[], float]:
    target, prob = torch.from_numpy(y), torch.from_numpy(p)
    return lambda: float(metrics.binary_calibration_error(prob, target, bins, "l1", validate_args=validate))


ece_unchecked = partial(ece, validate=False)


def three(y: np.ndarray, p: np.ndarray, bins: int, *, validate: bool = True) -> Callable[[], np.ndarray]:
    target, prob = torch.from_numpy(y), torch.from_numpy(p)

    def call() -> np.ndarray:
        hits = metrics.binary_accuracy(prob, target, validate_args=validate)
        error = metrics.binary_calibration_error(prob, target, bins, "l1", validate_args=validate)
        return np.array([float(hits), float((prob - target).square().mean()), float(error)])

    return call


three_unchecked = partial(three, validate=False)


def six(y: np.ndarray, prob: np.ndarray, bins: int, *, validate: bool = True) -> Callable[[], np.ndarray]:
    target, table = torch.from_numpy(y), torch.from_numpy(prob)
    n, k = prob.shape

    def of_class(c: int) -> torch.Tensor:
        event = (target == c).long()
        return metrics.binary_calibration_error(table[:, c], event, bins, "l1", validate_args=validate)

    def error(norm: str) -> torch.Tensor:
        return metrics.multiclass_calibration_error(table, target, k, bins, norm, validate_args=validate)  # type: ignore[arg-type]

    def call() -> np.ndarray:
        hits = metrics.multiclass_accuracy(table, target, k, average="micro", validate_args=validate)
        of_true = table.gather(1, target[:, None])
        brier = table.square().sum() / n - 2.0 * of_true.mean() + 1.0
        found = [hits, nll_loss(table.log(), target), brier / 2.0 if k == 2 else brier, error("l1"), error("max")]
        return np.array([*map(float, found), float(torch.stack([of_class(c) for c in range(k)]).mean())])

    return call


six_unchecked = partial(six, validate=False)
