"""The warning of results that are defined, but of less use than they look."""

import os
import sys
import warnings
from pathlib import Path

__all__ = ["CalibrationWarning"]


# Warnings that point at the user's line, however deep in the library they are found


HERE = str(Path(__file__).parents[1]) + os.sep
CALLING_BACK = ("sklearn", "joblib")
"""Libraries whose frames are passed over as well: they call the library back."""


class CalibrationWarning(UserWarning):
    """A degenerate but legal input: the answer is defined, and the message says which one was given."""


def warn(message: str, category: type[Warning] = CalibrationWarning) -> None:
    """Warn at the first line outside the library."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_inside(file: str) -> bool:
    if file.startswith(HERE):
        return True
    homes = (getattr(sys.modules.get(name), "__file__", None) for name in CALLING_BACK)
    return any(file.startswith(os.path.dirname(home) + os.sep) for home in homes if home)
