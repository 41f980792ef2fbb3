"""Save one tiny calibrator of each new kind, with what it predicts: tests/interop/saved_calibrators.json.

    python -m tools.make_saved_calibrators

Only kinds that the file lacks are added. What stands there stays as it was written (most of it by this file of commit
6c24639e, which has the options): tests read it with every later version.
"""

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import calibrant
from calibrant._core.registry import entries
from calibrant.interop.save import to_document
from tests.laws import test_saved_calibrators as law

ROWS = 14
OPTIONS: dict[str, dict[str, Any]] = {}
"""By names such as "calibrator spline": what a kind must be given, and what makes a small file where the default is large."""

AROUND: dict[str, Callable[[Any], Any]] = {
    "calibrator": lambda made: made,
    "notion": lambda made: calibrant.ByNotion(calibrant.PlattScaling(), made),
    "binning": calibrant.HistogramBinning,
    "simplex-binning": calibrant.calibrators.CanonicalBinning,
}
"""Makes a calibrator of each kind of thing."""


def saved(calibrator: Any) -> dict[str, Any]:
    """Fit, and return the document with a forecast and what it is calibrated to."""
    rng = np.random.default_rng(17)
    prob = rng.dirichlet(np.ones(3), ROWS).round(2)
    prob[:, 2] = (1.0 - prob[:, 0] - prob[:, 1]).round(2)
    label = (rng.random((ROWS, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    label[:3] = [0, 1, 2]
    new = np.vstack([np.eye(3), np.full((1, 3), 1.0 / 3.0), rng.dirichlet(np.ones(3), 2).round(3)])
    new[4:, 2] = 1.0 - new[4:, 0] - new[4:, 1]
    if isinstance(calibrator, calibrant.calibrators.BinaryCalibrator):
        prob, new, label = prob[:, 0], new[:, 0], label == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = calibrator.fit(prob, label)
    return {"document": to_document(fitted), "forecast": new.tolist(), "prediction": fitted.calibrate(new).tolist()}


def main() -> None:
    """Add what is missing."""
    known = dict(law.SAVED)
    for kind, around in AROUND.items():
        for name, entry in entries(kind).items():
            if (word := f"{kind} {name}") not in known:
                known[word] = saved(around(entry.target(**OPTIONS.get(word, {}))))
                print(f"added {word}")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in known.items())
    law.FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
