"""Where the data sets of the studies lie."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path


def data_dir() -> Path:
    """Return the folder of the data sets: $CALIBRANT_DATA, or shared/data beside the repository."""
    return Path(os.environ.get("CALIBRANT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def require(files: Iterable[str]) -> None:
    """Stop with a message if a data set is missing."""
    if missing := [name for name in files if not (data_dir() / name).is_file()]:
        sys.exit(
            f"data sets must lie in {data_dir()}; missing: {', '.join(missing)}. Set CALIBRANT_DATA to their folder."
        )
