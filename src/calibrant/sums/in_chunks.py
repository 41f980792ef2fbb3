"""Bins of a table, chunk of rows by chunk of rows, so that nothing as large as the table is made on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from calibrant._core.loading import FEWEST, are_loaded
from calibrant._core.problem import Problem, SimplexProblem
from calibrant.binning import Binning, Bins, EqualWidth
from calibrant.binning.base import CHUNK
from calibrant.binning.equal_width import MOST_BINS, between_infinities, even_edges
from calibrant.notions import ClassWise, Confidence, Notion, TopLabel
from calibrant.sums.plan import distinct

SAVED = 6e-9
"""Seconds a number that the compiled loop over all classes saves."""

Pair = tuple[Notion, Binning]


def can_be_cut_in_chunks(problem: Problem, notion: Notion, binning: Binning) -> bool:
    """Whether there are several chunks of a table, its edges are fixed, and the parts of a row depend on that row alone."""
    by_row = type(notion) in (ClassWise, Confidence, TopLabel) and type(binning) is EqualWidth
    return by_row and isinstance(problem, SimplexProblem) and problem.size > CHUNK


def cut_chunk(chunk: SimplexProblem, asked: Sequence[Pair]) -> list[list[Bins]]:
    """Return the bins of each part, for each notion and binning."""
    found: list[list[Bins]] = [[] for _ in asked]
    for notion in distinct(notion for notion, _ in asked):
        own = [(into, cut) for into, (other, cut) in zip(found, asked, strict=True) if other == notion]
        if type(notion) is ClassWise and has_loop(chunk, [cut for _, cut in own]):
            for into, cut in own:
                into += _bins_of_classes(chunk, cut)
            continue
        for binary in notion.split(chunk):
            for into, cut in own:
                into.append(cut(binary))
    return found


def has_loop(chunk: SimplexProblem, cuts: Sequence[Binning]) -> bool:
    """Whether all classes of a chunk are summed by one compiled loop: the same sums to the last bit."""
    prob = chunk.forecast.as_given
    if not all(isinstance(cut, EqualWidth) and cut.n_bins <= MOST_BINS for cut in cuts):
        return False
    return chunk.weights.is_unit and prob.flags.c_contiguous and are_loaded() and prob.size >= FEWEST


def _bins_of_classes(chunk: SimplexProblem, binning: Binning) -> Iterator[Bins]:
    """Sum the rows of a chunk that weigh one each over the bins of each class."""
    from calibrant._kernels.binned import add_classes

    assert isinstance(binning, EqualWidth)
    edges = even_edges(binning.n_bins, chunk.precision)
    # numba would compile another loop for what is strided or cannot be written to.
    prob = np.require(chunk.forecast.as_given, requirements=("C", "W"))
    label = np.require(chunk.label, requirements=("C", "W"))
    shape = prob.shape[1], edges.n_cells
    count, events = np.zeros((2, *shape), dtype=np.intp)
    scores = np.zeros(shape)
    at = between_infinities(edges.edges)
    add_classes(prob, label, at, count.ravel(), events.ravel(), scores.ravel())
    for held, sums, occurred in zip(count, scores, events, strict=True):
        yield Bins(edges, held, held.astype(np.float64), sums, occurred.astype(np.float64))
