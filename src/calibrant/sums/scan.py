"""The only place that reads rows for metrics, scores and curves that are functions of sums."""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import Problem, as_simplex, row_blocks
from calibrant.sums.plan import Plan, distinct
from calibrant.sums.sums import BinnedProblem, Sums, Unit


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
    unit = Unit.of(problem.weights)
    return Sums(
        plan=plan,
        rows=problem.size,
        weight=problem.weights.total,
        unit=unit,
        n_classes=problem.classes.size,
        cells=_cells(problem, unit, plan),
        scores=_moments(problem, plan),
    )


def _cells(problem: Problem, unit: Unit, plan: Plan) -> tuple[tuple[BinnedProblem, ...], ...]:
    """Split the problem by each notion once, and cut each part in all ways that are asked for."""
    found: list[list[BinnedProblem]] = [[] for _ in plan.cells]
    for notion in distinct(notion for notion, _ in plan.cells):
        asked = [(into, cut) for into, (other, cut) in zip(found, plan.cells, strict=True) if other == notion]
        for binary in notion.split(problem):
            for into, cut in asked:
                into.append(BinnedProblem(binary.name, binary.share, cut(binary), unit))
    return tuple(map(tuple, found))


def _moments(problem: Problem, plan: Plan) -> FloatArray:
    """Sum weighted powers of the values of the rows, of shape (scores, powers); the rows are read once, block by block."""
    sums = np.zeros((len(plan.scores), plan.powers))
    for rows in row_blocks(problem) if plan.scores else ():
        simplex = as_simplex(problem.at(rows))
        for number, (_, score) in enumerate(plan.scores):
            value = score(simplex)
            power = value if simplex.weights.is_unit else value * simplex.weight
            for k in range(plan.powers):
                sums[number, k] += power.sum()
                if k + 1 < plan.powers:
                    power = power * value
    return sums
