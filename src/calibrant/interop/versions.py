"""What is installed: the versions that a report of a bug needs."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import calibrant
from calibrant._core.threads import n_processors

REQUIRED = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "narwhals", "numba")
"""What pyproject.toml requires."""

OPTIONAL = ("matplotlib", "jinja2", "polars", "pyarrow", "pandas", "tqdm")
"""What the extras add, and pandas, which ``to_frame`` returns where it is installed."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Variables of the environment that limit the threads of what calibrant calls."""


def show_versions() -> None:
    """Print the versions of calibrant, Python and the dependencies, the platform and the threads, for a report of a bug.

    Nothing heavy is imported: versions are read from the metadata of the installed packages.

    Examples
    --------
    >>> import calibrant
    >>> calibrant.show_versions()
    calibrant ...
    """
    facts = {
        "system": {
            "Python": f"{platform.python_version()} ({platform.python_implementation()})",
            "platform": platform.platform(),
        },
        "dependencies": {name: _version(name) for name in REQUIRED},
        "optional dependencies": {name: _version(name) for name in OPTIONAL},
        "threads": {
            "processors": f"{n_processors()} that this process may use",
            **{name: os.environ.get(name, "not set") for name in THREADS},
        },
    }
    print(f"calibrant {calibrant.__version__}")
    for title, found in facts.items():
        print(f"\n{title}")
        for name, value in found.items():
            print(f"  {name:<20}  {value}")


def _version(package: str) -> str:
    """Return the version of a package, or that it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
