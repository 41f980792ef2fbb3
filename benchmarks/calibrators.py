"""Calibrators against those of other libraries: time to fit, time to apply, and how good the fit is."""

from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.fitting import Fitting
from benchmarks.measure import OURS, Contender, contenders

BINARY, QUICK_BINARY = (100_000,), (3_000,)
TABLE, LONG_TABLE, QUICK_TABLE = (5_000, 100), (50_000, 100), (1_000, 10)
CONVEX = 1e-6
"""How much log losses may differ where one convex problem is solved: what stopping rules leave."""

FEW_CLASSES = (
    "Few classes were not raced. With 2 classes and 5,000 rows calibrant is level with scikit-learn: in a run beside "
    "other work, 1.05 times as fast on logits and 0.8 times on probabilities; with 10 classes 2.0 and 1.6 times."
)

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


of_scores = partial(Fitting, make=column, size=BINARY, quick=QUICK_BINARY)
of_table = partial(Fitting, make=table, size=TABLE, quick=QUICK_TABLE)


def by_rows(word: str, section: Fitting, *sizes: tuple[int, ...]) -> dict[str, Fitting]:
    """The same section for several sizes, by default two, with the rows in its word and title."""
    return {
        f"{word}-{size[0]}": replace(section, TITLE=f"{section.TITLE}, {size[0]:,} rows", size=size)
        for size in sizes or (TABLE, LONG_TABLE)
    }


FITTINGS = {
    "platt": of_scores(
        "Platt scaling",
        "Two parameters on the log-odds. calibrant, scikit-learn and probcal smooth the targets as Platt does, "
        "which is no difference at this size. Log-odds are taken inside what is timed, in fit and apply. To apply, "
        "calibrant takes two logarithms, of p and of 1 - p, each kept finite; the line of scikit-learn one of their quotient, "
        "infinite at 0 and 1. " + PRIVATE.format("`_SigmoidCalibration`"),
        contenders("platt", "scikit_learn", "netcal", "probcal", "probmetrics"),
        close=CONVEX,
    ),
    "beta": of_scores(
        "Beta calibration",
        "Three parameters, a, b >= 0. netcal's gradient is numerical.",
        contenders("beta", "betacal", "netcal", "probcal"),
        close=CONVEX,
    ),
    "quadratic": of_scores(
        "Quadratic logistic",
        "Three parameters: a + b x + c x^2 of the log-odds x.",
        contenders("quadratic", "probmetrics"),
        size=(1_000_000,),
        close=CONVEX,
    ),
    "isotonic": of_scores(
        "Isotonic regression",
        "One least-squares problem; what differs is what is done at the ends, where the map is 0 or 1, and between "
        "the blocks: scikit-learn and netcal interpolate. A log loss is cut at 27.6 a row. " + ALL_SORT,
        contenders("isotonic", "scikit_learn", "netcal", "probcal"),
    ),
    "centered-isotonic": of_scores(
        "Centered isotonic regression",
        "The blocks of isotonic regression, joined by lines. To apply, probcal calls `numpy.interp`, whose slopes overflow "
        "between knots that are very close; calibrant's lines guard against it, and that costs the difference. Where calibrant "
        "is ahead is the fit.",
        contenders("centered_isotonic", "probcal"),
    ),
    "histogram": of_scores(
        "Histogram binning",
        "Bins of equal mass, for which scores are sorted; each has its default number of them.",
        contenders("histogram", "probcal"),
    ),
    "histogram-equal-width": of_scores(
        "Histogram binning, equal width",
        "Ten bins of equal width: nothing is sorted, and fit and apply are little more than one search of the bin of each row "
        "in both, so that there is little to gain.",
        contenders("histogram_equal_width", "netcal.histogram"),
    ),
    "scaling-binning": of_scores(
        "Scaling-binning",
        "A parametric map, then the means of its values over bins of equal mass.",
        contenders("scaling_binning", "probcal"),
    ),
    "bbq": of_scores(
        "Bayesian binning into quantiles (BBQ)",
        "The mean of many histograms, weighted by their evidence; netcal weighs by BIC. Asked for: calibrant at "
        "least 10 times as fast as netcal.",
        contenders("bbq", "netcal", "probcal"),
    ),
    "enir": of_scores(
        "Ensemble of near-isotonic regressions (ENIR)",
        "The mean of the solutions along the path of near-isotonic regression, weighted by BIC. The peers need a "
        "time that grows with the square of the rows, hence 20,000. Asked for: calibrant at least 10 times as fast.",
        contenders("enir", "probcal", "netcal"),
        size=(20_000,),
        quick=(1_000,),
    ),
    "venn-abers": of_scores(
        "Venn-Abers",
        "Inductive, two isotonic regressions for every score; the merged probability p1 / (1 - p0 + p1).",
        contenders("venn_abers", "venn_abers", "probcal"),
        agree=1e-4,
    ),
    "spline": of_scores(
        "Smoothing spline",
        "Cubic splines of the log-odds; each chooses its penalty by cross-validation, in its own way. Asked for: "
        "calibrant at least 10 times as fast.",
        contenders("spline", "splinecalib", "probcal"),
    ),
    "cdf-spline": of_scores(
        "CDF spline",
        "The slope of a spline through the cumulative outcomes; probmetrics' can leave [0, 1], calibrant's cannot.",
        contenders("cdf_spline", "probmetrics"),
    ),
    **by_rows(
        "temperature-scaling",
        of_table(
            "Temperature scaling",
            f"One parameter. {FEW_CLASSES} {ONE_PASS} {PRIVATE.format('`_TemperatureScaling`')}",
            contenders("temperature_scaling", "scikit_learn", "netcal", "probmetrics.temperature"),
            close=CONVEX,
        ),
    ),
    "ensemble-temperature": of_table(
        "Ensemble temperature scaling",
        "A mixture with the uncalibrated forecast and the uniform one, by log loss; probmetrics' temperature ends at 5.",
        contenders("ensemble_temperature", "probmetrics"),
    ),
    **by_rows(
        "isotonic",
        of_table(
            "Isotonic regression of each class",
            f"One against the rest, and rows divided by their sums. {ALL_SORT}",
            contenders("isotonic", "scikit_learn", "netcal"),
        ),
    ),
    **by_rows(
        "beta",
        of_table(
            "Beta calibration of each class",
            "One against the rest, and rows divided by their sums; what is minimised is the log loss of each class, and "
            "not that of the rows that the table shows.",
            contenders("beta", "betacal.beta_by_class"),
            agree=1e-2,
        ),
    ),
    "vector": of_table(
        "Vector scaling",
        f"A factor and a constant a class: 200 parameters, no penalty. {KEPT} {ONE_PASS}",
        contenders("vector", "probmetrics", "dirichletcal"),
        close=CONVEX,
    ),
    "vector-50000": of_table(
        "Vector scaling, 50,000 rows",
        f"dirichletcal would need more memory than there is. {KEPT}",
        contenders("vector", "probmetrics"),
        size=LONG_TABLE,
        close=CONVEX,
    ),
    "vector-20": of_table(
        "Vector scaling of 20 classes",
        f"With netcal, whose gradient is numerical: at 100 classes it needs minutes. {KEPT} {ONE_PASS}",
        contenders("vector", "netcal", "probmetrics", "dirichletcal"),
        size=(2_000, 20),
        close=CONVEX,
    ),
    "matrix": of_table(
        "Matrix scaling of 20 classes",
        "A matrix and a constant a class: 420 parameters, no penalty. With 100 classes it has 10,100, and no sense "
        f"without one. {ONE_PASS}",
        contenders("matrix", "probmetrics"),
        size=(5_000, 20),
        close=CONVEX,
    ),
    "dirichlet": of_table(
        "Dirichlet calibration of 10 classes",
        "With the penalty on what is off the diagonal and on the constants (ODIR), 1e-3 each. For 2,000 rows of 100 "
        "classes dirichletcal took three minutes of CPU time, and it holds n (K + 1)^2 numbers several times over: "
        "50,000 rows of 100 classes would ask for more than 12 GB. What calibrant needs there stands under its "
        "other calibrators below.",
        contenders("dirichlet_odir", "dirichletcal.dirichlet"),
        size=(5_000, 10),
        agree=1e-4,
    ),
    **by_rows(
        "svs",
        of_table(
            "Structured vector scaling",
            "Vector scaling after temperature scaling, with a penalty K / n.",
            contenders("svs", "probmetrics"),
            agree=1e-3,
        ),
    ),
    **by_rows(
        "sms",
        of_table(
            "Structured matrix scaling",
            "Matrix scaling after temperature scaling, with a penalty for each part. calibrant goes on to the optimum, in "
            "double precision; probmetrics computes in single precision and stops at a loose tolerance, which saves steps.",
            contenders("sms", "probmetrics"),
            agree=1e-3,
        ),
        TABLE,
        (20_000, 100),
        LONG_TABLE,
    ),
    **{
        f"evidence-{name}": of_table(
            f"Evidence scaling, {size[0]:,} rows of {size[1]} classes",
            "calibrant's own method beside its nearest relative. It fits more features than that, and finds their penalties.",
            (
                Contender(OURS, "calibrant", "evidence_scaling"),
                Contender("calibrant, one map (pool='fast')", "calibrant", "evidence_scaling_fast"),
                Contender("calibrant, structured matrix scaling", "calibrant", "sms"),
                Contender("probmetrics, structured matrix scaling", "probmetrics", "sms"),
            ),
            size=size,
            quick=(300, 3),
        )
        for name, size in (("300", (300, 5)), ("5000", (5_000, 10)), ("10000", (10_000, 26)), ("5000-100", TABLE))
    },
}
