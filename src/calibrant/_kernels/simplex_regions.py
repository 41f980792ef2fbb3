"""What the kernels of multi-class isotonic recursive partitioning are given: named arrays. Nothing here loads numba."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
MaskArray = npt.NDArray[np.uint32]
SideArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

NEVER = -1
"""Instead of a region that is a witness: the sides of the candidate itself, whatever becomes of the others."""

NOBODY = -2
"""Instead of a region that is a witness: none is known."""


class SimplexRows(NamedTuple):
    """Predictions p of shape (n, K), the class y of each row and its weight w."""

    prob: FloatArray
    label: IntArray
    weight: FloatArray


class Regions(NamedTuple):
    """Nodes of a tree: node v holds the rows order[starts[v] : ends[v]], and has room beyond the nodes that there are.

    ``value[v]`` is the smoothed value r of the node, ``low[v]`` and ``high[v]`` are the least and the greatest p_i - p_j over
    its rows, and ``alive[v]`` is whether it is a region, that is a leaf.
    """

    order: IntArray
    starts: IntArray
    ends: IntArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    alive: BoolArray


class Checkpoints(NamedTuple):
    """Points around which regions have to be parted, and which sides of point s node v meets, a bit a side, in met[s, v]."""

    gamma: FloatArray
    met: MaskArray


class Trial(NamedTuple):
    """Candidates of a region, the numbers of those that are tried, and why a candidate failed: two regions of ``witness``."""

    gamma: FloatArray
    tried: IntArray
    witness: IntArray


class Rule(NamedTuple):
    """When a split is monotone, and when to come back.

    Each side takes the value (sum of its classes + add) / (weight + K add). A threshold has to part each two sides; ``slack``
    is what rounding may do. After ``budget`` rows compiled code comes back.
    """

    add: float
    slack: float
    budget: int


class Sides(NamedTuple):
    """Of the sides of a candidate: ``of`` each row its side, the value of each side, its bit (0 without rows), and which sides
    of a checkpoint it meets.
    """

    of: SideArray
    value: FloatArray
    bit: IntArray
    met: IntArray
