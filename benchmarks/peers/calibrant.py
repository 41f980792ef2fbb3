"""calibrant itself, called as the peers are."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from benchmarks.fitting import Method


def ece(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], float]:
    from calibrant import expected_calibration_error

    return lambda: expected_calibration_error(y, p, binning=bins)


def three(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], np.ndarray]:
    from calibrant import brier_score_loss, expected_calibration_error
    from calibrant.metrics.decompositions import accuracy

    return lambda: np.array([accuracy(y, p), brier_score_loss(y, p), expected_calibration_error(y, p, binning=bins)])


def three_at_once(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], np.ndarray]:
    from calibrant import measure

    metrics = ["accuracy", "brier", "ece"]
    return lambda: _in_order(measure(y, p, metrics=metrics, binning=bins), metrics)


def six(y: np.ndarray, prob: np.ndarray, bins: int) -> Callable[[], np.ndarray]:
    """A function each. Two columns speak of the second by default, and of the predicted class where that is written out."""
    from calibrant import (
        brier_score_loss,
        classwise_calibration_error,
        expected_calibration_error,
        log_loss,
        maximum_calibration_error,
    )
    from calibrant.metrics.decompositions import accuracy

    scores = (accuracy, log_loss, brier_score_loss)
    errors = (expected_calibration_error, maximum_calibration_error)

    def call() -> np.ndarray:
        found = [score(y, prob) for score in scores]
        found += [error(y, prob, notion="confidence", binning=bins) for error in errors]
        return np.array([*found, classwise_calibration_error(y, prob, binning=bins)])

    return call


def six_at_once(y: np.ndarray, prob: np.ndarray, bins: int) -> Callable[[], np.ndarray]:
    from calibrant import measure

    metrics = ["accuracy", "nll", "brier", "ece", "mce", "classwise-ece"]
    return lambda: _in_order(measure(y, prob, metrics=metrics, notion="confidence", binning=bins), metrics)


def _in_order(found: dict[str, float], metrics: list[str]) -> np.ndarray:
    return np.array([found[name] for name in metrics])


def corp_bands(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    from calibrant import corp_curve

    def call() -> float:
        panel = corp_curve(y, p, band="consistency", level=0.1, n_resamples=1000).panels[0]
        return float((panel.upper - panel.lower).mean())

    return call


def smooth_diagram_with_interval(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    from calibrant import assess, smooth_reliability_curve

    def call() -> float:
        assess(y, p, metrics=["smooth-ece"], n_resamples=100)
        return smooth_reliability_curve(y, p).error

    return call


def asked(name: str, of: str = "", **options: Any) -> Callable[[np.ndarray, np.ndarray], Callable[[], Any]]:
    """The public function of that name with its options; ``of`` is the attribute of its result that is the answer."""

    def prepare(y: np.ndarray, prob: np.ndarray) -> Callable[[], Any]:
        from calibrant._core.lazy import load

        function = load(name)
        answer = attrgetter(of) if of else lambda found: found
        return lambda: answer(function(y, prob, **options))

    return prepare


def assessment(y: np.ndarray, p: np.ndarray, metrics: list[str] | None = None) -> Callable[[], float]:
    from calibrant import assess

    return lambda: assess(y, p, metrics=metrics, n_resamples=1000)["brier"].value


def registered(name: str, **parameters: Any) -> Callable[[np.ndarray, np.ndarray], Method]:
    """The registered calibrator of that name; a binary one is fitted for each class of a table."""

    def prepare(y: np.ndarray, prob: np.ndarray) -> Method:
        from calibrant import ByNotion
        from calibrant.calibrators import BinaryCalibrator
        from calibrant.registry import entries

        target = entries("calibrator")[name].target

        def fit() -> Any:
            made = target(**parameters)
            by_class = prob.ndim == 2 and issubclass(target, BinaryCalibrator)
            return (ByNotion(made, "class-wise") if by_class else made).fit(prob, y)

        return Method(fit, lambda fitted, other: fitted.calibrate(other))

    return prepare


def top_label_histogram(y: np.ndarray, prob: np.ndarray) -> Method:
    from calibrant import ByNotion, HistogramBinning
    from calibrant.binning import PointsPerBin

    def fit() -> Any:
        return ByNotion(HistogramBinning(PointsPerBin(50)), "top-label").fit(prob, y)

    return Method(fit, lambda fitted, other: fitted.predict_top(other)[1])


log_loss = asked("log_loss")
log_loss_of_logits = asked("log_loss", input="logit")
resampling_test = asked("resampling_test", "pvalue", metric="classwise-ece", n_resamples=200)
kernel_test = asked("kernel_test", "pvalue", n_resamples=999)
smooth_diagram = asked("smooth_reliability_curve", "error")
LOSSES = ["nll", "brier", "calibration-slope", "calibration-intercept"]
ERRORS = ["ece", "debiased-ece", "mce", "smooth-ece", "ks-error", "ici", "e50", "e90", "emax"]
assessment_of_13 = partial(assessment, metrics=[*LOSSES, *ERRORS])
tested_error = asked("bin_test_calibration_error")

platt = registered("platt")
beta = registered("beta")
quadratic = registered("quadratic")
isotonic = registered("isotonic", finite=None)
centered_isotonic = registered("centered-isotonic", finite=None)
histogram = registered("histogram-binning")
histogram_equal_width = registered("histogram-binning", binning=10)
scaling_binning = registered("scaling-binning")
bbq = registered("bbq")
enir = registered("enir", finite=None)
venn_abers = registered("venn-abers")
spline = registered("spline")
cdf_spline = registered("cdf-spline")
temperature_scaling = registered("temperature")
ensemble_temperature = registered("ensemble-temperature")
vector = registered("vector")
matrix = registered("matrix", off_diagonal=0.0, intercept=0.0)
dirichlet_odir = registered("dirichlet", diagonal=0.0)
svs = registered("svs")
sms = registered("sms")
evidence_scaling = registered("evidence-scaling", pool="folds")
evidence_scaling_fast = registered("evidence-scaling", pool="fast")
fir = registered("irm", epsilon=0.0)
na_fir = registered("na-fir")
na_fir_fixed = registered("na-fir", smoothing=1e-3)
na_fir_exact = registered("na-fir", smoothing=0.0)
na_fir_annealing = registered("na-fir", smoothing=0.0, solver="annealing")
scir = registered("scir")
scir_fixed = registered("scir", epsilon=1e-4)
scir_exact = registered("scir", epsilon=0.0, rise="last")
irp = registered("irp")
irp_to_the_end = registered("irp", max_bins=None, smoothing=0.0, softening=0.0)
multiclass_irp = registered("multiclass-irp")
multiclass_irp_data = registered("multiclass-irp", max_regions=None, smoothing=0.0)
multiclass_irp_50 = registered("multiclass-irp", candidates=50, max_regions=None, smoothing=0.0)
multiclass_irp_100 = registered("multiclass-irp", candidates=100, max_regions=None, smoothing=0.0)
