from calibrant.interop.save import load_calibrator as load_calibrator
from calibrant.interop.save import save_calibrator as save_calibrator
from .versions import show_versions as show_versions
from calibrant.interop.streams import predictions as predictions
from calibrant.sums.reading import Predictions as Predictions
from calibrant.interop.streams import calibrated as calibrated
