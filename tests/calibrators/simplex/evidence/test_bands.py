import numpy as np
import pytest
from reference import evidence_scaling as twin
from scipy.special import expit, logit, ndtri, softmax

from calibrant.calibrators import EvidenceScaling
from calibrant.calibrators import evidence as bands
from calibrant.interop import load_calibrator, save_calibrator


def drawn(n, k, seed=0):
    """Over-confident forecasts with a bias, and the probabilities from which labels were drawn."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * 1.5
    truth = softmax(scores, axis=1)
    label = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, k - 1)
    scores[:, 0] += 0.7
    return softmax(1.5 * scores, axis=1), label, truth


@pytest.mark.parametrize("k", [2, 3])
def test_intervals_are_those_of_the_definition(k, patient):
    prob, label, _ = drawn(30, k)
    weight = np.random.default_rng(1).uniform(1.0, 4.0, 30)
    new = drawn(10, k, seed=2)[0]
    kish = weight * weight.sum() / (weight**2).sum()
    expected = twin.interval(prob, label, kish, new, -ndtri(0.05))
    fitted = EvidenceScaling(pool="fast", intervals=True).fit(prob, label, weight)
    found = fitted.predict_interval(new, level=0.1)
    np.testing.assert_allclose(found, expected[:, 1] if k == 2 else expected, atol=2e-5)


@pytest.mark.parametrize(("k", "options"), [(2, {}), (4, {}), (3, {"keep": "order"}), (2, {"keep": "argmax"})])
def test_intervals_hold_the_probability_and_are_nested(k, options):
    prob, label, _ = drawn(200, k)
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


def test_counts_are_repeated_rows_and_classes_change_places():
    prob, label, _ = drawn(80, 3)
    count = np.random.default_rng(0).integers(1, 4, 80)
    weighted = EvidenceScaling(intervals=True, pool="fast").fit(prob, label, count).predict_interval(prob)
    repeated = EvidenceScaling(intervals=True, pool="fast").fit(np.repeat(prob, count, axis=0), np.repeat(label, count))
    np.testing.assert_allclose(weighted, repeated.predict_interval(prob), rtol=1e-6)
    order = np.array([2, 0, 1])
    turned = EvidenceScaling(intervals=True, pool="fast").fit(prob[:, order], np.argsort(order)[label], count)
    np.testing.assert_allclose(turned.predict_interval(prob[:, order]), weighted[:, order], rtol=1e-6)


@pytest.mark.parametrize("k", [2, 4])
def test_a_file_holds_what_intervals_need(k, tmp_path):
    prob, label, _ = drawn(120, k)
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


def test_a_file_with_second_derivatives_of_no_convex_function_is_refused(tmp_path):
    prob, label, _ = drawn(60, 3)
    fitted = EvidenceScaling(pool="fast", intervals=True).fit(prob, label)
    entries = fitted.hessian_
    concave = np.append(-1e3, entries[1:])
    for number, (changed, message) in enumerate(
        ((concave, "hessian_ must have no negative eigenvalue"), (entries[:-1], "hessian_ must be numbers"))
    ):
        fitted.hessian_ = changed
        save_calibrator(fitted, tmp_path / f"{number}.json")
        with pytest.raises(ValueError, match=message):
            load_calibrator(tmp_path / f"{number}.json")


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
    np.testing.assert_allclose(bands.rest_of(prob)[0, 0], 3e-18, rtol=1e-12)
    other = np.array([[1.0 - 5e-18, 2e-18, 3e-18]])
    np.testing.assert_allclose(bands.apart(prob, other), [[2e-18, -1e-18, -1e-18]], rtol=1e-12)
    lower, upper = np.moveaxis(bands.ends(prob, np.full((1, 3), 1e-36), 0.05), -1, 0)
    assert (lower[0, 1:] < upper[0, 1:]).all()


def test_what_cannot_have_intervals_is_refused():
    prob, label, _ = drawn(60, 3)
    with pytest.raises(
        ValueError, match=r"intervals was False when it was fitted. Fit EvidenceScaling\(intervals=True"
    ):
        EvidenceScaling().fit(prob, label).predict_interval(prob)
    with pytest.raises(ValueError, match="not mixed row by row; got keep='argmax'"):
        EvidenceScaling(keep="argmax", intervals=True).fit(prob, label)
    with pytest.raises(ValueError, match="level must be a fraction"):
        EvidenceScaling(intervals=True, pool="fast").fit(prob, label).predict_interval(prob, level=95)
    many, of_many, _ = drawn(60, 20)
    labels = list(range(20))
    with pytest.raises(ValueError, match=r"at most 800 weights; got 1231, of 20 classes. Pass keep='order'"):
        EvidenceScaling(intervals=True, labels=labels).fit(many, of_many)
    fitted = EvidenceScaling(intervals=True, keep="order", labels=labels).fit(many, of_many)
    assert fitted.predict_interval(many).shape == (60, 20, 2)


def test_the_band_of_two_classes_is_the_interval_of_one_map():
    prob, label, _ = drawn(800, 2)
    fitted = EvidenceScaling(pool="fast", intervals=True).fit(prob, label)
    assert fitted.weights_[0] > 1.0 - 1e-6
    parts = fitted.parts()
    # A forecast at these standardised log-odds, by the inverse of the standardisation without a floor.
    assert fitted.floor_ == 0.0
    inside = np.abs(parts.place) < 4.0
    plain = (expit(parts.place[inside]) - fitted.uniform_ / 2) / (1.0 - fitted.uniform_)
    found = logit(fitted.predict_interval(expit(logit(plain) / fitted.exponent_)))
    np.testing.assert_allclose(found[:, 0], parts.place[inside] + parts.lower[inside], atol=1e-3)
    np.testing.assert_allclose(found[:, 1], parts.place[inside] + parts.upper[inside], atol=1e-3)
