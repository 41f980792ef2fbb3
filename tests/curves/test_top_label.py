"""Both reliabilities over one set of bins are those of the definition, and their means are conf-ECE and TL-ECE."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import binned, top_label_diagram
from strategies import tables

from calibrant import (
    EqualMass,
    EqualWidth,
    calibration_error,
    expected_calibration_error,
    reliability_curve,
    top_label_calibration_error,
)
from calibrant.binning import Binning, Unique
from calibrant.curves import top_label_curve

Y = [0, 1, 2, 1]
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]])
TWINS = [
    (EqualWidth(1), binned.equal_width(1)),
    (EqualWidth(4), binned.equal_width(4)),
    (EqualWidth(15), binned.equal_width(15)),
    (EqualMass(3), binned.equal_mass(3)),
    (Unique(), binned.unique),
]
PATIENTS = {"y_true": [0, 1, 1, 1, 1] + [1] * 5, "y_prob": [0.6] * 10, "y_pred": [0] * 5 + [1] * 5}
"""Of two groups with confidence 0.6 one is right in a fifth of the cases, and the other always."""


@dataclass(frozen=True)
class Fixed(Binning):
    """Edges that are known beforehand."""

    known: tuple[float, ...]

    def edges(self, problem):
        return np.array(self.known)


# The definition


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("binning", "twin"), TWINS, ids=lambda value: repr(value) if isinstance(value, Binning) else ""
)
@given(rows=tables())
def test_the_diagram_is_that_of_the_definition(binning, twin, rows):
    label, prob, weight = rows
    curve = top_label_curve(label, prob, binning=binning, sample_weight=weight)
    expected = top_label_diagram.diagram(
        top_label_diagram.rows_of_table(prob.tolist(), label.tolist(), weight.tolist()), twin
    )
    held = np.flatnonzero(curve.bins.count)
    assert len(held) == len(expected)
    for b, own in zip(held, expected, strict=True):
        assert curve.bins.count[b] == own["count"]
        found = [
            curve.share[b],
            curve.bins.mean_prob[b],
            curve.bins.event_rate[b],
            curve.gap[b],
            curve.top_label_gap[b],
        ]
        names = ["share", "mean_prob", "accuracy", "gap", "top_label_gap"]
        np.testing.assert_allclose(found, [own[name] for name in names], atol=1e-12)
        for j, bins in enumerate(curve.class_bins):
            count, weight_of_class, mean, accuracy = own["classes"].get(j, (0, 0.0, np.nan, np.nan))
            assert bins.count[b] == count
            found = [bins.weight[b], bins.mean_prob[b], bins.event_rate[b], curve.class_gap[b, j]]
            np.testing.assert_allclose(found, [weight_of_class, mean, accuracy, abs(accuracy - mean)], atol=1e-12)


@given(rows=tables(), binning=st.sampled_from([EqualWidth(5), EqualMass(4), Unique()]))
def test_means_over_the_bins_are_the_errors_over_the_same_edges(rows, binning):
    label, prob, weight = rows
    curve = top_label_curve(label, prob, binning=binning, sample_weight=weight)
    same = {"binning": Fixed(tuple(curve.bins.edges)), "sample_weight": weight}
    confidence = calibration_error(label, prob, notion="confidence", **same)
    top_label = calibration_error(label, prob, notion="top-label", **same)
    assert curve.confidence_ece == pytest.approx(confidence, abs=1e-12)
    assert curve.top_label_ece == pytest.approx(top_label, abs=1e-12)


@given(rows=tables())
def test_by_default_the_means_are_the_named_errors_by_default(rows):
    label, prob, _ = rows
    curve = top_label_curve(label, prob)
    assert curve.confidence_ece == pytest.approx(
        expected_calibration_error(label, prob, notion="confidence"), abs=1e-12
    )
    assert curve.top_label_ece == pytest.approx(top_label_calibration_error(label, prob), abs=1e-12)


@given(rows=tables(), binning=st.sampled_from([EqualWidth(5), EqualMass(4), Unique()]))
def test_the_top_label_gap_is_never_smaller_than_the_gap(rows, binning):
    label, prob, weight = rows
    curve = top_label_curve(label, prob, binning=binning, sample_weight=weight)
    held = curve.bins.count > 0
    assert (curve.top_label_gap[held] >= curve.gap[held] - 1e-12).all()


@given(rows=tables())
def test_one_predicted_class_alone_has_the_gap_of_the_bin(rows):
    label, prob, weight = rows
    curve = top_label_curve(label, np.sort(prob, axis=1)[:, ::-1], sample_weight=weight)
    np.testing.assert_allclose(curve.top_label_gap, curve.gap, atol=1e-12)
    assert sum(bins.count.sum() for bins in curve.class_bins[1:]) == 0


@given(rows=tables(), binning=st.sampled_from([EqualWidth(5), EqualMass(4)]))
def test_the_confidence_is_that_of_the_reliability_curve(rows, binning):
    label, prob, weight = rows
    of = {"binning": binning, "sample_weight": weight}
    bins = reliability_curve(label, prob, notion="confidence", **of).panels[0].bins
    found = top_label_curve(label, prob, **of).bins
    for name in ("edges", "count", "weight", "mean_prob", "event_rate"):
        np.testing.assert_array_equal(getattr(found, name), getattr(bins, name))


@given(rows=tables(), binning=st.sampled_from([EqualWidth(5), EqualMass(4)]))
def test_integer_weights_equal_repeated_rows(rows, binning):
    label, prob, weight = rows
    times = weight.astype(int)
    weighted = top_label_curve(label, prob, binning=binning, sample_weight=weight)
    repeated = top_label_curve(np.repeat(label, times), np.repeat(prob, times, axis=0), binning=binning)
    np.testing.assert_array_equal(weighted.bins.edges, repeated.bins.edges)
    for name in ("share", "gap", "class_gap", "top_label_gap"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-12)


@given(rows=tables(min_rows=2), binning=st.sampled_from([EqualWidth(5), EqualMass(4), Unique()]))
def test_the_order_of_rows_never_matters(rows, binning):
    label, prob, weight = rows
    there = top_label_curve(label, prob, binning=binning, sample_weight=weight)
    back = top_label_curve(label[::-1], prob[::-1], binning=binning, sample_weight=weight[::-1])
    np.testing.assert_array_equal(there.bins.edges, back.bins.edges)
    np.testing.assert_allclose(there.class_gap, back.class_gap, atol=1e-12)


def test_all_classes_have_the_edges_of_the_confidence():
    curve = top_label_curve(Y, P, binning=EqualMass(2))
    assert curve.bins.edges.tolist() == [0.0, 0.6, 1.0]
    for bins in curve.class_bins:
        np.testing.assert_array_equal(bins.edges, curve.bins.edges)


# Where the gap is drawn


@example(rows=([0, 0, 0], [[1 / 2, 1 / 2], [1 / 2, 1 / 2], [4 / 9, 5 / 9]], [1, 1, 1]))
@given(rows=tables())
def test_the_top_label_point_is_as_far_as_its_gap_on_the_side_of_the_accuracy_if_there_is_room(rows):
    label, prob, weight = rows
    curve = top_label_curve(label, prob, binning=5, sample_weight=weight)
    for b in np.flatnonzero(curve.bins.count):
        middle, gap, height = curve.bins.mean_prob[b], curve.top_label_gap[b], curve.top_label_height[b]
        side = 1 if curve.bins.gap[b] > 1e-12 else -1
        room = [place for place in (middle + side * gap, middle - side * gap) if 0 <= place <= 1]
        assert height == pytest.approx(room[0] if room else np.clip(middle + side * gap, 0, 1), abs=1e-9)


def test_a_bin_on_the_diagonal_hides_its_classes_and_is_drawn_below():
    curve = top_label_curve(**PATIENTS)
    b = int(np.flatnonzero(curve.bins.count)[0])
    assert curve.gap[b] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(curve.class_gap[b], [0.4, 0.4])
    assert (curve.confidence_ece, curve.top_label_ece) == pytest.approx((0.0, 0.4), abs=1e-12)
    assert curve.top_label_height[b] == pytest.approx(0.2)


def test_the_top_label_point_takes_the_other_side_where_it_would_leave_the_unit_square():
    """Three classes, 0.4 each; one of them is always right, by 0.6 too often, the others never, by 0.4 too rarely."""
    curve = top_label_curve([0, 0, 0], [0.4] * 3, y_pred=[0, 1, 2], binning=1)
    assert curve.top_label_height.tolist() == pytest.approx([0.4 + (0.6 + 0.4 + 0.4) / 3])


# What comes in


@given(rows=tables(weights=st.integers(0, 3)).filter(lambda rows: rows[2].any()), pooled=st.booleans())
def test_a_pair_of_prediction_and_probability_is_as_good_as_the_table(rows, pooled):
    label, prob, weight = rows
    names = np.array(["pear", "apple", "quince", "plum"])[: prob.shape[1]]
    options = {"binning": EqualMass(3) if pooled else 4, "sample_weight": weight, "labels": names.tolist()}
    table = top_label_curve(names[label], prob, **options)
    pair = top_label_curve(names[label], prob.max(axis=1), y_pred=names[prob.argmax(axis=1)], **options)
    assert pair.classes == table.classes == tuple(names)
    for name in ("share", "gap", "class_gap", "top_label_gap"):
        np.testing.assert_array_equal(getattr(pair, name), getattr(table, name))


def test_the_error_of_a_pair_is_the_named_one():
    rng = np.random.default_rng(0)
    label, predicted, prob = rng.integers(0, 4, 200), rng.integers(0, 4, 200), rng.random(200)
    curve = top_label_curve(label, prob, y_pred=predicted)
    assert curve.top_label_ece == pytest.approx(top_label_calibration_error(label, prob, y_pred=predicted), abs=1e-12)


def test_classes_of_a_pair_are_those_seen_in_either():
    curve = top_label_curve(["b", "d"], [0.5, 0.9], y_pred=["c", "b"])
    assert curve.classes == ("b", "c", "d")
    assert [int(bins.count.sum()) for bins in curve.class_bins] == [1, 1, 0]


def test_logits_are_mapped():
    logit = np.array([[0.2, -1.0, 3.0], [1.0, 0.5, 0.0]])
    prob = np.exp(logit) / np.exp(logit).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        top_label_curve([2, 1], logit, input="logit").class_gap, top_label_curve([2, 1], prob).class_gap, atol=1e-12
    )
    odds = np.array([-1.0, 2.0])
    np.testing.assert_allclose(
        top_label_curve([0, 1], odds, y_pred=[0, 0], input="logit").class_gap,
        top_label_curve([0, 1], 1 / (1 + np.exp(-odds)), y_pred=[0, 0]).class_gap,
        atol=1e-12,
    )


def test_one_column_predicts_the_likelier_of_two_classes():
    curve = top_label_curve([0, 1, 1], [0.2, 0.9, 0.4], binning=1)
    assert [bins.count.tolist() for bins in curve.class_bins] == [[2], [1]]
    assert curve.bins.mean_prob[0] == pytest.approx((0.8 + 0.9 + 0.6) / 3)


def test_a_class_that_is_never_predicted_has_no_gap():
    curve = top_label_curve([0, 1], [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]], binning=2)
    assert np.isnan(curve.class_gap[:, 2]).all()
    assert np.isnan(curve.top_label_gap[0])
    assert curve.top_label_gap[1] == pytest.approx(0.15)


# The result


def test_the_curve_says_what_it_is_and_cannot_be_changed():
    curve = top_label_curve(Y, P, binning=EqualMass(2))
    assert repr(curve) == "TopLabelCurve(EqualMass(n_bins=2), classes=3, bins=2, rows=4)"
    for name in ("share", "gap", "class_gap", "top_label_gap", "top_label_height"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(curve, name)[0] = 1.0
    with pytest.raises(AttributeError):
        curve.binning = "other"


def test_frames_hold_a_row_a_bin_or_a_class_in_a_bin():
    curve = top_label_curve(["x", "y", "z", "y"], P, binning=2)
    bins = curve.to_frame("polars")
    assert bins.columns == ["bin", "left", "right", "count", "weight", "mean_prob", "accuracy", "gap", "top_label_gap"]
    assert bins["count"].to_list() == [1, 3]
    np.testing.assert_array_equal(bins["top_label_gap"], curve.top_label_gap)
    classes = curve.to_frame("polars", each="class")
    assert classes.columns == ["label", *bins.columns[:-1]]
    assert list(zip(classes["label"], classes["bin"], classes["count"], strict=True)) == [
        ("x", 0, 1),
        ("x", 1, 1),
        ("y", 1, 1),
        ("z", 1, 1),
    ]
    np.testing.assert_allclose(classes["gap"], [0.5, 0.7, 0.2, 0.4])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y_prob": P}, ValueError, r"y_prob must be one column, .* where y_pred is given; got shape \(4, 3\)\. Pass"),
        ({"pos_label": 1}, ValueError, r"pos_label must be left out where y_pred is given; got 1\."),
        ({"y_pred": [0, 1]}, ValueError, r"y_true and y_pred must have the same number of rows; got 4 and 2\."),
        (
            {"y_pred": ["a", "b", "c", "a"]},
            TypeError,
            r"y_true and y_pred must hold labels of one kind; got numbers and text",
        ),
        ({"y_pred": [0, 1, 2, 5], "labels": [0, 1, 2]}, ValueError, r"y_pred must be among the classes 0, 1, 2; got 5"),
        ({"labels": 3}, TypeError, r"labels must be a sequence"),
        ({"y_prob": [0.5, 0.5, 0.5, 3.0]}, ValueError, r"y_prob must hold probabilities in \[0, 1\]; got 3"),
        ({"y_prob": [0.5, 0.5]}, ValueError, r"must have the same number of rows; got 4 and 2"),
        ({"bins": 5}, TypeError, r"keywords must be those of the function, or of the data"),
    ],
    ids=["table", "pos_label", "rows", "kinds", "unknown class", "labels", "probability", "probabilities", "keyword"],
)
def test_pairs_that_make_no_sense_are_refused(change, error, message):
    options = {"y_true": Y, "y_prob": [0.5, 0.8, 0.6, 0.7], "y_pred": [0, 1, 2, 0]} | change
    with pytest.raises(error, match=message):
        top_label_curve(**options)


def test_an_unknown_kind_of_frame_is_refused():
    with pytest.raises(ValueError, match="each must be one of 'bin', 'class'; got 'row'"):
        top_label_curve(Y, P).to_frame(each="row")


# Real forecasts


def test_published_errors_of_a_network_come_out_of_the_curve(data_dir):
    data = np.load(data_dir / "cifar10_resnet50.npz")
    curve = top_label_curve(data["y_test"], data["logits_test"], input="logit")
    assert f"{curve.confidence_ece:.7f}" == "0.0155164"
    assert f"{curve.top_label_ece:.7f}" == "0.0222267"
    assert curve.bins.count.argmax() == 14
    assert curve.share[14] > 0.8
