"""The bars are the values of the result, and the ticks its noise floors."""

import numpy as np
import pytest

from calibrant import load_digits_forecast
from calibrant.curves import class_errors, plot_class_errors
from calibrant.notions import WithinGroups

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, PROB = load_digits_forecast()
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


def test_bars_of_a_class_stand_around_its_tick():
    ax = plot_class_errors({"a": errors(), "b": errors(SHARP), "c": errors()})
    for j in range(10):
        middles = [bars[j].get_x() + bars[j].get_width() / 2 for bars in ax.containers]
        assert np.mean(middles) == pytest.approx(j)
        assert max(middles) - min(middles) < 0.6


def test_names_and_numbers_of_rows_stand_under_the_bars():
    result = errors()
    ax = result.plot()
    assert ticks(ax) == [f"{j}\n{count}" for j, count in enumerate(result.count)]
    assert ax.get_xlabel() == "predicted class, and rows"
    assert ticks(result.plot(counts=False)) == [str(j) for j in range(10)]


def test_numbers_of_rows_that_differ_are_all_named():
    results = {"a": errors(), "b": class_errors(Y[:100], PROB[:100], labels=range(10), n_resamples=0)}
    assert ticks(plot_class_errors(results))[0] == "0\n{}\n{}".format(*(r.count[0] for r in results.values()))


def test_a_class_without_rows_has_no_bar():
    prob = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1]])
    ax = class_errors([0, 1, 2], prob, n_resamples=3).plot()
    assert np.isnan(ax.containers[0][2].get_height())
    ax.figure.canvas.draw()


def test_what_is_measured_stands_at_the_axis():
    assert errors().plot().get_ylabel() == "ECE, top-label"
    assert errors(norm="max", notion="class-wise").plot().get_ylabel() == "MCE, class-wise"
    assert errors(loss="debiased squared gap").plot().get_ylabel() == "debiased squared gap, top-label"


def test_the_noise_floor_comes_last_in_the_legend_and_can_be_left_out():
    results = {"before": errors(), "after": errors(SHARP)}
    assert words(plot_class_errors(results)) == ["before", "after", "noise floor"]
    assert words(plot_class_errors(results, noise=False)) == ["before", "after"]
    assert plot_class_errors(errors(n_resamples=0)).get_legend() is None


def test_bars_below_zero_are_in_sight():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(4), 400)
    label = (prob.cumsum(axis=1) < rng.random(400)[:, None]).sum(axis=1)
    ax = class_errors(label, prob, loss="debiased squared gap", n_resamples=0).plot()
    lowest = min(bar.get_height() for bar in ax.containers[0])
    assert lowest < 0
    assert ax.get_ylim()[0] < lowest


def test_many_classes_are_named_without_their_numbers():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(30), 200)
    assert ticks(class_errors(rng.integers(0, 30, 200), prob, n_resamples=0, labels=range(30)).plot())[29] == "29"


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert errors().plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


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


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"notion": "class-wise"}, "one notion; got class-wise and top-label"),
        ({"norm": "l2"}, "one norm; got l1 and l2"),
        ({"loss": "squared gap"}, "one loss; got gap and squared gap"),
    ],
    ids=["notion", "norm", "loss"],
)
def test_different_measures_are_refused(option, message):
    with pytest.raises(ValueError, match=f"bars side by side must be of {message}"):
        plot_class_errors({"a": errors(), "b": errors(**option)})
    assert plt.get_fignums() == []


@pytest.mark.parametrize("results", [[1], PROB, {"a": [1]}], ids=["list", "array", "named"])
def test_what_is_no_result_is_refused(results):
    with pytest.raises(TypeError, match=r"results must be of type ClassErrors; got .* Pass class_errors\("):
        plot_class_errors(results)
    assert plt.get_fignums() == []


def test_the_legend_leaves_room_for_a_title():
    ax = plot_class_errors({"before": errors(), "after": errors(SHARP)})
    ax.set_title("Predicted classes, before and after", loc="left")
    ax.figure.canvas.draw()
    key = ax.get_legend().get_window_extent()
    assert ax.get_window_extent().x1 <= key.x0
    assert key.x1 <= ax.figure.bbox.x1


def test_bars_stand_on_zero():
    assert errors().plot().get_ylim()[0] == 0.0
