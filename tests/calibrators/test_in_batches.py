"""Calibrators that are fitted to rows which are read in batches."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import columns, dirichlet_rows, tables

import calibrant as cal
from calibrant import ByNotion, HistogramBinning, IsotonicCalibration, PlattScaling, VennAbers
from calibrant import calibrators as cals
from calibrant.binning import EqualWidth, FineGrid, Unique
from calibrant.binning import bins as fine_grid
from calibrant.exceptions import CalibrationWarning
from calibrant.interop.arrow_batches import Batches
from calibrant.metrics import discrimination_score
from calibrant.sums.reading import UnreadSimplex

pytestmark = pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")


@pytest.fixture(scope="module", autouse=True)
def coarse():
    """Wide cells, so that what they do to a fit is seen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fine_grid, "MOST_CELLS", 1 << 10)
        yield


def as_read(*rows, order=None, n_batches=2, **data):
    """Return rows as they are read in batches, however few they are."""
    order = np.arange(len(rows[0])) if order is None else order
    step = -(-len(order) // n_batches)
    return UnreadSimplex(Batches([tuple(array[order] for array in rows)], batch_rows=step, **data))


@settings(max_examples=15)
@given(data=columns(max_rows=40), squeeze=st.floats(1e-3, 1.0))
def test_the_isotonic_map_is_as_near_as_the_limits_of_the_discrimination_say(data, squeeze):
    label, score, weight = data
    score = score * squeeze
    batches = as_read(label, score, weight, labels=[0, 1])
    ours = IsotonicCalibration(finite=None).fit(batches).calibrate(score)
    rows = IsotonicCalibration(finite=None, labels=[0, 1]).fit(score, label, weight).calibrate(score)
    found = discrimination_score(batches, None)
    distance = np.sqrt(weight @ (ours - rows) ** 2 / weight.sum())
    assert distance <= np.sqrt(max(0.0, found.upper - found)) + 1e-7


METHODS = [HistogramBinning(5), HistogramBinning(), IsotonicCalibration(), VennAbers()]


def assert_same(one, other, tolerance=1e-10):
    one, other = ({name: value for name, value in vars(fit).items() if name.endswith("_")} for fit in (one, other))
    assert one.keys() == other.keys()
    for name in one.keys() - {"n_iter_", "gradient_"}:
        found, expected = (np.asarray(fit[name], dtype=float) for fit in (one, other))
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.first(2)
@pytest.mark.parametrize("method", METHODS, ids=repr)
@settings(max_examples=6)
@given(data=columns(max_rows=30), seed=st.integers(0, 9), n_batches=st.integers(1, 4))
def test_any_batches_give_the_same_fit_and_weights_are_repetitions(method, data, seed, n_batches):
    label, score, weight = data
    order = np.random.default_rng(seed).permutation(label.size)
    rows = np.repeat(np.arange(label.size), weight.astype(int))
    in_parts, names = {"order": order, "n_batches": n_batches}, {"labels": [0, 1]}
    cases = (data, {"n_batches": 1}), (data, in_parts), ((label[rows], score[rows]), {})
    whole, parts, repeated = (clone(method).fit(as_read(*some, **how, **names)) for some, how in cases)
    assert_same(whole, parts)
    if not isinstance(method, HistogramBinning):  # which counts rows
        assert_same(whole, repeated)
    else:
        np.testing.assert_allclose(whole.value_, repeated.value_, rtol=1e-10)


LOG_ODDS = [
    PlattScaling(),
    PlattScaling(smooth_targets=False),
    *(cal.BetaCalibration(parameters=word) for word in ("abm", "am", "ab", "a")),
    cals.QuadraticScaling(),
]
VECTOR = [cal.VectorScaling(), cal.VectorScaling(bias=False), cals.StructuredVectorScaling()]
MATRIX = [cals.StructuredMatrixScaling(), cals.MatrixScaling(), cals.DirichletCalibration()]
SIMPLEX = [cal.TemperatureScaling(), *VECTOR, *MATRIX]


@pytest.mark.first(3)
@pytest.mark.parametrize("method", [*LOG_ODDS[:2], *SIMPLEX, *LOG_ODDS[2:]], ids=repr)
@settings(max_examples=8)
@given(data=st.data(), n_batches=st.integers(1, 4), seed=st.integers(0, 9))
def test_curves_of_log_odds_and_maps_of_tables_are_those_of_the_rows_in_memory(method, data, n_batches, seed):
    """Maps are compared: where a minimum is flat the parameters are less certain than what they give."""
    label, prob, weight = data.draw(columns(max_rows=40) if method in LOG_ODDS else tables(max_rows=30))
    names = list(range(2 if prob.ndim == 1 else prob.shape[1]))
    order = np.random.default_rng(seed).permutation(label.size)
    with warnings.catch_warnings(record=True, action="always") as said:
        ours = clone(method).fit(as_read(label, prob, weight, order=order, n_batches=n_batches, labels=names))
    with warnings.catch_warnings(record=True, action="always") as of_rows:
        rows = clone(method).set_params(labels=names).fit(prob, label, weight)
    np.testing.assert_allclose(ours.calibrate(prob), rows.calibrate(prob), atol=1e-7)
    said, of_rows = ([str(one.message) for one in both if "overlap" in str(one.message)] for both in (said, of_rows))
    assert said == of_rows


@pytest.mark.first(3)
@pytest.mark.parametrize(("method", "is_logit"), [*((one, False) for one in SIMPLEX), (SIMPLEX[0], True)], ids=str)
def test_of_many_rows_of_a_table_the_parameters_are_the_same(method, is_logit):
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.standard_normal((5000, 3))
    drawn = np.exp(0.7 * logits + np.array([0.3, 0.0, 0.0]))
    label = (rng.random((5000, 1)) * drawn.sum(axis=1, keepdims=True) > drawn.cumsum(axis=1)).sum(axis=1)
    table = logits if is_logit else np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    word = "logit" if is_logit else "probability"
    ours = clone(method).set_params(input=word)
    ours.fit(Batches([(label, table)], input=word, batch_rows=2000))
    assert_same(ours, clone(method).set_params(input=word).fit(table, label), 1e-7)


@pytest.mark.first(3)
@pytest.mark.parametrize("notion", ["class-wise", "confidence", "top-label"])
@pytest.mark.parametrize("method", [HistogramBinning(EqualWidth(7)), PlattScaling(), IsotonicCalibration()], ids=repr)
def test_each_problem_of_a_notion_has_its_map(method, notion, monkeypatch):
    monkeypatch.setattr(fine_grid, "MOST_CELLS", 1 << 18)
    label, prob = dirichlet_rows(5000, 3)
    ours = ByNotion(method, notion).fit(Batches([(label, prob)], batch_rows=2000))
    distance = np.abs(ours.calibrate(prob) - ByNotion(method, notion).fit(prob, label).calibrate(prob))
    assert np.sqrt((distance**2).mean()) < (0.01 if isinstance(method, IsotonicCalibration) else 1e-8)


def test_problems_of_a_notion_are_cut_in_one_reading():
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(4), 5000), rng.integers(0, 4, 5000)
    readings = []

    def source():
        readings.append(1)
        return iter([(label[:2000], prob[:2000]), (label[2000:], prob[2000:])])

    ByNotion(IsotonicCalibration(), "class-wise").fit(Batches(source))
    assert len(readings) == 1


def test_a_sample_is_fitted_as_the_error_says():
    rng = np.random.default_rng(0)
    score, label = rng.random(60), np.array(["yes", "no"])[rng.integers(0, 2, 60)]
    batches = Batches([(label, score, rng.integers(0, 3, 60).astype(float))], labels=["yes", "no"])
    said = r"rows = predictions.sample\(100_000\), and pass labels=rows\['labels'\] to the calibrator"
    for method in (cals.SplineCalibration(), HistogramBinning(Unique())):
        with pytest.raises(ValueError, match=said):
            method.fit(UnreadSimplex(batches))
    rows = batches.sample(100_000)
    fitted = cals.SplineCalibration(labels=rows["labels"]).fit(rows["y_prob"], rows["y_true"], rows["sample_weight"])
    assert fitted.classes_.tolist() == ["yes", "no"]


def test_decimals_in_single_precision_stand_where_they_do_in_memory():
    score = (np.arange(420) % 21 / 20).astype(np.float32)
    label = np.random.default_rng(0).integers(0, 20, 420) / 20 < score
    for method in (HistogramBinning(EqualWidth(10)), ByNotion(IsotonicCalibration(), "class-wise")):
        in_memory = clone(method).fit(score, label).predict_proba(score)
        for rows in (Batches([(label, score)]), as_read(label, score)):
            np.testing.assert_allclose(clone(method).fit(rows).predict_proba(score), in_memory, atol=1e-12)


def test_what_needs_the_rows_or_contradicts_the_predictions_is_refused():
    rng = np.random.default_rng(0)
    predictions = as_read(rng.integers(0, 2, 60), rng.random(60))
    table = as_read(rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), 60))
    needs_rows = r"needs all rows in memory.*sample\(100_000\)"
    for method, given_rows, error, message in (
        (cals.SplineCalibration(), (predictions,), ValueError, needs_rows),
        (HistogramBinning(interior=True), (predictions,), ValueError, needs_rows),
        (cals.BayesianBinning(), (predictions,), ValueError, needs_rows),
        (PlattScaling(), (predictions, [0] * 60), TypeError, "y and sample_weight must be left out"),
        (PlattScaling(input="logit"), (predictions,), ValueError, "input must be that of the predictions"),
        (PlattScaling(labels=[1, 0]), (predictions,), ValueError, "labels must be those of the predictions"),
        (PlattScaling(), (table,), ValueError, "maps one score"),
    ):
        with pytest.raises(error, match=message):
            method.fit(*given_rows)


def test_rows_that_can_be_read_once_are_enough_for_cells_and_not_for_newton():
    rng = np.random.default_rng(0)
    score, label = rng.random(5000), rng.integers(0, 2, 5000)
    rows = [(label[:3000], score[:3000]), (label[3000:], score[3000:])]
    assert IsotonicCalibration().fit(Batches(iter(rows))).value_.size
    with pytest.raises(ValueError, match="can be read once"):
        PlattScaling().fit(Batches(iter(rows)))


@pytest.mark.filterwarnings("default::calibrant.exceptions.CalibrationWarning")
def test_one_class_alone_is_said():
    label, score = np.zeros(3, int), np.array([0.1, 0.5, 0.9])
    for rows in (as_read(label, score, labels=[0, 1]), Batches([(label, score)], labels=[0, 1])):
        with pytest.warns(CalibrationWarning, match="only the class 0 occurs in the 3 calibration rows"):
            IsotonicCalibration().fit(rows)


@pytest.mark.first(2)
@pytest.mark.parametrize("method", [HistogramBinning(4), IsotonicCalibration(), VennAbers()], ids=repr)
@settings(max_examples=6)
@given(data=columns(max_rows=30))
def test_where_a_cell_holds_one_score_the_map_is_exact(method, data):
    label, score, weight = data
    grid = FineGrid.for_problems(1)
    score = grid.edges(None)[grid.index(score) + 1]
    ours = clone(method).fit(as_read(label, score, weight, labels=[0, 1]))
    rows = clone(method).set_params(labels=[0, 1]).fit(score, label, weight)
    np.testing.assert_allclose(ours.calibrate(score), rows.calibrate(score), atol=1e-12)
