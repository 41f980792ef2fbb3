"""Shares of the classes where nothing is labelled, from the forecast alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from calibrant._links import FloatArray
from calibrant._problem import Forecast, SimplexProblem, are_counts, as_simplex
from calibrant._result import frame, read_only
from calibrant._validation import Input, as_forecast, as_numbers, as_problem, as_weight, classes_of_columns
from calibrant.decisions.black_box_shift import black_box_prior
from calibrant.decisions.prior_likelihood import GAP, most_likely_prior, standard_errors
from calibrant.decisions.priors import as_prior

PriorMethod = Literal["em", "bbse", "bbse-soft"]
METHODS = ("em", "bbse", "bbse-soft")


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """Shares of the classes in unlabelled rows.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    prior : ndarray of shape (n_classes,)
        Their estimated shares, which sum to one.
    old_prior : ndarray of shape (n_classes,)
        Their shares where the forecast is calibrated.
    standard_error : ndarray of shape (n_classes,)
        Of the shares. EM: NaN for a share at zero, infinite where the rows say nothing of it. BBSE: before the shares were put
        on the simplex.
    method : {"em", "bbse", "bbse-soft"}
        How they were found.
    n_iter : int
        Steps; 0 of BBSE.
    gap : float
        The certificate. EM: no shares have a mean log-likelihood that is higher by more than this, in nats a row. BBSE: the
        largest difference of the shares of predictions that were seen and that ``prior`` explains, which is zero where the
        solution needed no projection.
    condition : float
        Condition number: EM of the information about the shares, BBSE of the confusion matrix. Large says that classes are hard
        to tell apart.
    """

    classes: npt.NDArray[np.generic]
    prior: FloatArray
    old_prior: FloatArray
    standard_error: FloatArray
    method: PriorMethod
    n_iter: int
    gap: float
    condition: float

    def __post_init__(self) -> None:
        for name in ("classes", "prior", "old_prior", "standard_error"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def class_weight(self) -> FloatArray:
        """New share over old share of each class: the weights that make old rows speak for new ones."""
        weight: FloatArray = self.prior / self.old_prior
        return weight

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a class.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns class, prior, standard_error, old_prior, class_weight.
        """
        names = ("prior", "standard_error", "old_prior", "class_weight")
        return frame({"class": self.classes, **{name: getattr(self, name) for name in names}}, backend)

    def __repr__(self) -> str:
        shown = [f"{c}: {q:.4g}" for c, q in zip(self.classes.tolist(), self.prior.tolist(), strict=True)]
        text = ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "")
        return f"PriorEstimate({text}; {self.method}, steps={self.n_iter}, gap={self.gap:.1e}, condition={self.condition:.3g})"


def estimate_prior(
    y_prob: npt.ArrayLike,
    *,
    method: PriorMethod = "em",
    old_prior: npt.ArrayLike | None = None,
    old_true: npt.ArrayLike | None = None,
    old_prob: npt.ArrayLike | None = None,
    old_weight: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    input: Input = "probability",
    normalize: bool = False,
) -> PriorEstimate:
    """Estimate the shares of the classes in rows without labels, from the forecast alone.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the new rows, as the model gives them.
    method : {"em", "bbse", "bbse-soft"}, default="em"
        Maximum likelihood, or a solved confusion matrix of predictions ("bbse") or of probabilities ("bbse-soft").
    old_prior : array-like of shape (n_classes,), or float, optional
        Shares of the classes where the forecast is calibrated; by default those of the labelled rows.
    old_true, old_prob : array-like, optional
        Labels and forecast of rows from before the change that the model was not trained on. BBSE needs them; EM takes
        only the shares of the classes from them.
    old_weight : array-like, optional
        Weights of the labelled rows.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the new rows; an integer weight counts as that many equal rows.
    labels : sequence of length n_classes, optional
        The class of each column.
    pos_label : label, optional
        For one column: the label that the probability speaks of.
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` and ``old_prob`` hold.
    normalize : bool, default=False
        Divide each row by its sum instead of refusing rows that do not sum to one.

    Returns
    -------
    PriorEstimate
        A result with ``prior``, ``standard_error``, ``gap``, ``condition``, ``class_weight`` and ``to_frame()``.

    Raises
    ------
    ValueError
        If there are neither old shares nor labelled rows, if BBSE has no labelled rows or none of a class, or if an old share
        is zero.

    Warns
    -----
    ConvergenceWarning
        If the maximum of the likelihood is not certified.
    CalibrationWarning
        If the confusion matrix is singular.

    Notes
    -----
    Both assume label shift: within each class the features are distributed as before. Hold a shift of other kinds against
    the ``gap`` of BBSE, or a histogram of the scores.

    EM finds shares q that maximise the mean of log sum_k q_k p_k / old_k. It needs a calibrated forecast: calibrate before. Any
    maximum is global; the certificate says how close it is. The steps are those of Saerens et al. at first and of Newton
    then, so that the answer is that of EM run for ever. Standard errors take the old shares as known.

    BBSE finds shares under which the predictions come as often as they do. It needs no calibrated forecast and no old
    shares, only labelled rows of every class, and it is less precise. The nearest shares on the simplex are returned.

    References
    ----------
    Saerens, Latinne, Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities: a simple procedure,
    Neural Computation 2002.
    Lipton, Wang, Smola, Detecting and correcting for label shift with black box predictors, ICML 2018.
    Alexandari, Kundaje, Shrikumar, Maximum likelihood with bias-corrected calibration is hard-to-beat at label shift
    adaptation, ICML 2020.

    Examples
    --------
    >>> from calibrant import estimate_prior
    >>> found = estimate_prior([0.1, 0.8, 0.9, 0.9], old_prior=0.5)
    >>> found.prior.round(3)
    array([0.203, 0.797])
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}. Pass one of them.")
    values = as_numbers("y_prob", y_prob)
    forecast = as_forecast(values, input=input, normalize=normalize)
    weight = as_weight(sample_weight, len(values))
    options = {"labels": labels, "pos_label": pos_label, "input": input, "normalize": normalize}
    labelled = _labelled(old_true, old_prob, old_weight, forecast.shape[1], options)
    if labelled is None:
        classes = _classes(forecast.shape[1], labels, pos_label)
        if old_prior is None:
            raise ValueError(
                "old shares of the classes must be known; got neither old_prior nor labelled rows. "
                "Pass old_prior=, or old_true= and old_prob= of rows from before the change."
            )
        old = as_prior("old_prior", old_prior, forecast.shape[1], positive=True)
    else:
        classes = labelled.classes
        shares = np.bincount(labelled.label, labelled.weight, forecast.shape[1]) / labelled.weight.sum()
        old = as_prior(
            "old_prior, the shares of old_true," if old_prior is None else "old_prior",
            shares if old_prior is None else old_prior,
            forecast.shape[1],
            positive=method == "em" or old_prior is not None,
        )
    if method == "em":
        return _by_likelihood(forecast, weight, classes, old)
    if labelled is None:
        raise ValueError(
            f"method {method!r} needs labelled rows; got none. Pass old_true= and old_prob= of rows from before the change, "
            "or method='em'."
        )
    kept = weight > 0
    found = black_box_prior(labelled, forecast.prob[kept], weight[kept], soft=method == "bbse-soft")
    return PriorEstimate(classes, found.prior, old, found.standard_error, method, 0, found.residual, found.condition)


def _by_likelihood(
    forecast: Forecast, weight: FloatArray, classes: npt.NDArray[np.generic], old: FloatArray
) -> PriorEstimate:
    kept = weight > 0
    prob, weight = (forecast.prob, weight) if kept.all() else (forecast.prob[kept], weight[kept])
    found = most_likely_prior(prob / old, weight, old)
    if not found.gap <= GAP:
        warnings.warn(
            f"the maximum of the likelihood is not certified: it may be higher by {found.gap:.2g} nats a row after "
            f"{found.n_iter} steps. Check that classes differ.",
            ConvergenceWarning,
            stacklevel=3,
        )
    rows = float(weight.sum()) if are_counts(weight) else float(weight.sum() ** 2 / (weight**2).sum())
    error, condition = standard_errors(found, rows)
    return PriorEstimate(classes, found.prior, old, error, "em", found.n_iter, found.gap, condition)


def _labelled(old_true: Any, old_prob: Any, old_weight: Any, n_classes: int, options: Any) -> SimplexProblem | None:
    """Return the labelled rows, if there are any."""
    if old_true is None and old_prob is None:
        return None
    if old_true is None or old_prob is None:
        missing = "old_true" if old_true is None else "old_prob"
        raise ValueError(f"old_true and old_prob must be given together; {missing} is missing. Pass both, or neither.")
    labelled = as_simplex(as_problem(old_true, old_prob, sample_weight=old_weight, **options))
    if labelled.prob.shape[1] != n_classes:
        raise ValueError(
            f"old_prob and y_prob must have the same columns; got {labelled.prob.shape[1]} classes and {n_classes}. "
            "Pass forecasts of one model."
        )
    return labelled


def _classes(n_classes: int, labels: Sequence[Any] | None, pos_label: Any) -> npt.NDArray[np.generic]:
    if labels is None and pos_label is not None:
        return np.array([f"not {pos_label}", pos_label], dtype=object)
    return classes_of_columns(np.zeros(1, dtype=np.intp), n_classes, labels)
