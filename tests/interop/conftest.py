"""Packages that look as if they were not installed."""

import pytest

from calibrant.interop import columns


@pytest.fixture
def without(monkeypatch):
    """Return what makes packages look as if they were not installed."""
    found = columns.find_spec

    def hide(*packages):
        monkeypatch.setattr(columns, "find_spec", lambda name: None if name in packages else found(name))

    return hide
