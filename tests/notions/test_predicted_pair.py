"""A predicted class and its probability alone say the same as the table, wherever the table is asked for no other class."""

from functools import partial

import numpy as np
import pytest

from calibrant import EqualMass, assess, calibration_error, corp_curve, paired_test, reliability_curve
from calibrant.binning import PointsPerBin
from calibrant.curves import validity_curve
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.decompositions import accuracy
from calibrant.notions import ClassWise, WithinGroups, binary_problems
from calibrant.significance import by_group, resampling_test

NAMES = np.array(["pear", "apple", "quince", "plum"])


def forecast(n=240, seed=0):
    rng = np.random.default_rng(seed)
    prob = np.round(rng.dirichlet(np.full(4, 0.7), n), 2) + 1e-4
    prob[:, 3] *= 1e-3  # all but never predicted
    prob /= prob.sum(axis=1, keepdims=True)
    return NAMES[[rng.choice(4, p=row) for row in prob]], prob, rng.integers(0, 3, n)


def both(weighted=True):
    """The same forecast as a table and as a pair."""
    label, prob, weight = forecast()
    common = {"y_true": label, "labels": NAMES.tolist()} | ({"sample_weight": weight} if weighted else {})
    return common | {"y_prob": prob}, common | {"y_prob": prob.max(axis=1), "y_pred": NAMES[prob.argmax(axis=1)]}


def bins_of(curve):
    return [(panel.name, *(getattr(panel.bins, k).tolist() for k in BIN)) for panel in curve.panels]


BIN = ("edges", "count", "weight", "score_sum", "outcome_sum")
FEW = {"n_resamples": 20}
SAID = {
    "calibration_error": lambda notion, **data: calibration_error(notion=notion, binning=EqualMass(7), **data),
    "estimate_calibration_error": lambda notion, **data: estimate_calibration_error(notion=notion, **FEW, **data).value,
    "an error computed anew": lambda notion, **data: (
        estimate_calibration_error(notion=notion, loss=lambda p, b: np.abs(b.gap) ** 3, **FEW, **data).value
    ),
    "reliability_curve": lambda notion, **data: bins_of(reliability_curve(notion=notion, **data)),
    "validity_curve": lambda notion, **data: validity_curve(
        notion=notion, binning=PointsPerBin(9), **data
    ).error.tolist(),
    "corp_curve": lambda notion, **data: [
        (panel.name, panel.miscalibration)
        for panel in corp_curve(notion=notion, band=None, **data).panels
        if panel.weight.size
    ],
    "binary_problems": lambda notion, **data: [
        (
            p.name,
            p.score.tolist(),
            p.outcome.tolist(),
            p.weight.tolist(),
            p.share,
            p.weights.are_counts,
            p.weights.rows_per_weight,
        )
        for p in binary_problems(notion=notion, **data)
    ],
}


@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "no weights"])
@pytest.mark.parametrize("notion", ["top-label", "confidence"])
@pytest.mark.parametrize("what", SAID)
def test_a_pair_says_the_same_as_the_table(what, notion, weighted):
    table, pair = both(weighted)
    assert SAID[what](notion, **pair) == SAID[what](notion, **table)


def test_by_default_a_pair_is_about_confidence_as_a_table_is():
    table, pair = both()
    assert calibration_error(**pair) == calibration_error(**table)
    assert repr(reliability_curve(**pair)) == repr(reliability_curve(**table))
    assert calibration_error(notion="binary", **pair) == calibration_error(**pair)


@pytest.mark.parametrize("metric", ["top-label-ece", "top-label-mce", "ece"])
def test_tests_and_the_assessment_find_the_same_value(metric):
    table, pair = both()
    assert resampling_test(metric=metric, **FEW, **pair).statistic == pytest.approx(
        resampling_test(metric=metric, **FEW, **table).statistic, rel=1e-12
    )
    one, other = (assess(metrics=[metric], **FEW, **data) for data in (pair, table))
    assert one[metric].value == other[metric].value
    assert (one.n_rows, one.n_classes) == (other.n_rows, other.n_classes)
    assert repr(one.curve) == repr(other.curve)
    assert one.class_curve.notion == "top-label"


def test_two_forecasts_of_the_same_predictions_are_compared():
    _, pair = both()
    prob = pair.pop("y_prob")
    found = paired_test(prob_a=prob, prob_b=prob**2, metric="top-label-ece", **FEW, **pair)
    assert found.statistic != 0.0
    assert paired_test(prob_a=prob, prob_b=prob, metric="top-label-ece", **FEW, **pair).statistic == 0.0


def test_the_groups_of_another_notion_stand_beside_predictions():
    _, pair = both(weighted=False)
    groups = np.arange(len(pair["y_true"])) % 2
    found = calibration_error(notion=WithinGroups(groups), **pair)
    occurred = pair["y_true"] == pair["y_pred"]
    assert found == calibration_error(occurred, pair["y_prob"], notion=WithinGroups(groups))


@pytest.mark.parametrize("notion", ["class-wise", "top-2-label", "top-k-confidence", "one-vs-rest", ClassWise()])
def test_a_pair_says_nothing_of_other_classes(notion):
    _, pair = both()
    name = notion if isinstance(notion, str) else "class-wise"
    message = f"notion must be 'top-label' or 'confidence' where y_pred is given; got '{name}', .* Pass one of the two"
    with pytest.raises(ValueError, match=message):
        calibration_error(notion=notion, **pair)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_accuracy_of_a_pair_is_that_of_its_predictions(weighted):
    table, pair = both(weighted)
    assert accuracy(**pair) == accuracy(**table)
    rows = [assess(**forecast, metrics=["accuracy"], n_resamples=20).rows[0].estimate for forecast in (table, pair)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("notion", ["confidence", "top-label"])
def test_groups_of_a_pair_are_tested_as_those_of_the_table(notion):
    label, prob, _ = forecast()
    group = np.arange(len(label)) % 2
    test = partial(resampling_test, metric="top-label-ece" if notion == "top-label" else "ece", n_resamples=99)
    whole = by_group(test, label, prob, group, labels=NAMES.tolist())
    pair = by_group(test, label, prob.max(axis=1), group, y_pred=NAMES[prob.argmax(axis=1)])
    for one, other in zip(whole.results, pair.results, strict=True):
        assert other.statistic == pytest.approx(one.statistic, rel=1e-12)
