"""What of this paper is in the library."""

from __future__ import annotations

from studies.coverage import Item, State

DONE, IN_FORM, NOT_POSSIBLE = State.DONE, State.IN_FORM, State.NOT_POSSIBLE
TCE = "`bin_test_calibration_error`"
ABSENT = "satimage (6430 of its 6435 rows) and spambase are here, and "

COVERAGE: tuple[Item, ...] = (
    Item("Eq. 1 to 3", "calibration, bins and event rates", "`reliability_curve`", DONE),
    Item("Eq. 4", "expected calibration error", "`expected_calibration_error`", DONE),
    Item("2.2", "adaptive calibration error", "`expected_calibration_error(binning=EqualMass(10))`", DONE),
    Item("Definition 1, eq. 5 and 6", "general calibration error", "`calibration_error`", DONE),
    Item("Definition 2, eq. 7", "test-based calibration error (TCE)", TCE, DONE),
    Item("Algorithm 1", "computation of TCE", TCE, DONE),
    Item(
        "Fig. 1", "test-based reliability diagram", "`bin_test_curve`", IN_FORM, "of other models: abalone is not here"
    ),
    Item("Remark 2", "TCE of several classes", '`bin_test_calibration_error(notion="class-wise")`', DONE),
    Item("Definition 3, eq. 8 and 9", "criterion of bins", "`binning_quality`", DONE),
    Item("3.3, Proposition 1", "bins of PAVA", "`Isotonic`", DONE),
    Item("Algorithm 2", "PAVA with block constraints (PAVA-BC)", "`BoundedIsotonic`", DONE),
    Item(
        "Algorithm 3",
        "bins of PAVA-BC",
        "`BoundedIsotonic`",
        DONE,
        "cut between blocks: the printed cut joins blocks of equal rate (`studies/tce/printed_bins.py`)",
    ),
    Item(
        "Table 1, Fig. 2 and 3",
        "bins of a random forest on satimage",
        "`binning_quality`",
        IN_FORM,
        "6430 of 6435 rows",
    ),
    Item(
        "Fig. 4",
        "bins with a violation of monotonicity",
        "`binning_quality`",
        IN_FORM,
        "of another data set than coil_2000",
    ),
    Item("4.1, Table 2", "simulated test sets", TCE, DONE),
    Item("4.2, Table 3", "abalone", TCE, NOT_POSSIBLE, "the data set is not here; five others are run in its form"),
    Item("4.2, Table 4", "webpage", TCE, NOT_POSSIBLE, "the data set is not here; five others are run in its form"),
    Item(
        "4.3, Table 5",
        "dogs in ImageNet",
        TCE,
        IN_FORM,
        "three of the five networks, to the printed digits; the predictions of ResNet50 and ResNet152 are not here",
    ),
    *(
        Item(f"C.1, Table {number}", what, TCE, DONE)
        for number, what in (
            (6, "the smallest bin"),
            (7, "the largest bin"),
            (8, "both sizes"),
            (9, "noise in the predictions"),
            (10, "the level"),
            (11, "binomial test and t-test"),
            (12, "the number of rows"),
            (13, "the prevalence"),
        )
    ),
    Item(
        "C.2, Table 14",
        "eight UCI data sets",
        TCE,
        IN_FORM,
        ABSENT + "digits, breast cancer and Covertype stand in for others; two of them come with scikit-learn",
    ),
    Item(
        "Fig. 5 and 6",
        "diagrams of four data sets",
        "`bin_test_curve`",
        IN_FORM,
        "of satimage and Covertype, and of RF and MLP; the paper shows LR and GB, of other data sets",
    ),
    Item("Fig. 7", "diagrams of four networks", "`bin_test_curve`", IN_FORM, "one of four networks, AlexNet"),
)
