"""Calibrators against those of other libraries: time to fit, time to apply, and how good the fit is."""

from __future__ import annotations

import numpy as np

from benchmarks.fitting import Fitting
from benchmarks.measure import OURS, Contender
from benchmarks.temperature import FEW_CLASSES

BINARY, QUICK_BINARY = (100_000,), (3_000,)
TABLE, LONG_TABLE, QUICK_TABLE = (5_000, 100), (50_000, 100), (1_000, 10)
CONVEX = 1e-6
"""How much log losses may differ where one convex problem is solved: what stopping rules leave."""

# Why calibrant is not ahead, where it is not.
ALL_SORT = (
    "All but probcal pool with SciPy's PAVA, and what takes the time is sorting, so that there is little to gain. Applying is "
    "a search for the block of each row in all of them."
)
ONE_PASS = (
    "Applying is one pass each of logarithm, comparison and exponential in all of them, and calibrant's keeps every "
    "probability above 0: there is little to gain. Where calibrant is ahead is the fit."
)
KEPT = "Where its optimiser (BFGS) fails at the first step, probmetrics keeps the identity: fast, and not converged."
PRIVATE = "scikit-learn's {} is private: the public way, `CalibratedClassifierCV`, makes folds around the same fit."

LIBRARIES = {
    "scikit_learn": "scikit-learn",
    "venn_abers": "venn-abers",
    **{name: name for name in ("netcal", "betacal", "dirichletcal", "probmetrics", "probcal", "splinecalib")},
}
"""The peers: module under benchmarks/peers, and distribution."""


def column(rows: int, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and probabilities that are too sure, too low, and bent: the log-odds miss a constant, a factor and a
    square."""
    rng = np.random.default_rng(seed)
    z = 2.0 * rng.standard_normal(rows)
    true = -0.3 + 0.7 * z + 0.05 * z**2
    return (rng.random(rows) < 1.0 / (1.0 + np.exp(-true))).astype(np.int64), 1.0 / (1.0 + np.exp(-z))


def table(rows: int, classes: int, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and probabilities that are too sure by a factor that varies with the class, and miss the rates of
    classes."""
    of_class = np.random.default_rng(100)  # the same for the rows that are fitted and for the others
    scale, bias = of_class.uniform(0.5, 0.7, classes), 0.4 * of_class.standard_normal(classes)
    rng = np.random.default_rng(seed)
    z = 2.0 * rng.standard_normal((rows, classes))
    y = (scale * z + bias + rng.gumbel(size=z.shape)).argmax(axis=1)
    sure = np.exp(z - z.max(axis=1, keepdims=True))
    return y, sure / sure.sum(axis=1, keepdims=True)


def _contenders(function: str, *peers: str) -> tuple[Contender, ...]:
    """calibrant's function, and that of the same name of each peer; ``peer.function`` where it is another."""
    found = [Contender(OURS, "calibrant", function, "calibrant")]
    for peer in peers:
        module, _, named = peer.partition(".")
        found.append(Contender(LIBRARIES[module], module, named or function, LIBRARIES[module]))
    return tuple(found)


FITTINGS = {
    "platt": Fitting(
        "Platt scaling",
        "Two parameters on the log-odds. calibrant, scikit-learn and probcal smooth the targets as Platt does, "
        "which is no difference at this size. Log-odds are taken inside what is timed, in fit and apply. To apply, "
        "calibrant takes two logarithms, of p and of 1 - p, each kept finite; the line of scikit-learn one of their quotient, "
        "infinite at 0 and 1. " + PRIVATE.format("`_SigmoidCalibration`"),
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("platt", "scikit_learn", "netcal", "probcal", "probmetrics"),
        close=CONVEX,
    ),
    "beta": Fitting(
        "Beta calibration",
        "Three parameters, a, b >= 0. netcal's gradient is numerical.",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("beta", "betacal", "netcal", "probcal"),
        close=CONVEX,
    ),
    "quadratic": Fitting(
        "Quadratic logistic",
        "Three parameters: a + b x + c x^2 of the log-odds x.",
        column,
        (1_000_000,),
        QUICK_BINARY,
        _contenders("quadratic", "probmetrics"),
        close=CONVEX,
    ),
    "isotonic": Fitting(
        "Isotonic regression",
        "One least-squares problem; what differs is what is done at the ends, where the map is 0 or 1, and between "
        "the blocks: scikit-learn and netcal interpolate. A log loss is cut at 27.6 a row. " + ALL_SORT,
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("isotonic", "scikit_learn", "netcal", "probcal"),
    ),
    "centered-isotonic": Fitting(
        "Centered isotonic regression",
        "The blocks of isotonic regression, joined by lines. To apply, probcal calls `numpy.interp`, whose slopes overflow "
        "between knots that are very close; calibrant's lines guard against it, and that costs the difference. Where calibrant "
        "is ahead is the fit.",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("centered_isotonic", "probcal"),
    ),
    "histogram": Fitting(
        "Histogram binning",
        "Bins of equal mass, for which scores are sorted; each has its default number of them.",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("histogram", "probcal"),
    ),
    "histogram-equal-width": Fitting(
        "Histogram binning, equal width",
        "Ten bins of equal width: nothing is sorted, and fit and apply are little more than one search of the bin of each row "
        "in both, so that there is little to gain.",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("histogram_equal_width", "netcal.histogram"),
    ),
    "scaling-binning": Fitting(
        "Scaling-binning",
        "A parametric map, then the means of its values over bins of equal mass.",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("scaling_binning", "probcal"),
    ),
    "bbq": Fitting(
        "Bayesian binning into quantiles (BBQ)",
        "The mean of many histograms, weighted by their evidence; netcal weighs by BIC. Asked for: calibrant at "
        "least 10 times as fast as netcal.",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("bbq", "netcal", "probcal"),
    ),
    "enir": Fitting(
        "Ensemble of near-isotonic regressions (ENIR)",
        "The mean of the solutions along the path of near-isotonic regression, weighted by BIC. The peers need a "
        "time that grows with the square of the rows, hence 20,000. Asked for: calibrant at least 10 times as fast.",
        column,
        (20_000,),
        (1_000,),
        _contenders("enir", "probcal", "netcal"),
    ),
    "venn-abers": Fitting(
        "Venn-Abers",
        "Inductive, two isotonic regressions for every score; the merged probability p1 / (1 - p0 + p1).",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("venn_abers", "venn_abers", "probcal"),
        agree=1e-4,
    ),
    "spline": Fitting(
        "Smoothing spline",
        "Cubic splines of the log-odds; each chooses its penalty by cross-validation, in its own way. Asked for: "
        "calibrant at least 10 times as fast.",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("spline", "splinecalib", "probcal"),
    ),
    "cdf-spline": Fitting(
        "CDF spline",
        "The slope of a spline through the cumulative outcomes; probmetrics' can leave [0, 1], calibrant's cannot.",
        column,
        BINARY,
        QUICK_BINARY,
        _contenders("cdf_spline", "probmetrics"),
    ),
    **{
        f"temperature-scaling-{rows}": Fitting(
            f"Temperature scaling, {size[0]:,} rows",
            f"One parameter. {FEW_CLASSES} {ONE_PASS} {PRIVATE.format('`_TemperatureScaling`')}",
            table,
            size,
            QUICK_TABLE,
            _contenders("temperature_scaling", "scikit_learn", "netcal", "probmetrics.temperature"),
            close=CONVEX,
        )
        for rows, size in (("5000", TABLE), ("50000", LONG_TABLE))
    },
    "ensemble-temperature": Fitting(
        "Ensemble temperature scaling",
        "A mixture with the uncalibrated forecast and the uniform one, by log loss; probmetrics' temperature ends at 5.",
        table,
        TABLE,
        QUICK_TABLE,
        _contenders("ensemble_temperature", "probmetrics"),
    ),
    **{
        f"isotonic-{rows}": Fitting(
            f"Isotonic regression of each class, {size[0]:,} rows",
            f"One against the rest, and rows divided by their sums. {ALL_SORT}",
            table,
            size,
            QUICK_TABLE,
            _contenders("isotonic", "scikit_learn", "netcal"),
        )
        for rows, size in (("5000", TABLE), ("50000", LONG_TABLE))
    },
    **{
        f"beta-{rows}": Fitting(
            f"Beta calibration of each class, {size[0]:,} rows",
            "One against the rest, and rows divided by their sums; what is minimised is the log loss of each class, and "
            "not that of the rows that the table shows.",
            table,
            size,
            QUICK_TABLE,
            _contenders("beta", "betacal.beta_by_class"),
            agree=1e-2,
        )
        for rows, size in (("5000", TABLE), ("50000", LONG_TABLE))
    },
    "vector": Fitting(
        "Vector scaling",
        f"A factor and a constant a class: 200 parameters, no penalty. {KEPT} {ONE_PASS}",
        table,
        TABLE,
        QUICK_TABLE,
        _contenders("vector", "probmetrics", "dirichletcal"),
        close=CONVEX,
    ),
    "vector-50000": Fitting(
        "Vector scaling, 50,000 rows",
        f"dirichletcal would need more memory than there is. {KEPT}",
        table,
        LONG_TABLE,
        QUICK_TABLE,
        _contenders("vector", "probmetrics"),
        close=CONVEX,
    ),
    "vector-20": Fitting(
        "Vector scaling of 20 classes",
        f"With netcal, whose gradient is numerical: at 100 classes it needs minutes. {KEPT} {ONE_PASS}",
        table,
        (2_000, 20),
        QUICK_TABLE,
        _contenders("vector", "netcal", "probmetrics", "dirichletcal"),
        close=CONVEX,
    ),
    "matrix": Fitting(
        "Matrix scaling of 20 classes",
        "A matrix and a constant a class: 420 parameters, no penalty. With 100 classes it has 10,100, and no sense "
        f"without one. {ONE_PASS}",
        table,
        (5_000, 20),
        QUICK_TABLE,
        _contenders("matrix", "probmetrics"),
        close=CONVEX,
    ),
    "dirichlet": Fitting(
        "Dirichlet calibration of 10 classes",
        "With the penalty on what is off the diagonal and on the constants (ODIR), 1e-3 each. For 2,000 rows of 100 "
        "classes dirichletcal took three minutes of CPU time, and it holds n (K + 1)^2 numbers several times over: "
        "50,000 rows of 100 classes would ask for more than 12 GB. What calibrant needs there stands under its "
        "other calibrators below.",
        table,
        (5_000, 10),
        QUICK_TABLE,
        _contenders("dirichlet_odir", "dirichletcal.dirichlet"),
        agree=1e-4,
    ),
    **{
        f"svs-{rows}": Fitting(
            f"Structured vector scaling, {size[0]:,} rows",
            "Vector scaling after temperature scaling, with a penalty K / n.",
            table,
            size,
            QUICK_TABLE,
            _contenders("svs", "probmetrics"),
            agree=1e-3,
        )
        for rows, size in (("5000", TABLE), ("50000", LONG_TABLE))
    },
    **{
        f"sms-{rows}": Fitting(
            f"Structured matrix scaling, {size[0]:,} rows",
            "Matrix scaling after temperature scaling, with a penalty for each part. calibrant goes on to the optimum, in "
            "double precision; probmetrics computes in single precision and stops at a loose tolerance, which saves steps.",
            table,
            size,
            QUICK_TABLE,
            _contenders("sms", "probmetrics"),
            agree=1e-3,
        )
        for rows, size in (("5000", TABLE), ("20000", (20_000, 100)), ("50000", LONG_TABLE))
    },
    **{
        f"evidence-{name}": Fitting(
            f"Evidence scaling, {size[0]:,} rows of {size[1]} classes",
            "calibrant's own method beside its nearest relative. It fits more features than that, and finds their penalties.",
            table,
            size,
            (300, 3),
            (
                Contender(OURS, "calibrant", "evidence_scaling", "calibrant"),
                Contender("calibrant, one map (pool='fast')", "calibrant", "evidence_scaling_fast", "calibrant"),
                Contender("calibrant, structured matrix scaling", "calibrant", "sms", "calibrant"),
                Contender("probmetrics, structured matrix scaling", "probmetrics", "sms", "probmetrics"),
            ),
        )
        for name, size in (("300", (300, 5)), ("5000", (5_000, 10)), ("10000", (10_000, 26)), ("5000-100", TABLE))
    },
}
