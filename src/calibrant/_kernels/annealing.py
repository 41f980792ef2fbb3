"""Changes of one block's value at a time, some of them for the worse."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


@kernel
def anneal(
    starts: IntArray,
    row: IntArray,
    count: FloatArray,
    b: FloatArray,
    w: FloatArray,
    block: IntArray,
    change: FloatArray,
    chance: FloatArray,
    beta: float,
    floor: float,
    patience: int,
    g: FloatArray,
    total: FloatArray,
    best: FloatArray,
    current: float,
    highest: float,
    since: int,
) -> tuple[float, float, int, int]:  # pragma: no cover - compiled
    """Try to add change[t] to g[block[t]], one after the other; write g, its row sums ``total`` and the best g so far.

    The likelihood of g is b @ log(g) - w @ log(total), with total = C @ g. The entries of C in block j, of some rows, stand
    from starts[j] up to starts[j + 1]. Return the likelihood of g, that of ``best``, how many changes were tried since it was
    found, and how many in all: the search ends when as many as ``patience`` found nothing better.

    These are lines 5 to 16 of Algorithm 1 of Arad and Rosset, with the sums of A.2. Line 10 keeps as the best what is better
    than the current one, which may be worse than the best: here it must be better than the best. Algorithm 4, which never
    updates the current likelihood, is not followed.
    """
    for t in range(block.size):
        if since >= patience:
            return current, highest, since, t
        since += 1
        j = block[t]
        new = g[j] + change[t]
        if new < (g[j - 1] if j > 0 else floor) or (j + 1 < g.size and new > g[j + 1]):
            continue
        gain = b[j] * np.log(new / g[j])
        for e in range(starts[j], starts[j + 1]):
            gain -= w[row[e]] * np.log1p(count[e] * change[t] / total[row[e]])
        if not (gain > 0.0 or chance[t] < np.exp(beta * gain)):
            continue
        for e in range(starts[j], starts[j + 1]):
            total[row[e]] += count[e] * change[t]
        g[j] = new
        current += gain
        if current > highest:
            highest, since = current, 0
            best[:] = g
    return current, highest, since, block.size
