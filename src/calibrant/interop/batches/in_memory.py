"""Batches of pairs: labels and probabilities, as arrays, lists or data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from calibrant._core.arrays import as_array, columns_of
from calibrant._core.labels import as_labels
from calibrant._core.rows import Rows
from calibrant._core.validation import Input, as_problem
from calibrant.interop.batches.decoding import Decoding
from calibrant.interop.batches.pieces import Damaged, Found, Piece
from calibrant.interop.batches.streamed import OnError, Streamed

Pair = tuple[Any, ...]
"""Labels, probabilities, and weights if there are any."""

Pairs = Iterable[Pair] | Callable[[], Iterable[Pair]]


class Batches(Streamed):
    """Predictions that are given as pairs: a collection of them, an iterator, or a function that returns a fresh iterator.

    Parameters
    ----------
    batches : iterable of tuples, or callable that returns one
        Labels, probabilities, and weights if there are any, of each batch.
    labels : sequence of length n_classes, optional
        The class of each column. By default 0, 1, ..., or the names of the columns of a data frame.
    pos_label : label, optional
        The event, of two classes.
    input : {"probability", "logit"}, default="probability"
        What the numbers are.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        What is done with them before they are checked.
    on_error : {"raise", "skip"}, default="raise"
        What is done with a batch that is wrong.
    reads_once : bool, default=False
        Whether the batches can be had once alone, as those of an iterator.
    """

    def __init__(
        self,
        batches: Pairs,
        *,
        labels: Sequence[Any] | None = None,
        pos_label: Any = None,
        input: Input = "probability",
        rows: Rows = "as-given",
        on_error: OnError = "raise",
        reads_once: bool = False,
        **options: Any,
    ) -> None:
        def decoding(piece: Piece) -> Decoding:
            known, event = labels_of(piece, labels, pos_label), None if piece.n_columns is None else pos_label
            return Decoding.of(piece, input=input, rows=rows, labels=known, pos_label=event)

        super().__init__(
            lambda: pieces_of(batches() if callable(batches) else batches),
            decoding,
            reads_once=reads_once or (not callable(batches) and iter(batches) is batches),
            on_error=on_error,
            **options,
        )


def pieces_of(pairs: Iterable[Pair]) -> Iterator[Found]:
    """Turn pairs into pieces; a batch without rows is none."""
    for number, pair in enumerate(pairs):
        place = f"batch {number}"
        if not isinstance(pair, (tuple, list)) or len(pair) not in (2, 3):
            got = (
                f"{type(pair).__name__} of length {len(pair)}"
                if isinstance(pair, (tuple, list))
                else type(pair).__name__
            )
            raise TypeError(
                f"{place} must be y_true and y_prob, perhaps with weights; got {got}. Pass a tuple of these."
            )
        truth, prob = pair[:2]
        if not (_is_empty(truth) and _is_empty(prob)):
            yield _piece(place, *pair)


def _is_empty(values: Any) -> bool:
    return hasattr(values, "__len__") and not len(values)


def _piece(place: str, truth: Any, prob: Any, weight: Any = None) -> Found:
    n = len(truth) if hasattr(truth, "__len__") else 0
    try:
        values, found = as_array("y_prob", prob), as_labels(truth, "y_true")
        weights = None if weight is None else as_array("sample_weight", weight)
        if not (found.ndim and values.ndim):
            raise TypeError(
                "y_true and y_prob must be arrays with a place for each row; got a single value. Pass lists."
            )
        if len(found) != len(values):
            raise ValueError(
                f"y_true and y_prob must have the same number of rows; got {len(found)} and {len(values)}. "
                "Pass one label a row."
            )
        if weights is not None and weights.shape != found.shape:
            raise ValueError(
                f"sample_weight must hold a weight for each of the {len(found)} rows; got shape {weights.shape}. Pass as many."
            )
    except (ValueError, TypeError) as error:
        return Damaged(type(error)(f"{place}: {error}"), n)
    names = columns_of(prob)
    return Piece(found, (values,), weights, place, 0, names=None if names is None else tuple(names))


def labels_of(piece: Piece, labels: Sequence[Any] | None, pos_label: Any = None) -> list[Any] | None:
    """Return the class of each column for all batches, from the first one: those given, its columns' names, or 0, 1, ...

    Of one column it is no event and the event, which may be named.
    """
    n, k = len(piece), piece.n_columns
    names = None if piece.names is None else list(piece.names)
    # Probabilities that are wrong are no matter of the classes.
    even = np.full(n, 0.5) if k is None else np.full((n, k), 1.0 / k)
    event = pos_label if k is None else None
    classes = as_problem(piece.truth, even, labels=labels, column_names=names, pos_label=event).classes
    return None if labels is None and k is not None and np.array_equal(classes, np.arange(k)) else classes.tolist()
