"""Profiles of Hypothesis, and where the real data sets lie."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("seeded", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "seeded"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the data sets: $CALIBRANT_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CALIBRANT_DATA", beside))
    if not (folder / "cifar10_resnet50.npz").is_file():
        pytest.skip(f"no data sets in {folder}; set CALIBRANT_DATA")
    return folder
