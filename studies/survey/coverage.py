"""What of this paper is in the library."""

from __future__ import annotations

from studies.coverage import Item, State

DONE, IN_FORM, LEFT_OUT, NOT_POSSIBLE = State.DONE, State.IN_FORM, State.LEFT_OUT, State.NOT_POSSIBLE
ONE_NETWORK = "the network is another one, trained alike; one network decides no sentence"
NOT_THE_WORLD = f"{ONE_NETWORK}, and this one was trained on one of the two readings of class 3 only"
REVIEWED = "the survey names published methods in a sentence each; docs/scope.md says which are left out and why"

COVERAGE: tuple[Item, ...] = (
    Item("Section 2, Table 1", "forecasts of rain of 1920", "`load_hallenbeck_forecasts`", DONE),
    Item("Fig. 1, 2", "reliability diagrams with 10, 5 and 2 bins", "`reliability_curve`", DONE),
    Item("Section 2.1", "thresholds for costs and for other class shares", "`optimal_threshold`, `shift_prior`", DONE),
    Item("Fig. 3", "two diagrams of Niculescu-Mizil and Caruana with fitted curves", "`PlattScaling`, `BetaCalibration`",
         NOT_POSSIBLE, "adapted from another paper, whose data are not given"),
    Item("Fig. 4", "how a calibration map moves the points of a diagram", "`calibration_map`", IN_FORM, "a drawing"),
    Item("Section 2.2", "under- and over-confidence, logistic and beta maps", "`PlattScaling`, `BetaCalibration`", DONE),
    Item("Section 2.3", "confidence, class-wise and multiclass calibration", "`calibration_error`, notion=", DONE),
    Item("Footnote 2", "class-wise calibrated, not in confidence", "`classwise_calibration_error`", DONE),
    Item("Section 3, eq. 1, 2", "Brier score and log loss", "`brier_score_loss`, `log_loss`", DONE),
    Item("Section 3.1, Table 2", "decompositions of proper scores",
         "`calibration_refinement`, `epistemic_irreducible`, `load_survey_table_2`", DONE),
    Item("Section 4.1", "diagrams, bins of equal width and of equal mass, consistency resampling",
         "`reliability_curve`, `EqualWidth`, `EqualMass`, `plot_reliability`", DONE),
    Item("Fig. 5", "diagrams of four older papers", "`plot_reliability`", IN_FORM, "their looks are there, not their data"),
    Item("Fig. 6", "a marker at the centre of a bin misleads", "`reliability_curve`", IN_FORM,
         "markers stand at the mean prediction, as the survey advises"),
    Item("Fig. 7", "three diagrams by PyCalib", "`plot_reliability`", IN_FORM, "the data of the figure are not given"),
    Item("Table 3", "the running example", "`load_survey_table_3`", DONE),
    Item("Table 4, Fig. 8", "bins of class 1", "`reliability_curve`", DONE),
    Item("Definition 1", "binary-ECE", "`expected_calibration_error`", DONE),
    Item("Definition 2", "binary-MCE", "`maximum_calibration_error`", DONE),
    Item("Tables 5, 6, Fig. 9", "bins of classes 2 and 3", "`reliability_curve`", DONE),
    Item("Definition 3", "class-j-ECE", "`OneVsRest`", DONE),
    Item("Definition 4", "class-wise ECE", "`classwise_calibration_error`", DONE),
    Item("Definition 5", "class-wise MCE, and two variations",
         "`classwise_maximum_calibration_error`, `classwise_mean_maximum_calibration_error`, "
         "`classwise_worst_calibration_error`",
         DONE),
    Item("Section 4.3", "an ECE over bins of the simplex", "`canonical_calibration_error`", DONE),
    Item("Definition 6, Table 7, Fig. 10", "confidence-ECE and -MCE", "`expected_calibration_error`", DONE),
    Item("Section 5.1", "training schemes, label smoothing", "`CalibratedClassifier`", DONE),
    Item("Section 5.2, Fig. 11, 12", "two classes and three classifiers", "`SurveyMixture`, `make_survey_forecast`", IN_FORM,
         "the two logistic classifiers are the survey's; " + ONE_NETWORK),
    Item("Eq. 3 to 5, Fig. 13", "empirical binning", "`HistogramBinning`", IN_FORM, ONE_NETWORK),
    Item("Eq. 6, 7, Fig. 14", "isotonic regression", "`IsotonicCalibration`", IN_FORM, ONE_NETWORK),
    Item("Eq. 8, 9, Fig. 15", "Platt scaling", "`PlattScaling`", IN_FORM, ONE_NETWORK),
    Item("Eq. 10, 11, Fig. 16", "beta calibration", "`BetaCalibration`", IN_FORM, ONE_NETWORK),
    Item("Section 5.4", "three classes", "`SurveyMixture`", IN_FORM,
         "in part: both ways to read class 3 are in the library, its methods run on a network of one of them"),
    Item("Eq. 12, 13, Fig. 17", "temperature scaling", "`TemperatureScaling`", IN_FORM, NOT_THE_WORLD),
    Item("Eq. 14, 15, Fig. 18", "vector scaling", "`VectorScaling`", IN_FORM,
         NOT_THE_WORLD + "; of log-probabilities, where the survey's logit takes the last class for reference"),
    Item("Eq. 16, 17, Fig. 19", "matrix scaling", "`MatrixScaling`", IN_FORM,
         NOT_THE_WORLD + "; the study fits the survey's form, against the last class, by a logistic regression"),
    Item("Eq. 18, 19, Fig. 20", "Dirichlet calibration and ODIR", "`DirichletCalibration`", IN_FORM, NOT_THE_WORLD),
    Item("Section 5.5", "extended methods", "`ScalingBinning`", IN_FORM, "a part of them: " + REVIEWED),
    Item("Section 5.6", "methods for training", "", LEFT_OUT, "see docs/scope.md"),
    Item("Sections 5.7, 5.8", "Venn predictors", "`VennAbers`", DONE),
    Item("Sections 5.7, 5.8", "other settings: regression, structured output, conformal prediction, fairness", "", LEFT_OUT,
         "no class probabilities; see docs/scope.md"),
    Item("Eq. 20, 21, Table 8", "the test of Hosmer and Lemeshow", "`hosmer_lemeshow_test`", DONE),
    Item("Section 6", "kernel-based tests", "`kernel_test`", DONE),
    Item("Algorithm 1, Fig. 21", "the resampling test", "`resampling_test`", DONE),
)  # fmt: skip
