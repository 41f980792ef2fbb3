"""The picture of a null distribution: what is drawn is what the test found."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import drawing
from calibrant.significance.result import NullDistribution, chi_squared, label_draws, standard_normal

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("agg")


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    plt.close("all")


FIG_21 = cb.significance.resampling_test(*cb.datasets.load_survey_table_3(), labels=[1, 2, 3], binning=5)


def colour_of(patch):
    from matplotlib.colors import to_hex

    return to_hex(patch.get_facecolor()).upper()


def bars(ax):
    return [patch for patch in ax.patches if hasattr(patch, "get_x") and patch.get_height() > 0]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_figure_21_of_the_survey():
    """All draws are drawn, and the dark bars are those that reach the observed value."""
    ax = FIG_21.plot()
    drawn = bars(ax)
    assert sum(bar.get_height() for bar in drawn) == 1000
    beyond = [bar for bar in drawn if colour_of(bar) == drawing.GAP]
    assert sum(bar.get_height() for bar in beyond) == round(FIG_21.pvalue * 1001) - 1
    assert min(bar.get_x() for bar in beyond) == pytest.approx(FIG_21.statistic)


def test_the_observed_value_is_a_line_and_is_told():
    ax = FIG_21.plot()
    assert any(np.allclose(line.get_xdata(), FIG_21.statistic) for line in ax.lines)
    assert words(ax) == ["observed: 0.1785", f"beyond it: p = {FIG_21.pvalue:.3g}"]
    assert "1000 draws of labels from the forecast" in ax.get_xlabel()
    assert ax.get_title() == "resampling of classwise-ece"


def dark(ax):
    """The bars beyond the observed value."""
    return [bar for bar in bars(ax) if colour_of(bar) == drawing.GAP]


def test_the_tail_of_a_law_begins_at_the_observed_value_and_is_the_p_value():
    result = cb.hosmer_lemeshow_test([0, 1] * 20, np.linspace(0.3, 0.7, 40), n_bins=2, n_resamples=None)
    tail = dark(result.plot())
    assert tail[0].get_x() == pytest.approx(result.statistic)
    assert sum(bar.get_height() for bar in tail) == pytest.approx(result.pvalue, abs=6e-4)


def test_both_tails_of_a_two_sided_test_are_shaded():
    result = cb.spiegelhalter_test([0, 1, 1, 0, 1] * 9, np.linspace(0.2, 0.9, 45))
    tails = dark(result.plot())
    assert {np.sign(bar.get_x()) for bar in tails} == {-1.0, 1.0}
    assert min(abs(bar.get_x()) for bar in tails) == pytest.approx(abs(result.statistic), abs=0.05)
    assert sum(bar.get_height() for bar in tails) == pytest.approx(result.pvalue, abs=0.05)


def test_both_tails_of_two_sided_draws_hold_as_many():
    rng = np.random.default_rng(0)
    values = rng.exponential(size=2000)
    result = cb.significance.TestResult("skewed", 3.0, 0.1, label_draws(values), (), "two-sided")
    tails = dark(result.plot())
    above = sum(bar.get_height() for bar in tails if bar.get_x() > 1)
    assert above == np.sum(values >= 3.0)
    assert any(bar.get_x() < 0.5 for bar in tails)
    mirrored = cb.significance.TestResult("skewed", -3.0, 0.1, label_draws(-values), (), "two-sided")
    tails = dark(mirrored.plot())
    assert sum(bar.get_height() for bar in tails if bar.get_x() < -1) == np.sum(values >= 3.0)


@pytest.mark.parametrize("statistic", [np.inf, 80.0, -80.0])
def test_a_value_far_out_is_pointed_at_and_does_not_flatten_the_law(statistic):
    ax = cb.significance.TestResult("z", statistic, 0.0, standard_normal(), (), "two-sided").plot()
    low, high = ax.get_xlim()
    assert high - low < 12
    assert words(ax)[0] == f"observed: {statistic:.4g}, far out"


@pytest.mark.parametrize("null", [chi_squared(0), chi_squared(1), chi_squared(2), label_draws(np.zeros(5))], ids=repr)
def test_odd_laws_can_be_drawn(null):
    ax = cb.significance.TestResult("odd", 0.5, 0.4, null, ()).plot()
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    assert 0 == low < high < np.inf


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_what_is_not_defined_is_told():
    with pytest.warns(cb.exceptions.CalibrationWarning, match="set to NaN"):
        found = cb.significance.kernel_test([1], [0.3])
    ax = found.plot()
    ax.figure.canvas.draw()
    assert words(ax) == ["observed: not defined", "beyond it: p = 1"]
    ax = cb.significance.TestResult("z", np.nan, 1.0, standard_normal(), (), "two-sided").plot()
    assert words(ax)[0] == "observed: not defined"
    assert dark(ax) == []


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("values", [[np.inf, np.nan], [np.inf, 1.0, 2.0, np.nan]])
@pytest.mark.parametrize("statistic", [1.5, np.inf, np.nan])
def test_draws_that_are_not_finite_are_told(values, statistic):
    ax = cb.significance.TestResult("some", statistic, 1.0, label_draws(np.array(values)), (), "two-sided").plot()
    ax.figure.canvas.draw()
    assert f"not drawn: 2 of {len(values)} draws are not finite" in words(ax)


@pytest.mark.parametrize("statistic", [0.0, 3.0, np.inf])
def test_a_law_without_freedom_is_a_bar_at_zero(statistic):
    ax = cb.significance.TestResult("odd", statistic, 1.0, chi_squared(0), ()).plot()
    (bar,) = bars(ax)
    assert bar.get_x() <= 0.0 < bar.get_x() + bar.get_width()
    assert colour_of(bar) == (drawing.GAP if statistic == 0.0 else drawing.FILL)


def test_a_law_of_somebody_else_is_drawn_by_its_survival_function():
    class Even(NullDistribution):
        description = "between 0 and 1"

        def sf(self, x):
            return 1.0 - np.clip(x, 0.0, 1.0)

    tail = dark(cb.significance.TestResult("even", 0.8, 0.2, Even(), ()).plot())
    assert sum(bar.get_height() for bar in tail) == pytest.approx(0.2, abs=6e-4)
