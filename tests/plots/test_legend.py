"""A legend hides no data, in any picture: it lies outside of the Axes, inside of the figure, and clear of the title."""

import warnings

import numpy as np
import pytest

from calibrant import (
    EqualMass,
    corp_curve,
    decision_curve,
    plot_reliability,
    reliability_curve,
    smooth_reliability_curve,
)
from calibrant.curves import (
    bin_sweep,
    bin_test_curve,
    calibration_map,
    calibration_shift,
    class_errors,
    cumulative_residual_curve,
    cumulative_sum_curve,
    plot_class_errors,
    plot_roc,
    plot_smooth_reliability,
    plot_top_label,
    plot_validity,
    roc_curve,
    score_distribution,
    top_label_curve,
    validity_curve,
)
from calibrant.decisions import expected_cost_curve
from calibrant.significance import resampling_test

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

pytestmark = pytest.mark.settled

KNOWN = {"labels": [0, 1]}
LONG = "a forecast with a name as long as names of models are"


def two(p):
    return np.column_stack([1 - p, p])


def same(score):
    return score


PICTURES = {
    "bars": lambda y, p, ax: reliability_curve(y, p, **KNOWN, binning=5).plot(ax=ax, style="bars"),
    "reliability": lambda y, p, ax: plot_reliability(
        {name: reliability_curve(y, q, **KNOWN) for name, q in (("before", p), (LONG, p / 2))}, ax=ax
    ),
    "consistency": lambda y, p, ax: reliability_curve(y, p, **KNOWN, interval="consistency").plot(ax=ax),
    "log-odds": lambda y, p, ax: reliability_curve(y, p / 100, **KNOWN).plot(ax=ax, axis="log-odds"),
    "scores below": lambda y, p, ax: reliability_curve(y, p, **KNOWN).plot(
        ax=ax, below=score_distribution(y, p, **KNOWN)
    ),
    "scores": lambda y, p, ax: score_distribution(y, p, **KNOWN).plot(ax=ax),
    "corp": lambda y, p, ax: corp_curve(y, p, **KNOWN, n_resamples=50).plot(ax=ax),
    "smooth": lambda y, p, ax: plot_smooth_reliability(
        {name: smooth_reliability_curve(y, p, **KNOWN, bandwidth=0.1) for name in ("before", "after")}, ax=ax
    ),
    "cumulative": lambda y, p, ax: cumulative_residual_curve(y, p, **KNOWN).plot(ax=ax),
    "cumulative sum": lambda y, p, ax: cumulative_sum_curve(y, p, **KNOWN).plot(ax=ax),
    "roc": lambda y, p, ax: plot_roc({name: roc_curve(y, p, **KNOWN) for name in ("before", "after")}, ax=ax),
    "bin sweep": lambda y, p, ax: bin_sweep(y, p, **KNOWN, n_bins=[1, 5, 9], n_resamples=20).plot(ax=ax),
    "bin test": lambda y, p, ax: bin_test_curve(y, p, **KNOWN, binning=EqualMass(4)).plot(ax=ax),
    "map": lambda y, p, ax: calibration_map(same, y, p, **KNOWN).plot(ax=ax),
    "shift": lambda y, p, ax: calibration_shift(two(p), {"TS": two(p / 2)}, y_true=y, **KNOWN).plot(ax=ax),
    "cost": lambda y, p, ax: expected_cost_curve(y, {"before": p, "after": p / 2}, **KNOWN).plot(ax=ax),
    "net benefit": lambda y, p, ax: decision_curve(y, p, **KNOWN).plot(ax=ax),
    "null": lambda y, p, ax: resampling_test(y, p, **KNOWN, n_resamples=99).plot(ax=ax),
    "validity": lambda y, p, ax: plot_validity(
        {name: validity_curve(y, p, **KNOWN, binning=5) for name in ("before", LONG)}, ax=ax
    ),
    "top label": lambda y, p, ax: plot_top_label(top_label_curve(y, two(p), **KNOWN), ax=ax),
    "class errors": lambda y, p, ax: plot_class_errors(
        {name: class_errors(y, two(p), **KNOWN, binning=2) for name in ("before", "after")}, ax=ax
    ),
}
ROWS = {"one row": 1, "ten rows": 10}


def rows_of(n):
    rng = np.random.default_rng(n)
    p = rng.uniform(0.02, 0.98, n)
    return (rng.random(n) < p).astype(int), p


def drawn(name, y, p, ax=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.ravel(PICTURES[name](y, p, ax))[0]
    found.figure.canvas.draw()
    return found


def hides_nothing(ax):
    """Assert that the legend of an Axes lies where nothing else is; where it is drawn at all."""
    legend = ax.get_legend()
    if legend is None:
        return
    box, page = legend.get_window_extent(), ax.figure.bbox
    others = [ax.get_window_extent(), *(other.get_window_extent() for other in ax.child_axes)]
    assert not any(box.overlaps(other.padded(-1)) for other in others)
    if ax.get_title():
        assert not box.overlaps(ax.title.get_window_extent())
    assert page.x0 <= box.x0
    assert box.x1 <= page.x1
    assert page.y0 <= box.y0
    assert box.y1 <= page.y1


@pytest.mark.first(8)
@pytest.mark.parametrize("n", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("name", PICTURES)
def test_a_legend_hides_no_data(name, n):
    hides_nothing(drawn(name, *rows_of(n)))


@pytest.mark.first(5)
@pytest.mark.parametrize("name", PICTURES)
def test_a_legend_hides_no_data_of_rows_of_one_class(name):
    hides_nothing(drawn(name, np.zeros(10, dtype=int), np.linspace(0.05, 0.95, 10)))


@pytest.mark.first(2)
@pytest.mark.parametrize("name", PICTURES)
def test_a_legend_leaves_room_for_a_title_that_is_set_afterwards(name):
    ax = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")[1][0]
    drawn(name, *rows_of(50), ax=ax)
    ax.set_title("a title")
    ax.figure.canvas.draw()
    hides_nothing(ax)
