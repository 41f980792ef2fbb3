"""The error of each class is that of its rows alone, and its noise floor that of labels drawn from the forecast."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from strategies import tables

from calibrant import ByNotion, EqualMass, EqualWidth, HistogramBinning, calibration_error, load_digits_forecast
from calibrant.binning import Isotonic, Unique
from calibrant.curves import class_errors
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


@given(rows=tables(), notion=st.sampled_from(["top-label", "class-wise", "confidence"]))
def test_values_times_shares_add_up_to_the_calibration_error(rows, notion):
    label, prob, weight = rows
    result = class_errors(label, prob, notion=notion, n_resamples=0, sample_weight=weight)
    whole = calibration_error(label, prob, notion=notion, sample_weight=weight)
    assert np.nansum(result.value * result.share) == pytest.approx(whole, abs=1e-12)


@given(rows=tables())
def test_a_label_with_its_probability_is_measured_within_groups(rows):
    label, prob, weight = rows
    predicted = prob.argmax(axis=1)
    pair = class_errors(
        label == predicted,
        prob.max(axis=1),
        notion=WithinGroups(predicted),
        n_resamples=0,
        sample_weight=weight,
        labels=[False, True],
    )
    table = class_errors(label, prob, n_resamples=0, sample_weight=weight)
    np.testing.assert_allclose(pair.value, table.value[table.count > 0], atol=1e-12)
    np.testing.assert_array_equal(pair.count, table.count[table.count > 0])


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
        drawn = [draw(row, u) for row, u in zip(prob.tolist(), rng.random(len(prob)).tolist(), strict=True)]
        problems = binned.NOTIONS[notion](prob.tolist(), drawn, weight.tolist())
        gap = binned.gap if loss == "gap" else lambda rows: binned.gap(rows) ** 2
        floors.append([binned.calibration_error([own], TWINS[binning], "l1", loss=gap) for own in problems])
    held = result.count > 0
    np.testing.assert_allclose(result.noise_floor[held], np.mean(floors, axis=0), atol=1e-9)
    assert np.isnan(result.noise_floor[~held]).all()


def draw(row, u):
    """The class in whose stretch of the unit interval u falls."""
    reached, total = 0.0, sum(row)
    for j, p in enumerate(row[:-1]):
        reached += p
        if u < reached / total:
            return j
    return len(row) - 1


def test_draws_in_blocks_are_the_same_draws(monkeypatch):
    whole = class_errors(Y[:200], PROB[:200], n_resamples=20)
    monkeypatch.setattr(sys.modules[class_errors.__module__], "MOST_CELLS", 1)
    blocks = class_errors(Y[:200], PROB[:200], n_resamples=20)
    np.testing.assert_allclose(whole.noise_floor, blocks.noise_floor)


def test_a_rare_class_has_a_higher_noise_floor():
    """Of a bin of n rows about sqrt(2 p (1 - p) / (pi n)), within four standard errors of 400 draws."""
    prob = np.vstack([np.tile([0.7, 0.3], (1600, 1)), np.tile([0.3, 0.7], (100, 1))])
    label = np.zeros(1700, dtype=int)
    floor = class_errors(label, prob, n_resamples=400, labels=[0, 1]).noise_floor
    expected = np.sqrt(2 * 0.21 / np.pi / np.array([1600, 100]))
    np.testing.assert_allclose(floor, expected, rtol=4 * np.sqrt((np.pi / 2 - 1) / 400))


def test_bins_that_follow_the_outcomes_are_cut_anew_for_each_draw():
    """Isotonic bins fit the noise of each draw: bins that stay would make less of it."""
    score = np.linspace(0.1, 0.9, 200)
    label = (np.random.default_rng(0).random(200) < score).astype(int)
    anew = class_errors(label, score, notion="binary", binning=Isotonic(), n_resamples=50).noise_floor[0]
    one = class_errors(label, score, notion="binary", binning=1, n_resamples=50).noise_floor[0]
    assert anew > one


def test_binning_by_label_repairs_the_class_that_is_off():
    fit, test = np.arange(0, len(Y), 2), np.arange(1, len(Y), 2)
    off = PROB.copy()
    off[:, 3] *= 4.0
    off /= off.sum(axis=1, keepdims=True)
    fitted = ByNotion(HistogramBinning(EqualMass(5)), "top-label").fit(off[fit], Y[fit])
    before, after = (class_errors(Y[test], p, binning=5) for p in (off[test], fitted.predict_proba(off[test])))
    assert before.value[3] > 3 * before.noise_floor[3]
    assert after.value[3] < before.value[3] / 2


def test_the_result_says_what_it_is_and_cannot_be_changed():
    result = class_errors(Y, PROB, binning=EqualMass(10), norm="max", n_resamples=2)
    assert repr(result) == "ClassErrors(top-label, EqualMass(n_bins=10), gap, max, problems=10)"
    assert result.names[3] == "predicted 3"
    with pytest.raises(ValueError, match="read-only"):
        result.value[0] = 1.0
    assert result.to_frame("polars").columns == ["name", "value", "noise_floor", "share", "count"]


def test_the_same_seed_gives_the_same_floor():
    first, second = (class_errors(Y, PROB, n_resamples=5, rng=3).noise_floor for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_no_draws_make_no_floor():
    assert np.isnan(class_errors(Y, PROB, n_resamples=0).noise_floor).all()


def test_loss_and_norm_may_be_functions():
    result = class_errors(
        Y,
        PROB,
        loss=lambda problem, bins: np.abs(bins.gap) ** 3,
        norm=lambda values, weights: float(np.median(values)),
        n_resamples=1,
    )
    assert (result.loss, result.norm) == ("<lambda>", "<lambda>")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_resamples": -1}, ValueError, "n_resamples must be a whole number, at least 0"),
        ({"n_resamples": 2.5}, TypeError, "n_resamples must be a whole number, at least 0"),
        ({"norm": "max1"}, ValueError, "norm must be"),
        ({"loss": "hinge"}, ValueError, "loss must be one of"),
        ({"notion": "top"}, ValueError, "notion"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        class_errors(Y, PROB, **options)
