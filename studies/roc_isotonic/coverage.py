"""What of this paper is in the library."""

from __future__ import annotations

from studies.coverage import Item, State

DONE, IN_FORM, NOT_YET, NOT_POSSIBLE = State.DONE, State.IN_FORM, State.NOT_YET, State.NOT_POSSIBLE

COVERAGE: tuple[Item, ...] = (
    Item("Definition 1.1", "calibration of a classifier", "`calibration_error`", DONE),
    Item("Definition 1.2", "calibration error (ECE)", "`expected_calibration_error`", DONE),
    Item(
        "Eq. 1",
        "calibration and refinement parts of the cross-entropy",
        '`corp_decomposition(score="log")`',
        DONE,
        "as printed, arguments exchanged: the cross-entropy needs the divergence of the class rates from the prediction",
    ),
    Item(
        "1.2", "binning, Platt scaling, beta calibration", "`HistogramBinning`, `PlattScaling`, `BetaCalibration`", DONE
    ),
    Item("Definition 2.1", "isotonic regression", "`IsotonicCalibration`", DONE),
    Item("Algorithm 1", "pool adjacent violators", "`IsotonicCalibration`", DONE),
    Item("Proposition 2.1", "isotonic regression is calibrated on its rows", "`IsotonicCalibration`", DONE),
    Item("Definition 2.2", "symmetric ROC curve", "`roc_curve`", DONE),
    Item("Theorem 2.1", "the ROC curve of the fit is the hull", "`area_under_roc_hull_score`", DONE),
    Item("2.4", "IRP of two classes, with a stop", "`IsotonicRecursivePartitioning`", DONE),
    Item("2.4", "recursive binning", "`RecursiveSplit`", DONE),
    Item("Fig. 1", "cumulative sums, minorant and ROC curves", "`cumulative_sum_curve`", DONE),
    Item("Fig. 2", "curves of two classes", "`MulticlassRecursivePartitioning`, `plot_partition_path`", DONE),
    Item("Fig. 3", "a split of the triangle", "`simplex_split`", DONE),
    Item("Eq. 3", "regions around a point", "`SplitTree`", DONE),
    Item("Definition 3.1", "ROC surface and the volume under it", "`roc_surface`, `volume_under_surface_score`", DONE),
    Item("3.1", "Hand and Till's measure", "`hand_till_score`", DONE),
    Item(
        "Definition 3.2",
        "ROC monotony",
        '`MulticlassRecursivePartitioning(splits="exact")`',
        NOT_YET,
        "it checks the converse, that splits of the predictions are splits of the calibrated vectors, at chosen points",
    ),
    Item("3.3", "quality of a split and its choice", "`MulticlassRecursivePartitioning`", DONE),
    Item("Algorithm 2", "IRP of several classes, as printed", "`MulticlassRecursivePartitioning`", DONE),
    Item("3.4", "the published code, its first split included", "studies/roc_isotonic", DONE),
    Item(
        "3.4, remark",
        "the exact best partition by a linear program",
        "",
        NOT_YET,
        "splits are sought among candidates, as in the paper's experiments",
    ),
    Item("Fig. 4", "curves of three classes", "`MulticlassRecursivePartitioning`, `plot_partition_path`", DONE),
    Item("Fig. 5", "curves of four classes", "`MulticlassRecursivePartitioning`, `plot_partition_path`", DONE),
    Item(
        "Fig. 6",
        "three classes, labels with noise",
        "`simplex_points`, `simplex_partition`",
        IN_FORM,
        "the strength of the noise is not in the text",
    ),
    Item("Fig. 7", "ROC surfaces before and after", "`plot_roc_surface`", IN_FORM, "of the same drawn rows"),
    Item("Fig. 8", "four classes in the tetrahedron", "`plot_simplex_points`", DONE),
)
