"""Save one tiny calibrator of each kind, with what it predicts: tests/interop/saved_calibrators.json.

    python -m tools.make_saved_calibrators

Only kinds that the file lacks are added. What stands there stays as it was written: tests read it with every later version.
"""

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
    "top-label-binning": {"points_per_bin": 4},
}
NOTIONS = {"thresholded-class-wise": {"threshold": 0.2}, "top-k-label": {"k": 2}, "one-vs-rest": {"column": 1}}
BINNINGS = {"equal-mass": {"n_bins": 3}, "equal-width": {"n_bins": 3}, "points-per-bin": {"points_per_bin": 5}}
SIMPLEX_BINNINGS = {
    "grid": {"n_bins": 2}, "projection": {"n_bins": 3}, "recursive-split": {"n_splits": 2}, "sierpinski": {"depth": 1},
}  # fmt: skip


def unfitted() -> dict[str, Any]:
    """Return a calibrator of each kind."""
    around: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
        "calibrator": (lambda made: made, FEW),
        "notion": (lambda made: calibrant.ByNotion(calibrant.PlattScaling(), made), NOTIONS),
        "binning": (calibrant.HistogramBinning, BINNINGS),
        "simplex-binning": (calibrant.calibrators.CanonicalBinning, SIMPLEX_BINNINGS),
    }
    found = {
        f"{kind} {name}": make(entry.target(**options.get(name, {})))
        for kind, (make, options) in around.items()
        for name, entry in entries(kind).items()
    }
    inner = calibrant.ByNotion(calibrant.calibrators.ScalingBinning(calibrant.BetaCalibration(), n_bins=2))
    return found | {
        "logits": calibrant.VectorScaling(input="logit"),
        "words": calibrant.TemperatureScaling(labels=["zebra", "ant", "gnu"]),
        "inside": calibrant.SafeCalibrator(inner, caution=0.0),
    }


def saved(name: str, calibrator: Any) -> dict[str, Any]:
    """Fit, and return the document with a forecast and what it is calibrated to."""
    rng = np.random.default_rng(17)
    prob = rng.dirichlet(np.ones(3), ROWS).round(2)
    prob[:, 2] = (1.0 - prob[:, 0] - prob[:, 1]).round(2)
    label = (rng.random((ROWS, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    label[:3] = [0, 1, 2]
    new = np.vstack([np.eye(3), np.full((1, 3), 1.0 / 3.0), rng.dirichlet(np.ones(3), 2).round(3)])
    new[4:, 2] = 1.0 - new[4:, 0] - new[4:, 1]
    if isinstance(calibrator, calibrant.calibrators.BinaryCalibrator) or name == "notion binary":
        prob, new, label = prob[:, 0], new[:, 0], label == 0
    if calibrator.input == "logit":
        prob, new = np.log(prob + 0.01).round(3), np.log(new + 0.01).round(3)
    if calibrator.labels is not None:
        label = np.array(calibrator.labels)[label]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = calibrator.fit(prob, label)
    return {"document": to_document(fitted), "forecast": new.tolist(), "prediction": fitted.calibrate(new).tolist()}


def main() -> None:
    """Add what is missing."""
    known = json.loads(SAVED.read_text(encoding="utf-8")) if SAVED.exists() else {}
    for name, calibrator in unfitted().items():
        if name not in known:
            known[name] = saved(name, calibrator)
            print(f"added {name}")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in known.items())
    SAVED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
