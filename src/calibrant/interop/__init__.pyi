from calibrant.sums.reading import Predictions as Predictions
from .save import load_calibrator as load_calibrator
from .save import save_calibrator as save_calibrator
from .streams import calibrated as calibrated
from .streams import predictions as predictions
from .versions import show_versions as show_versions
