# The public names, once: the package loads each from its home when it is first asked for.
from ._registry import declare, entries
from ._validation import CalibrationWarning, DataOptions
from .assessment import Assessment, assess
from .binning import Binning, Bins, EqualMass, EqualWidth, Unique
from .calibrators.base import BinaryCalibrator, MulticlassCalibrator
from .calibrators.by_notion import ByNotion
from .calibrators.classifier import CalibratedClassifier
from .calibrators.isotonic import IsotonicCalibrator
from .calibrators.temperature import TemperatureScaling
from .curves.reliability import ReliabilityCurve, reliability_curve
from .datasets import load_digits_forecast
from .interop.persistence import load_calibrator, save_calibrator
from .metrics.error import calibration_error
from .metrics.named import (
    adaptive_calibration_error,
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    root_mean_squared_calibration_error,
    top_label_calibration_error,
    top_label_maximum_calibration_error,
)
from .metrics.scores import accuracy, brier_loss, mean_brier_loss, negative_log_likelihood
from .notions import Notion
from .plots.reliability import plot_reliability
from .report.html import write_report

__version__: str
__all__: list[str]
