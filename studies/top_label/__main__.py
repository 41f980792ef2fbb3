"""Run the experiments of the top-label paper and write docs/top-label.md: python -m studies.top_label

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from calibrant.exceptions import CalibrationWarning
from studies.claims import AGAINST, Row, Verdict, claims_table, coverage_table, require, run
from studies.top_label.claims import COVERAGE, NOTE, PAPER
from studies.top_label.claims import OF_NETWORKS as ABOUT_NETWORKS
from studies.top_label.forecasts import (
    ALIKE,
    CLASSES,
    LEVEL,
    METHODS,
    RARE,
    RESAMPLES,
    SEEDS,
    TREES,
    by_class,
    check_facts,
    class_table,
    estimate,
    forecasts,
    maximum_table,
    of_metric,
    other_table,
    top_label_table,
    truth_table,
)
from studies.top_label.forecasts import DRAWS_KNOWN_TRUTH as DRAWS
from studies.top_label.pictures import canonical_table, draw, error_table, fullest_bin, random_directions, root_table
from studies.top_label.pictures import draw_canonical as draw_partitions
from studies.top_label.pictures import draw_covertype_shown as draw_covertype
from studies.top_label.pictures import finding as canonical_finding

PAGE = Path(__file__).parents[2] / "docs" / "top-label.md"
FILES = ("cifar10_resnet50.npz", "covertype_small.csv.gz", "covertype3.npz")


def page(rows: list[Row]) -> str:
    """The whole page."""
    return "\n\n".join([*introduction(), *said(rows), *networks(), *known_truth(), *forests(), *simplex()]) + "\n"


def introduction() -> list[str]:
    return [
        "# Top-label calibration, run",
        PAPER.note,
        "*Top-label calibration and multiclass-to-binary reductions* (Gupta and Ramdas, ICLR 2022), run by `make "
        "reproduce-top-label`, which writes this page and its pictures. Of the paper's tables of **eight** networks "
        "one row can be run here: a ResNet-50 on CIFAR-10, in another training. What each notion means, and which "
        "implies which, stands in [What each notion means](notions.md).",
        summary(),
        "## What of the paper is here",
        coverage_table(COVERAGE),
    ]


def summary() -> str:
    """What was found, in a few sentences."""
    top = {name: estimate(name, "TL-ECE") for name in of_metric("TL-ECE")}
    confidence = {name: forecasts()[name].error("confidence") for name in ("Base", "TS")}
    root = {name: by_class(RARE, name).root for name in METHODS}
    spread = {name: np.ptp(of) for name, of in root.items()}
    says = [claim.says for claim in PAPER.claims]
    undecided, slips = says.count(Verdict.OPEN), sum(verdict in AGAINST for verdict in says)
    lines = [
        f"* **{undecided} sentences are not decided**, {len(ABOUT_NETWORKS)} of them about networks, four on CIFAR-10 in "
        "Fig. 3 and eight in Tables 2 and 3: one network decides "
        "nothing about which method is best, or that the TL-ECE is two to three times the conf-ECE.",
        f"* **On that network** temperature scaling lowers the conf-ECE from {confidence['Base']:.4f} to "
        f"{confidence['TS']:.4f} and leaves the TL-ECE at {top['TS'].value:.4f} ({top['Base'].value:.4f} before). "
        f"Top-label histogram binning has {top['TL-HB (50)'].value:.4f} with 50 points a bin and "
        f"{top['TL-HB (100)'].value:.4f} with 100.",
        "* **The examples and Theorem 1 hold**, the theorem in simulated worlds of known truth. "
        f"{slips} printed details do not, or in part: a column of panel (e), a count of bins and the vector of an empty bin.",
        f"* **Points per bin on Covertype**, over {SEEDS} splits of one data set: the root mean square errors of the "
        f"classes lie {spread['100 points a bin']:.3f} apart with 100 points a bin, {spread['forest']:.3f} before "
        f"calibration, and {spread['50 bins a class']:.3f} with 50 bins a class.",
        canonical_finding(),
    ]
    return "\n".join(lines)


def said(rows: list[Row]) -> list[str]:
    return [
        "## What the paper says",
        "A sentence about networks is *not decided* until it has been asked of several. What was seen on the one "
        f"stands beside it. {NOTE}",
        claims_table(PAPER.claims, rows),
    ]


def networks() -> list[str]:
    return [
        "## A ResNet-50 on CIFAR-10",
        "Logits of 5000 rows to calibrate on and of 10,000 to test, from the repository of the paper's authors "
        "(AIgen/df-posthoc-calibration). It is **another training of the same architecture**: digits cannot be "
        "compared. Figures that others computed of this file with other code, without calibration, with temperature "
        "scaling and with TL-HB, are the same to 1e-6; the command stops if they are not. Of N-HB and CW-HB others "
        "have figures that differ from the fourth digit on, such as a TL-ECE of 0.0181 for N-HB: they hold one draw of "
        "noise, added to the scores to break ties. Here equal scores stay together and nothing is added.",
        'Base is the softmax of the logits. TS and VS are `TemperatureScaling(input="logit")` and '
        '`VectorScaling(logits="log-softmax", input="logit")`, DS is `DirichletCalibration` with all three penalties at '
        "1e-3, which is our choice. "
        "N-HB and CW-HB are "
        '`ByNotion(HistogramBinning(EqualMass(100)), "class-wise")`, with rows divided by their sums and without. TL-HB is '
        '`ByNotion(HistogramBinning(PointsPerBin(k), delta=1e-10), "top-label")` with k = 50 or 100, measured as the pair '
        "(label, probability) of `predict_top`. The paper has one TL-HB; its text suggests k = 50.",
        f"Intervals cover the error of the fitted map in {1 - LEVEL:.0%} of draws of test rows, made with {RESAMPLES} "
        "resamples. **Expected if calibrated** is the mean of the same figure for calibrated predictions with these "
        "scores (noise floor). The **bias-corrected** value is explained [below](#the-bias-corrected-value). **Each "
        "value** has a bin for each value of each class. The interval of CW-HB takes the ten scores of a row for "
        "independent.",
        "### TL-ECE",
        top_label_table(),
        "### TL-MCE",
        maximum_table(),
        "The largest gap is that of a bin with one or two rows, wherever there is such a bin. Where calibrated "
        "predictions would show as large a gap, nothing follows from it; the p-value says how often they would.",
        "### Class-wise ECE, in hundredths",
        class_table(),
        "### The rest",
        other_table(),
        "Logarithms are clipped at 1e-12: N-HB predicts 0 where no calibration row of the class fell, and that costs "
        "much where the class occurs. TL-HB gives one probability a row, which has no log loss over ten classes.",
        "### Pictures",
        "![Confidence and top-label reliability](images/top-label-diagram.png)",
        "Stars are bins as a whole, small and pale where they hold few rows. The plus is as far from the diagonal as "
        "the classes predicted in the bin are on average, each by itself.",
        "![The classes in the fullest bin](images/top-label-bin.png)",
        fullest_bin(),
        "![Errors against the number of bins](images/top-label-sweep.png)",
        "From 14 bins of equal mass on the TL-ECE of TL-HB stays as it is: every value has its bin.",
        "![Share of predictions within a distance](images/top-label-validity.png)",
        "What Theorem 1 promises, dashed and dotted, is said of the true rates and of any distribution. The rates here "
        "are those of the test rows; and most predictions are nearly certain, far from the worst case.",
    ]


def known_truth() -> list[str]:
    return [
        "## The bias-corrected value",
        "An ECE is too high, because the rates of its bins hold noise. With the observed gaps g_b of the bins of all "
        "predicted classes and their shares w_b of the rows, the TL-ECE is V = sum_b w_b abs(g_b). Its bias-corrected "
        "value is s V, where s from 0 to 1 solves",
        "```text\nmedian over the noise N of  sum_b w_b abs(s g_b + N_b)  =  V\n```",
        "The noise is drawn twice, once with labels from the predictions and once by the bootstrap of the rows, and "
        "the smaller s counts. Where the median at s = 0, under calibration, is V already, the value is 0.",
        "It is not exactly unbiased, since g holds noise itself. Where the truth is known it can be checked. Below, "
        "labels are drawn for the predictions of the ResNet-50 so that the true gap of every bin is nothing, half or "
        f"all of the gap that was observed: means over {DRAWS} label sets, with their standard errors.",
        truth_table(),
        "In the simulated worlds of tests/metrics/test_bias_correction.py its mean is within a quarter of the noise "
        "floor of the truth: too high where predictions are calibrated, too low where the error is spread over all "
        "bins.",
    ]


def forests() -> list[str]:
    rows = ", ".join(map(str, RARE.calibrate))
    return [
        "## Random forests on Covertype",
        f'{TREES} trees, and `HistogramBinning` under `"top-label"`. The paper has the whole data set of seven classes, one of '
        "them about 100 times as frequent as another. Here are 14,747 rows of four classes, nearly as many of each. To "
        f"have a rare one, {sum(RARE.train)} rows to learn from and {sum(RARE.calibrate)} to calibrate on are drawn, "
        f"the latter with {rows} rows of the classes {', '.join(map(str, CLASSES))}; the remaining rows test, weighted "
        "so that classes have the same shares. For comparison, the same with classes as the file has them, "
        f"{sum(ALIKE.train)} and {sum(ALIKE.calibrate)} rows. Figures are means over {SEEDS} random splits and "
        "forests, with standard errors in brackets.",
        "The paper's fixed number is 50 bins a class. There the rarest class has 183 rows to calibrate on and the most "
        "frequent about 100 times as many, some 370 a bin; here it has 40 a bin. So 10 bins stand beside them, with "
        "200.",
        "![Root mean square gap of each predicted class](images/top-label-covertype.png)",
        "Bars are the bias-corrected roots of the second and the fourth table, by which the verdicts go, with one "
        "standard error to each side. The paper's bars are TL-ECEs, as in the other two.",
        error_table(RARE),
        "The forest's scores are measured in 15 bins of equal width, the others each value by itself. So these figures "
        "hold noise of the test rows, more of it where values are many. The next ones do not: they are roots of mean "
        "squared gaps less their variance.",
        root_table(RARE),
        "With classes alike:",
        error_table(ALIKE),
        root_table(ALIKE),
    ]


def simplex() -> list[str]:
    return [
        "## Canonical binning on three classes of Covertype",
        "A logistic regression of the classes 1, 2 and 3 of the four, spruce or fir, lodgepole pine and ponderosa "
        "pine, which are 0, 1 and 2 in the pictures; 500 rows to calibrate on and 1000 to test. `CanonicalBinning` "
        "with Sierpinski bins of depth 2, the grid of 5, and 27 projections, along the axes in turn and along random "
        "directions.",
        "![Cells and their vectors](images/top-label-partitions.png)",
        "A place is a prediction before calibration, its colour the vector after; numbers are rows to calibrate on. "
        "(Depth 2 makes 13 cells; the paper counts 14.)",
        canonical_table(),
        random_directions(),
        "The paper shows pictures of such partitions and no figures to compare with.",
    ]


def main() -> None:
    """Measure and judge the claims, draw the pictures and write the page."""
    require(FILES)
    warnings.simplefilter("ignore", CalibrationWarning)  # of losses that the page says how it clips
    check_facts()
    rows = run(PAPER)
    print("pictures", flush=True)
    for make in (draw, draw_covertype, draw_partitions):
        make()
    print("page", flush=True)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
