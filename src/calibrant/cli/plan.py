"""`calibrant plan`: how many rows a question takes."""

from __future__ import annotations

import argparse
import json
from typing import Any

from calibrant.cli.inputs import binning_of, read, values_of

ASKED = (
    *("detect", "width", "calibrate", "guarantee"),
    *("accuracy", "event_rate", "auc", "metric", "notion", "wrong", "power", "level", "harm"),
)
"""Options that `rows_for` knows by the same name."""


def run_plan(arguments: argparse.Namespace) -> int:
    """Print how many rows are needed, and what that rests on."""
    from calibrant.planning.rows_for import rows_for

    asked: dict[str, Any] = {name: value for name in ASKED if (value := getattr(arguments, name)) is not None}
    if arguments.classes is not None:
        asked["n_classes"] = arguments.classes
    if arguments.safe:
        asked["safe"] = True
    if arguments.bins is not None or arguments.binning is not None:
        asked["binning"] = binning_of(arguments)
    if arguments.file is not None:
        forecast = read(arguments, arguments.file, label_optional=True)
        asked["y_prob"] = values_of(arguments, forecast)
        if forecast.input == "logit":
            asked["input"] = "logit"
    found = rows_for(**asked, rng=arguments.seed)
    if arguments.json:
        document = {
            "rows": found.rows,
            "standard_error": found.standard_error,
            "sentence": found.sentence,
            "assumed": dict(found.assumed),
            "figure": found.figure,
            "target": found.target,
            "tried": [
                {"rows": n, "value": value if abs(value) < float("inf") else None}
                for n, value in zip(found.tried.tolist(), found.value.tolist(), strict=True)
            ],
        }
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print(found)
    return 0
