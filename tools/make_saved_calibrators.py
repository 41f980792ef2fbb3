"""Save one tiny calibrator of each kind, with what it predicts: tests/interop/saved_calibrators.json.

    python -m tools.make_saved_calibrators

Only kinds that the file lacks are added. What stands there stays as it was written: tests read it with every later version.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import calibrant
from calibrant._core.registry import entries
from calibrant.interop.save import to_document

SAVED = Path(__file__).resolve().parent.parent / "tests" / "interop" / "saved_calibrators.json"

ROWS = 14
FEW = {  # what makes a small file of a method whose default is large
    "canonical-binning": {"binning": calibrant.binning.Projection(3)},
    "cdf-spline": {"n_knots": 3},
    "histogram-binning": {"binning": 3},
    "multiclass-irp": {"max_regions": 4, "smoothing": 1.0},
    "na-fir": {"smoothing": 0.01},
    "scaling-binning": {"n_bins": 3},
    "scir": {"epsilon": 0.01},
    "spline": {"n_knots": 4},
}
NOTIONS = {"thresholded-class-wise": {"threshold": 0.2}, "top-k-label": {"k": 2}, "one-vs-rest": {"column": 1}}
BINNINGS = {"cross-validated": {"most_bins": 4, "n_folds": 3}, "points-per-bin": {"points_per_bin": 5}}
SIMPLEX_BINNINGS = {
    "grid": {"n_bins": 2},
    "projection": {"n_bins": 3},
    "recursive-split": {"n_splits": 2},
    "sierpinski": {"depth": 1},
}


def makers() -> dict[str, Callable[[], Any]]:
    """Return what makes a calibrator of each kind, unfitted."""
    found: dict[str, Callable[[], Any]] = {
        f"calibrator {name}": lambda name=name, entry=entry: entry.target(**FEW.get(name, {}))
        for name, entry in entries("calibrator").items()
    }
    for name, entry in entries("notion").items():
        found[f"notion {name}"] = lambda name=name, entry=entry: calibrant.ByNotion(
            calibrant.PlattScaling(), entry.target(**NOTIONS.get(name, {}))
        )
    for name, entry in entries("binning").items():
        found[f"binning {name}"] = lambda name=name, entry=entry: calibrant.HistogramBinning(
            entry.target(**BINNINGS.get(name, {"n_bins": 3} if name.startswith("equal") else {}))
        )
    for name, entry in entries("simplex-binning").items():
        found[f"simplex-binning {name}"] = lambda name=name, entry=entry: calibrant.calibrators.CanonicalBinning(
            entry.target(**SIMPLEX_BINNINGS.get(name, {}))
        )
    found["logits"] = lambda: calibrant.VectorScaling(input="logit")
    found["words"] = lambda: calibrant.TemperatureScaling(labels=["zebra", "ant", "gnu"])
    found["inside"] = lambda: calibrant.SafeCalibrator(
        calibrant.ByNotion(calibrant.calibrators.ScalingBinning(calibrant.BetaCalibration(), n_bins=2)), caution=0.0
    )
    return found


def saved(name: str, unfitted: Any) -> dict[str, Any]:
    """Fit, and return the document with a forecast and what it is calibrated to."""
    rng = np.random.default_rng(17)
    prob = rng.dirichlet(np.ones(3), ROWS).round(2)
    prob[:, 2] = (1.0 - prob[:, 0] - prob[:, 1]).round(2)
    label = (rng.random((ROWS, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    label[:3] = [0, 1, 2]
    new = np.vstack([np.eye(3), np.full((1, 3), 1.0 / 3.0), rng.dirichlet(np.ones(3), 2).round(3)])
    new[4:, 2] = 1.0 - new[4:, 0] - new[4:, 1]
    if isinstance(unfitted, calibrant.calibrators.BinaryCalibrator) or name == "notion binary":
        prob, new, label = prob[:, 0], new[:, 0], label == 0
    if unfitted.input == "logit":
        prob, new = np.log(prob + 0.01).round(3), np.log(new + 0.01).round(3)
    if unfitted.labels is not None:
        label = np.array(unfitted.labels)[label]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = unfitted.fit(prob, label)
    return {"document": to_document(fitted), "forecast": new.tolist(), "prediction": fitted.calibrate(new).tolist()}


def main() -> None:
    """Add what is missing."""
    known = json.loads(SAVED.read_text(encoding="utf-8")) if SAVED.exists() else {}
    for name, make in makers().items():
        if name not in known:
            known[name] = saved(name, make())
            print(f"added {name}")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in known.items())
    SAVED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
