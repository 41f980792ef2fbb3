"""Evidence scaling: the map, its intervals, its features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import evidence_scaling as twin
from scipy.special import expit, logit, ndtri, softmax
from strategies import dirichlet_rows

from calibrant import TemperatureScaling, load_digits_forecast, log_loss
from calibrant._core.border import as_problem
from calibrant._core.rows import Forecast
from calibrant.calibrators import EvidenceScaling, evidence_features
from calibrant.calibrators import evidence as bands
from calibrant.calibrators.evidence_features import rest_of, standard_of, weighted_quantiles
from calibrant.fit import evidence as evidence
from calibrant.interop import load_calibrator, save_calibrator
from calibrant.interop.save import from_document, to_document


@pytest.fixture
def patient(monkeypatch):
    """Iterations that end where nothing moves."""
    for name in ("LAST_CHANGE", "LAST_LOSS", "LAST_GAIN"):
        monkeypatch.setattr(evidence, name, 1e-13)
    monkeypatch.setattr(evidence, "MOST_OUTER", 300)


def drawn(n, k, seed=0):
    """Over-confident forecasts with biases and a pair of confused classes."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * 1.5
    label = (scores + rng.gumbel(size=(n, k))).argmax(axis=1)
    scores[:, 0] += 0.7 + (0.5 * scores[:, -1] if k > 2 else 0.0)
    return softmax(1.6 * scores, axis=1), label


@pytest.mark.parametrize(("k", "with_prob"), [(2, 50), (3, 50), (3, 2)])
def test_the_fast_form_is_that_of_the_definition(k, with_prob, patient, monkeypatch):
    for module in (twin, evidence_features):
        monkeypatch.setattr(module, "MOST_WITH_PROB", with_prob)
    prob, label = drawn(60, k)
    weight = np.random.default_rng(1).uniform(1.0, 4.0, 60)
    new = drawn(20, k, seed=2)[0]
    expected, rho = twin.fast(prob, label, weight * weight.sum() / (weight**2).sum(), new)  # as many rows as Kish says
    fitted = EvidenceScaling(pool="fast").fit(prob, label, weight)
    np.testing.assert_allclose(fitted.log_precision_, list(rho.values()), atol=1e-4)
    np.testing.assert_allclose(fitted.predict_proba(new), expected, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3, 18])
def test_maps_and_folds_that_are_fitted_side_by_side_are_the_same(k, monkeypatch):
    prob, label = drawn(400, k)
    monkeypatch.setattr(evidence, "MOST_AT_A_TIME", 500)
    one = EvidenceScaling(pool="folds").fit(prob, label)
    monkeypatch.setattr(evidence, "SEVERAL_THREADS", 0)
    for module in (bands, evidence):
        monkeypatch.setattr(module, "n_processors", lambda: 3)
    several = EvidenceScaling(pool="folds").fit(prob, label)
    assert several.n_iter_ == one.n_iter_
    np.testing.assert_array_equal(several.predict_proba(prob), one.predict_proba(prob))


@pytest.mark.parametrize("pool", ["folds", "fast"])
@pytest.mark.parametrize("k", [2, 4])
def test_what_is_wrong_with_a_forecast_is_found(k, pool):
    (prob, label), (new, occurred) = drawn(1500, k), drawn(4000, k, seed=1)
    fitted = EvidenceScaling(pool=pool).fit(prob, label)
    truth = log_loss(occurred, softmax(np.random.default_rng(1).normal(size=(4000, k)) * 1.5, axis=1))
    assert log_loss(occurred, fitted.predict_proba(new)) < truth + 0.02
    assert log_loss(occurred, TemperatureScaling().fit(prob, label).predict_proba(new)) > truth + 0.03
    assert fitted.evidence_ > 50.0


@pytest.mark.parametrize("k", [2, 3])
def test_the_prediction_itself_has_at_least_the_share_that_the_evidence_leaves_it(k):
    label, prob = dirichlet_rows(250, k)
    fitted = EvidenceScaling(pool="folds").fit(prob, label)
    assert fitted.weights_.sum() == pytest.approx(1.0)
    assert fitted.weights_[-1] >= expit(-fitted.evidence_ - 1.0) > 0.6


def test_groups_tell_what_is_used():
    y, prob = load_digits_forecast()
    groups = EvidenceScaling(pool="fast").fit(prob, y).groups_
    assert {name: group.n_weights for name, group in groups.items()} == {
        "temp": 1, "curve": 8, "row": 2, "bias": 10, "slope": 10, "mat": 90, "prob": 100, "sqz": 100,
    }  # fmt: skip
    for group in groups.values():
        assert 0.0 <= group.degrees_of_freedom <= group.n_weights
        assert group.variance > 0.0
    assert EvidenceScaling(pool="fast").fit(prob[:, 3], y == 3).groups_["rank"].n_weights == 10


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("keep", ["order", "argmax"])
def test_what_is_to_be_kept_is_kept_in_rows_of_every_kind(keep, k):
    prob, label = drawn(400, k)
    label[prob.argmax(axis=1) == 1] = 0  # free maps would predict another class
    fitted = EvidenceScaling(keep=keep, pool="fast").fit(prob, label)
    rng = np.random.default_rng(3)
    new = np.vstack([prob, np.eye(k), rng.dirichlet(np.full(k, 0.05), 300), rng.dirichlet(np.full(k, 5.0), 300)])
    found = fitted.predict_proba(new)
    np.testing.assert_array_equal(found.argmax(axis=1), new.argmax(axis=1))
    for n in (1, 2, 5):  # equal classes are no less equal in a table of another length
        assert fitted.predict_proba(np.full((n, k), 1 / k)).argmax(axis=1).tolist() == [0] * n
    if keep == "order":
        order = np.argsort(new, axis=1, kind="stable")
        assert (np.diff(np.take_along_axis(found, order, axis=1), axis=1) >= -1e-12).all()
    free = EvidenceScaling(pool="fast").fit(prob, label)
    assert (free.predict_proba(new).argmax(axis=1) != new.argmax(axis=1)).any()
    ordered = EvidenceScaling(keep="order", pool="fast").fit(prob, label)
    losses = [log_loss(label, one.predict_proba(prob)) for one in (free, fitted, ordered)]
    assert losses == sorted(losses)


def test_parts_are_what_the_map_adds():
    prob, label = drawn(800, 4)
    fitted = EvidenceScaling(pool="fast").fit(prob, label)
    parts = fitted.parts()
    assert parts.bias.argmin() == 0  # `drawn` adds to the score of the first class, and mixes the last into it
    off = np.where(np.eye(4), 0.0, parts.interaction - parts.interaction.mean(axis=0))
    assert off[0].argmin() == 3
    assert parts.to_frame("polars")["group"].to_list() == list(fitted.groups_)


def test_the_curve_of_two_classes_is_the_map_and_its_band_the_interval():
    prob, label = drawn(800, 2)
    fitted = EvidenceScaling(pool="fast", intervals=True).fit(prob, label)
    parts = fitted.parts()
    np.testing.assert_allclose(fitted.weights_, [1.0, 0.0], atol=1e-6)
    assert fitted.floor_ == 0.0
    z = np.log(prob) * fitted.exponent_
    z = np.log((1 - fitted.uniform_) * softmax(z, axis=1) + fitted.uniform_ / 2)
    log_odds = z[:, 1] - z[:, 0]
    inside, found = np.abs(log_odds) < 7.9, fitted.predict_proba(prob)
    expected = log_odds + np.interp(log_odds, parts.place, parts.curve)
    np.testing.assert_allclose(np.log(found[inside, 1] / found[inside, 0]), expected[inside], atol=0.02)
    # A forecast at these standardised log-odds, by the inverse of the standardisation without a floor.
    inside = np.abs(parts.place) < 4.0
    plain = (expit(parts.place[inside]) - fitted.uniform_ / 2) / (1.0 - fitted.uniform_)
    found = logit(fitted.predict_interval(expit(logit(plain) / fitted.exponent_)))
    np.testing.assert_allclose(found[:, 0], parts.place[inside] + parts.lower[inside], atol=1e-3)
    np.testing.assert_allclose(found[:, 1], parts.place[inside] + parts.upper[inside], atol=1e-3)


def test_a_picture_shows_a_panel_or_three():
    pytest.importorskip("matplotlib.pyplot")
    for intervals in (False, True):
        ax = EvidenceScaling(pool="fast", intervals=intervals).fit(*drawn(100, 2)).plot()
        assert (ax.get_xlabel(), len(ax.collections)) == ("standardised log-odds", intervals)
    fitted = EvidenceScaling(pool="fast").fit(*drawn(100, 5))
    curve, bias, interaction = fitted.plot()
    assert [len(curve.lines), len(bias.patches), len(interaction.patches)] == [2, 5, 12]
    with pytest.raises(ValueError, match="ax must hold 3 Axes"):
        fitted.plot(ax=curve)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("keep", [None, "argmax", "order"])
def test_whole_weights_of_any_size_have_a_fit(k, keep, patient):
    """Also of rows that coincide, which are so many rows: all that a row more can say is in the rates."""
    rng = np.random.default_rng(0)
    prob = np.repeat(rng.dirichlet(np.ones(k), 12), k, axis=0)
    weight = np.rint(1e18 * prob[np.arange(12 * k), np.tile(np.arange(k), 12)] * rng.uniform(0.8, 1.2, 12 * k))
    got = EvidenceScaling(keep=keep).fit(prob, np.tile(np.arange(k), 12), weight).predict_proba(prob)
    np.testing.assert_allclose(got.sum(axis=1), 1.0)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "n", "gain"),
    [("cifar10_lenet5", 1000, 0.0047), ("cifar100_densenet_bc", 3000, 0.0056), ("cifar10_resnet50", 10000, 0.0122)],
)
def test_on_public_networks_it_gains_what_its_specification_says(name, n, gain, data_dir):
    """Over temperature scaling, in the mean log loss of the rows that are not fitted; it states a split of its own each."""
    held = np.load(data_dir / f"{name}.npz")
    if "P" in held:
        prob, label = held["P"] / held["P"].astype(float).sum(axis=1, keepdims=True), held["y"]
    else:
        prob = softmax(np.concatenate([held["logits_cal"], held["logits_test"]]).astype(float), axis=1)
        label = np.concatenate([held["y_cal"], held["y_test"]])
    of_classes, found = {"labels": range(prob.shape[1])}, []
    methods = EvidenceScaling(pool="folds", **of_classes), TemperatureScaling(**of_classes)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(label))
        rows, rest = order[:n], order[n:]
        fits = [one.fit(prob[rows], label[rows]) for one in methods]
        losses = [log_loss(label[rest], one.predict_proba(prob[rest])) for one in fits]
        found.append(losses[1] - losses[0])
    # Its splits are not known, and five of ours differ from each other.
    assert np.mean(found) > gain - 0.0005 - 2.0 * np.std(found, ddof=1) / np.sqrt(len(found))
    assert np.min(found) > 0.0


def test_of_more_numbers_than_asked_for_a_part_of_the_rows_is_fitted():
    y, prob = load_digits_forecast()
    part = EvidenceScaling(pool="fast", max_numbers=5000).fit(prob, y).calibrate(prob)
    assert np.array_equal(part, EvidenceScaling(pool="fast", max_numbers=5009).fit(prob, y).calibrate(prob))  # 500 rows
    whole = [EvidenceScaling(pool="fast", max_numbers=most).fit(prob, y).calibrate(prob) for most in (prob.size, None)]
    assert np.array_equal(*whole)
    before, after = log_loss(y, prob), log_loss(y, part)
    assert log_loss(y, whole[0]) < after < before


# Intervals


@pytest.mark.parametrize("k", [2, 3])
def test_intervals_are_those_of_the_definition(k, patient):
    prob, label = drawn(30, k)
    weight = np.random.default_rng(1).uniform(1.0, 4.0, 30)
    new = drawn(10, k, seed=2)[0]
    kish = weight * weight.sum() / (weight**2).sum()
    expected = twin.interval(prob, label, kish, new, -ndtri(0.05))
    fitted = EvidenceScaling(pool="fast", intervals=True).fit(prob, label, weight)
    found = fitted.predict_interval(new, level=0.1)
    np.testing.assert_allclose(found, expected[:, 1] if k == 2 else expected, atol=2e-5)


@pytest.mark.parametrize(("k", "options"), [(2, {}), (4, {}), (3, {"keep": "order"}), (2, {"keep": "argmax"})])
def test_intervals_hold_the_probability_and_are_nested(k, options):
    prob, label = drawn(200, k)
    fitted = EvidenceScaling(intervals=True, **options).fit(prob, label)
    found, narrow = fitted.predict_interval(prob), fitted.predict_interval(prob, level=0.5)
    middle = fitted.predict_proba(prob)
    lower, upper = np.moveaxis(found, -1, 0)
    middle = middle[:, 1] if k == 2 else middle
    assert ((lower > 0.0) & (lower < middle) & (middle < upper) & (upper < 1.0)).all()
    assert ((narrow[..., 0] > lower) & (narrow[..., 1] < upper)).all()
    # Both ends are as far away in log-odds, and by as many standard deviations as the level says.
    np.testing.assert_allclose(logit(middle) - logit(lower), logit(upper) - logit(middle), rtol=1e-6)
    ratio = (logit(upper) - logit(lower)) / (logit(narrow[..., 1]) - logit(narrow[..., 0]))
    np.testing.assert_allclose(ratio, ndtri(0.975) / ndtri(0.75), rtol=1e-6)


@pytest.mark.parametrize("k", [2, 4])
def test_a_file_holds_what_intervals_need(k, tmp_path):
    prob, label = drawn(120, k)
    fitted = EvidenceScaling(intervals=True).fit(prob, label)
    save_calibrator(fitted, tmp_path / "one.json")
    loaded = load_calibrator(tmp_path / "one.json")
    np.testing.assert_array_equal(loaded.predict_interval(prob), fitted.predict_interval(prob))
    n_weights = sum(group.n_weights for group in fitted.groups_.values())
    assert fitted.hessian_.shape == (n_weights * (n_weights + 1) // 2,)
    assert (tmp_path / "one.json").stat().st_size < 100_000
    plain = EvidenceScaling().fit(prob, label)
    save_calibrator(plain, tmp_path / "plain.json")
    assert load_calibrator(tmp_path / "plain.json").hessian_.size == plain.hessian_.size == 0


def test_a_file_with_second_derivatives_of_no_convex_function_is_refused():
    fitted = EvidenceScaling(pool="fast", intervals=True).fit(*drawn(60, 3))
    entries = fitted.hessian_
    concave = np.append(-1e3, entries[1:])
    for changed, message in ((concave, "must have no negative eigenvalue"), (entries[:-1], "must be numbers")):
        fitted.hessian_ = changed
        with pytest.raises(ValueError, match=f"hessian_ {message}"):
            from_document(to_document(fitted))


@pytest.mark.filterwarnings("ignore:only the class")
@pytest.mark.parametrize("k", [2, 3])
def test_certain_forecasts_and_few_rows_have_intervals(k):
    rng = np.random.default_rng(0)
    logit_, label = 2.0 * rng.normal(size=(100, k)), rng.integers(0, k, 100)
    fitted = EvidenceScaling(input="logit", intervals=True, pool="fast").fit(logit_, label)
    for scale in (100.0, 1e90):
        lower, upper = np.moveaxis(fitted.predict_interval(scale * logit_), -1, 0)
        assert ((lower >= 0.0) & (lower < upper) & (upper <= 1.0)).all()
    one = EvidenceScaling(intervals=True, labels=range(k)).fit(np.eye(k)[[0]], [0]).predict_interval(np.eye(k))
    assert (one[..., 1] - one[..., 0] > 0.03).all()


def test_probabilities_near_one_keep_their_digits():
    prob = np.array([[1.0 - 3e-18, 1e-18, 2e-18]])
    np.testing.assert_allclose(rest_of(prob)[0, 0], 3e-18, rtol=1e-12)
    other = np.array([[1.0 - 5e-18, 2e-18, 3e-18]])
    np.testing.assert_allclose(bands.apart(prob, other), [[2e-18, -1e-18, -1e-18]], rtol=1e-12)
    lower, upper = np.moveaxis(bands.ends(prob, np.full((1, 3), 1e-36), 0.05), -1, 0)
    assert (lower[0, 1:] < upper[0, 1:]).all()


@pytest.mark.parametrize(
    ("options", "level", "message"),
    [
        ({"intervals": False}, 0.1, r"intervals was False when it was fitted. Fit EvidenceScaling\(intervals=True"),
        ({"keep": "argmax"}, 0.1, "not mixed row by row; got keep='argmax'"),
        ({}, 95, "level must be a fraction"),
    ],
)
def test_what_cannot_have_intervals_is_refused(options, level, message):
    prob, label = drawn(60, 3)
    calibrator = EvidenceScaling(**{"pool": "fast", "intervals": True} | options)
    with pytest.raises(ValueError, match=message):
        calibrator.fit(prob, label).predict_interval(prob, level=level)


def test_many_classes_have_intervals_if_their_order_is_kept():
    prob, label = drawn(60, 20)
    options = {"intervals": True, "labels": range(20)}
    with pytest.raises(ValueError, match=r"at most 800 weights; got 1231, of 20 classes. Pass keep='order'"):
        EvidenceScaling(**options).fit(prob, label)
    assert EvidenceScaling(keep="order", **options).fit(prob, label).predict_interval(prob).shape == (60, 20, 2)


# The standardisation


STANDARDISED = {"noise": (0.0, 0), "a part right": (0.4, 0), "zeros that occur": (0.9, 50), "accurate": (1.0, 150)}


@pytest.mark.parametrize(("right", "n_certain"), STANDARDISED.values(), ids=STANDARDISED)
def test_the_standardisation_is_that_of_the_definition(right, n_certain):
    rng = np.random.default_rng(0)
    prob, weight = rng.dirichlet(np.full(3, 0.3), 200), rng.integers(1, 3, 200).astype(float)
    prob[:n_certain] = np.eye(3)[rng.integers(0, 3, n_certain)]
    label = np.where(rng.random(200) < right, prob.argmax(axis=1), rng.integers(0, 3, 200))
    found = standard_of(as_problem(label, prob, sample_weight=weight, labels=range(3)), weight)
    expected = twin.standardisation(prob, label, weight)
    np.testing.assert_allclose((found.exponent, found.floor, found.uniform), expected, rtol=1e-4)
    np.testing.assert_allclose(found.of(Forecast(prob)), twin.standardised(prob, *expected), atol=1e-4)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4, 1e90])
def test_logits_of_any_size_have_numbers(size):
    logit = size * np.random.default_rng(0).normal(size=(50, 3))
    problem = as_problem(np.arange(50) % 3, logit, input="logit")
    assert np.isfinite(standard_of(problem, np.ones(50)).of(problem.forecast)).all()


# Hinges


AT = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
numbers = st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 3)), min_size=1, max_size=12)


def test_of_a_single_score_the_map_rises_and_is_no_rounding():
    fitted = EvidenceScaling().fit(np.full(100, 0.15107707), np.arange(100) % 3 == 0)
    assert (np.diff(fitted.calibrate(np.linspace(0.05, 0.95, 9))) > 0).all()


@given(rows=numbers)
def test_quantiles_turn_with_the_axis_and_weights_are_repeated_rows(rows):
    x, weight = np.array(rows, dtype=float).T
    found = weighted_quantiles(x, weight, AT)
    np.testing.assert_array_equal(found, [twin.quantile(x, weight, at) for at in AT])
    np.testing.assert_array_equal(found, -weighted_quantiles(-x, weight, 1.0 - AT))
    repeated = np.repeat(x, weight.astype(int))
    np.testing.assert_array_equal(found, weighted_quantiles(repeated, np.ones(len(repeated)), AT))


@pytest.mark.parametrize(("k", "n_maps"), [(150, 4), (151, 2)])
def test_of_many_classes_two_maps_are_mixed(k, n_maps):
    rng = np.random.default_rng(k)
    prob = rng.dirichlet(np.ones(k), 200)
    scaling = EvidenceScaling(pool="folds", labels=range(k)).fit(prob, rng.integers(0, k, 200))
    assert len(scaling.weights_) == n_maps + 1
    assert ("prob" in scaling.groups_) == (k == 151)


def test_counts_of_more_rows_than_sums_can_tell_are_fitted_as_fewer():
    prob, label = [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]], [2, 1]
    few, many = (EvidenceScaling(labels=range(3)).fit(prob, label, 2 * [n]).calibrate(prob) for n in (5e11, 1e60))
    np.testing.assert_allclose(many, few, rtol=1e-9)
