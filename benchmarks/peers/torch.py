"""Plain PyTorch on the CPU, which checks nothing. The tensors share the arrays' memory.

It adds up in the precision of its input, but for the probabilities of each class: their sums over many millions of rows would
be off by more than 1e-3 in single precision.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, nll_loss


def ece(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], float]:
    target, prob = torch.from_numpy(y), torch.from_numpy(p)
    return lambda: float(_gaps(target, prob, bins).abs().sum() / len(prob))


def three(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], np.ndarray]:
    target, prob = torch.from_numpy(y), torch.from_numpy(p)

    def call() -> np.ndarray:
        hits = ((prob > 0.5) == target).double().mean()
        error = _gaps(target, prob, bins).abs().sum() / len(prob)
        return np.array([float(hits), float((prob - target).square().mean()), float(error)])

    return call


def six(y: np.ndarray, prob: np.ndarray, bins: int) -> Callable[[], np.ndarray]:
    target, table = torch.from_numpy(y), torch.from_numpy(prob)
    (n, k), of_class = prob.shape, torch.arange(prob.shape[1]) * bins

    def call() -> np.ndarray:
        sure, top = table.max(dim=1)
        hit, of_true = (top == target).to(table.dtype), table.gather(1, target[:, None])[:, 0]
        gaps = _gaps(hit, sure, bins).abs()
        counts = torch.bincount(_bin(sure, bins), minlength=bins).clamp_(min=1)
        cell = _bin(table, bins).add_(of_class)
        events = torch.bincount(cell.gather(1, target[:, None])[:, 0], minlength=bins * k)
        by_class = (events - torch.bincount(cell.flatten(), table.flatten().double(), bins * k)).abs()
        brier = table.square().sum() / n - 2.0 * of_true.mean() + 1.0
        found = [hit.mean(), -of_true.log().mean(), brier / 2.0 if k == 2 else brier]
        found += [gaps.sum() / n, (gaps / counts).max(), by_class.sum() / (n * k)]
        return np.array([float(one) for one in found])

    return call


def log_loss(y: np.ndarray, prob: np.ndarray) -> Callable[[], float]:
    """The logarithm of what is gathered."""
    target, table = torch.from_numpy(y)[:, None], torch.from_numpy(prob)
    return lambda: float(-table.gather(1, target).log().mean())


def log_loss_of_table(y: np.ndarray, prob: np.ndarray) -> Callable[[], float]:
    """The logarithm of the whole table, as `nll_loss` wants it."""
    target, table = torch.from_numpy(y), torch.from_numpy(prob)
    return lambda: float(nll_loss(table.log(), target))


def log_loss_of_logits(y: np.ndarray, logit: np.ndarray) -> Callable[[], float]:
    target, table = torch.from_numpy(y), torch.from_numpy(logit)
    return lambda: float(cross_entropy(table, target))


def _bin(prob: Tensor, bins: int) -> Tensor:
    return (prob * bins).long().clamp_(max=bins - 1)


def _gaps(outcome: Tensor, prob: Tensor, bins: int) -> Tensor:
    return torch.bincount(_bin(prob, bins), outcome - prob, bins)
