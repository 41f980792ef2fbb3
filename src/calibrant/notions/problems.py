"""The data that a notion looks at."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.validation import DataOptions, as_problem
from calibrant.notions.base import Notion
from calibrant.notions.by_word import as_notion


def binary_problems(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> list[BinaryProblem]:
    """List the binary problems of a notion: the data that its errors are measured on and its calibrators fitted to.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        What the statement speaks of, as in `calibration_error`.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input``, ``rows`` and ``y_pred``: see `DataOptions`.

    Returns
    -------
    list of BinaryProblem
        One for each statement, with ``score``, ``outcome``, ``weight``, ``share`` and ``name``; it has no rows for a class that
        is never predicted. Rows of weight zero are left out.

    Raises
    ------
    ValueError
        If values are not what they must be, or the notion is none of such a forecast.
    TypeError
        If the data are not numbers, or the labels neither integers, strings nor booleans.

    Examples
    --------
    >>> from calibrant.notions import binary_problems
    >>> P = [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    >>> first, second = binary_problems([0, 1, 1], P, notion="top-label")
    >>> first.name, first.score.tolist(), first.outcome.tolist()
    ('predicted 0', [0.75, 0.5], [True, False])
    >>> second
    BinaryProblem(predicted 1, rows=1, share=0.3333)
    """
    problem = as_problem(y_true, y_prob, **data)
    problem.at(slice(0))  # of rows that are read in batches there are only sums, which is said here
    return list(as_notion(notion, problem).split(problem))


def single_problem(problem: Problem, notion: Notion, hint: str) -> BinaryProblem:
    """Return the one binary problem that a notion makes, or refuse a notion that makes several."""
    problems = list(notion.split(problem))
    require(
        len(problems) == 1,
        "notion must make one problem, as 'binary' and 'confidence' do",
        given=f"{notion.name!r} makes {len(problems)}",
        hint=hint,
    )
    return problems[0]
