"""BLAS with one thread while calibrators are fitted."""

import numpy as np
import pytest
import threadpoolctl

from calibrant import PlattScaling
from calibrant._core import threads


def blas():
    """Threads of each BLAS that is loaded."""
    return [one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]


@pytest.fixture
def two():
    """BLAS with two threads."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if set(blas()) != {2}:
            pytest.skip("this BLAS has one thread")
        yield


@pytest.mark.usefixtures("two")
def test_blas_has_one_thread_in_the_block_and_then_as_many_as_before():
    with threads.one_blas_thread():
        assert set(blas()) == {1}
        with threads.one_blas_thread():
            assert set(blas()) == {1}
        assert set(blas()) == {1}
        other = threads.one_blas_thread()
        other.__enter__()  # as in another thread, which is not ready yet
    assert set(blas()) == {1}
    other.__exit__(None, None, None)
    assert set(blas()) == {2}


@pytest.mark.usefixtures("two")
def test_an_error_in_the_block_restores_the_threads():
    with pytest.raises(ValueError, match="what"), threads.one_blas_thread():
        raise ValueError("what")
    assert set(blas()) == {2}


@pytest.mark.usefixtures("two")
def test_calibrators_are_fitted_with_one_thread_of_blas(monkeypatch):
    seen = []
    monkeypatch.setattr(PlattScaling, "_fit", lambda *_: seen.extend(blas()))
    PlattScaling().fit(np.array([0.2, 0.7, 0.4]), np.array([0, 1, 1]))
    assert set(seen) == {1}
    assert set(blas()) == {2}
