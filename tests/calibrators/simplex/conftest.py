"""What tests of evidence scaling share."""

import pytest

from calibrant.fit import evidence as precisions


@pytest.fixture
def patient(monkeypatch):
    """Iterations that end where nothing moves."""
    for name in ("LAST_CHANGE", "LAST_LOSS", "LAST_GAIN"):
        monkeypatch.setattr(precisions, name, 1e-13)
    monkeypatch.setattr(precisions, "MOST_OUTER", 300)
