"""What of this paper is in the library."""

from __future__ import annotations

from studies.coverage import Item, State

DONE, IN_FORM = State.DONE, State.IN_FORM
ONE_OF_EIGHT = "one of the paper's eight networks, a ResNet-50 on CIFAR-10, and another training of it"
SMALLER = "14,747 rows of four classes in place of 581,012 of seven"

COVERAGE: tuple[Item, ...] = (
    Item("Definition (Guo et al.)", "confidence calibration", "`expected_calibration_error`", DONE),
    Item("Example", "two patients", "`load_two_patients`", DONE),
    Item("Definition", "top-label calibration, conf-ECE and TL-ECE", "`top_label_calibration_error`", DONE),
    Item("Definition of the diagram", "gap of each class in a bin, and their weighted mean", "`top_label_curve`", DONE),
    Item("Fig. 1", "confidence and top-label diagram of a ResNet-50", "`plot_top_label`", IN_FORM, ONE_OF_EIGHT),
    Item("Fig. 2", "the classes in one bin", "`plot_top_label_bin`", IN_FORM, ONE_OF_EIGHT),
    Item("Fig. 3", "conf-ECE and TL-ECE of four networks on CIFAR-10 by number of bins", "`bin_sweep`", IN_FORM,
         "one network of the architecture ResNet-50, in another training"),
    Item("Definitions", "class-wise, top-K-confidence and top-K-label calibration", "`TopKConfidence`, `TopKLabel`", DONE),
    Item("Table 1", "notions and their binary statements", "`binary_problems`", DONE),
    Item("Fig. of six points", "what each notion makes of six rows", "`load_top_label_example`, `binary_problems`", DONE),
    Item("Algorithms 1 to 5", "from a binary calibrator to one of a notion", "`ByNotion`", DONE),
    Item("Table 2", "TL-ECE and TL-MCE of eight networks",
         "`top_label_calibration_error`, `top_label_maximum_calibration_error`", IN_FORM, ONE_OF_EIGHT),
    Item("Table 3", "class-wise ECE of eight networks", "`classwise_calibration_error`", IN_FORM, ONE_OF_EIGHT),
    Item("Definition 1", "marginal and conditional top-label calibration", "`binning_guarantee`", DONE),
    Item("Algorithm 8", "top-label histogram binning", "`HistogramBinning`, `PointsPerBin`, `ByNotion`", DONE),
    Item("Theorem 1", "its guarantee", "`binning_guarantee`, `fitted_guarantee`", DONE),
    Item("Remark", "TL-MCE and errors in other norms", "`top_label_maximum_calibration_error`, `calibration_error`", DONE),
    Item("Fig. 4 (a), (b)", "forests on Covertype, points per bin and bins per class", "`class_errors`", IN_FORM, SMALLER),
    Item("Proposition", "canonical calibration implies class-wise", "`canonical_calibration_error`", DONE),
    Item("Binning scheme", "a vector for each bin of the simplex", "`CanonicalBinning`", DONE),
    Item("Bounds by multinomial concentration", "of the vectors", "`canonical_binning_guarantee`", DONE),
    Item("Fig. 10, scheme (1)", "Sierpinski binning", "`Sierpinski`", DONE),
    Item("Fig. 11", "binning by a grid", "`SimplexGrid`", DONE),
    Item("Algorithm 10", "projection histogram binning", "`Projection`", DONE),
    Item("Fig. 12", "maps on three classes of Covertype", "`simplex_partition`", IN_FORM,
         "another split, and other base predictions"),
)  # fmt: skip
