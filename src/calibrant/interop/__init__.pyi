from .persistence import load_calibrator as load_calibrator
from .persistence import save_calibrator as save_calibrator
from .versions import show_versions as show_versions
from .batches.front import predictions as predictions
from calibrant.sums.predictions import Predictions as Predictions
from .engines.calibrated import calibrated as calibrated
