"""What of this paper is in the library."""

from __future__ import annotations

from studies.coverage import Item, State

DATA = "the 75 models of the paper are not at hand; 33 others, of 7 data sets"

COVERAGE: tuple[Item, ...] = (
    Item("Definition 2.1", "calibrated", "`canonical_calibration_error`", State.DONE),
    Item("Definition 2.2", "class-wise calibrated, cw-ECE", "`classwise_calibration_error`", State.DONE),
    Item("Definition 2.3", "confidence calibrated, conf-ECE", "`expected_calibration_error`", State.DONE),
    Item("Section 2.2", "reliability diagram", "`reliability_curve`", State.DONE),
    Item("Section 2.2", "TECE", "`thresholded_adaptive_calibration_error`", State.DONE),
    Item(
        "Definition 2.4",
        "proper scoring rules: NLL and Brier score",
        "`log_loss`, `mean_class_brier_loss`",
        State.DONE,
    ),
    Item(
        "Fig. 1",
        "reliability and p-values after each method",
        "`reliability_curve`, `resampling_test`",
        State.IN_FORM,
        DATA,
    ),
    Item(
        "Section 3.1, eq. 1",
        "temperature, vector and matrix scaling",
        "`TemperatureScaling`, `VectorScaling`, `MatrixScaling`",
        State.DONE,
    ),
    Item("Section 3.1", "beta and Dirichlet calibration", "`BetaCalibration`, `DirichletCalibration`", State.DONE),
    Item(
        "Section 3.2, eq. 2",
        "isotonic regression, histogram binning",
        "`IsotonicCalibration`, `HistogramBinning`",
        State.DONE,
    ),
    Item(
        "Section 3.3",
        "IR-OvR: one class against the rest",
        '`ByNotion(IsotonicCalibration(), "class-wise")`',
        State.DONE,
    ),
    Item(
        "Section 3.3",
        "sCW: classes of alike frequency share a map",
        "`ByNotion(IsotonicCalibration(), SharedClassWise())`",
        State.DONE,
        "in the library, not run",
    ),
    Item(
        "Section 3.3, eq. 3",
        "FIR: all classes share a map",
        '`ByNotion(IsotonicCalibration(), "flattened")`',
        State.DONE,
    ),
    Item("Table 1", "order and permutation", "the claims below", State.IN_FORM, "two of three lines"),
    Item("Table 2", "ranks and wins by data set", "the tables below", State.IN_FORM, DATA),
    Item("Section 4.1, eq. 4 and 5", "NA-FIR", "`NormalizedFlattenedIsotonic(smoothing=0)`", State.DONE),
    Item("Algorithms 1 and 4", "random search", '`NormalizedFlattenedIsotonic(solver="annealing")`', State.DONE),
    Item(
        "Fig. 2",
        "the map of SCIR; NA-FIR against FIR",
        "`cumulative_calibration_map`, `calibration_shift`",
        State.IN_FORM,
        "drawn of other data, in the gallery",
    ),
    Item("Section 4.2, eq. 6", "SCIR", "`SortedCumulativeIsotonic`", State.DONE),
    Item(
        "Proposition 4.1, Algorithms 2 and 3",
        "maximal upper sets",
        "`SortedCumulativeIsotonic`, by Lemma A.11 at constant cost a point",
        State.DONE,
    ),
    Item("Section 5.1", "experiments", "the tables below", State.IN_FORM, DATA),
    Item("Fig. 3 and 10", "who is better than whom", "the pictures below", State.IN_FORM, DATA),
    Item(
        "Section 5.2", "processor time", "the last section below", State.IN_FORM, "another program on another machine"
    ),
    Item(
        "Definitions A.1 to A.10, Theorems A.3 and A.5, Lemmas A.8, A.9 and A.11",
        "upper sets, projection pairs, the recursion",
        "`SortedCumulativeIsotonic`",
        State.DONE,
    ),
    Item("Section A.1", "prediction off the fitted points", "`SortedCumulativeIsotonic`", State.DONE),
    Item("Fig. 4", "blocks cut in pieces", "`NormalizedFlattenedIsotonic(min_blocks=6, min_block_size=2)`", State.DONE),
    Item(
        "Table 3, appendix B",
        "data sets and classifiers",
        "",
        State.NOT_POSSIBLE,
        "predictions of these classifiers are not at hand, and training them takes many hours of a GPU",
    ),
    Item(
        "Fig. 5",
        "time against minimum cuts",
        "the benchmarks",
        State.IN_FORM,
        "with igraph",
    ),
    Item(
        "Fig. 6",
        "time over classes and rows",
        "the last section below",
        State.IN_FORM,
        "the predictions of another network for CIFAR-100, and random ones",
    ),
    Item("Fig. 7 to 9", "values by data set", "the pictures below", State.IN_FORM, DATA),
    Item("Fig. 11 to 14", "values and ranks by architecture", "the tables and pictures below", State.IN_FORM, DATA),
    Item("Tables 4 and 5", "single models", "the tables below", State.IN_FORM, DATA),
    Item(
        "Theorem D.1, Lemmas D.2 and D.3",
        "isotonic regression is best by every proper score",
        "`IsotonicCalibration`",
        State.DONE,
    ),
)
