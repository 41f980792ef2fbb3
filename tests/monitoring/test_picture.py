"""The picture of a monitor carries the arrays of its table, and marks its alarms."""

import numpy as np
import pytest

from calibrant import Monitor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

RNG = np.random.default_rng(0)
P = RNG.random(3000)
Y = RNG.random(3000) < np.where(np.arange(3000) < 2000, P, P**2)


@pytest.fixture(scope="module")
def table():
    return Monitor(window=250, reference=3).update(Y, P).table(n_resamples=20)


def test_the_artists_carry_the_arrays_of_the_table(table):
    upper, lower = table.plot()
    lines = {line.get_label(): line.get_ydata() for line in (*upper.lines, *lower.lines)}
    np.testing.assert_array_equal(lines["ECE"], table.ece)
    known = np.isfinite(table.drift_evidence)
    np.testing.assert_allclose(lines["drift"][known], np.clip(table.drift_evidence[known], 1e-3, 1e9))
    assert known.tolist() == [False] * 3 + [True] * 9
    (band,) = (patch for patch in lower.patches if patch.get_label() == "reference")
    of_reference = band.get_patch_transform().transform_path(band.get_path()).get_extents()
    assert of_reference.intervalx.tolist() == [-0.5, 2.5]
    assert lower.get_yscale() == "log"
    rings = [line.get_xdata()[0] for line in lower.lines if line.get_fillstyle() == "none"]
    assert rings == [table.window.index(alarm.window) for alarm in table.alarms]
    assert "95% interval of the true error" in [text.get_text() for text in upper.get_legend().get_texts()]


def test_axes_that_are_given_are_drawn_on_and_others_refused(table):
    axes = plt.subplots(2)[1]
    assert table.plot(axes)[0] is axes[0]
    with pytest.raises(ValueError, match="ax must be two axes, for errors and for evidence"):
        table.plot(axes[0])


def test_one_window_without_a_reference_is_drawn():
    upper, lower = Monitor(window=100, reference=0).update(Y[:50], P[:50]).plot()
    assert [text.get_text() for text in lower.get_xticklabels()] == ["rows 0:100"]
    assert "drift" not in [line.get_label() for line in lower.lines]
    assert upper.get_ylabel() == "ECE (binary)"
