"""The error of each class is that of its rows alone, and its noise floor that of labels drawn from the forecast."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from reference import binned
from strategies import tables

from calibrant import EqualMass, EqualWidth, load_digits_forecast
from calibrant.binning import Isotonic, Unique
from calibrant.curves import class_errors, plot_class_errors
from calibrant.notions import WithinGroups

TWINS = {EqualWidth(3): binned.equal_width(3), EqualMass(4): binned.equal_mass(4), Unique(): binned.unique}
LOSSES = {"gap": binned.gap, "debiased squared gap": binned.debiased_squared_gap}
Y, PROB = load_digits_forecast()


@pytest.mark.parametrize("binning", TWINS, ids=str)
@given(
    rows=tables(),
    notion=st.sampled_from(["top-label", "class-wise", "confidence"]),
    loss=st.sampled_from(list(LOSSES)),
    norm=st.sampled_from(["l1", "l2", "max"]),
)
def test_values_are_the_errors_of_each_problem_by_itself(binning, rows, notion, loss, norm):
    label, prob, weight = rows
    result = class_errors(
        label, prob, notion=notion, binning=binning, loss=loss, norm=norm, n_resamples=0, sample_weight=weight
    )
    problems = binned.NOTIONS[notion](prob.tolist(), label.tolist(), weight.tolist())
    expected = [binned.calibration_error([own], TWINS[binning], norm, loss=LOSSES[loss]) for own in problems]
    held = result.count > 0
    np.testing.assert_allclose(result.value[held], expected, atol=1e-9)
    assert np.isnan(result.value[~held]).all()
    sizes = np.array([sum(w for _, _, w in own) for own in problems])
    np.testing.assert_array_equal(result.count[held], sizes)
    np.testing.assert_allclose(result.share[held], sizes / sizes.sum())
    assert (result.share[~held] == 0).all()


@given(rows=tables(), notion=st.sampled_from(["top-label", "confidence"]))
def test_a_pair_of_label_and_probability_has_the_errors_of_its_table(rows, notion):
    label, prob, weight = rows
    how = {"notion": notion, "n_resamples": 0, "sample_weight": weight, "labels": range(prob.shape[1])}
    pair = class_errors(label, prob.max(axis=1), y_pred=prob.argmax(axis=1), **how)
    table = class_errors(label, prob, **how)
    assert pair.names == table.names
    np.testing.assert_allclose(pair.value, table.value, atol=1e-12)
    np.testing.assert_array_equal(pair.count, table.count)
    assert pair.notion == table.notion


@pytest.mark.parametrize("loss", ["gap", "squared gap"])
@pytest.mark.parametrize("binning", [EqualWidth(3), EqualMass(4)], ids=str)
@given(rows=tables(max_rows=12), notion=st.sampled_from(["top-label", "class-wise", "confidence"]))
def test_the_noise_floor_is_the_mean_error_of_labels_that_the_forecast_draws(loss, binning, rows, notion):
    label, prob, weight = rows
    weight = (
        weight + 0.5 if isinstance(binning, EqualWidth) else np.ones(len(label))
    )  # no counts: one label is drawn for each row
    result = class_errors(
        label,
        prob,
        notion=notion,
        binning=binning,
        loss=loss,
        n_resamples=4,
        rng=np.random.default_rng(0),
        sample_weight=weight,
    )
    rng, floors = np.random.default_rng(0), []
    for _ in range(4):
        drawn = [binned.draw(row, u) for row, u in zip(prob.tolist(), rng.random(len(prob)).tolist(), strict=True)]
        problems = binned.NOTIONS[notion](prob.tolist(), drawn, weight.tolist())
        gap = binned.gap if loss == "gap" else lambda rows: binned.gap(rows) ** 2
        floors.append([binned.calibration_error([own], TWINS[binning], "l1", loss=gap) for own in problems])
    held = result.count > 0
    np.testing.assert_allclose(result.noise_floor[held], np.mean(floors, axis=0), atol=1e-9)
    assert np.isnan(result.noise_floor[~held]).all()


def test_bins_that_follow_the_outcomes_are_cut_anew_for_each_draw():
    """Isotonic bins fit the noise of each draw: bins that stay would make less of it."""
    score = np.linspace(0.1, 0.9, 200)
    label = (np.random.default_rng(0).random(200) < score).astype(int)
    anew = class_errors(label, score, notion="binary", binning=Isotonic(), n_resamples=50).noise_floor[0]
    one = class_errors(label, score, notion="binary", binning=1, n_resamples=50).noise_floor[0]
    assert anew > one


# Pictures


SHARP = PROB**2 / (PROB**2).sum(axis=1, keepdims=True)


def errors(prob=PROB, **options):
    return class_errors(Y, prob, **{"n_resamples": 5, **options})


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_artists_carry_exactly_the_arrays_of_the_results():
    results = {"before": errors(), "after": errors(SHARP)}
    ax = plot_class_errors(results)
    for result, bars in zip(results.values(), ax.containers, strict=True):
        np.testing.assert_array_equal([bar.get_height() for bar in bars], result.value)
    black = [lines for lines in ax.collections if (lines.get_colors()[0, :3] == 0).all()]
    for result, bars, lines in zip(results.values(), ax.containers, black, strict=True):
        for bar, segment, floor in zip(bars, lines.get_segments(), result.noise_floor, strict=True):
            assert segment[:, 1].tolist() == [floor, floor]
            left, right = bar.get_x(), bar.get_x() + bar.get_width()
            np.testing.assert_allclose(segment[:, 0], [left, right])


def test_names_and_numbers_of_rows_stand_under_the_bars():
    result = errors()
    ax = result.plot()
    assert ticks(ax) == [f"{j}\n{count}" for j, count in enumerate(result.count)]
    assert ax.get_xlabel() == "predicted class, and rows"
    assert ticks(result.plot(counts=False)) == [str(j) for j in range(10)]


def test_the_noise_floor_comes_last_in_the_legend_and_can_be_left_out():
    results = {"before": errors(), "after": errors(SHARP)}
    assert words(plot_class_errors(results)) == ["before", "after", "noise floor"]
    assert words(plot_class_errors(results, noise=False)) == ["before", "after"]
    assert plot_class_errors(errors(n_resamples=0)).get_legend() is None


def test_a_label_with_its_probability_stands_beside_a_table():
    top = PROB.argmax(axis=1)
    pair = class_errors(Y, PROB.max(axis=1), y_pred=top, n_resamples=5)
    groups = class_errors(top == Y, PROB.max(axis=1), notion=WithinGroups(top), n_resamples=5)
    ax = plot_class_errors({"table": errors(), "pair": pair, "groups": groups}, counts=False)
    assert ticks(ax) == [str(j) for j in range(10)]
    assert ax.get_xlabel() == "predicted class"


def test_different_classes_are_refused():
    with pytest.raises(ValueError, match="bars side by side must be of the same classes"):
        plot_class_errors({"a": errors(), "b": class_errors(Y % 2, PROB[:, :2], rows="normalize", n_resamples=0)})
    with pytest.raises(ValueError, match="results must hold at least one curve"):
        plot_class_errors({})


REFUSED = [
    ({"notion": "class-wise"}, "one notion; got class-wise and top-label"),
    ({"norm": "l2"}, "one norm; got l1 and l2"),
    ({"loss": "squared gap"}, "one loss; got gap and squared gap"),
]


@pytest.mark.parametrize(("option", "message"), REFUSED, ids=["notion", "norm", "loss"])
def test_different_measures_are_refused(option, message):
    with pytest.raises(ValueError, match=f"bars side by side must be of {message}"):
        plot_class_errors({"a": errors(), "b": errors(**option)})
    assert plt.get_fignums() == []
