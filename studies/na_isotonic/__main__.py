"""Run the study of normalisation-aware isotonic calibration and write docs/na-isotonic.md: python -m studies.na_isotonic

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

import warnings

from threadpoolctl import threadpool_limits

from calibrant.exceptions import CalibrationWarning
from studies.claims import Row, claims_table, run
from studies.coverage import coverage_table
from studies.data import require
from studies.na_isotonic import annealing, scir, times
from studies.na_isotonic.claims import CLAIMS, COVERAGE, PAPER
from studies.na_isotonic.drawn import BY_CLASSIFIER, draw, file_of
from studies.na_isotonic.forecasts import MOST_TRAINED, PUBLISHED, SEEDS
from studies.na_isotonic.measured import LEVEL, METHODS, METRICS, RANKED, RESAMPLES, measured
from studies.na_isotonic.ranks import critical_difference, names
from studies.na_isotonic.reliability import RESAMPLES as PANEL_RESAMPLES
from studies.na_isotonic.reliability import shown
from studies.na_isotonic.summary import kept_order, summary, where_fir_leads
from studies.na_isotonic.tables import (
    accuracy_table,
    architecture_table,
    forecast_table,
    model_tables,
    p_value_table,
    paper_densenet_table,
    rank_tables,
    unpenalised,
)

FILES = (*(f"{name}.npz" for name in PUBLISHED), "covertype_small.csv.gz", "satimage.arff.gz", "spambase.csv")


def page(rows: list[Row]) -> str:
    """The whole page."""
    parts = [introduction(), covered(), verdicts(rows), design(), ranks(), pairs(), single_models(), calibrated()]
    parts += [by_classifier(), annealing.section(), scir.sections(), times.section()]
    return "\n\n".join(line for part in parts for line in part) + "\n"


def introduction() -> list[str]:
    return [
        "# Normalisation-aware isotonic calibration, run",
        f"The experiments of *{PAPER.title}* ({PAPER.authors}, {PAPER.venue}), run on other data by `{PAPER.command}` (about "
        f"{PAPER.minutes:g} minutes of processor time), which writes this page and its pictures. **The data sets and "
        "classifiers are others than the paper's**, smaller and most of them tables of numbers. Who is ahead of whom can be "
        "compared, digits cannot. *Does not hold here* and *holds* speak of these data.",
        methods(),
        "The sentences of the paper, by what the numbers here say of them (the numbers stand in the table below):",
        summary(CLAIMS),
    ]


def covered() -> list[str]:
    return ["## What of the paper is here", coverage_table(COVERAGE)]


def methods() -> str:
    return "\n".join(
        [
            "Isotonic regression maps one score by the non-decreasing steps that fit best. Of many classes there are several "
            "ways to use it:",
            "",
            "* **IR-OvR**: one map for each class against the rest; then rows are divided by their sums.",
            "* **FIR** (flattened): one map for all classes, fitted to the probabilities of all of them together; then rows "
            "are divided by their sums.",
            "* **sCW** (shared class-wise): between these, one map for each group of classes that occur about as often. "
            "The paper names it and has no figures of it; it is not run here.",
            "* **NA-FIR** (normalisation-aware): one map for all classes as FIR has, but the one that is best after rows are "
            "divided by their sums.",
            "* **SCIR** (sorted cumulative): one map of the sum of the r highest probabilities of a row, non-decreasing in the "
            "sum and in r; a class gets the difference of two such values.",
            "",
            "TS, VS and MS are temperature, vector and matrix scaling, which are linear in logarithms of the probabilities.",
        ]
    )


def design() -> list[str]:
    said = {method: sum(one.warned[method] for one in measured()) for method in METHODS}
    warned = ", ".join(f"{method} on {count}" for method, count in said.items() if count) or "none"
    return [
        "## What was run",
        forecast_table(),
        "Predictions on CIFAR are of networks trained by others; half of their rows calibrate and half test, or as they were "
        "split already (ResNet-50). The five tables of predictions with one seed are published ones. The others are of seven "
        "classifiers "
        f"of scikit-learn, trained on half of the rows (at most {MOST_TRAINED:,}) of {SEEDS} random splits; of the remaining "
        "rows a quarter calibrates, and the rest tests, as in the paper. The tree has leaves of 5 rows, the MLP "
        "is trained until it is far too sure, k-NN has 20 neighbours. Covertype goes without its first column, the number of "
        "the row, which gives the class away. Spambase has two classes: there SCIR is plain isotonic regression of the higher "
        "probability.",
        "**Methods** of the tables and pictures below: NA-FIR is `NormalizedFlattenedIsotonic()`, with a smoothing chosen by "
        'cross-validation where the paper has none; SCIR `SortedCumulativeIsotonic(rise="last")`, as in the paper, with an '
        "epsilon chosen by cross-validation; FIR and IR-OvR "
        '`ByNotion(IsotonicCalibration(finite=None), ...)` with `"flattened"` and `"class-wise"`; TS, VS and MS '
        "`TemperatureScaling()`, `VectorScaling()` and `MatrixScaling()`, on logarithms of the probabilities. Only the "
        "section on where SCIR leads fixes smoothing and epsilon. "
        f"{unpenalised()}",
        "**Metrics**: NLL with probabilities clipped at 1e-12; conf-ECE and cw-ECE with 15 bins of equal width; TECE with 15 "
        "bins of equal mass a class and threshold 1/K; BS is the mean over classes. **A model** is a classifier on a data set, "
        f"{len(names())} in all, its figures means over seeds. Wins are shares of models on which a method is best; equal ones "
        "share.",
        "**What is clear**: by Nemenyi's criterion two mean ranks over all models differ clearly from "
        f"{critical_difference():.2f} on, taking all pairs of the eight methods at once at level 5%. It takes models for "
        "independent, which those of one data set are not quite.",
        f"Methods that gave a warning, by forecasts of {len(measured())}: {warned}.",
    ]


def verdicts(rows: list[Row]) -> list[str]:
    return [
        "## What the paper says, and what was found",
        f"Two methods are compared on {len(names())} models by a sign test at level 5%; it counts if more data sets agree than "
        "not. Models of one data set are not quite independent, so that the test is rather too sure.",
        "**Readings.** The paper leaves open by how much its random search changes a value (here 0.001, 0.003 and 0.01), which "
        "epsilon SCIR adds (1e-12, 1e-6, 1e-4 and 1e-3), and at which probability the NLL is clipped (1e-15, 1e-12 and 1e-7, "
        "where FIR or IR-OvR, which predict zeros, are compared). MS has no penalty. A verdict stands if every reading gives "
        "it; otherwise the sentence is *not decided*. The defaults of the library (smoothing and epsilon by cross-validation) "
        "and the exact optimum of NA-FIR were not run in the paper: they decide nothing here.",
        claims_table(CLAIMS, rows),
    ]


def ranks() -> list[str]:
    return [
        "## Average ranks",
        "The paper's Table 2: mean rank over the models of a data set, in brackets the share of models on which the method is "
        "best; the lowest rank is bold. The last line has the paper's own, as means over its 75 models.",
        *rank_tables(),
        "### Values",
        "The paper's figures 7 to 9: a point is a model. NLL and BS, which differ more between models than between "
        "methods, are standardised over the methods of each model; the paper does so over all models of a data set.",
        *(f"![{metric} by data set and method](images/na/{file_of('values', metric)})" for metric in RANKED),
    ]


def pairs() -> list[str]:
    return [
        "## Who beats whom",
        "The paper's figures 3 and 10: percent of the models on which the method of the row is better than that of the "
        "column; equal ones count half.",
        *(f"![{metric}: who beats whom](images/na/{file_of('wins', metric)})" for metric in METRICS),
        "### Accuracy",
        accuracy_table(),
        kept_order(),
    ]


def single_models() -> list[str]:
    return [
        "## Single models",
        "In the form of the paper's Tables 4 and 5, the best of each column bold.",
        *model_tables(),
        "The paper's network nearest to one of these is a DenseNet121 on CIFAR-100, another training of a larger network, with "
        "other rows to calibrate on:",
        paper_densenet_table(),
    ]


def calibrated() -> list[str]:
    return [
        "## Which predictions pass for calibrated",
        f"The paper's figure 1, on the published predictions that are most over-confident, {shown().architecture} on "
        f"{shown().data_set}: p-values of conf-ECE against its values on labels drawn from the predictions, "
        f"{PANEL_RESAMPLES} times.",
        "![Confidence reliability after each method](images/na/reliability.png)",
        f"The same of all tables of predictions, with {RESAMPLES} draws: share with p above {LEVEL:g}. A calibrated one passes "
        "in 95%, and with few rows others pass as well.",
        p_value_table(),
    ]


def by_classifier() -> list[str]:
    parts = [
        "## By classifier",
        "The paper's figures 11 to 14: mean over the data sets, and in brackets the mean rank, of which the lowest is bold. "
        "Means of NLL over data sets go by those on which it is high. "
        f"{where_fir_leads()}",
    ]
    for metric in BY_CLASSIFIER:
        parts += [f"### {metric}, by classifier", architecture_table(metric)]
        parts.append(f"![{metric} by classifier and method](images/na/{file_of('classifiers', metric)})")
    return parts


def main() -> None:
    """Judge the claims, draw the pictures and write the page."""
    require(FILES)
    warnings.filterwarnings("ignore", "log loss is finite only", CalibrationWarning)  # FIR and IR-OvR predict zeros
    with threadpool_limits(1):
        annealing.check_facts()
        rows = run(PAPER)
        print("pictures", flush=True)
        draw()
        print("page", flush=True)
        PAPER.document.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
