# The names that most people need: each stands in its package as well. At most 60, see docs/decisions/0039-the-front-door.md.

# Measure
from .assessment import assess as assess
from .assessment import measure as measure
from .assessment import advise as advise
from .assessment import compare as compare
from .metrics import calibration_error as calibration_error
from .metrics import expected_calibration_error as expected_calibration_error
from .metrics import maximum_calibration_error as maximum_calibration_error
from .metrics import classwise_calibration_error as classwise_calibration_error
from .metrics import top_label_calibration_error as top_label_calibration_error
from .metrics import smooth_calibration_error as smooth_calibration_error
from .metrics import integrated_calibration_index as integrated_calibration_index
from .metrics import calibration_slope as calibration_slope
from .metrics import calibration_intercept as calibration_intercept
from .metrics import bin_test_calibration_error as bin_test_calibration_error
from .metrics import log_loss as log_loss
from .metrics import brier_score_loss as brier_score_loss
from .assessment import scorer as scorer

# Test
from .significance import hosmer_lemeshow_test as hosmer_lemeshow_test
from .significance import spiegelhalter_test as spiegelhalter_test
from .significance import equivalence_test as equivalence_test
from .significance import paired_test as paired_test

# Show
from .curves import reliability_curve as reliability_curve
from .curves import smooth_reliability_curve as smooth_reliability_curve
from .curves import corp_curve as corp_curve
from .curves import plot_reliability as plot_reliability

# Calibrate
from .calibrators import CalibratedClassifier as CalibratedClassifier
from .assessment import CalibratorSelector as CalibratorSelector
from .calibrators import ByNotion as ByNotion
from .calibrators import SafeCalibrator as SafeCalibrator
from .calibrators import EvidenceScaling as EvidenceScaling
from .calibrators import TemperatureScaling as TemperatureScaling
from .calibrators import EnsembleTemperatureScaling as EnsembleTemperatureScaling
from .calibrators import VectorScaling as VectorScaling
from .calibrators import StructuredMatrixScaling as StructuredMatrixScaling
from .calibrators import DirichletCalibration as DirichletCalibration
from .calibrators import PlattScaling as PlattScaling
from .calibrators import BetaCalibration as BetaCalibration
from .calibrators import IsotonicCalibration as IsotonicCalibration
from .calibrators import HistogramBinning as HistogramBinning
from .calibrators import SplineCalibration as SplineCalibration
from .calibrators import VennAbers as VennAbers
from .calibrators import NormalizedFlattenedIsotonic as NormalizedFlattenedIsotonic
from .calibrators import SortedCumulativeIsotonic as SortedCumulativeIsotonic

# Bins
from .binning import EqualMass as EqualMass
from .binning import EqualWidth as EqualWidth

# Decide, and put to use
from .decisions import decide as decide
from .decisions import optimal_threshold as optimal_threshold
from .decisions import decision_curve as decision_curve
from .interop import save_calibrator as save_calibrator
from .interop import load_calibrator as load_calibrator
from .report import write_report as write_report
from .planning import rows_for as rows_for
from .monitoring import Monitor as Monitor
from .interop import show_versions as show_versions

# Read what is larger than memory
from .interop import predictions as predictions

# Data
from .datasets import load_digits_forecast as load_digits_forecast

# All others are in the packages.
from . import assessment as assessment
from . import binning as binning
from . import calibrators as calibrators
from . import curves as curves
from . import datasets as datasets
from . import decisions as decisions
from . import exceptions as exceptions
from . import interop as interop
from . import metrics as metrics
from . import monitoring as monitoring
from . import notions as notions
from . import planning as planning
from . import registry as registry
from . import report as report
from . import significance as significance

__version__: str
