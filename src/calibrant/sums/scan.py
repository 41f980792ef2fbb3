"""The only place that reads rows for metrics, scores and curves that are functions of sums."""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, Problem, Unit, as_simplex, is_unit_weight
from calibrant.binning import Binning
from calibrant.notions import Notion
from calibrant.sums.plan import Plan
from calibrant.sums.sums import BinnedProblem, Sums


def scan(problem: Problem, plan: Plan) -> Sums:
    """Read the rows of a problem once, and sum what the plan asks for.

    Parameters
    ----------
    problem : BinaryProblem or SimplexProblem
        A valid problem, or a batch of one, which may have no rows.
    plan : Plan
        What is asked for. A notion that labels decide is fitted to the problem: for batches call ``plan.fitted_to`` first.

    Returns
    -------
    Sums
        Those of no rows are neutral: other sums plus them are the other sums.
    """
    if problem.size == 0:
        return Sums.of_no_rows(plan)
    plan = plan.fitted_to(problem)
    unit = problem.unit if isinstance(problem, BinaryProblem) else Unit.of(problem.weight)
    binnings: dict[Notion, list[Binning]] = {}
    for notion, binning in plan.cells:
        binnings.setdefault(notion, []).append(binning)
    cells = {
        (notion, binning): found
        for notion, asked in binnings.items()
        for binning, found in zip(asked, _binned(problem, unit, notion, asked), strict=True)
    }
    return Sums(
        plan=plan,
        rows=problem.size,
        weight=float(problem.weight.sum()),
        unit=unit,
        n_classes=problem.classes.size,
        cells=tuple(cells[asked] for asked in plan.cells),
        scores=_moments(problem, plan),
    )


def _binned(
    problem: Problem, unit: Unit, notion: Notion, binnings: list[Binning]
) -> tuple[tuple[BinnedProblem, ...], ...]:
    """Split a problem once and cut each part in all ways, a tuple of parts for each."""
    parts = [
        [BinnedProblem(binary.name, binary.share, binning(binary), unit) for binning in binnings]
        for binary in notion.split(problem)
    ]
    return tuple(zip(*parts, strict=True))


def _moments(problem: Problem, plan: Plan) -> FloatArray:
    """Sum weighted powers of the values of the rows, of shape (scores, powers)."""
    sums = np.zeros((len(plan.scores), plan.powers))
    simplex = as_simplex(problem) if plan.scores else None
    for number, (_, score) in enumerate(plan.scores):
        assert simplex is not None
        value = score(simplex)
        power = value if is_unit_weight(simplex.weight) else value * simplex.weight
        for k in range(plan.powers):
            sums[number, k] = power.sum()
            if k + 1 < plan.powers:
                power = power * value
    return sums
