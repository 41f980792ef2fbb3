"""What a person does first with an installed calibrant, run by `make wheel` where nothing else is installed."""

import subprocess
import sys
import tempfile
from pathlib import Path

import calibrant
from calibrant._core.lazy import homes, load

assert Path(calibrant.__file__).resolve().is_relative_to(Path(sys.prefix).resolve()), calibrant.__file__
assert (Path(calibrant.__file__).parent / "py.typed").is_file()
assert all(load(name) is not None for name in homes())

y, prob = calibrant.load_digits_forecast()
half = len(y) // 2
before = calibrant.top_label_calibration_error(y[half:], prob[half:])
calibrator = calibrant.TemperatureScaling().fit(prob[:half], y[:half])
calibrated = calibrator.predict_proba(prob[half:])
assert calibrant.top_label_calibration_error(y[half:], calibrated) < before

with tempfile.TemporaryDirectory() as folder:
    for ending in ("json", "npz"):
        path = Path(folder) / f"calibrator.{ending}"
        calibrant.save_calibrator(calibrator, path)
        assert (calibrant.load_calibrator(path).predict_proba(prob[half:]) == calibrated).all()
    page = Path(folder) / "report.html"
    command = [Path(sys.executable).parent / "calibrant", "demo", "-o", page]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    assert page.stat().st_size > 100_000

print(f"calibrant {calibrant.__version__}, Python {sys.version.split()[0]}: measured, calibrated, saved, reported")
