"""Without numba and threads, as Python runs in a browser, the figures are the same, and a warning says what is slower."""

import subprocess
import sys

FIGURES = """
import numpy as np
from calibrant import EvidenceScaling, IsotonicCalibration, NormalizedFlattenedIsotonic, SortedCumulativeIsotonic
from calibrant import assess, expected_calibration_error, load_digits_forecast, smooth_calibration_error
from calibrant.significance import kernel_test

y, prob = load_digits_forecast()
y, prob = y[:150], prob[:150]
print(assess(y, prob, metrics=["ece", "classwise-ece", "ks-error", "roc-auc"], n_resamples=19))
for calibrator in (EvidenceScaling(), NormalizedFlattenedIsotonic(), SortedCumulativeIsotonic()):
    print(calibrator.fit(prob, y).predict_proba(prob[:3]).round(10).tolist())
print(IsotonicCalibration().fit(prob[:, 3], y == 3).calibrate([0.1, 0.9]).tolist())
print(round(smooth_calibration_error(y == 3, prob[:, 3]), 10), round(kernel_test(y, prob, n_resamples=9).pvalue, 10))
many = np.random.default_rng(0).random(200_000)
print(round(expected_calibration_error(many < 0.5, many), 12))
"""

BLOCKED = """
import sys, threading
sys.modules["numba"], sys.platform = None, "emscripten"
import calibrant._core.threads
sys.platform = "linux"

def refuse(self):
    raise RuntimeError("can't start new thread")

threading.Thread.start = refuse
import calibrant
print("imported", file=sys.stderr)
"""


def shown(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_the_figures_are_those_with_numba_and_one_warning_says_what_is_slower():
    plain, compiled = shown(BLOCKED + FIGURES), shown(FIGURES)
    assert plain.stdout == compiled.stdout
    assert compiled.stderr == ""
    before, _, after = plain.stderr.partition("imported\n")
    assert before == ""
    assert after.count("RuntimeWarning: numba is not installed, so compiled loops run as plain Python.") == 1
