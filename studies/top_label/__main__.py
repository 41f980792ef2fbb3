"""Run the experiments of the top-label paper and write docs/top-label.md: python -m studies.top_label

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.data import require
from studies.top_label.canonical import canonical_table, random_directions
from studies.top_label.canonical import draw as draw_partitions
from studies.top_label.canonical import finding as canonical_finding
from studies.top_label.covertype import ALIKE, CLASSES, METHODS, RARE, SEEDS, TREES, by_class
from studies.top_label.covertype_shown import draw as draw_covertype
from studies.top_label.covertype_shown import error_table, root_table
from studies.top_label.covertype_shown import findings as covertype_findings
from studies.top_label.findings import CLEAR, DRAWS, clear_pairs, difference, findings
from studies.top_label.forecasts import LEVEL, RESAMPLES, forecasts
from studies.top_label.networks import (
    check_facts,
    class_table,
    estimate,
    maximum_table,
    of_metric,
    other_table,
    top_label_table,
)
from studies.top_label.pictures import draw, fullest_bin

PAGE = Path(__file__).parents[2] / "docs" / "top-label.md"
FILES = ("cifar10_resnet50.npz", "covertype_small.csv.gz", "covertype3.npz")


def page() -> str:
    """The whole page."""
    return "\n\n".join([*introduction(), *networks(), *forests(), *simplex()]) + "\n"


def introduction() -> list[str]:
    return [
        "# Top-label calibration, run",
        "The experiments of *Top-label calibration and multiclass-to-binary reductions* (Gupta and Ramdas, ICLR 2022), run "
        "by `make reproduce-top-label`, which writes this page and its pictures. What each notion says, and which implies "
        "which, stands in [What each notion says](notions.md).",
        summary(),
    ]


def summary() -> str:
    """What came out, in a few sentences."""
    top = {name: estimate(name, "TL-ECE") for name in of_metric("TL-ECE")}
    confidence = {name: forecasts()[name].error("confidence") for name in ("Base", "TS")}
    largest = {name: estimate(name, "TL-MCE").pvalue for name in ("Base", "TS", "VS", "DS", "N-HB")}
    root = {name: by_class(RARE, name).root for name in METHODS}
    spread, rarest = {name: np.ptp(of) for name, of in root.items()}, {name: of[-1] for name, of in root.items()}
    value, error = difference("N-HB", "TL-HB (50)", "TL-ECE")
    top_pairs, class_pairs = clear_pairs("TL-ECE"), clear_pairs("CW-ECE")
    lines = [
        f"* **Temperature scaling repairs the confidence and not the label.** It lowers the conf-ECE from "
        f"{confidence['Base']:.4f} to {confidence['TS']:.4f} and leaves the TL-ECE at {top['TS'].value:.4f} "
        f"({top['Base'].value:.4f} before). Top-label histogram binning lowers it to {top['TL-HB (50)'].value:.4f} "
        f"with 50 points a bin and to {top['TL-HB (100)'].value:.4f} with 100.",
        f"* **The paper's order of the methods comes out in part.** Without bias {top_pairs[0]} pairs stand clearly as "
        f"printed by TL-ECE and {top_pairs[1]} clearly the other way, by CW-ECE {class_pairs[0]} and {class_pairs[1]}. The "
        "paper's best by TL-ECE is N-HB. Here its figure is "
        f"{top['N-HB'].value - top['TL-HB (50)'].value:.4f} above TL-HB with 50 points a bin, but most of that is noise which "
        f"fine scores show and binned ones do not: without bias N-HB has {top['N-HB'].debiased:.4f} and TL-HB "
        f"{top['TL-HB (50)'].debiased:.4f}, and the difference, {value:+.4f}, is within its standard error ({error:.4f}).",
        "* **TL-MCE over 15 bins of equal width compares noise.** A calibrated forecast with the scores of any of the methods "
        f"but TL-HB shows as large a gap in at least {min(largest.values()):.0%} of cases: some bin has a row or two. Nothing "
        "follows from their order.",
        "* **Points per bin make the error alike for rare and frequent classes**, as the paper says. On Covertype the root "
        f"mean square errors of the classes lie {spread['100 points a bin']:.3f} apart with 100 points a bin, "
        f"{spread['forest']:.3f} before calibration, and {spread['50 bins a class']:.3f} with 50 bins a class: these make the "
        f"rarest class worse than it was, {rarest['50 bins a class']:.3f} where the forest has {rarest['forest']:.3f}.",
        canonical_finding(),
    ]
    return "\n".join(lines)


def networks() -> list[str]:
    return [
        "## A ResNet-50 on CIFAR-10",
        "Logits of 5000 rows to calibrate on and of 10,000 to test, from the repository of the paper's authors "
        "(AIgen/df-posthoc-calibration). It is **another training of the same architecture**: methods and their order can be "
        "compared, digits cannot. What others computed of this file with other code, without and with temperature scaling and "
        "after TL-HB, comes out to 1e-6; the command stops if it does not. Of N-HB and CW-HB others have figures that differ "
        "from the fourth digit on, such as a TL-ECE of 0.0181 for N-HB: they hold one draw of noise, added to the scores to "
        "break ties. Here equal scores stay together and nothing is added.",
        'Base is the softmax of the logits. TS, VS and DS are `TemperatureScaling()`, `VectorScaling(logits="log-softmax")` '
        "and `DirichletCalibration(diagonal=1e-3)`. N-HB and CW-HB are `ByNotion(HistogramBinning(EqualMass(100)), "
        '"class-wise")`, with rows divided by their sums and without. TL-HB is `ByNotion(HistogramBinning('
        'PointsPerBin(k), delta=1e-10), "top-label")` with k = 50 or 100, measured as the pair (label, probability) of '
        "`predict_top`. The paper has one TL-HB; its text suggests k = 50.",
        f"Intervals cover the error of the fitted map in {1 - LEVEL:.0%} of draws of test rows, made with {RESAMPLES} "
        "resamples. **If calibrated** is the mean of the same figure for a calibrated forecast with these scores; **without "
        "bias** is the true error of which the figure is the median. **Each value** has a bin for each value of each class: "
        "what binning returns, measured as it is. The interval of CW-HB takes the ten scores of a row for independent.",
        "### TL-ECE",
        top_label_table(),
        "The plug-in figures flatter binning: its scores take few values, fill few bins, and so show less noise. The column "
        "without bias is the one to compare.",
        "### TL-MCE",
        maximum_table(),
        "The largest gap is that of a bin with one or two rows, wherever there is such a bin. A TL-MCE that a calibrated "
        "forecast would show as well says nothing of calibration, and its interval says so.",
        "### CW-ECE, in hundredths",
        class_table(),
        "### The rest",
        other_table(),
        "Logarithms are clipped at 1e-12: N-HB says 0 where no row of the class fell, and pays for it when one comes. TL-HB "
        "gives one probability a row, which has no log loss over ten classes; `predict_proba` would give a vector.",
        "### What the paper says of it",
        "Verdicts on TL-ECE and CW-ECE go by the figures without bias; the paper's own have their bias. A difference is clear "
        f"from {CLEAR:g} standard errors on. These are of pairs, over {DRAWS} bootstrap draws of the test rows, whose spread "
        "is stretched by the figure over the figure without bias (noise adds in squares); what another calibration set would "
        "change they do not hold. **Chosen afterwards:** a first version of these verdicts went by the plug-in figures. When "
        "they were seen to be noise for a good part, the figures without bias took their place.",
        findings(),
        "### Pictures",
        "![Confidence and top-label reliability](images/top-label-diagram.png)",
        "Stars are bins as a whole, small and pale where they hold few rows. The plus is as far from the diagonal as the "
        "classes predicted in the bin are on average, each by itself.",
        "![The classes in the fullest bin](images/top-label-bin.png)",
        fullest_bin(),
        "![Errors against the number of bins](images/top-label-sweep.png)",
        "From 14 bins of equal mass on the TL-ECE of TL-HB stays as it is: every value has its bin.",
        "![Share of predictions within a distance](images/top-label-validity.png)",
        "What Theorem 1 promises, dashed and dotted, is said of the true rates and of any distribution. The rates here are "
        "those of the test rows; and most predictions are nearly certain, far from the worst case.",
    ]


def forests() -> list[str]:
    rows = ", ".join(map(str, RARE.calibrate))
    return [
        "## Random forests on Covertype",
        f'{TREES} trees, and `HistogramBinning` under `"top-label"`. The paper has the whole data set of seven classes, one of '
        "them about 100 times as frequent as another. Here are 14,747 rows of four classes, nearly as many of each. To "
        f"have a rare one, {sum(RARE.train)} rows to learn from and {sum(RARE.calibrate)} to calibrate on are drawn, the "
        f"latter with {rows} rows of the classes {', '.join(map(str, CLASSES))}; the remaining rows test, weighted so that "
        f"classes have the same shares. For comparison, the same with classes as the file has them, {sum(ALIKE.train)} and "
        f"{sum(ALIKE.calibrate)} rows. Figures are means over {SEEDS} random splits and forests, with standard errors in "
        "brackets.",
        "The paper's fixed number is 50 bins a class. There the rarest class has 183 rows to calibrate on and the most "
        "frequent about 100 times as many, some 370 a bin; here it has 40 a bin. So 10 bins stand beside them, with 200.",
        "![Root mean square gap of each predicted class](images/top-label-covertype.png)",
        "Bars are the roots without bias of the second and the fourth table, by which the verdicts go, with one standard error "
        "to each side. The paper's bars are TL-ECEs, as in the other two.",
        error_table(RARE),
        "The forest's scores are measured in 15 bins of equal width, the others each value by itself. So these figures hold "
        "noise of the test rows, more of it where values are many. The next ones do not: they are roots of mean squared gaps "
        "less their variance.",
        root_table(RARE),
        "With classes alike:",
        error_table(ALIKE),
        root_table(ALIKE),
        "### What the paper says of it",
        "By the roots without bias, with the rare class.",
        covertype_findings(),
    ]


def simplex() -> list[str]:
    return [
        "## Canonical binning on three classes of Covertype",
        "A logistic regression of the classes 1, 2 and 3 of the four, spruce or fir, lodgepole pine and ponderosa pine, which "
        "are 0, 1 and 2 in the pictures; 500 rows to calibrate on and 1000 to test. `CanonicalBinning` with Sierpinski bins of "
        "depth 2, the grid of 5, and 27 projections, along the axes in turn and along random directions.",
        "![Cells and their vectors](images/top-label-partitions.png)",
        "A place is a forecast before calibration, its colour the vector after; numbers are rows to calibrate on. (Depth 2 "
        "makes 13 cells; the paper counts 14.)",
        canonical_table(),
        random_directions(),
        "The paper shows pictures of such partitions and no figures to compare with.",
    ]


def main() -> None:
    """Draw the pictures and write the page."""
    require(FILES)
    check_facts()
    for make in (draw, draw_covertype, draw_partitions):
        make()
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
