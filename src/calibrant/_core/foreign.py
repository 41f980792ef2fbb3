"""What other packages call things that calibrant has under another name, so that the first guess of a newcomer is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Foreign(NamedTuple):
    """The package that has a name, what to write here, and what differs where that is not the same."""

    package: str
    ours: str
    note: str = ""


SCIKIT_LEARN, NETCAL, PYCALIB, MAPIE, VERIFIED = "scikit-learn", "netcal", "PyCalib", "MAPIE", "uncertainty-calibration"

FOREIGN: Mapping[str, Foreign] = {
    "ACE": Foreign(
        NETCAL,
        "calibration_error(y_true, y_prob, norm=lambda values, weights: values.mean())",
        "That is the average calibration error, whose bins count alike; ACE is here the adaptive one of equal mass, "
        "adaptive_calibration_error",
    ),
    "BBQ": Foreign(NETCAL, "BayesianBinning"),
    "BinaryCalibrationError": Foreign("torchmetrics", "expected_calibration_error"),
    "BinningCalibration": Foreign(PYCALIB, "HistogramBinning"),
    "CDFSplineCalibrator": Foreign("probmetrics", "CDFSplineCalibration"),
    "CalibratedClassifierCV": Foreign(
        SCIKIT_LEARN, "CalibratedClassifier", "ensemble=True makes a pair of estimator and calibrator for each fold"
    ),
    "CalibratedModel": Foreign(PYCALIB, "CalibratedClassifier"),
    "CalibrationDisplay": Foreign(SCIKIT_LEARN, "plot_reliability"),
    "CalibrationError": Foreign("torchmetrics", "calibration_error"),
    "ECE": Foreign(NETCAL, "expected_calibration_error"),
    "ENIR": Foreign(NETCAL, "EnsembleNearIsotonic"),
    "ETSCalibrator": Foreign("probmetrics", "EnsembleTemperatureScaling"),
    "FullDirichletCalibrator": Foreign("dirichletcal", "DirichletCalibration"),
    "HB_toplabel": Foreign("df-posthoc-calibration", 'ByNotion(HistogramBinning(PointsPerBin(50)), "top-label")'),
    "HistogramCalibrator": Foreign(VERIFIED, "HistogramBinning"),
    "HistogramMarginalCalibrator": Foreign(VERIFIED, 'ByNotion("histogram-binning", "class-wise")'),
    "IsotonicRegression": Foreign(SCIKIT_LEARN, "IsotonicCalibration"),
    "LogisticCalibration": Foreign(NETCAL, "PlattScaling"),
    "MCE": Foreign(NETCAL, "maximum_calibration_error"),
    "MMCE": Foreign(
        NETCAL,
        'kernel_calibration_error(y_true, y_prob, notion="confidence", estimator="biased", bandwidth=0.4) ** 0.5',
    ),
    "MatrixScalingCalibrator": Foreign("probmetrics", "MatrixScaling"),
    "ModelWithTemperature": Foreign("temperature_scaling", "TemperatureScaling", 'Pass input="logit" for logits'),
    "MulticlassCalibrationError": Foreign("torchmetrics", "expected_calibration_error"),
    "NearIsotonicRegression": Foreign(NETCAL, "NearIsotonicCalibration"),
    "PlattBinnerCalibrator": Foreign(VERIFIED, "ScalingBinning"),
    "PlattBinnerMarginalCalibrator": Foreign(VERIFIED, 'ByNotion("scaling-binning", "class-wise")'),
    "PlattCalibrator": Foreign(VERIFIED, "PlattScaling"),
    "ReliabilityDiagram": Foreign(NETCAL, "plot_reliability"),
    "SigmoidCalibration": Foreign(PYCALIB, "PlattScaling"),
    "SplineCalib": Foreign("splinecalib", "SplineCalibration"),
    "TopLabelCalibrator": Foreign(MAPIE, 'ByNotion("isotonic", "top-label")'),
    "VectorScalingCalibrator": Foreign("probmetrics", "VectorScaling"),
    "VennAbersCalibrator": Foreign("venn-abers", "VennAbers"),
    "VennAbersMultiClass": Foreign("venn-abers", 'ByNotion("venn-abers", "class-wise")'),
    "accuracy_score": Foreign(SCIKIT_LEARN, 'assess(y_true, y_prob, metrics=["accuracy"])'),
    "binary_ECE": Foreign(PYCALIB, "expected_calibration_error"),
    "binary_calibration_error": Foreign("torchmetrics", "expected_calibration_error"),
    "brier_score": Foreign(PYCALIB, "brier_score_loss"),
    "calibration_curve": Foreign(SCIKIT_LEARN, "reliability_curve"),
    "classwise_ECE": Foreign(PYCALIB, "classwise_calibration_error"),
    "classwise_ece": Foreign("calibre", "classwise_calibration_error"),
    "cross_entropy": Foreign(PYCALIB, "log_loss"),
    "cumulative_differences": Foreign(MAPIE, "cumulative_residual_curve"),
    "dca": Foreign("dcurves", "decision_curve"),
    "full_ECE": Foreign(PYCALIB, "canonical_calibration_error", "There the classes are summed, which is twice as much"),
    "get_calibration_error": Foreign(
        VERIFIED,
        "debiased_calibration_error",
        'That is notion="class-wise" here, where there are more than two classes',
    ),
    "get_ece": Foreign(VERIFIED, "expected_calibration_error"),
    "get_platt_scaler": Foreign(VERIFIED, "PlattScaling"),
    "hoslem_test": Foreign("R's ResourceSelection", "hosmer_lemeshow_test"),
    "kolmogorov_smirnov_p_value": Foreign(MAPIE, "kolmogorov_smirnov_test"),
    "kuiper_p_value": Foreign(MAPIE, "kuiper_test"),
    "multiclass_calibration_error": Foreign("torchmetrics", "expected_calibration_error"),
    "plot_rel_diagram": Foreign("relplot", "plot_smooth_reliability"),
    "plot_reliability_diagram": Foreign(PYCALIB, "plot_reliability"),
    "rel_diagram": Foreign("relplot", "smooth_reliability_curve"),
    "roc_auc_score": Foreign(SCIKIT_LEARN, 'assess(y_true, y_prob, metrics=["roc-auc"])'),
    "smECE": Foreign("relplot", "smooth_calibration_error"),
    "spiegelhalter_p_value": Foreign(MAPIE, "spiegelhalter_test"),
    "top_label_ece": Foreign(
        MAPIE,
        "top_label_calibration_error",
        "There each predicted class has the same weight; here it has that of its rows",
    ),
    "val_prob": Foreign(
        "R's rms",
        'assess(y_true, y_prob, metrics=["calibration-intercept", "calibration-slope", "ici", "emax", "brier", "roc-auc"])',
    ),
}
"""What other packages have, in the order of the names. Where several have it, the one that is used most stands here."""

GUESSED: Mapping[str, tuple[str, ...]] = {
    "calibration_display": ("plot_reliability",),
    "calibration_plot": ("plot_reliability",),
    "compare": ("paired_test", "write_report"),
    "compare_models": ("paired_test", "write_report"),
    "decision_curve_analysis": ("decision_curve",),
    "dump": ("save_calibrator",),
    "evaluate": ("assess",),
    "load": ("load_calibrator",),
    "load_model": ("load_calibrator",),
    "net_benefit": ("decision_curve",),
    "plot_calibration": ("plot_reliability",),
    "plot_calibration_curve": ("plot_reliability",),
    "reliability_diagram": ("reliability_curve", "plot_reliability"),
    "reliability_plot": ("plot_reliability",),
    "save": ("save_calibrator",),
    "save_model": ("save_calibrator",),
}
"""Names that people try first, of no one package, and what to use here."""

WORDS: Mapping[str, str] = {
    "adaptive": "equal-mass",
    "equal-frequency": "equal-mass",
    "quantile": "equal-mass",
    "uniform": "equal-width",
}
"""Words of other packages for binnings, and ours."""
