"""Files are read and written with pyarrow, and without."""

import pytest

from calibrant.interop import columns


@pytest.fixture
def without(monkeypatch):
    """Return what makes packages look as if they were not installed."""
    found = columns.find_spec

    def hide(*packages):
        monkeypatch.setattr(columns, "find_spec", lambda name: None if name in packages else found(name))

    return hide


@pytest.fixture(params=["pyarrow", "numpy"])
def engine(request, without):
    """The package that reads and writes."""
    if request.param != "numpy":
        pytest.importorskip(request.param)
    without(*(() if request.param == "pyarrow" else ("pyarrow",)))
    return request.param
